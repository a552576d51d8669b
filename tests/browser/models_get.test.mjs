// Models that can be had: the list, hubs, what fits, addresses, files, servers elsewhere, engines.
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import path from "node:path";
import { fetchModel, rowOf, useOrchard } from "./orchard.mjs";
import { useRig } from "./rig.mjs";
import { ROOT, STARTER } from "./server.mjs";

const orchard = await useOrchard();
const rig = useRig(orchard.options);
const get = "/app/models?show=get", add = "/app/models?show=add";
const refusals = [/status of [45]\d\d/];

const card = (page, title) => page.locator("section.card").filter({ has: page.getByRole("heading", { name: title, exact: true }) });
/** A search of the hub: waits for its answer. */
async function search(page, t, words) {
  await page.getByPlaceholder(t("models.search.get")).fill(words);
  await page.getByText(new RegExp(`for “${words}”`)).waitFor();
}
const repository = (page, name) => page.locator("summary", { hasText: name });

rig.journey("models that cannot run here are shown when asked for, with the reason", { path: get }, async ({ page, t, axe }) => {
  await rowOf(page, "Melon-4B-GGUF").waitFor();
  assert.equal(await rowOf(page, "Nut-Embed-GGUF").count(), 0);
  await page.getByText(/2 models are hidden/).waitFor();
  await page.getByRole("switch", { name: t("models.filter.everything") }).check();
  const nut = rowOf(page, "Nut-Embed-GGUF");
  await nut.getByText(/for embeddings, and no engine for it is installed/).waitFor();
  assert.equal(await nut.getByRole("button", { name: t("models.downloads.do") }).isDisabled(), true);
  await rowOf(page, "Durian-70B-GGUF").getByText(t("models.fit.level.no")).waitFor();
  await axe();
  await nut.getByRole("link", { name: t("models.engines.see") }).click();
  await page.getByRole("heading", { name: "llama-server" }).waitFor();
});

rig.journey("the list is narrowed by what models can do", { path: "/app/models" }, async ({ page, t }) => {
  await page.getByRole("link", { name: t("models.part.get") }).click();
  await page.getByRole("button", { name: t("models.can.tools") }).click();
  await rowOf(page, "Pear-2B-GGUF").waitFor();
  assert.equal(await rowOf(page, "Melon-4B-GGUF").count(), 0);
  assert.match(page.url(), /can=tools/);
  await page.goBack(); // a filter is no place of its own
  await page.waitForURL("**/app/models");
  await rowOf(page, STARTER).waitFor();
});

rig.journey("a hub is searched, and the variant to take is recommended", { path: get }, async ({ page, t, axe, server }) => {
  await search(page, t, "quince-7b");
  await repository(page, "orchard/Quince-7B-GGUF").getByText(/apache-2\.0/).waitFor();
  await repository(page, "orchard/Quince-7B-GGUF").click();
  const best = page.getByRole("row", { name: /Q4_K_M/ });
  await best.getByText(t("models.variants.best")).waitFor();
  await best.getByText("8.4 MB", { exact: true }).waitFor();
  await page.getByText(/32,768 tokens of context/).waitFor();
  await axe();
  await best.getByRole("button", { name: /Q4_K_M/ }).click();
  await page.getByText("Quince-7B-GGUF-Q4_K_M is ready.").waitFor();
  await server.api("/v1/delete", { model_name: "user.Quince-7B-GGUF-Q4_K_M" });
});

rig.journey("an architecture that nothing here computes is marked before the download", { path: get }, async ({ page, t }) => {
  await search(page, t, "quince-odd");
  await repository(page, "wild/Quince-Odd-GGUF").click();
  await page.getByText(/of an architecture .* does not compute/).waitFor();
  assert.equal(await page.getByRole("button", { name: /Q4_K_M/ }).isDisabled(), true);
});

rig.journey("conditions of a repository are explained", { path: get }, async ({ page, t }) => {
  await search(page, t, "quince-closed");
  const found = repository(page, "wild/Quince-Closed-GGUF");
  await found.getByText(t("models.hub.gated"), { exact: true }).waitFor();
  await found.click();
  await page.getByText(t("models.hub.gated.why")).waitFor();
});

rig.journey("a hub that fails is named, and asked again", { path: get, allow: refusals }, async ({ page, t }) => {
  await orchard.fault("/api/models/orchard/Quince-7B-GGUF", { status: 503 });
  try {
    await search(page, t, "quince-7b");
    await repository(page, "orchard/Quince-7B-GGUF").click();
    await page.getByRole("alert").getByText(/status 503/).waitFor({ timeout: 60000 });
  } finally {
    await orchard.heal();
  }
  await page.getByRole("button", { name: t("action.retry") }).click();
  await page.getByRole("row", { name: /Q4_K_M/ }).waitFor();
});

rig.journey("nothing is found", { path: get }, async ({ page, t }) => {
  await page.getByPlaceholder(t("models.search.get")).fill("xyzzy");
  await page.getByText(/0 repositories for “xyzzy”/).waitFor();
  await page.getByText(t("models.library.none")).waitFor();
});

