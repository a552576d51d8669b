/* The first message of a chat makes the chat. */
import { batch } from "../../lib/html.js";
import { go, href } from "../../lib/route.js";
import { addChat } from "../../store/chats.js";
import { conversationOf, showConversation } from "../../store/open_chats.js";
import { askOf, clearDraft, settingsOf } from "./settings.js";

const TITLE_MAX = 60;

/* A title from the first line of a text. */
export function titleOf(text) {
    const line = text.split("\n").find((one) => one.trim())?.trim() ?? "";
    if (line.length <= TITLE_MAX)
        return line;
    const cut = line.slice(0, TITLE_MAX), space = cut.lastIndexOf(" ");
    return `${space > TITLE_MAX / 2 ? cut.slice(0, space) : cut} …`;
}

/* said: {text, parts}. Goes to the new chat. */
export async function begin(said) {
    const { model, system, params } = settingsOf(null);
    const chat = await addChat({ title: titleOf(said.text || (said.parts[0]?.name ?? "")), model, system, params });
    const conversation = conversationOf(chat.id);
    batch(() => {
        conversation.chat.value = chat;
        showConversation(conversation, { fresh: true });
        go(href("chat", chat.id), { replace: true });
        clearDraft();
    });
    await conversation.say({ ...said, parent: null }, askOf(conversation));
}
