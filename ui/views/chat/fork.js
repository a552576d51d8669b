/* A new chat that begins with a copy of another up to one message. */
import { post } from "../../lib/client.js";
import { addChat } from "../../store/chats.js";

/* Returns the new chat's id. */
export async function forkInto(conversation, id) {
    const { title, folder, model, system, params } = conversation.chat.value;
    const chat = await addChat({ title, folder, model, system, params });
    const path = conversation.pathMessages();
    let parent = null;
    for (const { role, text, parts } of path.slice(0, path.findIndex((m) => m.id === id) + 1)) {
        const message = await post("/internal/messages", { chat: chat.id, parent, role, text, parts: parts ?? [] });
        parent = message.id;
    }
    return chat.id;
}