rig.journey("a model's page before it is here: facts, variants, download", { path: "/app/models/Pear-2B-GGUF" }, async ({ page, t, axe, server }) => {
  await page.getByText(/needs about 1\.\d GB of memory/).waitFor();
  await page.getByRole("row", { name: /Q8_0/ }).waitFor();
  await axe();
  await page.getByRole("button", { name: /Download 1\.5 GB/ }).click();
  await page.getByRole("link", { name: t("models.page.chat") }).waitFor();
  await server.api("/v1/delete", { model_name: "Pear-2B-GGUF" });
});

rig.journey("a search finds what is here already", { path: null }, async ({ page, t, server, open }) => {
  await fetchModel(server, "Plum-0.5B-GGUF");
  await open(`${get}&q=plum`);
  await rowOf(page, "Plum-0.5B-GGUF").getByRole("button", { name: t("models.load.do") }).waitFor();
  await server.api("/v1/delete", { model_name: "Plum-0.5B-GGUF" });
});

rig.journey("a model from an address", { path: add }, async ({ page, t, server, axe }) => {
  await axe();
  const form = card(page, t("models.add.hub"));
  await form.getByLabel(t("models.add.reference")).fill(orchard.file);
  await form.getByRole("button", { name: t("models.downloads.do") }).click();
  await page.getByText("windfall is ready.").waitFor();
  assert.equal((await server.api("/v1/models/user.windfall")).downloaded, true);
  await server.api("/v1/delete", { model_name: "user.windfall" });
});

rig.journey("a repository's name leads to its variants", { path: add }, async ({ page, t }) => {
  const form = card(page, t("models.add.hub"));
  await form.getByLabel(t("models.add.reference")).fill("orchard/Quince-7B-GGUF");
  await form.getByRole("button", { name: t("models.downloads.do") }).click();
  await page.getByRole("row", { name: /IQ2_M/ }).waitFor();
});

rig.journey("a file on the server's disk; a wrong path is told at its field", { path: add, allow: refusals }, async ({ page, t, server }) => {
  const form = card(page, t("models.add.file")), where = form.getByLabel(t("models.add.path"));
  await where.fill("/nowhere/at.gguf");
  await form.getByRole("button", { name: t("models.add.do") }).click();
  await form.getByText(/\/nowhere\/at\.gguf is missing/).waitFor();
  assert.equal(await where.getAttribute("aria-invalid"), "true");
  const file = path.join(server.folder, "apple.gguf");
  copyFileSync(path.join(ROOT, "registry/starter/quince-starter.gguf"), file);
  await where.fill(file);
  await form.getByLabel(t("models.add.name")).fill("apple");
  await form.getByRole("button", { name: t("models.add.do") }).click();
  await page.waitForURL("**/app/models/user.apple");
  await page.getByRole("heading", { level: 1, name: "apple" }).waitFor();
  await server.api("/v1/delete", { model_name: "user.apple" });
});

rig.journey("models of other programs", { path: add }, async ({ page, t }) => {
  await page.getByRole("button", { name: t("models.add.rescan") }).click();
  await page.getByText(/0 models were found/).waitFor();
});

rig.journey("a server elsewhere becomes a model", { path: add, allow: refusals }, async ({ page, t, server }) => {
  const form = card(page, t("models.add.server"));
  await form.getByLabel(t("models.add.address"), { exact: true }).fill(`${server.url}/v1`);
  await form.getByLabel(t("models.add.remote_model")).fill(STARTER);
  await form.getByLabel(t("models.add.name")).fill("mirror");
  await form.getByRole("button", { name: t("models.add.do") }).click();
  await page.getByRole("heading", { level: 1, name: "mirror" }).waitFor();
  await page.getByText(t("models.fit.remote")).waitFor();
  await page.getByRole("button", { name: t("models.remove.do") }).click();
  await page.getByText(t("models.remove.frees.remote")).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: t("action.delete") }).click();
  await page.waitForURL("**/app/models");
});

rig.journey("an engine is installed and removed", { path: "/app/models?show=engines" }, async ({ page, t, axe }) => {
  const row = page.locator(".model-row").filter({ has: page.getByRole("heading", { name: "llama-server" }) });
  await axe();
  await row.getByRole("button", { name: /llama-server/ }).click();
  await row.getByText(t("models.engines.state.installed"), { exact: true }).waitFor();
  await page.getByText("llama-server is installed.").waitFor();
  await row.getByRole("button", { name: /llama-server/ }).click();
  await page.getByText(t("models.engines.remove.why")).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: t("models.engines.do.remove") }).click();
  await row.getByText(t("models.engines.state.installable"), { exact: true }).waitFor();
});

rig.journey("an engine that cannot be fetched says why", { path: "/app/models?show=engines", allow: refusals }, async ({ page, t }) => {
  const row = page.locator(".model-row").filter({ has: page.getByRole("heading", { name: "whisper-server" }) });
  await orchard.fault("whisper-server.tar.gz", { status: 404 });
  await row.getByRole("button", { name: /whisper-server/ }).click();
  await row.getByRole("alert").getByText(/404/).waitFor({ timeout: 60000 });
  await orchard.heal();
  await row.getByRole("button", { name: t("action.retry") }).click();
  await row.getByText(t("models.engines.state.installed"), { exact: true }).waitFor();
});
