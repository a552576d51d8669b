/* Keys that work everywhere in the page. A view adds its own while it is shown; the list is what
 * the help on "?" prints and the palette offers. */
import { signal, useEffect } from "./html.js";
import { t } from "./i18n.js";

/* {keys: "mod+k", text: key of a text, run, group}: mod is Ctrl, or Command on a Mac. Without run it is
 * only listed: a part of the page handles it by itself. */
export const bindings = signal([]);

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

function pressed(event) {
    const parts = [];
    if (isMac ? event.metaKey : event.ctrlKey)
        parts.push("mod");
    if (event.altKey)
        parts.push("alt");
    if (event.shiftKey && event.key.length > 1)
        parts.push("shift");
    /* With Alt some keyboards type other characters: the key counts, not what it types. */
    const letter = event.altKey && /^(?:Key([A-Z])|Digit(\d))$/.exec(event.code);
    parts.push(letter ? (letter[1] ?? letter[2]).toLowerCase() : event.key.toLowerCase());
    return parts.join("+");
}

const types = (element) => element?.closest?.("input, textarea, select, [contenteditable]");

function handle(event) {
    if (document.querySelector("dialog[open]"))
        return; /* a dialog has the keyboard for itself */
    const keys = pressed(event);
    /* Single keys are text where text is typed. */
    if (types(event.target) && !keys.startsWith("mod+") && !keys.startsWith("alt+") && keys !== "escape")
        return;
    const found = bindings.value.findLast((b) => b.keys === keys);
    if (!found?.run || event.defaultPrevented)
        return;
    event.preventDefault();
    found.run(event);
}

export const startKeys = () => document.addEventListener("keydown", handle);

/* Adds keys for as long as the component is shown. */
export function useKeys(list, dependencies = []) {
    useEffect(() => {
        bindings.value = [...bindings.value, ...list];
        return () => {
            bindings.value = bindings.value.filter((b) => !list.includes(b));
        };
    }, dependencies);
}

const SYMBOLS = { arrowup: "↑", arrowdown: "↓", arrowleft: "←", arrowright: "→" };

/* How a combination is printed on a keyboard: "Ctrl", "K". */
export const keyNames = (keys) => keys.split("+").map((k) =>
    k === "mod" && isMac ? "⌘" : SYMBOLS[k] ?? (k.length === 1 ? k.toUpperCase() : t(`keys.name.${k}`)));
