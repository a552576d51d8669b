/* The reader's chats as a list, and what can be done with them. The server keeps them; its events
 * say what other tabs and devices have changed. */
import { signal } from "../lib/html.js";
import { api, del, get, patch, post } from "../lib/client.js";
import { isUnfinished } from "../lib/chat/records.js";
import { heard, watchEvents } from "./chat_events.js";

const PAGE = 100;
const RELOAD_MS = 400; /* many changes at once are read together */

/* {all: [chat], folders: [{name, n}], next, loaded, error}; `all` as the server orders it: pinned
 * first, then the newest. next: where the list goes on, or null. */
export const chats = signal({ all: [], folders: [], next: null, loaded: false, error: null });

const byOrder = (a, b) => Number(b.pinned) - Number(a.pinned) || b.updated - a.updated;

/* Reads the list from its beginning, as far as it has been read before. */
export async function loadChats() {
    const want = Math.max(PAGE, Math.min(chats.peek().all.length, 200));
    try {
        const { chats: all, folders, next = null } = await get(`/internal/chats?limit=${want}`);
        chats.value = { all, folders, next: next ?? null, loaded: true, error: null };
    } catch (error) {
        chats.value = { ...chats.peek(), error };
    }
}

export async function loadMore() {
    const { next, all } = chats.peek();
    if (!next)
        return;
    const page = await get(`/internal/chats?limit=${PAGE}&before=${encodeURIComponent(next)}`);
    const known = new Set(all.map((c) => c.id));
    chats.value = { ...chats.peek(), all: [...all, ...page.chats.filter((c) => !known.has(c.id))], next: page.next ?? null };
}

let timer = 0;
const reloadSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(loadChats, RELOAD_MS);
};

/* Puts a chat, as the server has it now, where it belongs in the list. */
export function noteChat(chat) {
    const { all, folders } = chats.peek();
    const before = all.find((c) => c.id === chat.id);
    const rest = all.filter((c) => c.id !== chat.id);
    chats.value = { ...chats.peek(), all: chat.deleted ? rest : [...rest, chat].sort(byOrder) };
    if ((before?.folder ?? "") !== chat.folder && chat.folder && !folders.some((f) => f.name === chat.folder))
        reloadSoon();
}

/* Whether an answer is being written in a chat. When one has ended another may go on. */
function noteAnswering(id, on) {
    const chat = chats.peek().all.find((c) => c.id === id);
    if (chat?.answering !== on)
        reloadSoon();
}

const forget = (ids) => {
    chats.value = { ...chats.peek(), all: chats.peek().all.filter((c) => !ids.includes(c.id)) };
};

/* Called by the list of chats while it is shown; returns what ends it. */
export function followChats() {
    loadChats();
    const drop = heard((event) => {
        if (event.type === "chat")
            noteChat(event.chat);
        else if (event.type === "gone" && !event.message)
            forget([event.chat]);
        else if (event.type === "answering")
            noteAnswering(event.chat, isUnfinished(event.state));
        else if (event.type === "resync")
            reloadSoon();
    });
    const end = watchEvents(loadChats);
    return () => {
        drop();
        end();
    };
}

export async function addChat(wish) {
    const chat = await post("/internal/chats", wish);
    noteChat(chat);
    return chat;
}

/* set: {title, folder, pinned, model, system, params, head, deleted}, what is to change. */
export async function changeChat(id, set) {
    const chat = await patch(`/internal/chats/${id}`, set);
    noteChat(chat);
    return chat;
}

/* The same for several chats; only folder, pinned and deleted. */
export async function changeChats(ids, set) {
    if (set.deleted)
        forget(ids);
    await post("/internal/chats/bulk", { ids, set });
    await loadChats();
}

export const purgeChat = (id) => del(`/internal/chats/${id}`);
export const deletedChats = async () => (await get("/internal/chats?deleted=true&limit=200")).chats;

export const searchChats = async (text, limit = 30, options = {}) =>
    (await get(`/internal/chats/search?q=${encodeURIComponent(text)}&limit=${limit}`, options)).hits;

/* file: a Blob of an export. Returns {chats, messages, skipped}. */
export async function importChats(file) {
    const result = await api("POST", "/internal/chats/import", new Blob([file], { type: "application/json" }));
    await loadChats();
    return result;
}
