/* The log of the server as it is written. One reader at a time: the view that shows it. */
import { signal, useEffect } from "../lib/html.js";
import { follow } from "../lib/events.js";
import { lineOf, LogBuffer, placeOf } from "../lib/server/log_buffer.js";
import { epoch } from "./session.js";

export const LINES_MAX = 10000;

const buffer = new LogBuffer(LINES_MAX);
/* Grows with every change of the buffer. */
const version = signal(0);
/* {open: connected, lost: lines that were overwritten before they could be read, error} */
export const logState = signal({ open: false, lost: 0, error: null });
/* Lines that have come while the reader had the log paused. */
export const held = signal(0);

let waiting = [], frame = 0, paused = false, log = "";

/* The lines that are shown, and how many have been dropped at their start; read in a component, it is
 * drawn again when they change. */
export function shownLines() {
    version.value;
    return { lines: buffer.shown, dropped: buffer.dropped };
}

export const findLine = (id) => buffer.find(id);

const changed = () => {
    version.value++;
};

/* Lines come one by one, thousands in a moment at first: they are taken once a frame. */
function take() {
    frame = 0;
    if (paused) {
        waiting = waiting.slice(-LINES_MAX);
        held.value = waiting.length;
        return;
    }
    buffer.add(waiting);
    waiting = [];
    held.value = 0;
    changed();
}

/* Adds entries as the server writes them. */
export function addLines(entries) {
    for (const entry of entries)
        waiting.push(lineOf(entry, `${log}-${entry.seq}`));
    frame ||= requestAnimationFrame(take);
}

function heard(event) {
    const data = JSON.parse(event.data);
    if (event.event === "logs.open") {
        if (log && log !== data.log_id) { /* another server, whose numbers begin again */
            buffer.clear();
            waiting = [];
            changed();
        }
        log = data.log_id;
        logState.value = { open: true, lost: data.lost, error: null };
    } else if (event.event === "logs.entry") {
        addLines([data]);
    } else if (event.event === "error") {
        logState.value = { ...logState.value, open: false, error: { status: 500, message: data.error.message } };
    }
}

/* Where to go on after an interruption: after the last line that was heard. */
function pathFor(filter) {
    return (last) => {
        const place = placeOf(last);
        const query = new URLSearchParams(Object.entries({ ...filter, after_seq: place?.seq ?? "", log_id: place?.log ?? "" })
            .filter(([, value]) => value !== ""));
        return `/logs/stream?${query}`;
    };
}

/* Reads the log of this model and from this level ("": all) for as long as the component is shown. */
export function useLog({ model, level }) {
    const round = epoch.value;
    useEffect(() => {
        buffer.clear();
        waiting = [];
        log = "";
        logState.value = { open: false, lost: 0, error: null };
        changed();
        const failed = (error) => {
            logState.value = { ...logState.value, open: false, error };
        };
        const end = follow(pathFor({ model, level }), heard, { failed });
        return () => {
            end();
            cancelAnimationFrame(frame);
            frame = 0;
        };
    }, [model, level, round]);
}

export function searchLog(text) {
    buffer.search(text);
    changed();
}

export function pauseLog(on) {
    paused = on;
    take();
}

export function clearLog() {
    buffer.clear();
    changed();
}
