/* Shows the tools of an MCP server, each with its description, its schema and its permission. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { commonPermission, PERMISSIONS } from "../../lib/server/mcp.js";
import { toastError } from "../../components/toast.js";
import { changeMcp } from "../../store/mcp.js";

const SHORT = 200; /* maximum characters of a description before it is cut */

function Permission({ label, value, mixed, disabled, choose }) {
    return html`<select class="mcp-permission" aria-label=${label} value=${value} disabled=${disabled} onChange=${(e) => choose(e.currentTarget.value)}>
        ${mixed && html`<option value="" selected>${t("server.mcp.permission.mixed")}</option>`}
        ${PERMISSIONS.map((one) => html`<option value=${one} selected=${one === value}>${t(`server.mcp.permission.${one}`)}</option>`)}
    </select>`;
}

const shorter = (text) => text.length <= SHORT ? text : `${text.slice(0, SHORT).trimEnd()} …`;

function Tool({ tool, disabled, choose }) {
    const { name, title, description } = tool;
    return html`<li class="mcp-tool">
        <div>
            <h3><code>${name}</code> ${title && title !== name && html`<small>${title}</small>`}</h3>
            ${description && html`<p class="hint">${shorter(description)}</p>`}
            ${tool.changed && html`<p class="notice-box warn">${t("server.mcp.tool_changed")}</p>`}
            <details><summary class="hint">${t("server.mcp.more")}</summary>
                ${description.length > SHORT && html`<p class="mcp-about hint">${description}</p>`}
                <pre tabindex="0" role="group" aria-label=${t("server.mcp.schema")}>${JSON.stringify(tool.schema, null, 2)}</pre>
            </details>
        </div>
        <${Permission} label=${t("server.mcp.permission_of", { name })} value=${tool.permission} disabled=${disabled} choose=${choose} />
    </li>`;
}

export function McpTools({ server, barred }) {
    const { tools, left_out: left } = server, common = commonPermission(tools);
    const set = (permissions) => changeMcp(server.id, { permissions }).catch(toastError);
    return html`<div class="mcp-tools">
        ${left > 0 && html`<p class="notice-box warn">${t("server.mcp.left_out", { n: left })}</p>`}
        ${tools.length > 1 && html`<div class="row between"><span class="hint">${t("server.mcp.permission.what")}</span>
            <${Permission} label=${t("server.mcp.permission_all")} value=${common} mixed=${!common} disabled=${barred}
                choose=${(value) => value && set(Object.fromEntries(tools.map((one) => [one.name, value])))} /></div>`}
        <ul>${tools.map((tool) => html`<${Tool} key=${tool.name} tool=${tool} disabled=${barred} choose=${(value) => set({ [tool.name]: value })} />`)}</ul>
    </div>`;
}
