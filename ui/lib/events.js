/* Server-sent events, read with fetch, since EventSource can send no key. */
import { send } from "./client.js";

const RETRY_FIRST_MS = 500, RETRY_MAX_MS = 10000;

/* Splits decoded text into events {id, event, data}; keeps what is incomplete. */
export function eventParser() {
    let rest = "";
    return (text) => {
        const out = [];
        rest += text;
        for (;;) {
            const end = rest.search(/\r?\n\r?\n/);
            if (end < 0)
                return out;
            const block = rest.slice(0, end);
            rest = rest.slice(end).replace(/^\r?\n\r?\n/, "");
            const one = { id: "", event: "message", data: [] };
            for (const line of block.split(/\r?\n/)) {
                const at = line.indexOf(":");
                if (at === 0)
                    continue; /* a comment keeps the connection alive */
                const name = at < 0 ? line : line.slice(0, at);
                const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
                if (name === "data")
                    one.data.push(value);
                else if (name === "id" || name === "event")
                    one[name] = value;
            }
            if (one.data.length)
                out.push({ ...one, data: one.data.join("\n") });
        }
    };
}

/* The events of one reply, until it ends. opened() is called when its head has come. */
export async function* eventsOf(method, path, body, { opened = () => {}, ...options } = {}) {
    const reply = await send(method, path, body, {
        ...options, headers: { Accept: "text/event-stream", ...options.headers },
    });
    opened();
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    const parse = eventParser();
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done)
                return;
            yield* parse(value);
        }
    } finally {
        reader.cancel().catch(() => {});
    }
}

/* Follows a stream for as long as the page is open: calls heard(event) for each event, and connects
 * again when it breaks, at growing intervals. path: a string, or a function of the last event's id.
 * opened() is called at each connection, failed(error) at each failure; one that stays (no key, no
 * right, nothing there) also ends it. Returns a function that ends it. */
export function follow(path, heard, { opened = () => {}, failed = () => {} } = {}) {
    const abort = new AbortController();
    let last = "", wait = RETRY_FIRST_MS;
    (async () => {
        while (!abort.signal.aborted) {
            try {
                const from = typeof path === "function" ? path(last) : path;
                for await (const event of eventsOf("GET", from, undefined, { signal: abort.signal, opened })) {
                    wait = RETRY_FIRST_MS;
                    last = event.id || last;
                    heard(event);
                }
            } catch (error) {
                if (error.name === "AbortError")
                    return;
                failed(error);
                if (error.status === 401 || error.status === 403 || error.status === 404)
                    return;
            }
            await new Promise((done) => setTimeout(done, wait));
            wait = Math.min(wait * 2, RETRY_MAX_MS);
        }
    })();
    return () => abort.abort();
}
