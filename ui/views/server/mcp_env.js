/* Edits the environment variables of a program. Stored values are never shown; an empty field keeps the
 * stored value. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { Button, IconButton } from "../../components/button.js";

const NEW = { name: "", value: "", stored: false };

function Variable({ one, set, remove }) {
    const { name, value, stored } = one, what = name || t("server.mcp.env.new");
    return html`<li>
        <input type="text" class="mono" aria-label=${t("server.mcp.env.name")} value=${name} readonly=${stored} placeholder=${t("server.mcp.env.name")}
            autocomplete="off" autocapitalize="off" spellcheck="false" onInput=${(e) => set({ ...one, name: e.currentTarget.value })} />
        <input type="password" aria-label=${t("server.mcp.env.value_of", { name: what })} value=${value} autocomplete="new-password"
            placeholder=${t(stored ? "server.mcp.env.kept" : "server.mcp.env.value")} onInput=${(e) => set({ ...one, value: e.currentTarget.value })} />
        <${IconButton} icon="trash" label=${t("server.mcp.env.remove", { name: what })} onClick=${remove} />
    </li>`;
}

/* env: [{name, value, stored}], see formOf in lib/server/mcp.js. */
export function McpEnv({ env, change, error }) {
    return html`<fieldset class=${"mcp-env field" + (error ? " wrong" : "")}>
        <legend>${t("server.mcp.env")}</legend>
        ${env.length > 0 && html`<ul>${env.map((one, i) => html`<${Variable} key=${i} one=${one} set=${(next) => change(env.with(i, next))}
            remove=${() => change(env.toSpliced(i, 1))} />`)}</ul>`}
        <p class="hint">${t(env.some((one) => one.stored) ? "server.mcp.env.stored" : "server.mcp.env.hint")}</p>
        ${error && html`<p class="field-error" role="alert">${error}</p>`}
        <${Button} small icon="plus" onClick=${() => change([...env, NEW])}>${t("server.mcp.env.add")}<//>
    </fieldset>`;
}
