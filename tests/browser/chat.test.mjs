// A conversation: first answer, stopping, editing, branches, reasoning, errors.
import assert from "node:assert/strict";
import { act, answered, ask, changed, composer, lastMessage, messages, say, useChatRig } from "./chat_kit.mjs";
import { SIZES, outside } from "./rig.mjs";
import { STARTER } from "./server.mjs";

const rig = useChatRig();
const how = (more = {}) => ({ path: "/app/chat", ...more, get storage() {
  return { "quince.model": rig.model, ...more.storage };
} });
const journey = (name, more, steps) => rig.journey(name, how(more), steps);

journey("first visit: a suggestion is answered by the starter", { storage: { "quince.model": STARTER } }, async ({ page, t }) => {
  await page.getByRole("button", { name: t("chat.suggest.what") }).click();
  await page.waitForURL(/app\/chat\/[0-9a-f]{32}$/);
  await answered(page);
  assert.match(await lastMessage(page).locator(".md").innerText(), /quince/i);
  assert.match(await lastMessage(page).locator(".figures").innerText(), /quince-starter.*tokens/);
  assert.equal(await page.title(), `${t("chat.suggest.what")} – quince`);
  assert.equal(await page.locator(".chat-row a[aria-current]").innerText(), t("chat.suggest.what"));
});

journey("an answer is shown while it is written, and can be stopped and continued", {}, async ({ page, t }) => {
  rig.told.say("count", { text: "one two three four five six", held: 3 });
  await say(page, "count");
  await lastMessage(page).getByText("one two three").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText(t("chat.ended.stopped")).waitFor();
  assert.equal((await lastMessage(page).locator(".md").innerText()).trim(), "one two three");
  rig.told.go();
  rig.told.say("count", { text: " and on to ten" });
  await lastMessage(page).getByRole("button", { name: t("chat.continue") }).click();
  await lastMessage(page).getByText("one two three and on to ten").waitFor();
  await answered(page);
});

journey("an answer at its limit of tokens says so", {}, async ({ page, t }) => {
  rig.told.say("long", { text: "It goes on", finish: "length" });
  await ask(page, "long");
  await page.getByText(t("chat.ended.cut")).waitFor();
});

journey("retry, branches and their switch", {}, async ({ page, t }) => {
  rig.told.say("colour", { text: "Red." });
  await ask(page, "colour");
  rig.told.say("colour", { text: "Blue." });
  await lastMessage(page).getByRole("button", { name: t("chat.retry") }).click();
  await lastMessage(page).getByText("Blue.").waitFor();
  await answered(page);
  await lastMessage(page).getByText("2/2").waitFor();
  await Promise.all([changed(page), lastMessage(page).getByRole("button", { name: t("chat.branch_before") }).click()]);
  await lastMessage(page).getByText("Red.").waitFor();
  await page.reload(); // the branch that was shown last is shown again
  await lastMessage(page).getByText("Red.").waitFor();
});

journey("editing a message makes a branch, and leaves the old one", {}, async ({ page, t }) => {
  await ask(page, "first text");
  const mine = messages(page).first();
  await mine.hover();
  await mine.getByRole("button", { name: t("chat.edit") }).click();
  await page.getByRole("textbox", { name: t("chat.edit_text") }).fill("second text");
  await page.locator(".editor").getByRole("button", { name: t("chat.edit_send") }).click();
  await lastMessage(page).getByText("You said: second text").waitFor();
  await mine.getByText("2/2").waitFor();
  await mine.getByRole("button", { name: t("chat.branch_before") }).click();
  await lastMessage(page).getByText("You said: first text").waitFor();
});

