/* The microphone: pieces of what is said are transcribed one after another while more is spoken. */
import { signal } from "../lib/html.js";
import { Recorder } from "../lib/audio/recorder.js";
import { RATE } from "../lib/audio/wav.js";
import { transcribePiece } from "../lib/media/transcribe.js";

const CONTEXT_CHARS = 200; /* of what was said before, which helps the model */

/* {on, busy (pieces are on their way), error, segments, language}. */
const NOTHING = { on: false, busy: false, error: null, segments: [], language: "" };
export const listening = signal(NOTHING);
/* The recorder while it is on, for its level. */
export const recorder = signal(null);

const set = (changes) => {
    listening.value = { ...listening.peek(), ...changes };
};

let waiting = []; /* {samples, start} */
let working = null, abort = null;

/* What waits becomes one piece: a slow model then has fewer, longer ones. */
function joined(pieces) {
    const [{ start }] = pieces, last = pieces.at(-1);
    const out = new Float32Array(Math.round((last.start - start) * RATE) + last.samples.length);
    for (const piece of pieces)
        out.set(piece.samples.subarray(0, out.length), Math.min(Math.round((piece.start - start) * RATE), out.length - piece.samples.length));
    return { samples: out, start };
}

async function work(ask) {
    while (waiting.length) {
        const { samples, start } = joined(waiting.splice(0));
        const prompt = listening.peek().segments.map((s) => s.text).join(" ").slice(-CONTEXT_CHARS);
        const { segments, language } = await transcribePiece(samples, start, { ...ask, prompt }, abort.signal);
        set({ segments: [...listening.peek().segments, ...segments], language: language || listening.peek().language });
    }
}

function add(piece, ask) {
    waiting.push(piece);
    if (working)
        return;
    set({ busy: true });
    working = work(ask).catch((error) => {
        if (error.name !== "AbortError") {
            set({ error });
            stop();
        }
    }).finally(() => {
        working = null;
        set({ busy: false });
    });
}

/* ask: as lib/media/transcribe.js has it. */
export async function listen(ask) {
    set({ ...NOTHING, on: true });
    waiting = [];
    abort = new AbortController();
    const one = recorder.value = new Recorder((samples, start) => add({ samples, start }, ask));
    try {
        await one.start();
    } catch (error) {
        recorder.value = null;
        set({ on: false, error });
    }
}

/* Ends the recording; what was said last is still transcribed. */
export async function stop() {
    const one = recorder.peek();
    recorder.value = null;
    if (!one)
        return;
    await one.stop();
    set({ on: false });
    await working;
}

/* Ends the recording and everything that waits. */
export function forget() {
    waiting = [];
    abort?.abort();
    recorder.peek()?.stop();
    recorder.value = null;
    listening.value = NOTHING;
}
