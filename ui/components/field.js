/* Fields of forms: a label, the control, a hint or what is wrong. */
import { html, useId } from "../lib/html.js";

function Frame({ id, label, hint, error, children, inline }) {
    return html`<div class=${"field" + (inline ? " inline" : "") + (error ? " wrong" : "")}>
        <label for=${id}>${label}</label>
        ${children}
        ${error ? html`<p class="field-error" id=${id + "-note"} role="alert">${error}</p>` :
        hint && html`<p class="hint" id=${id + "-note"}>${hint}</p>`}
    </div>`;
}

const noted = (id, hint, error) => ({
    id, "aria-describedby": hint || error ? id + "-note" : undefined, "aria-invalid": error ? "true" : undefined,
});

/* onInput gets the text. */
export function TextField({ label, hint, error, onInput, rows, ...rest }) {
    const id = useId();
    const input = (e) => onInput(e.currentTarget.value);
    return html`<${Frame} id=${id} label=${label} hint=${hint} error=${error}>
        ${rows ? html`<textarea rows=${rows} ...${noted(id, hint, error)} onInput=${input} ...${rest}></textarea>` :
        html`<input type="text" ...${noted(id, hint, error)} onInput=${input} ...${rest} />`}
    <//>`;
}

/* onInput gets a number, or null for an empty field. */
export function NumberField({ label, hint, error, onInput, value, ...rest }) {
    const id = useId();
    return html`<${Frame} id=${id} label=${label} hint=${hint} error=${error}>
        <input type="number" inputmode="decimal" ...${noted(id, hint, error)} value=${value ?? ""}
            onInput=${(e) => onInput(e.currentTarget.value === "" ? null : e.currentTarget.valueAsNumber)} ...${rest} />
    <//>`;
}

/* options: [[value, text]] or texts. */
export function Select({ label, hint, error, options, value, onChange, ...rest }) {
    const id = useId();
    return html`<${Frame} id=${id} label=${label} hint=${hint} error=${error}>
        <select ...${noted(id, hint, error)} value=${value} onChange=${(e) => onChange(e.currentTarget.value)} ...${rest}>
            ${options.map((o) => Array.isArray(o) ? o : [o, o]).map(([v, text]) =>
        html`<option value=${v} selected=${v === value}>${text}</option>`)}
        </select>
    <//>`;
}

export function Toggle({ label, hint, checked, onChange, ...rest }) {
    const id = useId();
    return html`<div class="field toggle">
        <input type="checkbox" role="switch" ...${noted(id, hint)} checked=${checked}
            onChange=${(e) => onChange(e.currentTarget.checked)} ...${rest} />
        <label for=${id}>${label}</label>
        ${hint && html`<p class="hint" id=${id + "-note"}>${hint}</p>`}
    </div>`;
}