journey("an answer is edited", {}, async ({ page, t }) => {
  await ask(page, "say something");
  await lastMessage(page).getByRole("button", { name: t("chat.edit") }).click();
  await page.getByRole("textbox", { name: t("chat.edit_text") }).fill("My **own** words");
  await page.getByRole("button", { name: t("chat.edit_save") }).click();
  await lastMessage(page).locator("strong", { hasText: "own" }).waitFor();
  await lastMessage(page).getByText("2/2").waitFor();
  await ask(page, "and then");
  assert.ok(rig.told.requests.at(-1).messages.some(({ content }) => content === "My **own** words"));
});

journey("a branch is deleted and comes back", {}, async ({ page, t }) => {
  await ask(page, "keep this");
  await ask(page, "drop this");
  await act(page, messages(page).nth(2), t, t("chat.delete_branch"));
  await page.getByText(t("chat.branch_deleted")).waitFor();
  assert.equal(await messages(page).count(), 2);
  await page.getByRole("button", { name: t("action.undo") }).click();
  await lastMessage(page).getByText("You said: drop this").waitFor();
  assert.equal(await messages(page).count(), 4);
});

journey("two answers beside each other, with the words that differ", {}, async ({ page, t, axe }) => {
  rig.told.say("port", { text: "The port is 80." });
  await ask(page, "port");
  rig.told.say("port", { text: "The port is 13305." });
  await lastMessage(page).getByRole("button", { name: t("chat.retry") }).click();
  await lastMessage(page).getByText("13305").waitFor();
  await answered(page);
  await act(page, lastMessage(page), t, t("chat.compare"));
  const dialog = page.getByRole("dialog");
  assert.equal(await dialog.locator("del").innerText(), "80");
  assert.equal(await dialog.locator("ins").innerText(), "13305");
  await axe();
  await dialog.getByRole("button", { name: t("chat.compare_use") }).first().click();
  await lastMessage(page).getByText("The port is 80.").waitFor();
});

journey("reasoning is folded and says how long it took", {}, async ({ page, t }) => {
  rig.told.say("think", { think: "Let me see.", text: "Done." });
  await ask(page, "think");
  const summary = lastMessage(page).locator(".reasoning summary");
  assert.equal(await page.getByText("Let me see.").count(), 0);
  await summary.click();
  await page.getByText("Let me see.").waitFor();
  assert.ok((await summary.innerText()).length > 3);
  assert.ok(t("chat.thought"));
});

journey("a model that fails says why and what to do", { allow: [/status of 5/] }, async ({ page, t }) => {
  rig.told.say("break", { status: 500, error: "out of paper" });
  await say(page, "break");
  const box = page.locator(".error-box");
  await box.getByText(/out of paper/).waitFor();
  rig.told.say("break", { text: "Mended." });
  await box.getByRole("button", { name: t("action.retry") }).click();
  await lastMessage(page).getByText("Mended.").waitFor();
});

journey("a broken connection to the model keeps what had come", {}, async ({ page }) => {
  rig.told.say("snap", { text: "one two three four", cut: 2 });
  await say(page, "snap");
  await page.locator(".error-box").waitFor();
  assert.equal((await lastMessage(page).locator(".md").innerText()).trim(), "one two");
});

journey("tables, code, formulas", {}, async ({ page, t }) => {
  rig.told.say("show", { text: "| a | b |\n|---|--:|\n| c | 1 |\n\n```python\nprint('x')\n```\n\n$$\\frac{1}{2}$$\n\nEnd $x^2$." });
  await ask(page, "show");
  const answer = lastMessage(page);
  assert.equal(await answer.locator("td").last().innerText(), "1");
  await answer.locator("math mfrac").waitFor();
  await answer.locator("math msup").waitFor();
  await answer.locator(".hljs-string", { hasText: "'x'" }).waitFor();
  await answer.locator(".code").getByRole("button", { name: t("action.copy") }).click();
  await answer.locator(".code").getByText(t("action.copied")).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "print('x')");
  const [download] = await Promise.all([page.waitForEvent("download"), answer.getByRole("button", { name: t("chat.download") }).click()]);
  assert.equal(download.suggestedFilename(), "quince.py");
});

