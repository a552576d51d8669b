// With what a model is asked: files, model, system prompt, parameters, form of the answer.
import assert from "node:assert/strict";
import { ask, changed, composer, lastMessage, say, useChatRig } from "./chat_kit.mjs";
import { STARTER } from "./server.mjs";

const rig = useChatRig();
const how = (more = {}) => ({ path: "/app/chat", ...more, get storage() {
  return { "quince.model": rig.model, ...more.storage };
} });
const journey = (name, more, steps) => rig.journey(name, how(more), steps);

const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const picture = { name: "pixel.png", mimeType: "image/png", buffer: PIXEL };
const attach = (page, ...files) => page.locator(".composer input[type=file]").setInputFiles(files);

const drop = (page, name, type, text) => page.evaluate(([n, kind, content]) => {
  const data = new DataTransfer();
  data.items.add(new File([content], n, { type: kind }));
  for (const event of ["dragenter", "dragover", "drop"])
    document.querySelector(".thread-scroll").dispatchEvent(new DragEvent(event, { dataTransfer: data, bubbles: true, cancelable: true }));
}, [name, type, text]);

journey("a picture is sent to a model that sees", {}, async ({ page }) => {
  await attach(page, picture);
  await page.locator(".attachments", { hasText: "pixel.png" }).waitFor();
  await ask(page, "look");
  await page.locator(".picture-part img").waitFor();
  const asked = rig.told.requests.at(-1).messages.at(-1).content;
  assert.deepEqual(asked.map((part) => part.type), ["image_url", "text"]);
  assert.equal(asked[0].image_url.url, `data:image/png;base64,${PIXEL.toString("base64")}`);
  await page.reload();
  await page.locator(".picture-part img").waitFor();
  await page.locator(".picture-part").click();
  await page.getByRole("dialog").locator("img").waitFor();
});

journey("a picture is refused before it is sent to a model that cannot see", { storage: { "quince.model": STARTER } }, async ({ page, t }) => {
  await attach(page, picture);
  await page.locator(".composer [role=alert]", { hasText: "pixel.png" }).waitFor();
  await composer(page).fill("look");
  assert.ok(await page.getByRole("button", { name: t("chat.send") }).isDisabled());
  await page.getByRole("button", { name: t("chat.file.remove").replace("{name}", "pixel.png") }).click();
  assert.ok(await page.getByRole("button", { name: t("chat.send") }).isEnabled());
});

journey("a text that is dropped, and one that is pasted, go along", {}, async ({ page, t }) => {
  await drop(page, "notes.md", "text/markdown", "# Notes\nthe cellar door");
  await page.locator(".attachments", { hasText: "notes.md" }).waitFor();
  await composer(page).focus();
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "pasted ".repeat(2000));
    document.querySelector(".composer textarea").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await page.locator(".attachments", { hasText: t("chat.file.pasted") }).waitFor();
  await ask(page, "read these");
  const asked = JSON.stringify(rig.told.requests.at(-1).messages.at(-1).content);
  assert.match(asked, /the cellar door/);
  assert.match(asked, /pasted pasted/);
});

journey("files that nothing here can read are left out, with the reason", {}, async ({ page }) => {
  await attach(page, { name: "a.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4") },
    { name: "a.zip", mimeType: "application/zip", buffer: Buffer.from("PK") });
  await page.locator(".toast", { hasText: "a.pdf" }).waitFor();
  await page.locator(".toast", { hasText: "a.zip" }).waitFor();
  assert.equal(await page.locator(".attachments").count(), 0);
});

journey("the model is chosen by keys, and kept with the chat", {}, async ({ page, t }) => {
  await ask(page, "who");
  await page.keyboard.press("Alt+m");
  await page.getByRole("listbox", { name: t("chat.models") }).waitFor();
  while (!(await page.locator(".picker .active").innerText()).includes(STARTER)) await page.keyboard.press("ArrowDown");
  await Promise.all([changed(page), page.keyboard.press("Enter")]);
  await ask(page, "What is quince?");
  assert.match(await lastMessage(page).locator(".figures").innerText(), /quince-starter/);
  await page.reload();
  await lastMessage(page).waitFor();
  assert.match(await page.locator(".picked-model").innerText(), /quince-starter/);
});

journey("the address names the model of a new chat", {}, async ({ page, open, t }) => {
  await open(`/app/chat?model=${STARTER}`);
  await page.locator(".picked-model", { hasText: STARTER }).waitFor();
  await page.waitForURL(/app\/chat$/);
  await ask(page, "What is quince?");
  assert.match(await lastMessage(page).locator(".figures").innerText(), /quince-starter/);
  await open("/app/chat?model=user.no-such");
  await page.locator(".toast", { hasText: t("chat.model_not_here").replace("{model}", "no-such") }).waitFor();
  await page.waitForURL(/app\/chat$/);
});

