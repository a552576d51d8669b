// Models that are here: the list, a model's page, its options, loading, names, deleting.
import assert from "node:assert/strict";
import { copyFileSync, truncateSync } from "node:fs";
import path from "node:path";
import { fetchModel, rowOf, useOrchard } from "./orchard.mjs";
import { settled, useRig } from "./rig.mjs";
import { ROOT, STARTER } from "./server.mjs";

const orchard = await useOrchard();
const rig = useRig(orchard.options);
const starterPage = `/app/models/${STARTER}`;
const refusals = [/status of 4\d\d/]; // the browser prints each request that was refused

const saved = (page) => page.locator("form.options .badge");

rig.journey("the first visit shows what is here and proposes three models", { path: "/app/models" }, async ({ page, t, axe }) => {
  await rowOf(page, STARTER).getByText(t("models.fit.level.good")).waitFor();
  const proposals = page.getByRole("region", { name: t("models.proposals.title") });
  assert.deepEqual(await proposals.getByRole("heading", { level: 3 }).allTextContents(),
    ["Plum-0.5B-GGUF", "Pear-2B-GGUF", "Melon-4B-GGUF"]);
  await proposals.getByText("1.5 GB", { exact: true }).waitFor();
  await proposals.getByText(/about 4 min/).waitFor(); // 1.5 GB at 50 Mbit/s
  await axe();
});

rig.journey("a model is loaded and unloaded, and another window sees it", { path: "/app/models" }, async ({ page, t, another }) => {
  const row = rowOf(page, STARTER);
  await row.getByRole("button", { name: t("models.load.do") }).click();
  await row.getByText(t("models.state.ready")).waitFor();
  await page.getByText(/1 model is in memory/).waitFor();
  const other = await another();
  await other.open(starterPage);
  await other.page.getByRole("heading", { name: t("models.memory.title") }).waitFor();
  await other.page.getByRole("button", { name: t("models.unload.do") }).click();
  await row.getByRole("button", { name: t("models.load.do") }).waitFor();
});

rig.journey("a model is pinned in the menu of its row", { path: "/app/models" }, async ({ page, t, server }) => {
  const row = rowOf(page, STARTER);
  for (const [action, pinned] of [["models.pin.do_on", true], ["models.pin.do_off", false]]) {
    await row.getByRole("button", { name: t("models.more").replace("{name}", STARTER) }).click();
    await page.getByRole("menuitem", { name: t(action) }).click();
    await row.getByText(t("models.state.pinned")).waitFor({ state: pinned ? "visible" : "detached" });
    const { recipe_options: options } = await server.api(`/v1/models/${STARTER}`);
    assert.equal(Boolean(options.pinned), pinned);
  }
});

rig.journey("options are checked, saved, kept and reset", { path: starterPage, allow: refusals }, async ({ page, t, server }) => {
  const context = page.getByLabel(t("models.option.ctx_size"));
  await context.fill("0");
  await page.getByText(/between 1 and 16,777,216/).waitFor();
  assert.equal(await context.getAttribute("aria-invalid"), "true");
  assert.equal(await page.getByRole("button", { name: t("action.save") }).isDisabled(), true);
  await context.fill("256");
  // What only the server knows stands at the field, too.
  await page.getByText(t("models.options.rare")).click();
  const adapters = page.getByLabel(t("models.option.lora"));
  await adapters.fill('[{"path": "/nowhere.gguf"}]');
  await page.getByRole("button", { name: t("action.save") }).click();
  await page.getByText("the adapter '/nowhere.gguf' cannot be read").waitFor();
  assert.equal(await adapters.getAttribute("aria-invalid"), "true");
  await adapters.fill("");
  await page.getByRole("button", { name: t("action.save") }).click();
  await saved(page).waitFor();
  assert.equal((await server.api(`/v1/models/${STARTER}/options`)).saved.ctx_size, 256);
  await page.reload();
  await settled(page);
  assert.equal(await context.inputValue(), "256");
  await page.getByRole("button", { name: t("models.options.reset") }).click();
  await saved(page).waitFor({ state: "detached" });
  await page.getByRole("button", { name: t("action.undo") }).click();
  await saved(page).waitFor();
  await server.api(`/v1/models/${STARTER}/options`, undefined, { method: "DELETE" });
});

rig.journey("the memory of a load is shown before it", { path: starterPage }, async ({ page, t }) => {
  await page.getByText(/A load needs about .* MB of memory; models may use .* GB now/).waitFor();
  // The file and a tenth of it, 64 MiB, and 6144 bytes of cache for each token: lib/contract/backend_types.c.
  await page.getByLabel(t("models.option.ctx_size")).fill("64");
  await page.getByText(/A load needs about 75 MB of memory/).waitFor();
  await page.getByLabel(t("models.option.ctx_size")).fill("400");
  await page.getByText(/A load needs about 77 MB of memory/).waitFor();
});

rig.journey("a load with options that are not saved", { path: starterPage }, async ({ page, t, server }) => {
  await page.getByLabel(t("models.option.ctx_size")).fill("128");
  await page.getByRole("button", { name: t("models.options.load_with") }).click();
  await page.getByText(/context has 128 tokens/).waitFor();
  assert.deepEqual((await server.api(`/v1/models/${STARTER}/options`)).saved, {});
  await page.getByRole("button", { name: t("models.unload.do") }).click();
  await page.getByRole("heading", { name: t("models.memory.title") }).waitFor({ state: "detached" });
});

