// The list of chats: names, folders, pins, search, deletion with a way back, export and import.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { act, ask, lastMessage, messages, useChatRig } from "./chat_kit.mjs";

const rig = useChatRig();
const how = (more = {}) => ({ path: "/app/chat", ...more, get storage() {
  return { "quince.model": rig.model };
} });
const journey = (name, more, steps) => rig.journey(name, how(more), steps);

const row = (page, title) => page.locator(".chat-row", { hasText: title });

async function actOnChat(page, t, title, action) {
  await row(page, title).hover();
  await page.getByRole("button", { name: t("chat.actions_for").replace("{title}", title), exact: true }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

async function choose(page, t, action) {
  await page.getByRole("button", { name: t("chat.list_actions") }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

journey("a chat is renamed, moved to a folder and pinned", {}, async ({ page, t }) => {
  await ask(page, "a chat to keep");
  await actOnChat(page, t, "a chat to keep", t("chat.rename"));
  await page.getByRole("textbox", { name: t("chat.title") }).fill("Kept");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Kept" }).waitFor();
  await actOnChat(page, t, "Kept", t("chat.move"));
  await page.getByRole("combobox", { name: t("chat.folder") }).fill("Work");
  await page.keyboard.press("Enter");
  await page.locator(".folder summary", { hasText: "Work" }).waitFor();
  await actOnChat(page, t, "Kept", t("chat.pin"));
  await page.locator(".section-title", { hasText: t("chat.pinned") }).waitFor();
  await page.reload();
  await page.locator("section", { hasText: t("chat.pinned") }).locator(".chat-row", { hasText: "Kept" }).waitFor();
});

journey("search finds words in messages and goes there, on whichever branch they are", {}, async ({ page, t }) => {
  rig.told.say("where", { text: "The zeppelin is over the lake." });
  await ask(page, "where");
  rig.told.say("where", { text: "It has landed." });
  await lastMessage(page).getByRole("button", { name: t("chat.retry") }).click();
  await lastMessage(page).getByText("It has landed.").waitFor();
  await page.getByRole("link", { name: t("chat.new") }).click();
  await page.getByRole("searchbox", { name: t("chat.search") }).fill("zeppelin");
  await page.locator(".hits mark", { hasText: /zeppelin/i }).first().waitFor();
  assert.equal(await page.locator(".hits li").count(), 1);
  await page.locator(".hits a.found").first().click();
  await page.locator("article.marked", { hasText: "over the lake" }).waitFor();
  await page.getByRole("searchbox", { name: t("chat.search") }).fill("qqqqq");
  await page.getByText(t("chat.no_hits")).waitFor();
});

journey("the command palette finds chats", {}, async ({ page }) => {
  await ask(page, "marmalade recipe");
  await page.goto("/app/models");
  await page.goto("/app/chat");
  await page.locator(".chat-row").first().waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("marmal");
  await page.getByRole("option", { name: /marmalade/ }).first().click();
  await page.waitForURL(/app\/chat\/[0-9a-f]{32}/);
});

journey("deleting a chat can be undone, and later still", {}, async ({ page, t }) => {
  await ask(page, "delete me");
  await actOnChat(page, t, "delete me", t("chat.delete"));
  await page.waitForURL(/app\/chat$/);
  assert.equal(await row(page, "delete me").count(), 0);
  await page.getByRole("button", { name: t("action.undo") }).click();
  await lastMessage(page).getByText("You said: delete me").waitFor();
  await actOnChat(page, t, "delete me", t("chat.delete"));
  await choose(page, t, t("chat.trash"));
  await page.getByRole("dialog").getByRole("button", { name: t("chat.restore") }).first().click();
  await row(page, "delete me").waitFor();
  await page.keyboard.press("Escape");
  await actOnChat(page, t, "delete me", t("chat.delete"));
  await choose(page, t, t("chat.trash"));
  await page.getByRole("dialog").getByRole("button", { name: t("chat.purge") }).first().click();
  await page.getByRole("dialog", { name: t("chat.purge") }).getByRole("button", { name: t("chat.purge") }).click();
  await page.getByText(t("chat.trash_empty")).waitFor();
});

journey("several chats are deleted at once, with a way back", {}, async ({ page, t }) => {
  for (const text of ["bulk one", "bulk two"]) {
    await ask(page, text);
    await page.getByRole("link", { name: t("chat.new") }).click();
    await page.waitForURL(/app\/chat$/);
  }
  await choose(page, t, t("chat.select"));
  for (const text of ["bulk one", "bulk two"]) await page.getByRole("checkbox", { name: text }).check();
  await page.getByRole("group", { name: t("chat.selection") }).getByRole("button", { name: t("chat.delete") }).click();
  await page.waitForFunction(() => !document.body.innerText.includes("bulk one"));
  await page.getByRole("button", { name: t("action.undo") }).click();
  await row(page, "bulk one").waitFor();
  await row(page, "bulk two").waitFor();
});

journey("export and import: a chat comes back as it was", {}, async ({ page, t, server }) => {
  await ask(page, "export this");
  const save = async (action) => {
    await page.getByRole("button", { name: t("chat.actions"), exact: true }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: action }).click()]);
    return { name: download.suggestedFilename(), path: await download.path() };
  };
  const markdown = await save(t("chat.export_markdown"));
  assert.equal(markdown.name, "export this.md");
  assert.match(readFileSync(markdown.path, "utf8"), /You said: export this/);
  const json = await save(t("chat.export_json"));
  const id = new URL(page.url()).pathname.split("/").at(-1);
  await server.api(`/internal/chats/${id}`, undefined, { method: "DELETE" });
  await page.goto("/app/chat");
  await page.locator(".chats input[type=file]").setInputFiles(json.path);
  await row(page, "export this").click();
  await lastMessage(page).getByText("You said: export this").waitFor();
  assert.equal(await messages(page).count(), 2);
});

journey("a conversation goes on in a new chat", {}, async ({ page, t }) => {
  await ask(page, "fork here");
  const before = page.url();
  await act(page, lastMessage(page), t, t("chat.fork"));
  await page.waitForURL((url) => url.href !== before);
  await lastMessage(page).getByText("You said: fork here").waitFor();
  await ask(page, "in the new one");
  assert.equal(await messages(page).count(), 4);
});

journey("a link to a message opens there", {}, async ({ page, t }) => {
  await ask(page, "link one");
  await ask(page, "link two");
  await act(page, messages(page).nth(1), t, t("chat.link"));
  await page.goto(await page.evaluate(() => navigator.clipboard.readText()));
  await page.locator("article.marked", { hasText: "You said: link one" }).waitFor();
});

journey("the list is accessible while selecting, searching, and in a drawer", {}, async ({ page, t, axe }) => {
  await ask(page, "look around");
  await choose(page, t, t("chat.select"));
  await axe(".nav");
  await page.getByRole("button", { name: t("chat.select_end") }).click();
  await page.getByRole("searchbox", { name: t("chat.search") }).fill("look");
  await page.locator(".hits a").first().waitFor();
  await axe(".nav");
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole("button", { name: t("nav.menu") }).click();
  await axe();
});