journey("another model answers the same message", {}, async ({ page, t }) => {
  await ask(page, "What is quince?");
  await lastMessage(page).getByRole("button", { name: t("chat.more") }).click();
  await page.getByRole("menuitem", { name: t("chat.retry_with").replace("{model}", STARTER) }).click();
  await lastMessage(page).getByText("2/2").waitFor();
  await lastMessage(page).locator(".figures", { hasText: STARTER }).waitFor();
});

journey("system prompt and parameters are the chat's", {}, async ({ page, t, axe }) => {
  await page.keyboard.press("Alt+s");
  const panel = page.getByRole("complementary", { name: t("chat.settings") });
  await panel.getByRole("textbox", { name: t("chat.system") }).fill("You are terse.");
  await panel.getByRole("spinbutton", { name: t("chat.param.temperature") }).fill("0.25");
  await panel.getByRole("combobox", { name: t("chat.effort") }).selectOption("low");
  await axe();
  await ask(page, "hello");
  const asked = rig.told.requests.at(-1);
  assert.deepEqual(asked.messages[0], { role: "system", content: "You are terse." });
  assert.equal(asked.temperature, 0.25);
  await page.reload();
  await lastMessage(page).waitFor();
  await page.keyboard.press("Alt+s");
  await page.waitForFunction(() => document.querySelector(".chat-panel textarea")?.value === "You are terse.");
});

journey("a preset is made, chosen in another browser, and deleted", {}, async ({ page, t, axe, another }) => {
  const preset = (on) => on.getByRole("combobox", { name: t("chat.preset"), exact: true });
  const system = (on) => on.getByRole("textbox", { name: t("chat.system") });
  await page.keyboard.press("Alt+s");
  await system(page).fill("You are a pirate.");
  await page.getByRole("spinbutton", { name: t("chat.param.temperature") }).fill("1.5");
  await page.getByRole("button", { name: t("chat.preset.save") }).click();
  await axe();
  await page.getByRole("textbox", { name: t("chat.preset.name") }).fill("Pirate");
  await page.keyboard.press("Enter");
  await page.locator(".toast", { hasText: "Pirate" }).waitFor();
  assert.equal(await preset(page).locator("option:checked").innerText(), "Pirate");

  const other = await another();
  await other.open("/app/chat");
  await other.page.keyboard.press("Alt+s");
  await system(other.page).fill("You are terse.");
  await preset(other.page).selectOption({ label: "Pirate" });
  await other.page.locator(".toast").getByRole("button", { name: t("action.undo") }).click(); // what was typed comes back
  assert.equal(await system(other.page).inputValue(), "You are terse.");
  await preset(other.page).selectOption({ label: "Pirate" });
  await ask(other.page, "hello");
  const asked = rig.told.requests.at(-1);
  assert.deepEqual([asked.messages[0].content, asked.temperature], ["You are a pirate.", 1.5]);

  await page.getByRole("button", { name: t("chat.preset.delete") }).click();
  await page.locator(".toast", { hasText: t("chat.preset.deleted").replace("{name}", "Pirate") }).waitFor();
  await preset(other.page).locator("option", { hasText: "Pirate" }).waitFor({ state: "detached" });
  assert.equal(await system(other.page).inputValue(), "You are a pirate.", "the chat keeps its settings");
  await page.locator(".toast", { hasText: t("chat.preset.deleted").replace("{name}", "Pirate") }).getByRole("button", { name: t("action.undo") }).click();
  await preset(other.page).locator("option", { hasText: "Pirate" }).waitFor({ state: "attached" });
});

journey("an answer in JSON of a schema", { storage: { "quince.model": STARTER } }, async ({ page, t }) => {
  await page.keyboard.press("Alt+s");
  await page.getByRole("combobox", { name: t("chat.output") }).selectOption("json_schema");
  const schema = page.getByRole("textbox", { name: t("chat.schema") });
  await schema.fill("{ not json");
  await page.locator(".chat-panel .field-error").waitFor();
  await schema.fill('{"type":"object","properties":{"port":{"type":"integer","minimum":1,"maximum":99}},"required":["port"],"additionalProperties":false}');
  await ask(page, "Which port?");
  const { port } = JSON.parse(await lastMessage(page).locator(".md").innerText());
  assert.ok(Number.isInteger(port) && port >= 1 && port <= 99);
});

journey("the gauge says what fills the context", {}, async ({ page, t, axe }) => {
  rig.told.say("fill", { text: "Full.", prompt: 16000 });
  await ask(page, "fill");
  await page.locator(".composer-foot .popover-root button").last().click();
  const box = page.getByRole("dialog", { name: t("chat.context") });
  await box.getByText(t("chat.part.free")).waitFor();
  assert.match(await box.innerText(), /32,768/);
  await axe();
  await page.keyboard.press("Escape");
  assert.equal(await box.count(), 0);
});

journey("in German", { language: "de" }, async ({ page, t }) => {
  await ask(page, "hallo");
  await lastMessage(page).getByRole("button", { name: t("chat.retry") }).waitFor();
  assert.equal(await composer(page).getAttribute("placeholder"), t("chat.placeholder"));
  await say(page, "noch einmal");
});
