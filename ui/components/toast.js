/* Short messages at the foot of the page, read aloud; an action such as "Undo" can stand in one. */
import { html, signal } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { Button, IconButton } from "./button.js";

const SHOWN_MS = 6000, WITH_ACTION_MS = 10000;

const toasts = signal([]);
let last = 0;

const drop = (id) => {
    toasts.value = toasts.value.filter((one) => one.id !== id);
};

/* Shows a message. error: it stays until it is closed. action: {text, run}. */
export function toast(text, { error = false, action = null } = {}) {
    const id = ++last;
    toasts.value = [...toasts.value, { id, text, error, action }];
    if (!error)
        setTimeout(() => drop(id), action ? WITH_ACTION_MS : SHOWN_MS);
}

/* Shows the reason of a failure. */
export const toastError = (error) => toast(error.status === 0 ? t("error.unreachable") : error.message, { error: true });

export function Toasts() {
    return html`<div class="toasts" role="status" aria-live="polite">
        ${toasts.value.map(({ id, text, error, action }) => html`<div key=${id} class=${"toast" + (error ? " error" : "")}>
            <span>${text}</span>
            ${action && html`<${Button} small onClick=${() => { drop(id); action.run(); }}>${action.text}<//>`}
            <${IconButton} icon="close" label=${t("action.close")} onClick=${() => drop(id)} />
        </div>`)}
    </div>`;
}
