/* What is known of a model, and what it uses while it is in memory. */
import { html } from "../../lib/html.js";
import { ago, bytes, dateTime, duration, number } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { memoryOf, readDetails } from "../../store/models.js";
import { useResource } from "../../store/resource.js";

const LICENSE_SHORT = 60;

/* rows: [[text key, value]]; those without a value are left out. */
const List = ({ rows }) => html`<dl
    class="facts">${rows.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
    .map(([key, value]) => html`<div key=${key}><dt>${t(key)}</dt><dd>${value}</dd></div>`)}</dl>`;

function License({ text }) {
    const line = text.trim().split("\n")[0];
    if (text.length <= LICENSE_SHORT)
        return line;
    return html`<details><summary>${line.slice(0, LICENSE_SHORT)}</summary><pre
        class="license">${text}</pre></details>`;
}

function sourceText(model) {
    if (model.recipe === "remote")
        return t("models.source.remote");
    return ["builtin", "local"].includes(model.source) ? t(`models.source.${model.source}`) :
        t("models.source.found", { program: model.source });
}

const tokens = (n) => n > 0 && t("models.facts.context", { n: number(n) });

export function FactsTable({ model, here }) {
    const { data } = useResource(() => here && model.recipe !== "remote" ? readDetails(model.id) : Promise.resolve(null),
        [model.id, here]);
    const info = data?.model_info ?? {};
    return html`<${List} rows=${[
        ["models.facts.can", (model.capabilities ?? []).map((c) => t(`models.can.${c}`)).join(", ")],
        ["models.facts.size", model.size_bytes > 0 && bytes(model.size_bytes)],
        ["models.facts.quantization", model.quantization],
        ["models.facts.parameter_count", model.parameters > 0 && number(model.parameters)],
        ["models.facts.context_length", tokens(model.context_length)],
        ["models.facts.architecture", model.details?.architecture],
        ["models.facts.license_title", data?.license && html`<${License} text=${data.license} />`],
        ["models.facts.description", info["general.description"]],
        ["models.facts.source", sourceText(model)],
        ["models.facts.checkpoint", html`<code>${model.checkpoint}</code>`],
        ["models.facts.address", model.remote?.base_url && html`<code>${model.remote.base_url}</code>`],
        ["models.facts.recipe", t(`models.engines.recipe.${model.recipe}`)],
        ["models.facts.used", model.last_use > 0 && ago(model.last_use * 1000)],
        ["models.facts.added", here && model.created > 0 && dateTime(model.created * 1000)],
    ]} />`;
}

/* While the model is in memory, or waits to be. */
export function Memory({ model }) {
    const m = memoryOf(model);
    if (!m)
        return null;
    return html`<section><h2>${t("models.memory.title")}</h2>
        ${m.reason && html`<p class="unsupported" role="status">${t("models.memory.waits", { reason: m.reason })}</p>`}
        <${List} rows=${[
        ["models.memory.used", m.resident_bytes > 0 && bytes(m.resident_bytes)],
        ["models.memory.planned", m.memory_bytes > 0 && bytes(m.memory_bytes)],
        ["models.memory.context", tokens(m.max_context_window)],
        ["models.memory.slots", m.slots > 0 && number(m.slots)],
        ["models.memory.threads", m.threads > 0 && number(m.threads)],
        ["models.memory.device", m.device],
        ["models.memory.loaded_in", m.load_ms > 0 && duration(m.load_ms)],
        ["models.memory.requests", m.status === "ready" && t("models.memory.requests.now", {
            running: m.requests_running, waiting: m.requests_waiting,
        })],
        ["models.memory.unloads", m.status === "ready" && (m.unloads_in_seconds === null ? t("models.memory.stays") :
            t("models.memory.unloads.in", { time: duration(m.unloads_in_seconds * 1000) }))],
    ]} />
    </section>`;
}
