/* What has changed in the reader's chats, as the server tells every tab. One connection for the
 * whole page, and only while the page is seen: a browser has six connections to a server for all its
 * tabs. */
import { effect } from "../lib/html.js";
import { follow } from "../lib/events.js";
import { epoch } from "./session.js";

const EVENTS = "/internal/chats/events";

const listeners = new Set();
const readers = new Set(); /* what reads everything again after a gap */
let stop = null;

function connect() {
    if (stop || !readers.size || document.visibilityState !== "visible")
        return;
    let first = true;
    stop = follow(EVENTS, ({ data }) => {
        const event = JSON.parse(data);
        for (const one of listeners)
            one(event);
    }, { opened: () => {
        if (!first)
            readAll(); /* the connection was cut: something may have been missed */
        first = false;
    } });
}

function readAll() {
    for (const read of readers)
        read();
}

function disconnect() {
    stop?.();
    stop = null;
}

document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") {
        disconnect();
        return;
    }
    readAll();
    connect();
});

/* listener(event) is called for each. Returns what removes it. */
export function heard(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

/* Keeps the connection open; read() is called when events may have been missed. Returns what ends it. */
export function watchEvents(read) {
    readers.add(read);
    connect();
    return () => {
        readers.delete(read);
        if (!readers.size)
            disconnect();
    };
}

/* After a new key, or when the server has come back. */
effect(() => {
    if (!epoch.value || !readers.size)
        return;
    disconnect();
    readAll();
    connect();
});
