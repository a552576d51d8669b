// Settings: explained, searched, checked by the server, saved, reset.
import assert from "node:assert/strict";
import { settled, useRig } from "./rig.mjs";

const rig = useRig({ args: ["--drain", "7"] });
const refusals = [/status of 4\d\d/];
const valueOf = async (server, name) => (await server.api("/internal/config"))[name];

rig.journey("a setting is found, changed, saved and reset", { path: "/app/server/settings" }, async ({ page, t, server, axe }) => {
  await axe();
  await page.getByLabel(t("server.settings.search")).fill("seconds unloaded");
  const idle = page.getByLabel("idle", { exact: true });
  await idle.fill("77");
  await page.getByText(/1 change is not saved/).waitFor();
  await idle.fill("0"); // as it was
  await page.getByText(/1 change is not saved/).waitFor({ state: "detached" });
  await idle.fill("77");
  await page.getByRole("button", { name: t("action.save") }).click();
  await page.getByText(t("server.settings.saved"), { exact: true }).waitFor();
  assert.equal(await valueOf(server, "idle"), 77);
  await page.reload();
  await settled(page);
  assert.equal(await idle.inputValue(), "77");
  await page.getByText("Default: 0.").waitFor();
  await page.getByRole("button", { name: t("server.settings.reset_name").replace("{name}", "idle") }).click();
  await page.getByText("Default: 0.").waitFor({ state: "detached" });
  assert.equal(await valueOf(server, "idle"), 0);
});

rig.journey("the server's objection stands at the field, and nothing is saved", { path: "/app/server/settings", allow: refusals },
  async ({ page, t, server, axe }) => {
    await page.getByLabel("rate-limit", { exact: true }).fill("5");
    const threads = page.getByLabel("threads", { exact: true });
    await threads.fill("99999");
    await page.getByRole("button", { name: t("action.save") }).click();
    await page.getByText(/whole number from 0 to 1024/).waitFor();
    assert.equal(await threads.getAttribute("aria-invalid"), "true");
    assert.equal(await valueOf(server, "rate_limit"), 0, "all or nothing");
    await axe();
    await page.getByRole("button", { name: t("server.settings.discard") }).click();
    await page.getByText(/whole number from 0 to 1024/).waitFor({ state: "detached" });
    assert.equal(await threads.inputValue(), "0");
  });

rig.journey("what needs a restart says so", { path: "/app/server/settings?q=body" }, async ({ page, t, server }) => {
  await page.getByLabel("body-limit", { exact: true }).fill("48");
  await page.getByRole("button", { name: t("action.save") }).click();
  await page.getByText(/Takes effect when the server is started again: body-limit/).waitFor();
  await page.getByText(/new value of body-limit takes effect/).waitFor();
  await page.getByText(t("server.settings.waits")).waitFor();
  await page.getByRole("button", { name: t("server.settings.reset_name").replace("{name}", "body-limit") }).click();
  await page.getByText(t("server.settings.waits")).waitFor({ state: "detached" });
  assert.equal(await valueOf(server, "body_limit"), 32);
});

rig.journey("a value of a flag stays, and the page says why", { path: "/app/server/settings?q=drain" }, async ({ page, t, server }) => {
  await page.getByText(t("server.settings.from.flag")).waitFor();
  await page.getByLabel("drain", { exact: true }).fill("9");
  await page.getByRole("button", { name: t("action.save") }).click();
  await page.getByText(/a flag or the environment sets another value: drain/).waitFor();
  assert.equal(await valueOf(server, "drain"), 7);
});

rig.journey("choices, switches, lists and objects", { path: "/app/server/settings" }, async ({ page, t, server }) => {
  await page.getByLabel("log-level", { exact: true }).selectOption("debug");
  await page.getByLabel("offline", { exact: true }).check();
  await page.getByLabel("groups", { exact: true }).fill('{"pair": {"members": ["a", "b"]}}');
  await page.getByLabel("preload", { exact: true }).fill("quince-starter");
  await page.getByText(/4 changes are not saved/).waitFor();
  await page.getByRole("button", { name: t("action.save") }).click();
  await page.getByText(/4 changes/).waitFor({ state: "detached" });
  const config = await server.api("/internal/config");
  assert.equal(config.log_level, "debug");
  assert.equal(config.offline, true);
  assert.deepEqual(config.groups.pair.members, ["a", "b"]);
  assert.deepEqual(config.preload, ["quince-starter"]);
  await page.getByLabel(t("server.settings.changed_only")).check();
  await page.getByLabel("log-level", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("port", { exact: true }).count(), 1, "set by a flag");
  assert.equal(await page.getByLabel("threads", { exact: true }).count(), 0);
});

rig.journey("what only the machine's owner may change cannot be edited", { path: "/app/server/settings?q=insecure" },
  async ({ page, t }) => {
    await page.getByText(t("server.settings.by_hand")).first().waitFor();
    assert.equal(await page.getByRole("switch", { name: "insecure" }).count(), 0);
  });
