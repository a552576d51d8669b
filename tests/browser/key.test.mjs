// A server with keys: the page opens without one, asks for it, and keeps it as long as its reader wants.
import assert from "node:assert/strict";
import { settled, useRig } from "./rig.mjs";

const KEY = "a-key-for-the-page-0123456789";
const rig = useRig({ env: { QUINCE_API_KEY: KEY } });
// The browser prints every answer with status 401.
const refused = [/status of 401/];

rig.journey("a key is asked for, checked and kept", { path: "/app/models", allow: refused }, async ({ page, axe, t }) => {
  const dialog = page.getByRole("dialog", { name: t("key.title") });
  await dialog.waitFor();
  await axe();
  await dialog.getByLabel(t("key.key")).fill("not-the-key");
  await dialog.getByRole("button", { name: t("key.enter") }).click();
  await dialog.getByText(t("key.wrong")).waitFor();
  await dialog.getByLabel(t("key.key")).fill(KEY);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.reload();
  await settled(page);
  assert.equal(await dialog.count(), 0, "the key was kept");
  for (const cookie of await page.context().cookies()) assert.fail(`a cookie was set: ${cookie.name}`);
});

rig.journey("a key can be for this window only", { path: "/app/models", allow: refused },
  async ({ context, page, t, server }) => {
    const dialog = page.getByRole("dialog", { name: t("key.title") });
    await dialog.getByLabel(t("key.key")).fill(KEY);
    await dialog.getByLabel(t("key.keep")).uncheck();
    await dialog.getByRole("button", { name: t("key.enter") }).click();
    await dialog.waitFor({ state: "detached" });
    await page.reload();
    await settled(page);
    assert.equal(await dialog.count(), 0, "this window keeps it");
    const later = await context.newPage(); // another window of the same browser
    await later.goto(`${server.url}/app/models`);
    await later.getByRole("dialog", { name: t("key.title") }).waitFor();
  });
