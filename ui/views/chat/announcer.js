/* Tells readers who hear the page how an answer goes on: whole sentences, a few at a time. */
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { isAsking, shownCalls } from "../../lib/chat/calls.js";
import { sentences } from "../../lib/chat/sentences.js";
import { t } from "../../lib/i18n.js";
import { keyNames } from "../../lib/keys.js";

const EVERY_MS = 1500;

/* Announces a tool call that waits for a permission. */
function Question({ live }) {
    const call = shownCalls(live?.state.value.calls, true).find(isAsking);
    return html`<div class="visually-hidden" role="alert">${call &&
        `${t("chat.call.wants", { tool: call.tool, server: call.server_name })} ${t("chat.call.wants_key", { keys: keyNames("alt+p").join("+") })}`}</div>`;
}

export function Announcer({ conversation }) {
    const [said, setSaid] = useState(""), before = useRef(null); /* end of the answer that this one continues */
    const id = conversation.busy.value;
    const live = id ? conversation.live(id) : null;
    useEffect(() => {
        if (!live)
            return undefined;
        const next = sentences(t("chat.code"));
        setSaid(before.current ?? t("chat.answer_begins"));
        const timer = setInterval(() => {
            const more = next(live.answer.text);
            if (more)
                setSaid(more);
        }, EVERY_MS);
        return () => {
            clearInterval(timer);
            const rest = next(live.answer.text, true);
            before.current = live.answer.next ? rest : null;
            setSaid(live.answer.next ? rest : `${rest} ${t("chat.answer_ends")}`);
        };
    }, [id]);
    return html`<div class="visually-hidden" aria-live="polite">${said}</div><${Question} live=${live} />`;
}
