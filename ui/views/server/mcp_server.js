/* Shows one MCP server: its state, its last error, buttons to refresh, edit and delete it, and its tools. */
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { go, href, route } from "../../lib/route.js";
import { stateOf, whereOf } from "../../lib/server/mcp.js";
import { Button } from "../../components/button.js";
import { Confirm } from "../../components/dialog.js";
import { Toggle } from "../../components/field.js";
import { Icon } from "../../components/icon.js";
import { toast, toastError } from "../../components/toast.js";
import { changeMcp, refreshing, refreshMcp, removeMcp } from "../../store/mcp.js";
import { isAdmin } from "../../store/server.js";
import { McpForm } from "./mcp_form.js";
import { McpTools } from "./mcp_tools.js";

const LOOK = { ready: "good", starting: "warn", failed: "bad" };

/* Returns the kind of the server, and the name and version that it reports, as short texts. */
const factsOf = (server) => [
    t(`server.mcp.kind.${server.kind}`),
    server.server?.name && `${server.server.name} ${server.server.version}`,
].filter(Boolean);

function Remove({ server, close }) {
    const run = () => removeMcp(server.id).then(() => toast(t("server.mcp.removed", { name: server.name })), toastError);
    return html`<${Confirm} title=${t("server.mcp.remove_name", { name: server.name })} text=${t(`server.mcp.remove.${server.kind}`)}
        action=${t("action.delete")} run=${run} close=${close} />`;
}

function Actions({ server, busy, barred }) {
    const [dialog, setDialog] = useState(""), { id, name } = server;
    const close = () => setDialog("");
    return html`<div class="row">
        <${Button} small icon="retry" busy=${busy} disabled=${barred} aria-label=${t("server.mcp.refresh_name", { name })}
            onClick=${() => refreshMcp(id).catch(toastError)}>${t("server.mcp.refresh")}<//>
        <${Button} small icon="edit" disabled=${barred} aria-label=${t("server.mcp.edit_name", { name })} onClick=${() => setDialog("edit")}>${t("server.mcp.edit")}<//>
        <${Button} small kind="danger" icon="trash" aria-label=${t("server.mcp.remove_name", { name })}
            onClick=${() => setDialog("remove")}>${t("action.delete")}<//>
        ${dialog === "edit" && html`<${McpForm} server=${server} close=${close} />`}
        ${dialog === "remove" && html`<${Remove} server=${server} close=${close} />`}
    </div>`;
}

/* Keeps in the page's address (query "open") whether the tools of a server are shown. */
function useOpen(id) {
    const open = route.value.query.get("open") === id;
    const set = (on) => on !== open && go(href("server", "mcp", { open: on ? id : "" }), { replace: true });
    return [open, set];
}

export function McpServer({ server }) {
    const [open, setOpen] = useOpen(server.id), { id, name, tools } = server;
    const busy = refreshing.value.has(id) || server.state === "starting", state = busy ? "starting" : stateOf(server);
    const barred = server.kind === "stdio" && isAdmin.value === false;
    return html`<article class="card mcp-server" aria-labelledby=${`mcp-${id}`}>
        <div class="row between">
            <h2 id=${`mcp-${id}`}><bdi>${name}</bdi> <span class=${`badge ${LOOK[state] ?? ""}`} role="status">${t(`server.mcp.state.${state}`)}</span></h2>
            <${Toggle} label=${t("server.mcp.enabled")} aria-label=${t("server.mcp.enabled_name", { name })} checked=${server.enabled} disabled=${barred}
                onChange=${(enabled) => changeMcp(id, { enabled }).catch(toastError)} />
        </div>
        <p class="facts-line hint">${factsOf(server).map((fact) => html`<span>${fact}</span>`)}</p>
        <p class="mcp-where"><code>${whereOf(server)}</code></p>
        ${server.enabled && server.error && !busy && html`<p class="mcp-problem"><${Icon} name="warning" size="16" /> ${server.error}</p>`}
        ${barred && html`<p class="notice-box">${t("server.mcp.barred")}</p>`}
        <${Actions} server=${server} busy=${busy} barred=${barred} />
        ${tools ? html`<details open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
            <summary>${t("server.mcp.tools", { n: tools.length })}</summary>
            ${open && html`<${McpTools} server=${server} barred=${barred} />`}
        </details>` : !busy && !server.error && html`<p class="hint">${t("server.mcp.unlisted")}</p>`}
    </article>`;
}
