// Keys: the first one, which the page then uses; one without admin rights; removing them.
import assert from "node:assert/strict";
import { settled, useRig } from "./rig.mjs";
import { STARTER } from "./server.mjs";

const rig = useRig();
const refused = [/status of 40[13]/];

/** Makes a key through the dialog and returns its secret. */
async function make(page, t, name, admin, mine) {
  await page.getByRole("button", { name: t("server.keys.add") }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(t("server.keys.name")).fill(name);
  await dialog.getByLabel(t("server.keys.admin")).setChecked(admin);
  if (mine !== undefined) await dialog.getByLabel(t("server.keys.for_me")).setChecked(mine);
  await dialog.getByRole("button", { name: t("server.keys.create") }).click();
  await dialog.getByText(t("server.keys.once")).waitFor();
  const secret = await dialog.locator("pre").innerText();
  assert.match(secret, /^qk-[0-9a-f]{48}$/);
  await dialog.getByRole("button", { name: t("action.copy"), exact: true }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret);
  await dialog.getByRole("button", { name: t("server.keys.kept") }).click();
  return secret;
}

rig.journey("keys are made, used, and removed", { path: "/app/server/keys", allow: refused }, async ({ page, t, server, another, axe }) => {
  await page.getByRole("heading", { name: t("server.keys.none") }).waitFor();
  await page.getByRole("button", { name: t("server.keys.add") }).click();
  await page.getByRole("dialog").getByText(t("server.keys.first")).waitFor();
  await axe();
  await page.keyboard.press("Escape");
  const admin = await make(page, t, "boss", true);
  await page.getByRole("row").filter({ hasText: "boss" }).getByText(t("server.keys.mine")).waitFor(); // the page is not locked out
  const plain = await make(page, t, "phone", false);
  await page.getByRole("row").filter({ hasText: "phone" }).getByText(t("server.keys.may.use")).waitFor();
  await axe();

  // One without admin rights sees what it may see, and a sentence elsewhere.
  const other = await another({ storage: { "quince.key": plain } });
  for (const [part, text] of [["keys", "server.keys.admin_only"], ["settings", "server.settings.admin_only"], ["logs", "server.logs.own"]]) {
    await other.open(`/app/server/${part}`);
    await other.page.getByText(t(text)).waitFor();
  }
  await other.axe();
  await other.open("/app/server");
  await other.page.getByRole("heading", { name: t("server.machine.title") }).waitFor();
  await server.api("/v1/chat/completions", { model: STARTER, messages: [{ role: "user", content: "Hi" }], max_tokens: 2 }, { key: admin });
  await server.api("/v1/chat/completions", { model: STARTER, messages: [{ role: "user", content: "Hi" }], max_tokens: 2 }, { key: plain });
  await other.open("/app/server/requests");
  await other.page.locator("tbody tr").first().waitFor();
  assert.equal(await other.page.locator("tbody tr").count(), 1, "its own alone");
  assert.equal(await other.page.getByRole("button", { name: t("server.capture.begin") }).count(), 0);
  await other.open("/app/server/connect?app=curl");
  await other.page.getByText(/Authorization: Bearer YOUR_KEY/).waitFor();

  await page.getByRole("button", { name: t("server.keys.remove_name").replace("{name}", "phone") }).click();
  await page.getByRole("dialog").getByText(/get no more answers/).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: t("server.keys.remove") }).click();
  await page.getByRole("row").filter({ hasText: "phone" }).waitFor({ state: "detached" });
  await other.page.reload();
  await other.page.getByRole("dialog", { name: t("key.title") }).waitFor();

  await page.getByRole("button", { name: t("server.keys.remove_name").replace("{name}", "boss") }).click();
  await page.getByRole("dialog").getByText(/last key/).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: t("server.keys.remove") }).click();
  await page.getByRole("heading", { name: t("server.keys.none") }).waitFor();
  await page.reload();
  await settled(page);
  assert.equal(await page.getByRole("dialog").count(), 0, "no key is needed any more");
});

rig.journey("chats from before the first key stay, and are on the telephone with the same key", { path: null, allow: refused },
  async ({ page, t, server, open, another }) => {
    const chat = await server.api("/internal/chats", { title: "Before the key", model: STARTER });
    await server.api("/internal/messages", { chat: chat.id, role: "user", text: "a plum" });
    await server.api("/internal/presets", { name: "Brief", system: "Be brief." });
    await open("/app/server/keys");
    const secret = await make(page, t, "me", true);
    await open(`/app/chat/${chat.id}`);
    await page.locator("article.user", { hasText: "a plum" }).waitFor();
    const phone = await another({ size: "narrow", storage: { "quince.key": secret } });
    await phone.open(`/app/chat/${chat.id}`);
    await phone.page.locator("article.user", { hasText: "a plum" }).waitFor();
    await phone.page.close();
    const { presets } = await server.api("/internal/presets", null, { key: secret });
    assert.deepEqual(presets.map(({ name }) => name), ["Brief"]);

    // A friend's key has none of it; the next own key takes it over from this one.
    await open("/app/server/keys");
    const friend = await make(page, t, "friend", false);
    assert.deepEqual((await server.api("/internal/chats", null, { key: friend })).chats, []);
    const next = await make(page, t, "me2", true, true);
    assert.deepEqual((await server.api("/internal/chats", null, { key: next })).chats.map(({ title }) => title), ["Before the key"]);
    assert.deepEqual((await server.api("/internal/chats", null, { key: secret })).chats, []);
    await page.getByRole("row").filter({ hasText: "me2" }).getByText(t("server.keys.mine")).waitFor();
    for (const name of ["me", "friend", "me2"]) await server.api(`/internal/keys/${name}`, null, { method: "DELETE", key: next });
  });

rig.journey("a name that cannot be is refused at the field", { path: "/app/server/keys", allow: [/status of 4/] }, async ({ page, t }) => {
  await page.getByRole("button", { name: t("server.keys.add") }).click();
  const name = page.getByRole("dialog").getByLabel(t("server.keys.name"));
  await name.evaluate((e) => e.removeAttribute("pattern"));
  await name.fill("two words");
  await page.getByRole("button", { name: t("server.keys.create") }).click();
  await page.getByText(/cannot be a key's name/).waitFor();
  assert.equal(await name.getAttribute("aria-invalid"), "true");
});
