/* The keys that work now, by group. */
import { html } from "../lib/html.js";
import { t } from "../lib/i18n.js";
import { bindings, keyNames } from "../lib/keys.js";
import { Dialog } from "./dialog.js";

export function KeysHelp({ close }) {
    const groups = Map.groupBy ? Map.groupBy(bindings.value, (b) => b.group) :
        bindings.value.reduce((m, b) => m.set(b.group, [...m.get(b.group) ?? [], b]), new Map());
    return html`<${Dialog} title=${t("keys.title")} close=${close}>
        ${[...groups].map(([group, list]) => html`<section key=${group}>
            <h3>${t(`keys.group.${group}`)}</h3>
            <dl class="keys">${list.map((b) => html`<div key=${b.keys}>
                <dt>${keyNames(b.keys).map((k) => html`<kbd>${k}</kbd>`)}</dt><dd>${t(b.text)}</dd></div>`)}</dl>
        </section>`)}
    <//>`;
}
