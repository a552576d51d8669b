/* Buttons. Every button has a text or a label. */
import { html } from "../lib/html.js";
import { Icon } from "./icon.js";

/* kind: "plain" (default), "primary", "danger" or "quiet". busy: shows that something is going on,
 * and takes no clicks meanwhile, nor sends its form again. href: a link that looks like a button. */
export function Button({ kind = "plain", small, busy, icon, href, children, class: extra = "", type = "button", disabled, ...rest }) {
    const look = `button ${kind}${small ? " small" : ""}${busy ? " busy" : ""} ${extra}`;
    const inside = html`${icon && html`<${Icon} name=${icon} />`}${children}`;
    if (href)
        return html`<a class=${look} href=${href} ...${rest}>${inside}</a>`;
    return html`<button type=${busy ? "button" : type} class=${look} disabled=${disabled} aria-busy=${busy ? "true" : undefined}
        ...${rest} onClick=${busy ? undefined : rest.onClick}>${inside}</button>`;
}

/* A button that is only an icon; the label is read aloud and shown as a tip. pressed: for a switch. */
export function IconButton({ icon, label, pressed, expanded, class: extra = "", ...rest }) {
    return html`<button type="button" class=${`icon-button ${extra}`} aria-label=${label} title=${label}
        aria-pressed=${pressed === undefined ? undefined : String(pressed)}
        aria-expanded=${expanded === undefined ? undefined : String(expanded)}
        ...${rest}><${Icon} name=${icon} /></button>`;
}
