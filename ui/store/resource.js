/* Data that is read from the server and shown: loading, then data or an error, read again after
 * the server came back; and what changes all the time, read again and again. */
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

/* The same for one component: reads when the component appears, and when `dependencies` change. */
export function useResource(fetcher, dependencies = []) {
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
        return () => {
            live = false;
        };
    }, [...dependencies, seen, again.value]);
    return { ...state.value, reload: () => again.value++ };
}

export const POLL_MS = 2000;

/* Calls read() now, when the page is seen again, and POLL_MS after each end, while the component is
 * shown, the page is visible and `on` is set. For figures that change all the time, such as those of
 * GET health: no stream has them, and one of every change would send more than is shown. */
export function usePolling(read, dependencies, on = true) {
    const round = epoch.value;
    useEffect(() => {
        if (!on)
            return undefined;
        let live = true, timer = 0, reading = false;
        const next = async () => {
            clearTimeout(timer);
            if (reading || document.visibilityState !== "visible")
                return;
            reading = true;
            await read();
            reading = false;
            if (live)
                timer = setTimeout(next, POLL_MS);
        };
        next();
        document.addEventListener("visibilitychange", next);
        return () => {
            live = false;
            clearTimeout(timer);
            document.removeEventListener("visibilitychange", next);
        };
    }, [...dependencies, round, on]);
}
