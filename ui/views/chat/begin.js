/* The first message of a chat makes the chat. */
import { batch } from "../../lib/html.js";
import { go, href } from "../../lib/route.js";
import { addChat, purgeChat } from "../../store/chats.js";
import { conversationOf, forgetConversation, showConversation } from "../../store/open_chats.js";
import { askOf, clearDraft, draft, settingsOf } from "./settings.js";

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
    try {
        await conversation.say({ ...said, parent: null }, askOf(conversation));
    } catch (error) {
        /* Back to the empty chat, whose field still has the text. */
        forgetConversation(chat.id);
        purgeChat(chat.id).catch(() => {});
        batch(() => {
            draft.value = { model, system, params };
            go(href("chat"), { replace: true });
        });
        throw error;
    }
}
