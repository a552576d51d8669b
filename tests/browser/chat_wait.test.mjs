// What an answer waits for before its first word, thinking that is cut short, and models that fail: each with what the
// reader is told and can do.
import assert from "node:assert/strict";
import { answered, lastMessage, messages, say } from "./chat_kit.mjs";
import { useStagedRig } from "./staged.mjs";

const rig = useStagedRig();
const ENDLESS = { tokens: 1000000, token_ms: 20, word: "word " };

/** Begins a chat with a model: /app/chat?model=NAME is how the models view links it. */
const withModel = async ({ page, open }, name) => {
  await open(`/app/chat?model=${name}`);
  await page.waitForURL(/app\/chat$/);
};
const stop = (page, t) => page.getByRole("button", { name: t("chat.stop"), exact: true }).click();

rig.journey("the stages of loading, then the place in the queue", { path: null }, async (window) => {
  const { page, t } = window, gate = rig.gate(), model = await rig.model("slow", { slots: 1, load_until: gate, ...ENDLESS });
  await withModel(window, model);
  await say(page, "first");
  await page.locator(".waiting", { hasText: t("chat.stage.loading") }).waitFor();
  assert.equal(await page.locator(".waiting progress, .waiting [role=progressbar]").count(), 1);
  rig.openGate(gate);
  await lastMessage(page).getByText("word word").waitFor();
  const first = page.url();
  await page.getByRole("link", { name: t("chat.new") }).click();
  await page.waitForURL(/app\/chat$/);
  await say(page, "second");
  const place = t("chat.queue_place").one.replace("{n}", "1");
  await page.locator(".waiting", { hasText: place }).waitFor();
  const second = page.url();
  await page.goto(first);
  await lastMessage(page).getByText("word word").waitFor();
  await stop(page, t);
  await page.getByText(t("chat.ended.stopped")).waitFor();
  await page.goto(second);
  await lastMessage(page).getByText("word word").waitFor();
  await stop(page, t);
  await page.getByText(t("chat.ended.stopped")).waitFor();
});

rig.journey("how much of the prompt is read", { path: null }, async (window) => {
  const { page, t } = window, gate = rig.gate();
  await withModel(window, await rig.model("reader", { tokens: 3, word: "word ", prefill_until: gate }));
  await say(page, "read this");
  await page.locator(".waiting", { hasText: t("chat.reading").split(":")[0] }).waitFor();
  rig.openGate(gate);
  await lastMessage(page).getByText("word word word").waitFor();
  await answered(page);
});

rig.journey("thinking is stopped, and the answer follows", { path: null }, async (window) => {
  const { page, t } = window;
  const script = [...Array.from({ length: 10000 }, (_, n) => ({ ev: "reasoning", text: `${n} ` })),
    { ev: "text", text: "So: 42." }, { ev: "done", reason: "stop" }];
  await withModel(window, await rig.model("thinker", { script, token_ms: 5 }));
  await say(page, "what is it?");
  await lastMessage(page).getByText(t("chat.thinking"), { exact: true }).waitFor();
  await lastMessage(page).getByRole("button", { name: t("chat.stop_thinking") }).click();
  await lastMessage(page).locator(".md", { hasText: "So: 42." }).waitFor();
  await answered(page);
  await lastMessage(page).locator("summary", { hasText: t("chat.thought_for").split("{")[0] }).waitFor();
  assert.equal(await page.getByText(t("chat.ended.stopped")).count(), 0, "the answer is complete");
});

rig.journey("a model that crashes while it is loaded: its last lines, and what to do", { path: null }, async (window) => {
  const { page, t, axe } = window;
  await withModel(window, await rig.model("crash", { load_crash: true, last_words: "tensor blk.0 is odd\ngoodbye\n" }));
  await say(page, "hello");
  const box = page.locator(".error-box");
  await box.getByText(/signal 6/).waitFor();
  await box.getByText(t("chat.step.crash")).waitFor();
  await box.locator("summary").click();
  await box.getByText(/SIGABRT[^]*tensor blk.0 is odd\s+goodbye/).waitFor();
  assert.match(await box.getByRole("link", { name: t("chat.see_log") }).getAttribute("href"), /\/app\/server\/logs\?model=user\.crash/);
  await axe();
});

rig.journey("a model that dies in the middle: its words stay, and it can go on", { path: null }, async (window) => {
  const { page, t } = window;
  await withModel(window, await rig.model("dies", { tokens: 6, token_ms: 50, word: "word ", crash_after: 2 }));
  await say(page, "hello");
  const said = async () => {
    await page.locator(".error-box", { hasText: t("chat.step.crash") }).waitFor();
    return (await lastMessage(page).locator(".md").innerText()).trim();
  };
  const words = await said();
  assert.match(words, /^word( word)?$/); // the process may have died before it sent its last word
  assert.equal(await messages(page).count(), 2);
  await page.reload();
  assert.equal(await said(), words);
});
