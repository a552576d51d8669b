/* The conversations that are kept in memory, and the one that is shown. */
import { signal } from "../lib/html.js";
import { heard, watchEvents } from "./chat_events.js";
import { Conversation } from "./conversation.js";

const KEPT_MAX = 12;

const kept = new Map(); /* id -> Conversation, used last at the end */

/* The conversation of a chat; the same object each time, so that answers go on while others are read. */
export function conversationOf(id) {
    const conversation = kept.get(id) ?? new Conversation(id);
    kept.delete(id);
    kept.set(id, conversation);
    for (const [old, one] of kept) {
        if (kept.size <= KEPT_MAX)
            break;
        if (!one.unfinished.peek().size && old !== id)
            kept.delete(old);
    }
    return conversation;
}

export const forgetConversation = (id) => {
    kept.get(id)?.pause();
    kept.delete(id);
};

/* The conversation that is shown is kept up to date; others are read when they are shown again. */
export const current = signal(null);

let unwatch = null;

/* Called when a conversation is shown (null: none is). fresh: it has just been made, there is nothing
 * to read. */
export function showConversation(conversation, { fresh = false } = {}) {
    const before = current.peek();
    if (before === conversation)
        return;
    if (before) {
        before.shown = false;
        before.pause();
    }
    if (conversation)
        conversation.shown = true;
    current.value = conversation;
    const read = () => conversation.read().then(() => current.peek() === conversation && conversation.resume());
    unwatch?.();
    unwatch = conversation && watchEvents(read);
    if (conversation && !fresh)
        read();
}

heard((event) => {
    const conversation = current.peek();
    if (!conversation)
        return;
    if (event.type === "resync")
        conversation.read();
    else if (event.type === "chat" && event.chat.id === conversation.id)
        conversation.noteChat(event.chat);
    else if (event.chat !== conversation.id || !event.message)
        return;
    else if (event.type === "gone")
        conversation.noteGone(event.message);
    else
        conversation.noteChange(event.message, event.state);
});

/* A page that is not seen reads no streams; chat_events.js has it read again what it has missed. */
document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible")
        current.peek()?.pause();
});
