/* A button and a box that it opens, in the browser's top layer. Escape and a click elsewhere close. */
import { html, useEffect, useId, useLayoutEffect, useRef } from "../../lib/html.js";

const MARGIN = 8; /* pixels to the edge of the window */

function place(box, button) {
    box.showPopover?.();
    const at = button.getBoundingClientRect(), { offsetWidth: width, offsetHeight: height } = box;
    const top = at.top - height - MARGIN >= MARGIN ? at.top - height - MARGIN : Math.min(at.bottom + MARGIN, window.innerHeight - height - MARGIN);
    box.style.top = `${Math.max(MARGIN, top)}px`;
    box.style.left = `${Math.max(MARGIN, Math.min(at.left, window.innerWidth - width - MARGIN))}px`;
}

/* button: {children, label, ...}, of the button; open, setOpen: its state; children: in the box. */
export function Popover({ open, setOpen, button, label, children, class: extra = "" }) {
    const root = useRef(null), box = useRef(null), id = useId();
    useLayoutEffect(() => {
        if (open)
            place(box.current, root.current.firstElementChild);
    }, [open]);
    useEffect(() => {
        if (!open)
            return undefined;
        const outside = (event) => {
            if (!root.current?.contains(event.target))
                setOpen(false);
        };
        document.addEventListener("pointerdown", outside);
        return () => document.removeEventListener("pointerdown", outside);
    }, [open]);
    const pressed = (event) => {
        if (event.key !== "Escape" || !open)
            return;
        event.preventDefault();
        event.stopPropagation();
        setOpen(false);
        root.current.firstElementChild.focus();
    };
    return html`<span class=${`popover-root ${extra}`} ref=${root} onKeyDown=${pressed}>
        <button type="button" class="button quiet small" aria-haspopup="dialog" aria-expanded=${String(open)} aria-controls=${open ? id : undefined}
            aria-label=${button.label} title=${button.label} onClick=${() => setOpen(!open)}>${button.children}</button>
        ${open && html`<div class="popover" popover="manual" role="dialog" aria-label=${label} id=${id} ref=${box}>${children}</div>`}
    </span>`;
}
