/* One setting: its editor, its explanation, and the marks that say where its value comes from. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { CHOICES, editorOf, shown } from "../../lib/server/settings.js";
import { Button } from "../../components/button.js";
import { NumberField, Select, TextField, Toggle } from "../../components/field.js";

function Editor({ setting, text, value, edit, error }) {
    const { name, preset } = setting;
    const common = { label: name, hint: text, error };
    switch (editorOf(name, preset)) {
    case "truth":
        return html`<${Toggle} ...${common} hint=${error ?? text} checked=${value} onChange=${edit} />`;
    case "number":
        return html`<${NumberField} ...${common} step="1" value=${value} onInput=${edit} />`;
    case "choice":
        return html`<${Select} ...${common} options=${CHOICES[name]} value=${value} onChange=${edit} />`;
    default:
        return html`<${TextField} ...${common} value=${value} onInput=${edit} autocomplete="off" spellcheck="false"
            rows=${typeof value === "string" && value.startsWith("{") ? 3 : undefined} />`;
    }
}

/* A value in words: for what cannot be edited, and for defaults. */
function words(name, value) {
    if (typeof value === "boolean")
        return t(value ? "server.on" : "server.off");
    const text = shown(name, value);
    return text === "" || text === null || text === undefined ? t("server.settings.empty") : String(text);
}

const ReadOnly = ({ setting, text }) => html`<div class="field"><span class="field-name">${setting.name}</span>
    <code>${words(setting.name, setting.value)}</code><p class="hint">${text}</p></div>`;

function Marks({ setting, reset, edited }) {
    const { name, from, live, by_hand: byHand, restart_required: waits, preset, value } = setting;
    const resettable = from === "config.json" && !byHand;
    return html`<p class="setting-marks hint">
        ${from !== "default" && html`<span class="badge">${t(`server.settings.from.${from.replace(".", "_")}`)}</span>`}
        ${waits && html`<span class="badge warn">${t("server.settings.waits")}</span>`}
        ${!live && !byHand && html`<span>${t("server.settings.restart")}</span>`}
        ${byHand && html`<span>${t("server.settings.by_hand")}</span>`}
        ${JSON.stringify(preset) !== JSON.stringify(value) && html`<span>${t("server.settings.default", { value: words(name, preset) })}</span>`}
        ${resettable && edited === undefined && html`<${Button} small kind="quiet" icon="retry" aria-label=${t("server.settings.reset_name", { name })}
            onClick=${reset}>${t("server.settings.reset")}<//>`}
    </p>`;
}

export function Setting({ setting, text, edited, edit, reset, error }) {
    const value = edited === undefined ? shown(setting.name, setting.value) : edited;
    return html`<div class=${`setting${edited === undefined ? "" : " edited"}`}>
        ${setting.by_hand ? html`<${ReadOnly} setting=${setting} text=${text} />` :
        html`<${Editor} setting=${setting} text=${text} value=${value} edit=${edit} error=${error} />`}
        <${Marks} setting=${setting} reset=${reset} edited=${edited} />
    </div>`;
}
