/* Shows what an answer waits for before its first word: the list of tools, its turn in the queue, the
 * download or loading of the model, or the processing of the prompt. */
import { html } from "../../lib/html.js";
import { number } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { Progress } from "../../components/progress.js";

/* {text, share}: share is null where it is not known, undefined for no bar. */
function stepOf({ stage, place, reason, progress, prompt }) {
    switch (stage) {
    case "preparing":
    case "tools":
    case "downloading":
        return { text: t(`chat.stage.${stage}`) };
    case "waiting":
        return { text: reason || (place > 1 ? t("chat.queue_place", { n: place - 1 }) : t("chat.queued")) };
    case "loading":
        return { text: t("chat.stage.loading"), share: progress };
    default:
        if (prompt && prompt.done < prompt.total)
            return { text: t("chat.reading", { done: number(prompt.done), total: number(prompt.total) }), share: prompt.done / prompt.total };
        return { text: t("chat.writing") };
    }
}

export function Waiting({ live }) {
    const state = live.state.value;
    if (state.ended || state.text || state.reasoning || state.calls.length)
        return null;
    const { text, share } = stepOf(state);
    return html`<div class="waiting">
        <p><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span> ${text}</p>
        ${share !== undefined && html`<${Progress} share=${share} label=${text} />`}
    </div>`;
}
