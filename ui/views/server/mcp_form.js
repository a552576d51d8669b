/* The dialog to add or change an MCP server. Stored secrets are never shown. */
import { html, useId, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { bodyOf, CALL_S, changesOf, fieldOf, forgottenOf, formOf } from "../../lib/server/mcp.js";
import { Button } from "../../components/button.js";
import { Dialog } from "../../components/dialog.js";
import { ErrorBox } from "../../components/error.js";
import { NumberField, TextField, Toggle } from "../../components/field.js";
import { toastError } from "../../components/toast.js";
import { addMcp, changeMcp, refreshMcp } from "../../store/mcp.js";
import { isAdmin } from "../../store/server.js";
import { McpEnv } from "./mcp_env.js";
import { McpPaste } from "./mcp_paste.js";

const KINDS = ["http", "stdio"], FIELDS = ["name", "url", "token", "command", "args", "env", "read", "write", "call_s"];

function Kind({ kind, choose }) {
    return html`<div class="choice" role="group" aria-label=${t("server.mcp.kind")}>${KINDS.map((one) => html`<button type="button" key=${one}
        aria-pressed=${String(one === kind)} onClick=${() => choose(one)}>${t(`server.mcp.kind.${one}`)}</button>`)}</div>`;
}

function HttpFields({ form, set, wrong, hasToken }) {
    return html`<${TextField} label=${t("server.mcp.url")} hint=${t(isAdmin.value ? "server.mcp.url.hint" : "server.mcp.url.public")} type="url" value=${form.url}
            onInput=${(url) => set({ url })} error=${wrong("url")} required autocomplete="off" />
        <${TextField} label=${t("server.mcp.token")} hint=${t(hasToken ? "server.mcp.token.stored" : "server.mcp.token.hint")} type="password" value=${form.token}
            onInput=${(token) => set({ token })} error=${wrong("token")} disabled=${form.dropToken} autocomplete="new-password" />
        ${hasToken && html`<${Toggle} label=${t("server.mcp.token.drop")} checked=${form.dropToken}
            onChange=${(dropToken) => set({ dropToken, token: "" })} />`}`;
}

function ProgramFields({ form, set, wrong }) {
    const code = { spellcheck: "false", autocomplete: "off", autocapitalize: "off", class: "mono" };
    return html`<p class="notice-box">${t("server.mcp.program.what")}</p>
        <${TextField} label=${t("server.mcp.command")} hint=${t("server.mcp.command.hint")} value=${form.command}
            onInput=${(command) => set({ command })} error=${wrong("command")} required ...${code} />
        <${TextField} label=${t("server.mcp.args")} hint=${t("server.mcp.args.hint")} rows="3" value=${form.args}
            onInput=${(args) => set({ args })} error=${wrong("args")} ...${code} />
        <${McpEnv} env=${form.env} change=${(env) => set({ env })} error=${wrong("env")} />
        <${TextField} label=${t("server.mcp.read")} hint=${t("server.mcp.read.hint")} rows="2" value=${form.read}
            onInput=${(read) => set({ read })} error=${wrong("read")} ...${code} />
        <${TextField} label=${t("server.mcp.write")} hint=${t("server.mcp.write.hint")} rows="2" value=${form.write}
            onInput=${(write) => set({ write })} error=${wrong("write")} ...${code} />`;
}

/* Saves the form, then starts the server, so that its state shows whether it works. */
async function save(form, server) {
    const set = server && changesOf(form, server);
    const saved = !server ? await addMcp(bodyOf(form)) : Object.keys(set).length ? await changeMcp(server.id, set) : null;
    if (saved?.enabled)
        refreshMcp(saved.id).catch(toastError);
}

/* server: the server to be changed; undefined: a new one is added. */
export function McpForm({ server, close }) {
    const [form, setForm] = useState(() => formOf(server)), [busy, setBusy] = useState(false), [error, setError] = useState(null);
    const id = useId(), field = fieldOf(error?.details?.param);
    const set = (changes) => setForm((all) => ({ ...all, ...changes }));
    const wrong = (name) => name === field ? error.message : null;
    const forgotten = server && forgottenOf(form, server);
    const barred = form.kind === "stdio" && isAdmin.value === false;
    const submit = async (event) => {
        event.preventDefault();
        setBusy(true);
        setError(null);
        try {
            await save(form, server);
            close();
        } catch (e) {
            setError(e);
            setBusy(false);
        }
    };
    return html`<${Dialog} title=${server ? t("server.mcp.edit_name", { name: server.name }) : t("server.mcp.add")} close=${close} class="mcp-dialog"
        actions=${html`<${Button} onClick=${close}>${t("action.cancel")}<//>
            <${Button} kind="primary" type="submit" form=${id} busy=${busy} disabled=${barred}>${t("action.save")}<//>`}>
        <form id=${id} onSubmit=${submit}>
            ${!server && html`<${McpPaste} take=${setForm} /><${Kind} kind=${form.kind} choose=${(kind) => set({ kind })} />`}
            ${barred ? html`<p class="notice-box">${t("server.mcp.barred")}</p>` : html`
                <${TextField} label=${t("server.mcp.name")} hint=${t("server.mcp.name.hint")} value=${form.name} onInput=${(name) => set({ name })}
                    error=${wrong("name")} required maxlength="64" autocomplete="off" autofocus />
                ${form.kind === "http" ? html`<${HttpFields} form=${form} set=${set} wrong=${wrong} hasToken=${server?.has_token} />` :
        html`<${ProgramFields} form=${form} set=${set} wrong=${wrong} />`}
                <div role="status">${forgotten && html`<p class="notice-box warn">${t(`server.mcp.forgets.${forgotten}`)}</p>`}</div>
                <${NumberField} label=${t("server.mcp.call_s")} hint=${t("server.mcp.call_s.hint", { n: CALL_S })} value=${form.call_s} min="1" max="3600"
                    onInput=${(call_s) => set({ call_s })} error=${wrong("call_s")} />`}
            ${error && !FIELDS.includes(field) && html`<${ErrorBox} error=${error} />`}
        </form>
    <//>`;
}
