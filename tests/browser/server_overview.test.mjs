// What the server does now: models in memory, speed, plots; and the engines.
import assert from "node:assert/strict";
import { settled, useRig } from "./rig.mjs";
import { STARTER } from "./server.mjs";

const rig = useRig();
const chat = (server, more = {}) => server.api("/v1/chat/completions",
  { model: STARTER, messages: [{ role: "user", content: "Hello" }], max_tokens: 8, ...more });

rig.journey("models in memory are shown, pinned and unloaded", { path: "/app/server" }, async ({ page, t, server }) => {
  await page.getByRole("heading", { name: t("server.memory.none") }).waitFor();
  await chat(server);
  const row = page.getByRole("listitem").filter({ hasText: STARTER });
  await row.getByText(t("server.memory.state.ready")).waitFor();
  await row.getByText(/tokens\/s/).waitFor();
  await row.getByRole("button", { name: t("server.memory.pin_name").replace("{name}", STARTER) }).click();
  await row.getByText(t("server.memory.pinned"), { exact: true }).waitFor();
  assert.equal((await server.api("/api/v1/health")).all_models_loaded[0].pinned, true);
  await row.getByRole("button", { name: t("server.memory.unpin_name").replace("{name}", STARTER) }).click();
  await row.getByText(t("server.memory.pinned"), { exact: true }).waitFor({ state: "detached" });
  await row.getByRole("button", { name: t("server.memory.unload_name").replace("{name}", STARTER) }).click();
  await page.getByRole("heading", { name: t("server.memory.none") }).waitFor();
  assert.deepEqual((await server.api("/api/v1/health")).all_models_loaded, []);
});

rig.journey("the machine's load has plots with a sentence each", { path: "/app/server" }, async ({ page, server }) => {
  await chat(server);
  const plot = (name) => page.getByRole("img", { name: new RegExp(`^${name}: now `) });
  for (const name of ["Processor", "Memory", "Running requests", "Speed"]) await plot(name).waitFor();
  assert.equal(await plot("Power of the graphics processor").count(), 0, "what no driver reports is left out");
  assert.match(await plot("Processor").getAttribute("aria-label"), /now \d+%, between \d+% and \d+%/);
});

rig.journey("a page that is not seen asks for nothing", { path: null }, async ({ page, open }) => {
  const isRead = (request) => request.url().includes("/v1/system-stats");
  const show = (state) => page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);
  await page.clock.install();
  await open("/app/server");
  const [again] = await Promise.all([page.waitForResponse((r) => isRead(r.request())), page.clock.fastForward(2100)]);
  await again.finished();
  await show("hidden");
  let asked = 0;
  page.on("request", (request) => { asked += isRead(request) ? 1 : 0; });
  for (let i = 0; i < 5; i++) {
    await page.clock.fastForward(10000);
    await page.evaluate(() => fetch("/live")); // what the timers have sent was sent before it
  }
  assert.equal(asked, 0);
  await Promise.all([page.waitForRequest(isRead), show("visible")]); // at once
});

rig.journey("each part has an address, a title and a place in the history", { path: "/app/server" }, async ({ page, t }) => {
  for (const part of ["requests", "logs", "settings", "keys", "engines", "connect"]) {
    await page.getByRole("navigation", { name: t("server.parts") }).getByRole("link", { name: t(`server.part.${part}`), exact: true }).click();
    await page.waitForURL(`**/app/server/${part}`);
    await settled(page);
    assert.equal(await page.title(), `${t(`server.part.${part}`)} – quince`);
  }
  await page.goBack();
  await page.waitForURL("**/app/server/engines");
  await page.getByRole("link", { name: t("server.engines.go") }).waitFor();
  await page.goto("/app/server/nonsense");
  await page.getByRole("heading", { name: t("server.now.title") }).waitFor();
});

rig.journey("a part is found in the palette", { path: "/app/server" }, async ({ page, t }) => {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("conn");
  await page.getByRole("option", { name: t("server.part.connect") }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/app/server/connect");
});

rig.journey("engines are listed with their state", { path: "/app/server/engines" }, async ({ page, t }) => {
  await page.getByRole("row").filter({ hasText: t("models.engines.own") }).first()
    .getByText(t("models.engines.state.installed")).waitFor();
});
