/* A modal dialog. The browser's <dialog> keeps the focus inside and closes on Escape. */
import { html, useEffect, useId, useRef } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { Button, IconButton } from "./button.js";

/* close() is called when the dialog is left in any way. actions: what stands at its foot. */
export function Dialog({ title, close, children, actions, wide, class: extra = "" }) {
    const ref = useRef(null), id = useId();
    useEffect(() => {
        const dialog = ref.current, before = document.activeElement;
        dialog.showModal();
        return () => {
            dialog.close();
            before?.focus?.();
        };
    }, []);
    const clicked = (event) => {
        if (event.target === ref.current)
            close();
    };
    return html`<dialog ref=${ref} class=${`dialog${wide ? " wide" : ""} ${extra}`} aria-labelledby=${id}
        onCancel=${(e) => { e.preventDefault(); close(); }} onClick=${clicked}>
        <div class="dialog-head">
            <h2 id=${id}>${title}</h2>
            <${IconButton} icon="close" label=${t("action.close")} onClick=${close} />
        </div>
        <div class="dialog-body">${children}</div>
        ${actions && html`<div class="dialog-foot">${actions}</div>`}
    </dialog>`;
}

/* A question before something that cannot be undone; says what will happen. */
export function Confirm({ title, text, action, danger = true, run, close }) {
    return html`<${Dialog} title=${title} close=${close} actions=${html`
        <${Button} onClick=${close}>${t("action.cancel")}<//>
        <${Button} kind=${danger ? "danger" : "primary"} onClick=${() => { close(); run(); }}>${action}<//>`}>
        <p>${text}</p>
    <//>`;
}
