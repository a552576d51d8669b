/* Records the microphone in pieces. A piece is a whole file, since only the first piece of a single
 * recording has the head that a decoder needs; the next recorder starts before the last one stops, so
 * that no word is lost between them. */
import { signal } from "../html.js";
import { Cutter } from "./cutter.js";
import { samplesOf } from "./wav.js";

const STEP_MS = 100;

/* Whether this browser lets a page listen: only on addresses that it takes for secure. */
export const canRecord = () => Boolean(navigator.mediaDevices?.getUserMedia && window.MediaRecorder);

export class Recorder {
    level = signal(0);
    #stream;
    #context;
    #timer;
    #recorder;
    #cutter = new Cutter();
    #began;
    #piece;
    #work = Promise.resolve();

    /* piece(samples, start) gets each piece in which something was said: its samples (wav.js) and
     * where it begins, in seconds since the recording began. */
    constructor(piece) {
        this.#piece = piece;
    }

    /* Rejects with the browser's error if it may not listen. */
    async start() {
        this.#stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true } });
        this.#context = new AudioContext();
        const analyser = this.#context.createAnalyser();
        analyser.fftSize = 8192; /* at 48,000 samples a second longer than a step, so that nothing is missed */
        this.#context.createMediaStreamSource(this.#stream).connect(analyser);
        const wave = new Float32Array(analyser.fftSize);
        this.#began = performance.now();
        this.#next();
        let last = this.#began;
        this.#timer = setInterval(() => {
            analyser.getFloatTimeDomainData(wave);
            this.level.value = Math.sqrt(wave.reduce((sum, s) => sum + s * s, 0) / wave.length);
            const now = performance.now();
            const end = this.#cutter.feed(this.level.value, now - last);
            last = now;
            if (end)
                this.#next(end === "cut");
        }, STEP_MS);
    }

    /* Starts a recorder and ends the one before; keep: what it has recorded is a piece. */
    #next(keep) {
        const before = this.#recorder;
        this.#recorder = this.#record();
        before?.end(keep);
    }

    #record() {
        const recorder = new MediaRecorder(this.#stream), parts = [];
        const start = (performance.now() - this.#began) / 1000;
        const stopped = new Promise((done) => {
            recorder.onstop = done;
        });
        recorder.ondataavailable = (event) => parts.push(event.data);
        recorder.start();
        return {
            end: (keep) => {
                recorder.stop();
                if (keep)
                    this.#work = this.#work.then(async () => {
                        await stopped;
                        const samples = await samplesOf(new Blob(parts, { type: recorder.mimeType })).catch(() => null);
                        if (samples?.length)
                            this.#piece(samples, start);
                    });
            },
        };
    }

    /* Resolves when the last piece has been told. */
    async stop() {
        clearInterval(this.#timer);
        this.#recorder?.end(this.#cutter.end() === "cut");
        this.#recorder = null;
        this.level.value = 0;
        await this.#work;
        this.#stream?.getTracks().forEach((track) => track.stop());
        await this.#context?.close();
    }
}
