/* Tells readers who hear the page how an answer goes on: whole sentences, a few at a time. */
import { html, useEffect, useState } from "../../lib/html.js";
import { sentences } from "../../lib/chat/sentences.js";
import { t } from "../../lib/i18n.js";

const EVERY_MS = 1500;

export function Announcer({ conversation }) {
    const [said, setSaid] = useState("");
    const id = conversation.busy.value;
    useEffect(() => {
        const live = id && conversation.live(id);
        if (!live)
            return undefined;
        const next = sentences(t("chat.code"));
        setSaid(t("chat.answer_begins"));
        const timer = setInterval(() => {
            const more = next(live.answer.text);
            if (more)
                setSaid(more);
        }, EVERY_MS);
        return () => {
            clearInterval(timer);
            setSaid(`${next(live.answer.text, true)} ${t("chat.answer_ends")}`);
        };
    }, [id]);
    return html`<div class="visually-hidden" aria-live="polite">${said}</div>`;
}
