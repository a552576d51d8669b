/* What a model thought before its answer: folded, with how long it took. */
import { html, useState } from "../../lib/html.js";
import { duration } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { Button } from "../../components/button.js";
import { toastError } from "../../components/toast.js";
import { Elapsed } from "./elapsed.js";
import { Markdown } from "./markdown.js";

export function Reasoning({ text, live, ms, conversation, id }) {
    const [open, setOpen] = useState(false);
    const thinking = live?.state.value.thinking ?? false;
    if (!text && !live?.state.value.reasoning)
        return null;
    const stop = () => conversation.stop(id, { reasoning: true }).catch(toastError);
    return html`<div class="reasoning">
        <details open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
            <summary>${thinking ? html`<${Elapsed} text=${t("chat.thinking")} />` :
        ms > 0 ? t("chat.thought_for", { time: duration(ms) }) : t("chat.thought")}</summary>
            ${open && html`<${Markdown} text=${text} live=${live} part="reasoning" />`}
        </details>
        ${thinking && html`<${Button} small kind="quiet" icon="stop" onClick=${stop}>${t("chat.stop_thinking")}<//>`}
    </div>`;
}
