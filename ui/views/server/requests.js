/* Requests to models that have ended: the list with its filters, and one request's page. */
import { html, useState } from "../../lib/html.js";
import { clock, duration, number } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { go, href, route } from "../../lib/route.js";
import { choicesOf, filtered } from "../../lib/server/requests.js";
import { Button, IconButton } from "../../components/button.js";
import { Empty } from "../../components/empty.js";
import { Select, TextField } from "../../components/field.js";
import { Loaded } from "../../components/loaded.js";
import { readRequests, requests, useRequests } from "../../store/server.js";
import { Capture } from "./capture.js";
import { EndBadge } from "./end_badge.js";
import { RequestPage } from "./request.js";

const SHOWN_FIRST = 100, ENDS = ["completed", "failed", "cancelled"];

/* The filter is part of the address. */
function useFilter() {
    const { query } = route.value;
    const filter = Object.fromEntries(["q", "end", "model", "client"].map((name) => [name, query.get(name) ?? ""]));
    const set = (change) => go(href("server", "requests", { ...filter, ...change }), { replace: true });
    return [filter, set];
}

const any = (list, text) => [["", text], ...list.map((one) => [one, one])];

function Filters({ list, filter, set }) {
    return html`<div class="server-tools">
        <${TextField} type="search" label=${t("server.requests.search")} value=${filter.q} onInput=${(q) => set({ q })} />
        <${Select} label=${t("server.requests.end")} value=${filter.end} onChange=${(end) => set({ end })}
            options=${[["", t("server.all")], ...ENDS.map((end) => [end, t(`server.requests.end.${end}`)])]} />
        <${Select} label=${t("server.requests.model")} value=${filter.model} onChange=${(model) => set({ model })}
            options=${any(choicesOf(list, "model"), t("server.all"))} />
        <${Select} label=${t("server.requests.client")} value=${filter.client} onChange=${(client) => set({ client })}
            options=${any(choicesOf(list, "client"), t("server.all"))} />
    </div>`;
}

const tokens = (r) => r.prompt || r.output ? t("server.requests.tokens_of", { prompt: r.prompt, output: r.output }) : "";

function Row({ r }) {
    return html`<tr>
        <th scope="row"><a href=${href("server", "requests", { id: r.id })}>${clock(r.arrived)}</a></th>
        <td>${r.model ?? t("server.requests.no_model")} <small>${t(`server.task.${r.task}`)}</small></td>
        <td>${r.client}</td>
        <td><${EndBadge} request=${r} /></td>
        <td class="number">${tokens(r)}</td>
        <td class="number">${r.tokens_s > 0 && t("server.speed", { n: number(r.tokens_s, 1) })}</td>
        <td class="number">${duration(r.ms)}</td>
    </tr>`;
}

const COLUMNS = ["when", "model", "client", "end", "tokens", "speed", "duration"], NUMBERS = ["tokens", "speed", "duration"];

function Table({ list }) {
    const [most, setMost] = useState(SHOWN_FIRST);
    return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${t("server.part.requests")}><table class="table requests-table">
            <thead><tr>${COLUMNS.map((name) => html`<th key=${name} scope="col" class=${NUMBERS.includes(name) ? "number" : ""}>${t(`server.requests.${name}`)}</th>`)}</tr></thead>
            <tbody>${list.slice(0, most).map((r) => html`<${Row} key=${r.seq} r=${r} />`)}</tbody>
        </table></div>
        ${list.length > most && html`<p><${Button} onClick=${() => setMost(most + SHOWN_FIRST)}>${t("server.more", { n: list.length - most })}<//></p>`}`;
}

function List({ data, paused, setPaused }) {
    const [filter, set] = useFilter();
    const shown = filtered(data.list, { ...filter, text: filter.q });
    return html`<section>
        <${Capture} capture=${data.capture} />
        <${Filters} list=${data.list} filter=${filter} set=${set} />
        <div class="row"><p class="hint" role="status">${paused ? t("server.requests.paused") : t("server.requests.count", { n: shown.length })}</p>
            <${IconButton} icon=${paused ? "play" : "pause"} label=${t(paused ? "server.resume" : "server.pause")} pressed=${paused}
                onClick=${() => setPaused(!paused)} /></div>
        ${shown.length ? html`<${Table} list=${shown} />` : data.list.length ?
        html`<${Empty} icon="search" title=${t("server.requests.none_found")}><${Button}
            onClick=${() => set({ q: "", end: "", model: "", client: "" })}>${t("server.reset_filter")}<//><//>` :
        html`<${Empty} icon="list" title=${t("server.requests.none")}><p>${t("server.requests.none.why")}</p>
            <${Button} href=${href("server", "connect")}>${t("server.part.connect")}<//><//>`}
    </section>`;
}

function Live() {
    const [paused, setPaused] = useState(false);
    useRequests(!paused);
    return html`<${Loaded} state=${requests.value} retry=${readRequests}>${(data) => html`<${List} data=${data}
        paused=${paused} setPaused=${setPaused} />`}<//>`;
}

export function Requests() {
    const id = route.value.query.get("id");
    return id ? html`<${RequestPage} key=${id} id=${id} />` : html`<${Live} />`;
}
