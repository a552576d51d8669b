/* One chat: the tree of its messages, what is shown of it, the answers in progress. A message is a
 * signal of its own: when one changes, only that one is drawn again. */
import { batch, computed, signal } from "../lib/html.js";
import { del, get, patch, post } from "../lib/client.js";
import { isUnfinished, messageOf, WAITING } from "../lib/chat/records.js";
import { branch, pathThrough, siblings, treeOf, withMessage, withoutBranch } from "../lib/chat/tree.js";
import { changeChat } from "./chats.js";
import { LiveAnswer } from "./live_answer.js";

const READ_AGAIN_MS = 150;
const TOGETHER_MAX = 4; /* messages; more are read with the whole chat */
const SAVE_MS = 600;
const OWN_MS = 2000; /* an event about a message that this tab has just added is no news */

const sameMessage = (a, b) => a.text === b.text && a.reasoning === b.reasoning && a.state === b.state &&
    a.finish === b.finish && JSON.stringify([a.parts, a.calls, a.stats, a.error]) ===
    JSON.stringify([b.parts, b.calls, b.stats, b.error]);

export class Conversation {
    #messages = new Map(); /* id -> signal of the message */
    #live = new Map(); /* id -> LiveAnswer */
    #own = new Map(); /* id -> when this tab has added it */
    #changed = new Set();
    #unsaved = {};
    #saving = 0; /* timer of a pending save; 0: none */
    #refused = null; /* called when the server rejects changed settings */
    #timer = 0;
    #round = 0;

    constructor(id) {
        this.id = id;
        /* Whether the page shows it: then the streams of its answers are read. */
        this.shown = false;
        this.chat = signal(null);
        this.error = signal(null);
        this.tree = signal(treeOf([]));
        this.head = signal(null);
        /* Answers that could not be begun: {parent, error, again}; null: none. */
        this.failed = signal(null);
        /* Ids of the answers in progress. */
        this.unfinished = signal(new Set());
        this.path = computed(() => pathThrough(this.tree.value, this.head.value));
        this.busy = computed(() => this.path.value.findLast((one) => this.unfinished.value.has(one)) ?? null);
    }

    message(id) {
        return this.#messages.get(id);
    }

    live(id) {
        return this.#live.get(id);
    }

