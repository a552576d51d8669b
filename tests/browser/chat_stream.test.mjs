// Answers belong to the server: reload, a second tab, another browser, lost connections and kill -9.
import assert from "node:assert/strict";
import { answered, ask, lastMessage, messages, say, useChatRig } from "./chat_kit.mjs";
import { openLine } from "./line.mjs";
import { openWindow } from "./rig.mjs";

const rig = useChatRig();
const how = (more = {}) => ({ path: "/app/chat", ...more, get storage() {
  return { "quince.model": rig.model };
} });
const journey = (name, more, steps) => rig.journey(name, how(more), steps);
const AWAY = /ERR_CONNECTION_REFUSED|ERR_FAILED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|status of 502/;

journey("a reloaded page goes on with the answer", {}, async ({ page }) => {
  rig.told.say("reload", { text: "before the reload and after it", held: 3 });
  await say(page, "reload");
  await lastMessage(page).getByText("before the reload").waitFor();
  await page.reload();
  await lastMessage(page).getByText("before the reload").waitFor();
  rig.told.go();
  await lastMessage(page).getByText("before the reload and after it").waitFor();
  await answered(page);
});

journey("a second tab and another browser see the same answer", {}, async ({ page, context, another }) => {
  rig.told.say("share", { text: "seen by all of us", held: 2 });
  await say(page, "share");
  await lastMessage(page).getByText("seen by").waitFor();
  const tab = await context.newPage(), other = await another();
  await tab.goto(page.url());
  await other.open(new URL(page.url()).pathname);
  for (const one of [tab, other.page]) await lastMessage(one).getByText("seen by").waitFor();
  rig.told.go();
  for (const one of [page, tab, other.page]) {
    await lastMessage(one).getByText("seen by all of us").waitFor();
    await answered(one);
  }
  await tab.close();
  await ask(other.page, "from the other side");
  await lastMessage(page).getByText("You said: from the other side").waitFor();
  assert.equal(await messages(page).count(), 4);
  await page.locator(".chat-row", { hasText: "share" }).first().waitFor();
});

journey("a question from another browser that is read after its answer", {}, async ({ page, another }) => {
  await ask(page, "first");
  const other = await another();
  await other.open(new URL(page.url()).pathname);
  await lastMessage(other.page).getByText("You said: first").waitFor();
  let kept = 0;
  await page.route("**/internal/messages/*", async (route) => {
    const reply = await route.fetch(), { role } = await reply.json();
    if (role === "user" && !kept++)
      await page.waitForResponse((one) => one.url().includes("/internal/messages/") && one.request().method() === "GET");
    await route.fulfill({ response: reply });
  });
  await ask(other.page, "from the other side");
  await lastMessage(page).getByText("You said: from the other side").waitFor();
  assert.equal(await messages(page).count(), 4);
  assert.equal(kept, 1);
});

journey("an answer goes on when its last window is closed", {}, async ({ page, another }) => {
  rig.told.say("alone", { text: "written while nothing was open", held: 2 });
  await say(page, "alone");
  await lastMessage(page).getByText("written while").waitFor();
  const { pathname } = new URL(page.url());
  await page.close();
  rig.told.go();
  const later = await another();
  await later.open(pathname);
  await lastMessage(later.page).getByText("written while nothing was open").waitFor();
  await answered(later.page);
});

journey("several chats answer at once", {}, async ({ page, t }) => {
  rig.told.say("left", { text: "left one and two", held: 2 });
  rig.told.say("right", { text: "right one and two", held: 2 });
  await say(page, "left");
  await lastMessage(page).getByText("left one").waitFor();
  await page.getByRole("link", { name: t("chat.new") }).click();
  await page.waitForURL(/app\/chat$/);
  await say(page, "right");
  await lastMessage(page).getByText("right one").waitFor();
  await page.locator(".busy-dot").nth(1).waitFor();
  rig.told.go();
  await lastMessage(page).getByText("right one and two").waitFor();
  await page.locator(".chat-row a", { hasText: "left" }).click();
  await lastMessage(page).getByText("left one and two").waitFor();
  await page.waitForFunction(() => !document.querySelector(".busy-dot"));
});

journey("kill -9 of the server loses nothing that was shown; the answer can go on", { worker: true, allow: [AWAY] }, async ({ page, t, server }) => {
  rig.told.say("crash", { text: "this was shown before the crash", held: 4 });
  await say(page, "crash");
  await lastMessage(page).getByText("this was shown before").waitFor();
  await server.kill();
  rig.told.go();
  await page.getByText(t("shell.unreachable")).waitFor();
  assert.equal((await lastMessage(page).locator(".md").innerText()).trim(), "this was shown before");
  await server.run();
  await page.getByText(t("chat.ended.interrupted")).waitFor();
  assert.equal((await lastMessage(page).locator(".md").innerText()).trim(), "this was shown before");
  rig.told.say("crash", { text: " and after" });
  await lastMessage(page).getByRole("button", { name: t("chat.continue") }).click();
  await lastMessage(page).getByText("this was shown before and after").waitFor();
});

// The journey above ends a server that waits; here it is in the middle of writing.
journey("kill -9 in a quick answer keeps each word that was shown", { allow: [AWAY] }, async ({ page, t, server }) => {
  const words = Array.from({ length: 2000 }, (_, n) => `w${n}`).join(" ");
  rig.told.say("quick", { text: words, ms: 4 });
  await say(page, "quick");
  await lastMessage(page).getByText("w40 ").waitFor();
  await server.kill();
  await page.getByText(t("shell.unreachable")).waitFor(); // what has arrived is shown
  const shown = (await lastMessage(page).locator(".md").innerText()).trim();
  await server.run();
  await page.getByText(t("chat.ended.interrupted")).waitFor();
  const kept = (await lastMessage(page).locator(".md").innerText()).trim();
  assert.ok(shown.startsWith("w0 w1 ") && words.startsWith(kept) && kept.startsWith(shown), `${shown.slice(-40)} | ${kept.slice(-40)}`);
  await page.reload();
  await lastMessage(page).getByText("w40 ").waitFor();
  assert.equal((await lastMessage(page).locator(".md").innerText()).trim(), kept);
});

journey("a lost connection to the stream is taken up again", { path: null }, async ({ browser, server }) => {
  const line = await openLine(server.url);
  const { context, page } = await openWindow(browser, line.url, { storage: how().storage });
  rig.told.say("radio", { text: "alpha bravo charlie", held: 2 });
  await page.goto("/app/chat");
  await say(page, "radio");
  await lastMessage(page).getByText("alpha bravo").waitFor();
  line.cut();
  rig.told.go();
  await lastMessage(page).getByText("alpha bravo charlie").waitFor();
  await answered(page);
  await context.close();
  await line.close();
});

journey("the server is restarted under an open page", { worker: true, allow: [AWAY] }, async ({ page, t, server }) => {
  await ask(page, "before the restart");
  await server.stop();
  await page.reload({ waitUntil: "commit" }).catch(() => {});
  await server.run();
  await page.goto("/app/chat");
  await page.locator(".chat-row a", { hasText: "before the restart" }).click();
  await lastMessage(page).getByText("You said: before the restart").waitFor();
  await ask(page, "after it");
  await lastMessage(page).getByText("You said: after it").waitFor();
  assert.ok(t("chat.new"));
});
