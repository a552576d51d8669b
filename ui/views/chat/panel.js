/* The settings of one conversation: preset, system prompt, tools, parameters, form of the answers. */
import { html, useEffect, useRef } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { Button, IconButton } from "../../components/button.js";
import { NumberField, Select, TextField, Toggle } from "../../components/field.js";
import { modelOf } from "../../store/chat_models.js";
import { Offered } from "./offered.js";
import { OutputForm } from "./output_form.js";
import { Presets } from "./presets.js";
import { changeSettings, settingsOf } from "./settings.js";
import { enterIsLine, panelOpen } from "./ui_state.js";

/* name of the API's parameter: limits of its field. */
const NUMBERS = {
    temperature: { min: 0, max: 2, step: 0.05 },
    top_p: { min: 0, max: 1, step: 0.05 },
    top_k: { min: 0, max: 1000, step: 1 },
    min_p: { min: 0, max: 1, step: 0.01 },
    repeat_penalty: { min: 0, max: 2, step: 0.05 },
    max_tokens: { min: 1, max: 1000000, step: 1 },
    seed: { min: 0, max: 4294967295, step: 1 },
};
const EFFORTS = ["", "none", "low", "medium", "high"];

/* Without what is not set: the model's own values apply to that. */
const withParam = (params, name, value) =>
    Object.fromEntries(Object.entries({ ...params, [name]: value }).filter(([, v]) => v !== null && v !== "" && v !== undefined));

function Numbers({ params, set }) {
    return html`<div class="numbers">${Object.entries(NUMBERS).map(([name, limits]) => html`<${NumberField} key=${name}
        label=${t(`chat.param.${name}`)} hint=${t(`chat.param.${name}.hint`)} value=${params[name] ?? null}
        placeholder=${t("chat.param.default")} onInput=${(value) => set(name, Number.isNaN(value) ? null : value)} ...${limits} />`)}</div>`;
}

export function Panel({ conversation }) {
    const first = useRef(null);
    const { model, system, params } = settingsOf(conversation);
    const change = (set) => changeSettings(conversation, set);
    const set = (name, value) => change({ params: withParam(params, name, value) });
    const { capabilities = [], labels = [] } = modelOf(model) ?? {};
    const { mcp, ...others } = params;
    const reasons = [...capabilities, ...labels].includes("reasoning") || "reasoning_effort" in params;
    useEffect(() => first.current.querySelector("select").focus(), []);
    return html`<aside class="chat-panel" aria-label=${t("chat.settings")} ref=${first}>
        <div class="row between"><h2>${t("chat.settings")}</h2>
            <${IconButton} icon="close" label=${t("action.close")} onClick=${() => { panelOpen.value = false; }} /></div>
        <${Presets} conversation=${conversation} />
        <${TextField} label=${t("chat.system")} hint=${t("chat.system_hint")} rows="6" dir="auto" value=${system}
            onInput=${(value) => change({ system: value })} />
        ${reasons && html`<${Select} label=${t("chat.effort")} value=${params.reasoning_effort ?? ""}
            options=${EFFORTS.map((e) => [e, t(`chat.effort.${e || "default"}`)])} onChange=${(value) => set("reasoning_effort", value)} />`}
        <${Offered} value=${params.mcp} onChange=${(value) => set("mcp", value)} able=${capabilities.includes("tools")} />
        <${OutputForm} value=${params.response_format} onChange=${(value) => set("response_format", value)} />
        <h3>${t("chat.params")}</h3>
        <${Numbers} params=${params} set=${set} />
        <${TextField} label=${t("chat.param.stop")} hint=${t("chat.param.stop.hint")} rows="2" value=${(params.stop ?? []).join("\n")}
            onInput=${(value) => set("stop", value.trim() ? value.split("\n").filter(Boolean) : null)} />
        <${Button} small icon="retry" disabled=${!Object.keys(others).length} onClick=${() => change({ params: mcp ? { mcp } : {} })}>${t("chat.params_reset")}<//>
        <h3>${t("chat.all_chats")}</h3>
        <${Toggle} label=${t("chat.enter_is_line")} hint=${t("chat.enter_is_line_hint")} checked=${enterIsLine.value}
            onChange=${(on) => { enterIsLine.value = on; }} />
    </aside>`;
}
