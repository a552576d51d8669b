/* Sends a captured request again, perhaps changed, and shows what comes back as it arrives. */
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { duration } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { readable } from "../../lib/server/requests.js";
import { Button } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";
import { TextField } from "../../components/field.js";
import { Snippet } from "../../components/snippet.js";
import { sendAgain } from "../../store/server.js";

function parsed(text) {
    try {
        return JSON.parse(text);
    } catch {
        return null;
    }
}

export function Replay({ path, body }) {
    const [text, setText] = useState(() => JSON.stringify(body, null, 2));
    const [state, setState] = useState(null); /* {reply, ms, error, busy} */
    const abort = useRef(null);
    useEffect(() => () => abort.current?.abort(), []);
    const wrong = parsed(text) === null ? t("server.replay.not_json") : null;
    const run = async () => {
        const began = Date.now();
        abort.current = new AbortController();
        let reply = "";
        setState({ reply, busy: true });
        const shown = (more) => setState({ reply, ms: Date.now() - began, ...more });
        try {
            for await (const piece of sendAgain(path, parsed(text), abort.current.signal)) {
                reply += piece;
                shown({ busy: true });
            }
            shown({ busy: false });
        } catch (error) {
            shown({ busy: false, error: error.name === "AbortError" ? null : error });
        }
    };
    return html`<section class="replay"><h3>${t("server.replay.title")}</h3>
        <p class="hint">${t("server.replay.why")}</p>
        <${TextField} label=${t("server.replay.body")} rows="10" value=${text} onInput=${setText} error=${wrong} spellcheck="false" class="code" />
        <div class="row">${state?.busy ? html`<${Button} icon="stop" onClick=${() => abort.current.abort()}>${t("server.replay.stop")}<//>` :
            html`<${Button} kind="primary" icon="retry" disabled=${wrong !== null} onClick=${run}>${t("server.replay.send")}<//>`}
            ${state?.ms !== undefined && html`<span class="hint" role="status">${t(state.busy ? "server.replay.running" : "server.replay.took", { time: duration(state.ms) })}</span>`}</div>
        ${state?.error && html`<${ErrorBox} error=${state.error} />`}
        ${state?.reply && html`<${Snippet} label=${t("server.requests.reply")} code=${state.busy ? state.reply : readable(state.reply)} />`}
    </section>`;
}
