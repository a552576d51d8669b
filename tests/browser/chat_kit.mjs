// What the journeys of the chat share.
import { after } from "node:test";
import { useRig } from "./rig.mjs";
import { Upstream } from "./upstream.mjs";

/** A rig with a model that says what it is told; rig.told is the upstream, rig.model its name. */
export function useChatRig(options) {
  const rig = useRig(options, async (ready) => {
    ready.told = await Upstream.start();
    ready.model = await ready.told.register(ready.server);
  });
  after(() => rig.told?.close());
  return rig;
}

/** The page's preferences of someone who has used this model last. */
export const using = (model) => ({ "quince.model": model });

export const composer = (page) => page.locator(".composer textarea");
export const messages = (page) => page.locator("article.message");
export const lastMessage = (page) => messages(page).last();

/** Sends a message. */
export async function say(page, text) {
  await composer(page).fill(text);
  await composer(page).press("Enter");
  await page.locator("article.user", { hasText: text.split("\n")[0].slice(0, 60) }).last().waitFor();
}

/** Resolves when the server has taken a change of the chat: its head, its model. */
export const changed = (page) => page.waitForResponse((reply) => reply.request().method() === "PATCH" && reply.ok());

/** Waits until no answer of the conversation is being written. */
export async function answered(page) {
  await page.waitForFunction(() => document.querySelector("article.assistant:last-of-type, .chunk:last-of-type article.assistant") &&
    !document.querySelector('article[aria-busy="true"]'));
}

export async function ask(page, text) {
  const before = await page.locator("article.assistant").count();
  await say(page, text);
  await page.waitForFunction((n) => document.querySelectorAll("article.assistant").length > n, before);
  await answered(page);
}

/** Opens the menu of a message and chooses an action. */
export async function act(page, message, t, action) {
  await message.hover();
  await message.getByRole("button", { name: t("chat.more") }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}
