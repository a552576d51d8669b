/* The list of MCP servers (programs and services that provide tools to models), with a button to add one. */
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { Button } from "../../components/button.js";
import { Empty } from "../../components/empty.js";
import { Loaded } from "../../components/loaded.js";
import { loadMcp, useMcp } from "../../store/mcp.js";
import { McpForm } from "./mcp_form.js";
import { McpServer } from "./mcp_server.js";

const None = ({ add }) => html`<${Empty} icon="tool" title=${t("server.mcp.none")}>
    <p>${t("server.mcp.none.what")}</p><p>${t("server.mcp.none.how")}</p>${add}<//>`;

function List({ servers }) {
    const [adding, setAdding] = useState(false);
    const add = html`<${Button} kind="primary" icon="plus" onClick=${() => setAdding(true)}>${t("server.mcp.add")}<//>`;
    return html`<section class="mcp">
        ${servers.length ? html`<p class="hint">${t("server.mcp.what")}</p><p>${add}</p>
            ${servers.map((one) => html`<${McpServer} key=${one.id} server=${one} />`)}` : html`<${None} add=${add} />`}
        ${adding && html`<${McpForm} close=${() => setAdding(false)} />`}
    </section>`;
}

export function Mcp() {
    const state = useMcp();
    return html`<${Loaded} state=${state} retry=${loadMcp}>${(servers) => html`<${List} servers=${servers} />`}<//>`;
}
