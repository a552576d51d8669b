/* The log as it is written, of all or of one model: search, levels, pause, and a link to each line. */
import { html, useEffect, useState } from "../../lib/html.js";
import { number } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { useKeys } from "../../lib/keys.js";
import { go, href, route } from "../../lib/route.js";
import { placeOf } from "../../lib/server/log_buffer.js";
import { Button, IconButton } from "../../components/button.js";
import { Empty } from "../../components/empty.js";
import { ErrorBox } from "../../components/error.js";
import { Select, TextField } from "../../components/field.js";
import { copy } from "../../components/snippet.js";
import { VirtualList } from "../../components/virtual_list.js";
import { clearLog, findLine, held, LINES_MAX, logState, pauseLog, searchLog, shownLines, useLog } from "../../store/logs.js";
import { models, readModels } from "../../store/models.js";
import { isAdmin } from "../../store/server.js";
import { LogLine } from "./log_line.js";

const LEVELS = ["critical", "error", "warn", "info", "debug", "trace"];
const ROW = 22; /* pixels; .log-row has this height, too */

function useFilter() {
    const { query } = route.value;
    const filter = Object.fromEntries(["q", "model", "level", "line"].map((name) => [name, query.get(name) ?? ""]));
    const set = (change) => go(href("server", "logs", { ...filter, ...change }), { replace: true });
    return [filter, set];
}

/* A wide screen shows when; on a narrow one the text begins sooner. */
const row = (line) => html`<span class=${`log-row ${line.level}`}><span class="log-time">${line.time.slice(11, 23)}</span>
    <span class="log-level">${line.level}</span><span class="log-tag">${line.tag}</span> ${line.text}</span>`;

function Tools({ filter, set, paused, setPaused, lines }) {
    const names = (models.value.data ?? []).filter((m) => m.downloaded || m.recipe === "remote").map((m) => m.id).sort();
    const known = filter.model && !names.includes(filter.model) ? [filter.model, ...names] : names;
    return html`<div class="server-tools">
        <${TextField} type="search" label=${t("server.logs.search")} value=${filter.q} onInput=${(q) => set({ q, line: "" })} />
        <${Select} label=${t("server.logs.level")} value=${filter.level} onChange=${(level) => set({ level, line: "" })}
            options=${[["", t("server.all")], ...LEVELS.map((level) => [level, t(`server.logs.level.${level}`)])]} />
        <${Select} label=${t("server.logs.model")} value=${filter.model} onChange=${(model) => set({ model, line: "" })}
            options=${[["", t("server.logs.all_models")], ...known.map((name) => [name, name])]} />
        <div class="row">
            <${IconButton} icon=${paused ? "play" : "pause"} label=${t(paused ? "server.resume" : "server.pause")} pressed=${paused} onClick=${() => setPaused(!paused)} />
            <${IconButton} icon="copy" label=${t("server.logs.copy")} disabled=${!lines.length}
                onClick=${() => copy(lines.map((line) => line.whole).join("\n"))} />
            <${IconButton} icon="trash" label=${t("server.logs.clear")} onClick=${clearLog} />
        </div>
    </div>`;
}

function state({ lines, paused }) {
    if (paused)
        return t("server.logs.held", { n: held.value });
    const { open, lost } = logState.value;
    const count = t("server.logs.count", { n: lines.length });
    return open ? [count, lost > 0 ? t("server.logs.lost", { n: lost }) : ""].join(" ") : `${count} ${t("server.logs.closed")}`;
}

/* Whether a line cannot come any more: it is older than the newest line, or of another log. */
function isPast(id, lines) {
    const place = placeOf(id), newest = placeOf(lines.at(-1)?.id);
    return newest !== null && (place === null || place.log !== newest.log || place.seq <= newest.seq);
}

/* A line that an address names becomes the current one as soon as it is there. Returns whether it is
 * missing. */
function useLinked(id, lines, setCurrent, setEnd) {
    const [sought, setSought] = useState(id);
    useEffect(() => setSought(id), [id]);
    const at = sought ? findLine(sought) : -1;
    useEffect(() => {
        if (at < 0)
            return;
        setCurrent(sought);
        setEnd(false);
        setSought("");
    }, [at, lines.length]);
    return sought !== "" && at < 0 && isPast(sought, lines);
}

export function Logs() {
    const [filter, set] = useFilter();
    const [paused, setPaused] = useState(false), [end, setEnd] = useState(!filter.line), [current, setCurrent] = useState("");
    useLog(filter);
    useEffect(() => {
        readModels();
        return () => pauseLog(false);
    }, []);
    useEffect(() => searchLog(filter.q), [filter.q]);
    useEffect(() => pauseLog(paused), [paused]);
    useKeys([{ keys: "/", text: "server.logs.search", group: "server", run: () => document.querySelector(".logs input[type=search]")?.focus() }]);
    const { lines, dropped } = shownLines();
    const missing = useLinked(filter.line, lines, setCurrent, setEnd);
    const { error, open } = logState.value;
    const at = current ? findLine(current) : -1;
    return html`<section class="logs">
        ${isAdmin.value === false && html`<p class="notice-box">${t("server.logs.own")}</p>`}
        <${Tools} filter=${filter} set=${set} paused=${paused} setPaused=${setPaused} lines=${lines} />
        ${error && html`<${ErrorBox} error=${error} />`}
        ${missing && html`<p class="notice-box" role="status">${t("server.logs.missing")}</p>`}
        <p class="hint row between"><span role="status">${state({ lines, paused })}</span>
            ${!end && html`<${Button} small icon="down" onClick=${() => setEnd(true)}>${t("server.logs.end")}<//>`}</p>
        ${lines.length ? html`<${VirtualList} label=${t("server.part.logs")} count=${lines.length} height=${ROW} dropped=${dropped}
                row=${(i) => row(lines[i])} name=${(i) => lines[i].id} end=${end} onEnd=${setEnd}
                current=${at} onCurrent=${(i) => setCurrent(lines[i].id)} />` :
        html`<div class="virtual"><${Empty} icon="list" title=${t(filter.q ? "server.logs.none_found" : open ? "server.logs.none" : "shell.loading")} /></div>`}
        ${at >= 0 && html`<${LogLine} line=${lines[at]} close=${() => setCurrent("")} />`}
        <p class="hint">${t("server.logs.limit", { n: number(LINES_MAX) })}</p>
    </section>`;
}
