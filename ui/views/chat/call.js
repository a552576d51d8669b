/* Shows one tool call: collapsed, unless it waits for a permission. Output of a model or tool is shown as
 * plain text. */
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { hasArguments, isAsking, pretty, prettyArguments } from "../../lib/chat/calls.js";
import { t } from "../../lib/i18n.js";
import { Icon } from "../../components/icon.js";
import { Elapsed } from "./elapsed.js";
import { Permission } from "./permission.js";

const STATES = {
    asking: "chat.call.asking", done: "chat.call.done", failed: "chat.call.failed", denied: "chat.call.denied", stopped: "chat.call.stopped",
};
const LOOK = { asking: "warn", failed: "bad", denied: "warn" };

const State = ({ state }) => html`<span class=${LOOK[state] ? `badge ${LOOK[state]}` : "hint"}>${state === "running" ?
    html`<${Elapsed} text=${t("chat.call.running")} />` : t(STATES[state] ?? "chat.call.asked")}</span>`;

const Text = ({ title, text, dir }) => html`<p class="call-title">${title}</p><pre tabindex="0" role="group" aria-label=${title} dir=${dir}>${text}</pre>`;

/* allow(how) allows or denies a call that waits for a permission. */
export function Call({ call, allow }) {
    const asking = isAsking(call), root = useRef(null);
    const [open, setOpen] = useState(asking);
    /* When the question disappears, the button that had the focus does, too. */
    useEffect(() => {
        setOpen(asking);
        if (!asking && root.current.contains(document.activeElement))
            root.current.querySelector("summary").focus();
    }, [asking]);
    const told = call.result !== undefined;
    return html`<details ref=${root} class=${`call ${call.state ?? ""}`} open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
        <summary><${Icon} name="tool" size="16" /> <bdi>${call.tool ?? call.name}</bdi>
            ${call.server_name && html` <span class="hint">${t("chat.call.of", { server: call.server_name })}</span>`}
            <${State} state=${call.state} /></summary>
        ${asking && html`<p class="call-question">${t("chat.call.wants", { tool: call.tool, server: call.server_name })}</p>`}
        ${hasArguments(call) ? html`<${Text} title=${t("chat.call.arguments")} text=${prettyArguments(call.arguments)} dir="ltr" />` :
        html`<p class="hint">${t("chat.call.no_arguments")}</p>`}
        ${asking && html`<${Permission} call=${call} allow=${allow} />`}
        ${told && (call.result === "" ? html`<p class="hint">${t("chat.call.no_result")}</p>` :
        html`<${Text} title=${t(call.state === "failed" ? "chat.call.reason" : "chat.call.result")} text=${pretty(call.result)} dir="auto" />`)}
    </details>`;
}