rig.journey("a model gets a further name and loses it", { path: starterPage, allow: refusals }, async ({ page, t, server }) => {
  const name = page.getByLabel(t("models.alias.new"));
  await name.fill(STARTER);
  await page.getByRole("button", { name: t("models.alias.add") }).click();
  await page.locator(".field-error").waitFor(); // a model has this name
  await name.fill("kernel");
  await page.getByRole("button", { name: t("models.alias.add") }).click();
  await page.getByRole("button", { name: t("models.alias.remove").replace("{name}", "kernel") }).click();
  await page.getByRole("button", { name: t("action.undo") }).click();
  await page.locator(".alias-list").getByText("kernel").waitFor();
  await page.goto("/app/models/kernel"); // it leads to the model
  await page.getByRole("heading", { level: 1, name: STARTER }).waitFor();
  await server.api("/internal/aliases/kernel", undefined, { method: "DELETE" });
});

rig.journey("why a load failed stays on the page until it works", { path: null, allow: [/status of 5\d\d/] }, async ({ page, t, server, open }) => {
  const file = path.join(server.folder, "worm.gguf"), whole = path.join(ROOT, "registry/starter/quince-starter.gguf");
  copyFileSync(whole, file);
  await server.api("/v1/models/register", { model_name: "user.worm", checkpoint: file });
  truncateSync(file, 3000000);
  await open("/app/models/user.worm");
  await page.getByRole("button", { name: t("models.load.do") }).first().click();
  await page.getByRole("alert").getByText(/unfinished|worm\.gguf/).waitFor();
  await page.getByRole("link", { name: t("models.part.here") }).click();
  await rowOf(page, "worm").getByRole("alert").waitFor();
  copyFileSync(whole, file);
  await rowOf(page, "worm").getByRole("button", { name: t("action.retry") }).click();
  await rowOf(page, "worm").getByText(t("models.state.ready")).waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  await server.api("/v1/delete", { model_name: "user.worm" });
});

rig.journey("deleting says what is freed, and can be left", { path: null }, async ({ page, t, server, open, axe }) => {
  await fetchModel(server, "Plum-0.5B-GGUF");
  await open("/app/models/Plum-0.5B-GGUF");
  const remove = page.getByRole("button", { name: t("models.remove.do") });
  await remove.click();
  await page.getByText(/This frees 8\.4 MB \(1 file\)/).waitFor(); // the starter's 6.4 MB and 2 MB
  await axe();
  await page.keyboard.press("Escape");
  assert.equal(await remove.evaluate((button) => button === document.activeElement), true);
  assert.equal((await server.api("/v1/models/Plum-0.5B-GGUF")).downloaded, true);
  await remove.click();
  await page.getByRole("dialog").getByRole("button", { name: t("action.delete") }).click();
  await page.waitForURL("**/app/models");
  await page.getByText(/Plum-0.5B-GGUF is deleted; 8\.4 MB are free again/).waitFor();
  await rowOf(page, "Plum-0.5B-GGUF").waitFor({ state: "detached" });
});

rig.journey("files of the user stay, and the dialog says so", { path: null }, async ({ page, t, server, open }) => {
  const file = path.join(server.folder, "mine.gguf");
  copyFileSync(path.join(ROOT, "registry/starter/quince-starter.gguf"), file);
  await server.api("/v1/models/register", { model_name: "user.mine", checkpoint: file });
  await open("/app/models/user.mine");
  await page.getByText(file, { exact: true }).last().waitFor(); // among the files
  await page.getByRole("button", { name: t("models.remove.do") }).click();
  await page.getByText(t("models.remove.frees.nothing")).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: t("action.delete") }).click();
  await page.waitForURL("**/app/models");
  copyFileSync(file, `${file}.copy`); // it is still there
});

rig.journey("the starter cannot be deleted", { path: starterPage }, async ({ page, t }) => {
  await page.getByRole("button", { name: t("models.load.do") }).first().waitFor();
  assert.equal(await page.getByRole("button", { name: t("models.remove.do") }).count(), 0);
});

rig.journey("a model that does not exist", { path: "/app/models/none-such", allow: refusals }, async ({ page, t, axe }) => {
  await page.getByRole("heading", { name: /none-such/ }).waitFor();
  await axe();
  await page.getByRole("link", { name: t("models.page.all") }).click();
  await rowOf(page, STARTER).waitFor();
});

rig.journey("words and order of the list are in the address", { path: "/app/models" }, async ({ page, t }) => {
  await page.getByPlaceholder(t("models.search.here")).fill("nothing like it");
  await page.getByText(t("models.none_found")).waitFor();
  assert.match(page.url(), /q=nothing/);
  await page.reload();
  await settled(page);
  await page.getByRole("button", { name: t("models.filter.reset") }).click();
  await rowOf(page, STARTER).waitFor();
});

rig.journey("by keyboard: the search and the palette", { path: "/app/models" }, async ({ page, t }) => {
  await page.keyboard.press("/");
  await page.keyboard.type("quince-sta");
  await rowOf(page, STARTER).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: t("palette.title") }).fill(STARTER);
  await page.getByRole("option", { name: new RegExp(STARTER) }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${starterPage}`);
  await page.getByRole("link", { name: t("models.page.chat") }).waitFor();
});
