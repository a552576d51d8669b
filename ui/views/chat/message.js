/* One message of a conversation. */
import { html } from "../../lib/html.js";
import { isAsking, shownCalls } from "../../lib/chat/calls.js";
import { isUnfinished } from "../../lib/chat/records.js";
import { ago, dateTime } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { shownName } from "../../lib/models/list.js";
import { Actions } from "./actions.js";
import { Calls, NotOffered } from "./calls.js";
import { Editor } from "./editor.js";
import { EndNote, Failure } from "./failure.js";
import { Markdown } from "./markdown.js";
import { Parts } from "./parts.js";
import { Reasoning } from "./reasoning.js";
import { askOf } from "./settings.js";
import { editing } from "./ui_state.js";
import { Waiting } from "./waiting.js";

/* Text as its writer has typed it. */
const Plain = ({ text }) => html`<p class="plain" dir="auto">${text}</p>`;

/* Returns true if the answer continues its parent, an answer with tool calls, with the results of these
 * calls. */
const goesOnFrom = (conversation, { parent }) => conversation.message(parent)?.peek().finish === "tool_calls";

function Answer({ conversation, message, live }) {
    const retry = () => conversation.answer(message.parent, askOf(conversation));
    const goOn = () => conversation.answer(message.id, askOf(conversation), { continuing: message.finish !== "rounds" });
    const { calls, tools = [] } = live?.state.value ?? message;
    return html`
        <${Reasoning} text=${message.reasoning} live=${live} ms=${message.stats?.reasoning_ms} conversation=${conversation} id=${message.id} />
        ${!goesOnFrom(conversation, message) && html`<${NotOffered} tools=${tools} />`}
        <${Markdown} text=${message.text} live=${live} />
        <${Calls} calls=${shownCalls(calls, live !== null)} conversation=${conversation} id=${message.id} />
        ${live ? html`<${Waiting} live=${live} />` : html`
            ${message.error && html`<${Failure} error=${message.error} model=${message.model} retry=${retry} />`}
            <${EndNote} message=${message} goOn=${goOn} again=${retry} />`}`;
}

/* at, of: which of how many branches this is. last: the path ends here. near: it is complete. */
export function Message({ conversation, id, at, of, last, near, marked }) {
    const message = conversation.message(id)?.value;
    if (!message)
        return null;
    const live = isUnfinished(message.state) ? conversation.live(id) : null;
    const asking = live?.state.value.calls.some(isAsking) ?? false; /* the answer waits for the user */
    const goesOn = !last && message.finish === "tool_calls";
    const mine = message.role === "user", edited = editing.value === id;
    const who = mine ? t("chat.you") : shownName(message.model) || t(`chat.role.${message.role}`);
    return html`<article id=${`m-${id}`} tabindex="-1" aria-busy=${live && !asking ? "true" : undefined}
        class=${`message ${mine ? "user" : "assistant"}${goesOn ? " goes-on" : ""}${marked ? " marked" : ""}`}>
        <h2 class="visually-hidden">${t("chat.says", { who })}, <time>${near && ago(message.created)}</time></h2>
        ${edited ? html`<${Editor} conversation=${conversation} message=${message} />` : html`
            <div class="said" title=${near ? dateTime(message.created) : undefined}>
                ${message.parts?.length > 0 && html`<${Parts} parts=${message.parts} />`}
                ${mine || !near ? html`<${Plain} text=${message.text} />` :
        html`<${Answer} conversation=${conversation} message=${message} live=${live} />`}
            </div>
            ${near && html`<${Actions} conversation=${conversation} message=${message} live=${live} at=${at} of=${of} last=${last} />`}`}
    </article>`;
}
