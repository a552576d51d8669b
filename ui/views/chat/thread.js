/* The messages of a conversation, one below the other. */
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { awaitsNext } from "../../lib/chat/calls.js";
import { t } from "../../lib/i18n.js";
import { route } from "../../lib/route.js";
import { useKeys } from "../../lib/keys.js";
import { Button, IconButton } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";
import { Loading } from "../../components/loading.js";
import { Announcer } from "./announcer.js";
import { Chunk, chunksOf } from "./chunk.js";
import { Failure } from "./failure.js";
import { useFollowEnd } from "./follow_end.js";
import { toPermission } from "./permission.js";
import { askOf, settingsOf } from "./settings.js";

const LATE_MS = 1000;

/* Moves the focus to the message before or after the one that has it. */
function step(list, by) {
    const all = [...list.querySelectorAll("article")];
    const at = all.indexOf(document.activeElement?.closest?.("article"));
    const to = all[at < 0 ? all.length - 1 : Math.min(Math.max(at + by, 0), all.length - 1)];
    to?.focus();
    to?.scrollIntoView({ block: "nearest" });
}

/* Shows the message that the address names, on whichever branch it is. */
function useNamedMessage(conversation, list) {
    const name = route.value.query.get("m");
    const known = conversation.tree.value.parents.has(name);
    useEffect(() => {
        if (!known)
            return;
        if (!conversation.path.peek().includes(name))
            conversation.show(name);
        requestAnimationFrame(() => {
            const article = list.current?.querySelector(`#m-${CSS.escape(name)}`);
            article?.scrollIntoView({ block: "start" });
            article?.focus({ preventScroll: true });
        });
    }, [name, known]);
    return known ? name : null;
}

/* Returns true if the last message needs an answer: it is a message of the user, or an answer whose tool
 * calls have results. */
function lastWaits(conversation, ids) {
    const message = ids.length > 0 && conversation.message(ids.at(-1))?.value;
    return message && (message.role === "user" || awaitsNext(message));
}

/* A message without an answer, for one of three reasons: another tab was closed, the answer was deleted, or
 * the server stopped. */
function Unanswered({ conversation, id }) {
    const [late, setLate] = useState(false);
    useEffect(() => {
        const timer = setTimeout(() => setLate(true), LATE_MS);
        return () => clearTimeout(timer);
    }, []);
    return late && html`<p><${Button} small icon="play" onClick=${() => conversation.answer(id, askOf(conversation))}>${t("chat.answer_this")}<//></p>`;
}

export function Thread({ conversation }) {
    const scroll = useRef(null), list = useRef(null);
    const ids = conversation.path.value, chunks = chunksOf(ids), failed = conversation.failed.value;
    const { atEnd, toEnd } = useFollowEnd(scroll, list, conversation.id);
    const marked = useNamedMessage(conversation, list);
    useEffect(() => {
        /* What the reader has just sent is seen. */
        if (conversation.busy.peek() === ids.at(-1) && ids.length && conversation.message(ids.at(-2))?.peek().role === "user")
            toEnd();
    }, [ids.at(-1)]);
    useKeys([
        { keys: "alt+arrowup", text: "chat.key.up", group: "chat", run: () => step(list.current, -1) },
        { keys: "alt+p", text: "chat.key.permission", group: "chat", run: () => toPermission(list.current) },
        { keys: "alt+arrowdown", text: "chat.key.down", group: "chat", run: () => step(list.current, 1) },
    ], [conversation.id]);
    return html`<div class="thread-scroll" ref=${scroll}>
        <section class="thread" ref=${list} aria-label=${t("chat.conversation")}>
            ${conversation.error.value && html`<${ErrorBox} error=${conversation.error.value} retry=${() => conversation.read()} />`}
            ${!conversation.chat.value && !conversation.error.value && html`<${Loading} />`}
            ${chunks.map((list, i) => html`<${Chunk} key=${i} conversation=${conversation} ids=${list} last=${ids.at(-1)}
                near=${i >= chunks.length - 2} marked=${marked} />`)}
            ${failed && html`<${Failure} error=${failed.error} model=${settingsOf(conversation).model} retry=${failed.again} />`}
            ${!failed && lastWaits(conversation, ids) && html`<${Unanswered} key=${ids.at(-1)} conversation=${conversation} id=${ids.at(-1)} />`}
        </section>
        <${Announcer} conversation=${conversation} />
        ${!atEnd && html`<div class="to-end"><${IconButton} icon="down" label=${t("chat.to_end")} onClick=${toEnd} /></div>`}
    </div>`;
}
