/* The command palette: type to find a command, a view or a chat; Enter goes there. Views add what
 * they can find with `addFinder`. */
import { html, useEffect, useId, useRef, useState } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { bindings, keyNames } from "../lib/keys.js";
import { Dialog } from "./dialog.js";
import { Icon } from "./icon.js";

const SHOWN_MAX = 12;
const finders = new Set();

/* finder(text) returns, or promises, [{text, hint, icon, run}]. Returns a function that removes it. */
export function addFinder(finder) {
    finders.add(finder);
    return () => finders.delete(finder);
}

const commands = (text) => bindings.value.filter((b) => b.run && b.keys !== "mod+k")
    .map((b) => ({ text: t(b.text), hint: keyNames(b.keys).join(" "), icon: "right", run: b.run }))
    .filter((c) => c.text.toLowerCase().includes(text.toLowerCase()));

export function Palette({ close }) {
    const [text, setText] = useState(""), [found, setFound] = useState(() => commands("")), [at, setAt] = useState(0);
    const id = useId(), list = useRef(null);
    useEffect(() => {
        let live = true;
        setAt(0);
        setFound(commands(text).slice(0, SHOWN_MAX));
        Promise.all([...finders].map((f) => Promise.resolve(f(text)).catch(() => []))).then((more) => {
            if (live)
                setFound([...commands(text), ...more.flat()].slice(0, SHOWN_MAX));
        });
        return () => {
            live = false;
        };
    }, [text]);
    const choose = (one) => {
        close();
        one?.run();
    };
    const moved = (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step && found.length) {
            event.preventDefault();
            setAt((at + step + found.length) % found.length);
        } else if (event.key === "Enter") {
            event.preventDefault();
            choose(found[at]);
        }
    };
    return html`<${Dialog} title=${t("palette.title")} close=${close} class="palette">
        <input type="search" role="combobox" aria-expanded="true" aria-controls=${id} autofocus
            aria-activedescendant=${found.length ? `${id}-${at}` : undefined} aria-label=${t("palette.title")}
            placeholder=${t("palette.hint")} value=${text} onInput=${(e) => setText(e.currentTarget.value)} onKeyDown=${moved} />
        <ul role="listbox" id=${id} ref=${list} aria-label=${t("palette.found")}>
            ${found.map((one, i) => html`<li key=${i} id=${`${id}-${i}`} role="option" aria-selected=${String(i === at)}
                onClick=${() => choose(one)}><${Icon} name=${one.icon ?? "right"} size="16" /><span>${one.text}</span>
                ${one.hint && html`<small>${one.hint}</small>`}</li>`)}
        </ul>
        ${!found.length && html`<p class="hint" role="status">${t("palette.none")}</p>`}
    <//>`;
}
