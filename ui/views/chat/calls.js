/* The tools that a model has called, each with what it asked and what it got. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { Icon } from "../../components/icon.js";

/* JSON with line breaks; other texts as they are. */
function pretty(text) {
    try {
        return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        return text;
    }
}

const STATES = { running: "chat.call.running", done: "chat.call.done", failed: "chat.call.failed", denied: "chat.call.denied" };

const Call = ({ call }) => html`<details class="call">
    <summary><${Icon} name="tool" size="16" /> <bdi>${call.name}</bdi>
        <span class="hint">${t(STATES[call.state] ?? "chat.call.asked")}</span></summary>
    ${call.arguments && html`<h4>${t("chat.call.arguments")}</h4><pre tabindex="0">${pretty(call.arguments)}</pre>`}
    ${call.result && html`<h4>${t("chat.call.result")}</h4><pre tabindex="0">${pretty(call.result)}</pre>`}
</details>`;

export function Calls({ calls, live }) {
    const all = live?.state.value.calls ?? calls ?? [];
    return all.length > 0 && html`<div class="calls">${all.map((call) => html`<${Call} key=${call.id} call=${call} />`)}</div>`;
}
