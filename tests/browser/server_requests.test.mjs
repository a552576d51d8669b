// Requests that have ended: list, filter, facts; captured texts, as code, and sent again.
import assert from "node:assert/strict";
import { settled, useRig } from "./rig.mjs";
import { STARTER } from "./server.mjs";

const rig = useRig();
const say = (server, content, more = {}) => server.api("/v1/chat/completions",
  { model: STARTER, messages: [{ role: "user", content }], max_tokens: 8, ...more });
const rows = (page) => page.getByRole("table").locator("tbody tr");

async function begin(page, t) {
  await page.getByRole("button", { name: t("server.capture.begin") }).click();
  const dialog = page.getByRole("dialog", { name: t("server.capture.begin") });
  await dialog.getByRole("button", { name: t("server.capture.begin") }).click();
  await dialog.waitFor({ state: "detached" });
}

rig.journey("requests appear as they end, are filtered and looked at", { path: "/app/server/requests", allow: [/status of 4/] },
  async ({ page, t, server, axe }) => {
    await page.getByRole("heading", { name: t("server.requests.none") }).waitFor();
    await say(server, "Hello");
    await assert.rejects(say(server, "Hello", { temperature: -1 }), /400/);
    await rows(page).nth(1).waitFor();
    assert.equal(await rows(page).count(), 2);
    await axe();
    await page.getByLabel(t("server.requests.end")).selectOption("failed");
    await rows(page).nth(1).waitFor({ state: "detached" });
    await rows(page).getByText(`${t("server.requests.end.failed")} 400`).waitFor();
    await page.reload(); // the filter is in the address
    await settled(page);
    assert.equal(await rows(page).count(), 1);
    await rows(page).getByRole("link").click();
    await page.getByRole("alert").filter({ hasText: "temperature" }).waitFor();
    await page.getByText("/v1/chat/completions").waitFor();
    await page.getByText(t("server.requests.not_captured")).waitFor();
    await axe();
    await page.goBack();
    await rows(page).first().waitFor();
    await page.getByLabel(t("server.requests.search")).fill("nothing like this");
    await page.getByRole("heading", { name: t("server.requests.none_found") }).waitFor();
    await page.getByRole("button", { name: t("server.reset_filter") }).click();
    await rows(page).nth(1).waitFor();
  });

rig.journey("a paused list stays as it is", { path: null }, async ({ page, t, server, open }) => {
  await page.clock.install();
  await open("/app/server/requests");
  await say(server, "One");
  await rows(page).first().waitFor();
  const before = await rows(page).count();
  await page.getByRole("button", { name: t("server.pause") }).click();
  await say(server, "Two");
  await page.clock.fastForward(10000);
  await page.evaluate(() => fetch("/live")); // what the timers have sent was answered before it
  assert.equal(await rows(page).count(), before);
  await page.getByRole("button", { name: t("server.resume") }).click();
  await rows(page).nth(before).waitFor();
});

rig.journey("texts are captured on demand, shown as code, and sent again", { path: "/app/server/requests" },
  async ({ page, t, server, axe, another }) => {
    await say(server, "before, so not captured");
    await begin(page, t);
    await page.getByText(/are captured for another/).waitFor();
    await say(server, "What is a quince?", { stream: false, user: "u" });
    const other = await another();
    await other.open("/app/server/requests"); // all see that it is on
    await other.page.getByText(/are captured for another/).waitFor();
    const { id } = (await server.api("/internal/requests")).requests.find((one) => one.captured);
    await page.locator(`tbody a[href$="${id}"]`).click();
    await page.getByRole("group", { name: t("server.requests.body") }).getByText("What is a quince?").waitFor();
    assert.match(await page.getByRole("group", { name: t("server.requests.reply") }).innerText(), /chat\.completion/);
    await axe();
    await page.getByText(t("code.title")).first().click();
    const code = page.getByRole("group", { name: t("code.title") });
    for (const [language, mark] of [["python", "requests.post"], ["javascript", "await fetch"], ["curl", "curl http"]]) {
      await page.getByRole("button", { name: t(`code.${language}`), exact: true }).click();
      const text = await code.innerText();
      assert.ok(text.includes(mark) && text.includes("What is a quince?") && !text.includes("stream"), text);
    }
    const body = page.getByLabel(t("server.replay.body"), { exact: true });
    await body.fill("{");
    await page.getByText(t("server.replay.not_json")).waitFor();
    await body.fill(JSON.stringify({ model: STARTER, messages: [{ role: "user", content: "Again" }], max_tokens: 4, stream: true }));
    await page.getByRole("button", { name: t("server.replay.send") }).click();
    await page.getByText(/Took /).waitFor();
    await page.locator(".replay").getByText("[DONE]").waitFor();
    await page.getByRole("link", { name: t("server.requests.back") }).click();
    await page.getByRole("button", { name: t("server.capture.stop") }).click();
    await page.getByText(t("server.capture.off")).waitFor();
    const { requests, capture } = await server.api("/internal/requests");
    assert.equal(capture.used, 0);
    assert.ok(requests.every((r) => !r.captured));
  });

rig.journey("a request leads to its lines of the log and back", { path: "/app/server/requests" }, async ({ page, t, server }) => {
  await say(server, "Hello");
  await rows(page).first().getByRole("link").click();
  await page.getByRole("link", { name: t("server.requests.log") }).click();
  const line = page.locator(".virtual [role=option]").filter({ hasText: "tokens_s=" }).first();
  await line.click();
  await page.getByRole("link", { name: t("server.logs.request") }).click();
  await page.getByRole("heading", { name: /^Request of / }).waitFor();
});