    /* The messages of the path that is shown, oldest first. */
    pathMessages() {
        return this.path.value.map((id) => this.#messages.get(id).value);
    }

    async read() {
        const round = ++this.#round;
        try {
            const { chat, messages } = await get(`/internal/chats/${this.id}`);
            if (round === this.#round)
                this.#take(chat, messages);
        } catch (error) {
            this.error.value = error;
        }
    }

    /* A message has changed, perhaps by this tab itself: reads it if it is not known as it is now.
     * Several changes are read together. */
    noteChange(id, state) {
        const known = this.#messages.get(id)?.peek();
        if (known && (this.#live.has(id) || Date.now() - (this.#own.get(id) ?? 0) < OWN_MS || known.state === state))
            return;
        this.#changed.add(id);
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
            const ids = [...this.#changed].filter((one) => !this.#own.has(one));
            this.#changed.clear();
            if (ids.length > TOGETHER_MAX)
                this.read();
            else
                ids.forEach((one) => this.#readOne(one));
        }, READ_AGAIN_MS);
    }

    /* A message was deleted, with all below it. */
    noteGone(id) {
        if (this.#messages.has(id))
            this.read();
    }

    async #readOne(id) {
        try {
            const message = await get(`/internal/messages/${id}`);
            batch(() => {
                this.#set(message);
                /* Messages arrive in any order, an answer perhaps before its question: the tree is built again. */
                if (!this.tree.peek().parents.has(id))
                    this.tree.value = treeOf([...this.#messages.values()].map((one) => one.peek()));
            });
        } catch {
            this.read(); /* it may have been deleted meanwhile */
        }
    }

    #take(chat, messages) {
        const ids = new Set(messages.map((m) => m.id));
        if (this.#isOlder(ids)) {
            this.#timer = setTimeout(() => this.read(), READ_AGAIN_MS);
            return;
        }
        batch(() => {
            const first = this.chat.peek() === null;
            this.#setChat(chat);
            this.error.value = null;
            for (const message of messages)
                this.#set(message);
            if (ids.size !== this.tree.peek().parents.size || messages.some((m) => !this.tree.peek().parents.has(m.id)))
                this.tree.value = treeOf(messages);
            for (const id of [...this.#messages.keys()])
                if (!ids.has(id))
                    this.#drop(id);
            if (first || !this.tree.peek().parents.has(this.head.peek()))
                this.head.value = chat.head;
        });
    }

    /* Whether what was read lacks a message that this tab has added meanwhile. */
    #isOlder(ids) {
        return [...this.#own].some(([id, when]) => Date.now() - when < OWN_MS && this.#messages.has(id) && !ids.has(id));
    }

    #drop(id) {
        this.#messages.delete(id);
        this.#live.get(id)?.pause();
        this.#live.delete(id);
        this.#noteUnfinished();
    }

    #noteUnfinished() {
        this.unfinished.value = new Set(this.#live.keys());
    }

    #set(message) {
        const known = this.#messages.get(message.id);
        if (!known)
            this.#messages.set(message.id, signal(message));
        else if (!this.#live.has(message.id) && !sameMessage(known.peek(), message))
            known.value = message;
        if (isUnfinished(message.state))
            this.#follow(message);
        else if (this.#live.has(message.id))
            this.#ended(message);
    }

    #follow(message) {
        if (this.#live.has(message.id))
            return;
        const live = new LiveAnswer(message, (answer) => batch(() => {
            const ended = messageOf(this.#messages.get(message.id)?.peek() ?? message, answer);
            this.#ended(ended);
            if (answer.next)
                this.#goOn(ended, answer.next);
        }));
        this.#live.set(message.id, live);
        this.#noteUnfinished();
        if (this.shown && document.visibilityState === "visible")
            live.start();
    }

    #ended(message) {
        this.#live.get(message.id)?.pause();
        batch(() => {
            this.#live.delete(message.id);
            if (this.#messages.has(message.id))
                this.#messages.get(message.id).value = message;
            this.#noteUnfinished();
        });
    }

    /* Adds the next answer, which the server has begun and which continues with the results of the calls of
     * `parent`. Everything else about it comes from its own stream. */
    #goOn({ id: parent, chat, model, params }, id) {
        if (this.#messages.has(id) || !this.#messages.has(parent))
            return;
        this.#set({ id, chat, parent, model, params, role: "assistant", created: Date.now(), text: "", reasoning: "", parts: [],
            calls: [], stats: {}, state: WAITING, finish: "", error: null });
        this.tree.value = withMessage(this.tree.peek(), id, parent);
    }

    /* Streams are read while the page is seen. */
    resume() {
        for (const live of this.#live.values())
            live.start();
    }

    pause() {
        for (const live of this.#live.values())
            live.pause();
    }

    /* Puts a new message into the tree, and shows it. */
    #append(message) {
        this.#own.set(message.id, Date.now());
        batch(() => {
            this.#set(message);
            if (!this.tree.peek().parents.has(message.id))
                this.tree.value = withMessage(this.tree.peek(), message.id, message.parent ?? "");
            this.head.value = message.id;
        });
    }

    /* ---- what a reader does ---- */

    /* Changes the chat's settings (model, system, params): here at once, on the server a moment after
     * the last change. failed(error) is called if the server refuses them. */
    change(set, failed) {
        this.#unsaved = { ...this.#unsaved, ...set };
        this.#setChat(this.chat.peek());
        clearTimeout(this.#saving);
        this.#refused = failed;
        this.#saving = setTimeout(() => this.#save(), SAVE_MS);
    }

    /* Saves pending changes of the settings. */
    async #save() {
        if (!this.#saving)
            return;
        clearTimeout(this.#saving);
        this.#saving = 0;
        try {
            await this.#send(this.#unsaved);
        } catch (error) {
            this.#refused(error);
        }
    }

    async #send(set) {
        const chat = await changeChat(this.id, set);
        if (this.#unsaved === set)
            this.#unsaved = {};
        this.#setChat(chat);
    }

    #setChat(chat) {
        this.chat.value = { ...this.chat.peek(), ...chat, ...this.#unsaved };
    }

    /* The chat as another tab has changed it. */
    noteChat(chat) {
        this.#setChat(chat);
    }

    /* Adds a message of the reader below `parent` (a message's id, or null) and has it answered.
     * ask: {model, params}, see answer(). */
    async say({ parent, text, parts = [] }, ask) {
        const message = await post("/internal/messages", { chat: this.id, parent, role: "user", text, parts });
        this.#append(message);
        await this.answer(message.id, ask);
        return message;
    }

    /* Adds a message of the model that the reader has written. */
    async put({ parent, role, text }) {
        const message = await post("/internal/messages", { chat: this.id, parent, role, text });
        this.#append(message);
        return message;
    }

    /* Has a message answered; continuing: the same answer goes on. A refusal is kept in `failed`. */
    async answer(id, ask, { continuing = false } = {}) {
        this.failed.value = null;
        await this.#save(); /* the answer must use the settings that are shown */
        try {
            const body = continuing ? { ...ask, continue: true } : ask;
            this.#append(await post(`/internal/messages/${id}/answer`, body));
        } catch (error) {
            this.failed.value = { parent: id, error, again: () => this.answer(id, ask, { continuing }) };
        }
    }

    /* reasoning: end only the thinking, the answer follows. */
    stop(id, { reasoning = false } = {}) {
        return post(`/internal/messages/${id}/stop`, reasoning ? { reasoning: true } : {});
    }

    /* Allows or denies a call that waits for a permission; allow: "once", "always", "no" or "never". */
    allow(id, call, allow) {
        return post(`/internal/messages/${id}/calls`, { call, allow });
    }

    /* Shows the branch through a message; the server remembers it for next time. */
    show(id) {
        this.head.value = id;
        changeChat(this.id, { head: this.path.peek().at(-1) }).catch(() => {});
    }

    /* The branches at a message. */
    branches(id) {
        return siblings(this.tree.value, id);
    }

    /* Deletes a message with all below it; returns what brings it back. */
    async remove(id) {
        const parent = this.tree.peek().parents.get(id);
        const { ids, at } = siblings(this.tree.peek(), id);
        await del(`/internal/messages/${id}`);
        batch(() => {
            const gone = branch(this.tree.peek(), id);
            this.tree.value = withoutBranch(this.tree.peek(), id);
            gone.forEach((one) => this.#drop(one));
            this.head.value = ids[at + 1] ?? ids[at - 1] ?? (parent || null);
        });
        return async () => {
            await patch(`/internal/messages/${id}`, { deleted: false });
            await this.read();
            this.head.value = id;
        };
    }
}
