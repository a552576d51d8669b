/* Data that is read from the server and shown: loading, then data or an error, read again after
 * the server came back. */
import { signal, useEffect, useSignal } from "../lib/html.js";
import { epoch } from "./session.js";

/* {data, error, busy}, a signal; load() reads again. fetcher: () => a promise of the data. */
export function resource(fetcher) {
    const state = signal({ data: null, error: null, busy: false });
    let round = 0;
    const load = async () => {
        const mine = ++round;
        state.value = { ...state.peek(), busy: true };
        try {
            const data = await fetcher();
            if (mine === round)
                state.value = { data, error: null, busy: false };
        } catch (error) {
            if (mine === round)
                state.value = { data: state.peek().data, error, busy: false };
        }
    };
    return { state, load };
}

/* The same for one component: reads when the component appears, when `dependencies` change, and
 * every `every` ms while the page is visible, if given. */
export function useResource(fetcher, dependencies = [], { every = 0 } = {}) {
    const state = useSignal({ data: null, error: null, busy: true });
    const again = useSignal(0);
    const seen = epoch.value;
    useEffect(() => {
        let live = true;
        const load = async () => {
            try {
                const data = await fetcher();
                if (live)
                    state.value = { data, error: null, busy: false };
            } catch (error) {
                if (live)
                    state.value = { data: state.peek().data, error, busy: false };
            }
        };
        state.value = { ...state.peek(), busy: true };
        load();
        const timer = every && setInterval(() => {
            if (document.visibilityState === "visible")
                load();
        }, every);
        return () => {
            live = false;
            clearInterval(timer);
        };
    }, [...dependencies, seen, again.value]);
    return { ...state.value, reload: () => again.value++ };
}