journey("what was typed and not sent is found again", {}, async ({ page }) => {
  await composer(page).fill("half a thought");
  await page.reload();
  assert.equal(await composer(page).inputValue(), "half a thought");
});

journey("a first message that cannot be stored stays in its field", { allow: [/status of 503/] }, async ({ page, context }) => {
  await context.route("**/internal/messages", (route) => route.fulfill({ status: 503, json: { error: { message: "the disk is full" } } }));
  await composer(page).fill("do not lose me");
  await composer(page).press("Enter");
  await page.locator(".toast", { hasText: "the disk is full" }).waitFor();
  await page.waitForURL(/app\/chat$/);
  assert.equal(await composer(page).inputValue(), "do not lose me");
  await context.unrouteAll();
  await composer(page).press("Enter");
  await lastMessage(page).getByText("You said: do not lose me").waitFor();
});

journey("keyboard alone: write, edit, move, go to another chat", {}, async ({ page, t }) => {
  await page.keyboard.type("by keys");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("second line");
  await page.keyboard.press("Enter");
  await lastMessage(page).getByText("You said: by keys").waitFor();
  await answered(page);
  await page.keyboard.press("ArrowUp");
  await page.getByRole("textbox", { name: t("chat.edit_text") }).waitFor();
  await page.keyboard.type("!");
  await page.keyboard.press("Control+Enter");
  await messages(page).first().getByText("second line!").waitFor();
  await answered(page);
  await page.keyboard.press("Alt+ArrowUp");
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "ARTICLE");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA");
  await page.keyboard.press("Alt+n");
  await page.waitForURL(/app\/chat$/);
});

journey("an answer is announced in whole sentences", {}, async ({ page, t }) => {
  rig.told.say("speak", { text: "The first sentence ends. The second one", held: 5 });
  await say(page, "speak");
  const live = page.locator('.thread-scroll [aria-live="polite"]');
  await live.getByText("The first sentence ends.").waitFor();
  rig.told.go();
  await live.getByText(t("chat.answer_ends")).waitFor();
  assert.match(await live.innerText(), /The second one/);
});

journey("with an answer the view stays accessible, in both themes and on a telephone", {}, async ({ page, axe }) => {
  rig.told.say("all", { think: "Hm.", text: "# H\n\n> q\n\n- a\n\n| a |\n|---|\n| b |\n\n```js\nconst a = 'b'; // c\n```\n\n[link](https://example.org)", prompt: 20000 });
  await ask(page, "all");
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await axe();
  }
  for (const size of [SIZES.zoomed, SIZES.narrow]) {
    await page.setViewportSize(size);
    assert.deepEqual(await outside(page), [], `at ${size.width} pixels`);
  }
  await axe();
  await page.keyboard.press("Alt+s");
  await page.locator(".chat-panel").waitFor();
  assert.deepEqual(await outside(page), []);
  await axe();
});

journey("a question is asked while what shows messages is still loaded", { path: null }, async ({ page }) => {
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  await page.route("**/views/chat/thread.js", async (route) => { await held; await route.continue(); });
  await page.goto("/app/chat");
  await composer(page).fill("early");
  await composer(page).press("Enter");
  await page.waitForURL(/app\/chat\/\w+/);
  assert.equal(await messages(page).count(), 0);
  release();
  await lastMessage(page).getByText("You said: early").waitFor();
  assert.equal(await messages(page).count(), 2);
});

journey("a part of the page that cannot be loaded says so", { path: null, allow: [/panel.js|ERR_FAILED/] }, async ({ page, t }) => {
  await page.route("**/views/chat/panel.js", (route) => route.abort());
  await page.goto("/app/chat");
  await composer(page).fill("kept");
  await page.getByRole("button", { name: t("chat.settings") }).click();
  await page.getByRole("alert").getByRole("button", { name: t("action.retry") }).waitFor();
  assert.equal(await composer(page).inputValue(), "kept");
});
