/* A button that opens a list of actions. Arrow keys move, Escape and a click elsewhere close. */
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from "../lib/html.js";
import { Button, IconButton } from "./button.js";
import { Icon } from "./icon.js";

const MARGIN = 8; /* pixels to the edge of the window */

/* Puts the list below its button, or above it where there is more room. It is in the browser's top
 * layer, so that nothing around the button cuts it off. */
function place(list, button, align) {
    list.showPopover?.();
    const at = button.getBoundingClientRect(), { offsetWidth: width, offsetHeight: height } = list;
    const below = window.innerHeight - at.bottom >= height + MARGIN || at.top < window.innerHeight / 2;
    const left = align === "end" ? at.right - width : at.left;
    list.style.top = `${Math.max(MARGIN, below ? Math.min(at.bottom, window.innerHeight - height - MARGIN) : at.top - height)}px`;
    list.style.left = `${Math.max(MARGIN, Math.min(left, window.innerWidth - width - MARGIN))}px`;
}

/* items: [{text, icon, run, checked, danger, disabled}], null for a line between. text: the button's
 * text; without it the button is an icon with a label. */
export function Menu({ icon = "more", label, text, items, align = "start" }) {
    const [open, setOpen] = useState(false);
    const root = useRef(null), list = useRef(null), id = useId();
    useLayoutEffect(() => {
        if (open)
            place(list.current, root.current, align);
    }, [open]);
    useEffect(() => {
        if (!open)
            return undefined;
        root.current.querySelector('[role^="menuitem"]:not([aria-disabled])')?.focus();
        const outside = (event) => {
            if (!root.current?.contains(event.target))
                setOpen(false);
        };
        const scrolled = (event) => {
            if (!root.current?.contains(event.target))
                setOpen(false);
        };
        document.addEventListener("pointerdown", outside);
        document.addEventListener("scroll", scrolled, true);
        return () => {
            document.removeEventListener("pointerdown", outside);
            document.removeEventListener("scroll", scrolled, true);
        };
    }, [open]);
    const close = () => {
        setOpen(false);
        root.current.querySelector("button")?.focus();
    };
    const moved = (event) => {
        const all = [...root.current.querySelectorAll('[role^="menuitem"]')];
        const at = all.indexOf(document.activeElement);
        const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
        if (event.key === "Escape" || event.key === "Tab") {
            event.stopPropagation();
            close();
        } else if (to !== undefined) {
            event.preventDefault();
            all[(to + all.length) % all.length].focus();
        }
    };
    const Item = (item) => html`<button type="button" tabindex="-1"
        role=${item.checked === undefined ? "menuitem" : "menuitemradio"}
        aria-checked=${item.checked === undefined ? undefined : String(item.checked)}
        aria-disabled=${item.disabled ? "true" : undefined} class=${item.danger ? "danger" : ""}
        onClick=${() => { if (!item.disabled) { close(); item.run(); } }}>
        <${Icon} name=${item.checked ? "check" : item.icon ?? "blank"} size="16" />${item.text}</button>`;
    const toggle = { "aria-haspopup": "menu", "aria-controls": open ? id : undefined, expanded: open, onClick: () => setOpen(!open) };
    return html`<div class="menu" ref=${root}>
        ${text ? html`<${Button} aria-haspopup="menu" aria-expanded=${String(open)} icon=${icon} kind="quiet"
            onClick=${() => setOpen(!open)}>${text}<//>` : html`<${IconButton} icon=${icon} label=${label} ...${toggle} />`}
        ${open && html`<div class="menu-list" popover="manual" ref=${list} role="menu" id=${id} aria-label=${label ?? text} onKeyDown=${moved}>
            ${items.map((item) => item ? html`<${Item} ...${item} />` : html`<hr />`)}
        </div>`}
    </div>`;
}
