/* State of a component that is still there when its view is shown again, until the page is reloaded. */
import { signal } from "./html.js";

const kept = new Map();

/* [value, set], like useState. name: one of its own for each piece of state. */
export function useKept(name, initial) {
    if (!kept.has(name))
        kept.set(name, signal(initial));
    const state = kept.get(name);
    return [state.value, (value) => {
        state.value = value;
    }];
}
