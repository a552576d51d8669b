/* What the server does now: models in memory, who waits, how fast, and the machine's load. */
import { html } from "../../lib/html.js";
import { duration, number } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { ErrorBox } from "../../components/error.js";
import { Loading } from "../../components/loading.js";
import { load, readLoad, samples, serverStatus, useLoad } from "../../store/server.js";
import { Crashed } from "./crashed.js";
import { InMemory } from "./in_memory.js";
import { Plots } from "./plots.js";

/* One fact of the server: a figure with its name. */
const Fact = ({ name, value }) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

function Now({ health, stats }) {
    const last = samples.value.at(-1);
    const status = serverStatus.value.data;
    const started = status?.system?.uptime_seconds;
    return html`<dl class="facts">
        <${Fact} name=${t("server.now.speed")} value=${t("server.speed", { n: number(last?.speed ?? 0, 1) })} />
        <${Fact} name=${t("server.now.running")} value=${t("server.now.running_of", { running: last?.running ?? 0, waiting: last?.waiting ?? 0 })} />
        <${Fact} name=${t("server.now.done")} value=${t("server.now.done_of", { done: stats.completed_count_total, failed: stats.failed_count_total })} />
        <${Fact} name=${t("server.now.tokens")} value=${t("server.now.tokens_of", { prompt: stats.prompt_tokens_total, output: stats.output_tokens_total })} />
        <${Fact} name=${t("server.now.version")} value=${health.version} />
        ${started !== undefined && html`<${Fact} name=${t("server.now.uptime")} value=${duration(started * 1000)} />`}
    </dl>`;
}

export function Overview() {
    useLoad();
    const { health, stats, error } = load.value;
    if (error && !health)
        return html`<${ErrorBox} error=${error} retry=${readLoad} />`;
    if (!health)
        return html`<${Loading} />`;
    return html`
        ${health.stopping && html`<p class="notice warn" role="status">${t("server.stopping")}</p>`}
        <section><h2>${t("server.now.title")}</h2><${Now} health=${health} stats=${stats} /></section>
        <${InMemory} models=${health.all_models_loaded ?? []} stats=${stats} />
        <${Crashed} models=${health.failed_models ?? []} />
        <section><h2>${t("server.machine.title")}</h2><${Plots} samples=${samples.value} /></section>`;
}
