/* Requests that take long. They go on while another view is shown; which one belongs to which panel is
 * known by its name. */
import { signal } from "../lib/html.js";

const IDLE = { busy: false, since: 0, took: 0, error: null, result: null };

class Task {
    /* {busy, since, took (ms), error, result, and what the work tells}. An old result stays until there is
     * a new one. */
    state = signal(IDLE);
    #abort = null;
    #again = null;

    /* work({signal, tell}) returns a promise of the result; tell(changes) sets more members meanwhile. */
    async run(work) {
        this.stop();
        const abort = this.#abort = new AbortController(), since = Date.now();
        const set = (changes) => {
            if (this.#abort === abort)
                this.state.value = { ...this.state.peek(), ...changes };
        };
        this.#again = work;
        const { result } = this.state.peek();
        this.state.value = { ...IDLE, result, busy: true, since };
        try {
            set({ result: await work({ signal: abort.signal, tell: set }), busy: false, took: Date.now() - since });
        } catch (error) {
            set({ busy: false, error: error.name === "AbortError" ? null : error });
        }
    }

    /* The same once more, after an error. */
    retry() {
        return this.#again && this.run(this.#again);
    }

    stop() {
        this.#abort?.abort();
        this.#abort = null;
        if (this.state.peek().busy)
            this.state.value = { ...this.state.peek(), busy: false };
    }

    forget() {
        this.stop();
        this.state.value = IDLE;
    }
}

const tasks = new Map();

export function taskOf(name) {
    if (!tasks.has(name))
        tasks.set(name, new Task());
    return tasks.get(name);
}
