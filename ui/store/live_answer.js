/* An answer that is being written: reads its stream, connects again where it was cut, and tells what
 * shows it about changes, at most once for each frame that is drawn. */
import { signal } from "../lib/html.js";
import { apply, newAnswer, placeOf } from "../lib/chat/records.js";
import { eventsOf } from "../lib/events.js";

const RETRY_FIRST_MS = 300, RETRY_MAX_MS = 5000;

const dirty = new Set();

function flush() {
    const all = [...dirty];
    dirty.clear();
    for (const one of all)
        one.tell();
}

function changed(live) {
    if (!dirty.size)
        requestAnimationFrame(flush);
    dirty.add(live);
}

export class LiveAnswer {
    #abort = null;
    #place; /* behind the last record that was read */
    #stateChanged = false;
    #ended;
    #listeners = new Set();

    /* ended(answer) is called once, with the last record. */
    constructor(message, ended) {
        this.answer = newAnswer(message);
        this.#place = placeOf(this.answer);
        /* The same without each growth of text and reasoning: what changes seldom. */
        this.state = signal({ ...this.answer });
        this.#ended = ended;
    }

    /* listener(answer) is called at once and after changes. Returns what removes it. */
    subscribe(listener) {
        this.#listeners.add(listener);
        listener(this.answer);
        return () => this.#listeners.delete(listener);
    }

    tell() {
        for (const one of this.#listeners)
            one(this.answer);
        if (this.#stateChanged) {
            this.#stateChanged = false;
            this.state.value = { ...this.answer };
        }
        if (this.answer.ended)
            this.#finish();
    }

    #finish() {
        const ended = this.#ended;
        this.#ended = null;
        ended?.(this.answer);
    }

    async start() {
        if (this.#abort || this.answer.ended)
            return;
        const abort = this.#abort = new AbortController();
        let wait = RETRY_FIRST_MS;
        while (!abort.signal.aborted && !this.answer.ended) {
            try {
                await this.#read(abort.signal);
                wait = RETRY_FIRST_MS;
            } catch (error) {
                if (error.name === "AbortError")
                    break;
                if (error.status >= 400 && error.status < 500) {
                    this.#lost(error);
                    break;
                }
            }
            if (this.answer.ended)
                break;
            await new Promise((done) => setTimeout(done, wait));
            wait = Math.min(wait * 2, RETRY_MAX_MS);
        }
        if (this.#abort === abort)
            this.#abort = null;
    }

    /* Ends the connection, not the answer. */
    pause() {
        this.#abort?.abort();
        this.#abort = null;
    }

    async #read(abort) {
        const path = `/internal/messages/${this.answer.id}/stream?from=${encodeURIComponent(this.#place)}`;
        for await (const event of eventsOf("GET", path, undefined, { signal: abort })) {
            const part = apply(this.answer, JSON.parse(event.data)), before = this.state.peek();
            this.#place = event.id || this.#place;
            this.#stateChanged ||= part === "state" || this.answer.thinking !== before.thinking ||
                (part === "text" && !before.text && !before.reasoning);
            changed(this);
        }
    }

    /* The server knows no such answer any more: what is shown stays. */
    #lost(error) {
        apply(this.answer, { t: "end", state: "interrupted", error: { message: error.message, code: error.code } });
        this.#stateChanged = true;
        changed(this);
    }
}
