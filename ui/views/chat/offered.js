/* Selects the MCP servers that are offered to the model of this chat; and a button beside the composer with
 * their number. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { href } from "../../lib/route.js";
import { OFFERED_MAX, stateOf } from "../../lib/server/mcp.js";
import { Button } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";
import { Toggle } from "../../components/field.js";
import { Icon } from "../../components/icon.js";
import { loadMcp, useMcp } from "../../store/mcp.js";
import { panelOpen } from "./ui_state.js";

/* Returns one line about the state of a server. */
function about(server) {
    const state = stateOf(server);
    return state === "disabled" ? t("chat.tools.disabled") : state === "failed" ? t("chat.tools.failed_now", { reason: server.error }) :
        server.tools ? t("chat.tools.n", { n: server.tools.length }) : "";
}

/* value: ids of the offered servers; undefined: none. able: whether the model supports tool calls. */
export function Offered({ value = [], onChange, able }) {
    const { data, error } = useMcp(), servers = data ?? [];
    const there = value.filter((id) => servers.some((one) => one.id === id));
    const set = (id, on) => {
        const next = on ? [...there, id] : there.filter((one) => one !== id);
        onChange(next.length ? next : null);
    };
    return html`<div class="offered" role="group" aria-labelledby="offered-title">
        <h3 id="offered-title">${t("chat.tools")}</h3>
        ${error && !data && html`<${ErrorBox} error=${error} retry=${loadMcp} />`}
        ${servers.map((one) => html`<${Toggle} key=${one.id} label=${one.name} hint=${about(one)} checked=${there.includes(one.id)}
            disabled=${!there.includes(one.id) && (!one.enabled || there.length >= OFFERED_MAX)} onChange=${(on) => set(one.id, on)} />`)}
        ${there.length > 0 && !able && html`<p class="notice-note"><${Icon} name="info" size="16" /> ${t("chat.tools.unable")}</p>`}
        ${data && html`<p class="hint">${t(servers.length ? "chat.tools.hint" : "chat.tools.none")}</p>`}
        <${Button} small icon="tool" href=${href("server", "mcp")}>${t(servers.length ? "chat.tools.manage" : "chat.tools.add")}<//>
    </div>`;
}

/* n: number of offered servers. */
export function OfferedMark({ n }) {
    const label = t("chat.tools.offered", { n });
    return n > 0 && html`<button type="button" class="button quiet small offered-mark" aria-label=${label} title=${label}
        onClick=${() => { panelOpen.value = true; }}><${Icon} name="tool" size="16" /> ${n}</button>`;
}
