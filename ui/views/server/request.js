/* One request: its facts, and, if they were captured, its body, its reply, the body as a program, and
 * the request again. */
import { html } from "../../lib/html.js";
import { bytes, dateTime, duration, number } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { href } from "../../lib/route.js";
import { bodyOf, readable } from "../../lib/server/requests.js";
import { AsCode } from "../../components/as_code.js";
import { ErrorBox } from "../../components/error.js";
import { Icon } from "../../components/icon.js";
import { Loading } from "../../components/loading.js";
import { Snippet } from "../../components/snippet.js";
import { readRequest } from "../../store/server.js";
import { useResource } from "../../store/resource.js";
import { EndBadge } from "./end_badge.js";
import { Replay } from "./replay.js";

const known = (value) => value !== null && value !== undefined && value !== "" && value !== false;

function Facts({ r }) {
    const rows = [
        ["server.requests.end", html`<${EndBadge} request=${r} />`],
        ["server.requests.when", dateTime(r.arrived)],
        ["server.requests.model", r.model],
        ["server.requests.task", t(`server.task.${r.task}`)],
        ["server.requests.path", html`<code>${r.path || t("server.requests.own_path")}</code>`],
        ["server.requests.client", r.client],
        ["server.requests.duration", duration(r.ms)],
        ["server.requests.queued", r.queued_ms !== null && duration(r.queued_ms)],
        ["server.requests.first", r.first_ms !== null && duration(r.first_ms)],
        ["server.requests.prompt", r.prompt > 0 && t("server.requests.prompt_of", { n: r.prompt, cached: r.cached })],
        ["server.requests.output", r.output > 0 && number(r.output)],
        ["server.requests.speed", r.tokens_s > 0 && t("server.speed", { n: number(r.tokens_s, 1) })],
        ["server.requests.stream", t(r.stream ? "server.yes" : "server.no")],
        ["server.requests.id", html`<code>${r.id}</code>`],
    ];
    return html`<dl class="facts">${rows.filter(([, value]) => known(value)).map(([key, value]) =>
        html`<div key=${key}><dt>${t(key)}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/* A captured text, or why there is none. */
function Text({ title, text }) {
    return html`<section><h3>${title}</h3>
        ${text.text ? html`<${Snippet} label=${title} code=${text.cut ? text.text : readable(text.text)} />` : html`<p class="hint">${t("server.requests.no_text", { size: bytes(text.bytes) })}</p>`}
        ${text.text && text.cut && html`<p class="hint">${t("server.requests.cut", { size: bytes(text.bytes) })}</p>`}
    </section>`;
}

function Captured({ r }) {
    const body = bodyOf(r), sent = body && r.path;
    /* A program that prints one reply asks for one reply. */
    const plain = { ...body };
    delete plain.stream;
    return html`
        <${Text} title=${t("server.requests.body")} text=${r.body} />
        <${Text} title=${t("server.requests.reply")} text=${r.reply} />
        ${sent && html`<section><${AsCode} request=${{ path: r.path, json: plain }} /></section>
            <${Replay} path=${r.path} body=${body} />`}`;
}

export function RequestPage({ id }) {
    const { data: r, error, reload } = useResource(() => readRequest(id), [id]);
    return html`<section>
        <p><a class="back" href=${href("server", "requests")}><${Icon} name="left" size="16" /> ${t("server.requests.back")}</a></p>
        ${error ? html`<${ErrorBox} error=${error} retry=${reload} />` : !r ? html`<${Loading} />` : html`
            <h2>${t("server.requests.one", { when: dateTime(r.arrived) })}</h2>
            ${r.error && html`<${ErrorBox} error=${{ status: r.status ?? 500, message: r.error }} />`}
            <${Facts} r=${r} />
            <p><a href=${href("server", "logs", { q: r.id })}>${t("server.requests.log")}</a></p>
            ${r.body ? html`<${Captured} r=${r} />` : html`<p class="notice-box">${t("server.requests.not_captured")}</p>`}`}
    </section>`;
}
