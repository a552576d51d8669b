/* Shows the tool calls of an answer, and the servers whose tools could not be offered. */
import { html } from "../../lib/html.js";
import { unavailable } from "../../lib/chat/calls.js";
import { t } from "../../lib/i18n.js";
import { href } from "../../lib/route.js";
import { Icon } from "../../components/icon.js";
import { Call } from "./call.js";

/* tools: the servers of the record "tools". */
export function NotOffered({ tools }) {
    return unavailable(tools).map((one) => html`<p key=${one.id} class="not-offered"><${Icon} name="warning" size="16" />
        <span>${t("chat.tools.failed", { name: one.name, reason: one.error })} <a href=${href("server", "mcp")}>${t("chat.tools.go")}</a></span></p>`);
}

export function Calls({ calls, conversation, id }) {
    return calls.length > 0 && html`<div class="calls">${calls.map((call) => html`<${Call} key=${call.id} call=${call}
        allow=${(how) => conversation.allow(id, call.id, how)} />`)}</div>`;
}
