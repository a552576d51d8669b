/* Two answers to the same message beside each other, with the words that differ. */
import { html, useMemo, useState } from "../../lib/html.js";
import { diffWords } from "../../lib/chat/diff.js";
import { t } from "../../lib/i18n.js";
import { shownName } from "../../lib/models/list.js";
import { Button } from "../../components/button.js";
import { Dialog } from "../../components/dialog.js";
import { Select, Toggle } from "../../components/field.js";
import { Figures } from "./figures.js";
import { Markdown } from "./markdown.js";
import { comparing } from "./ui_state.js";

const TAGS = { out: "del", in: "ins" };

/* One side of the difference: its own words marked, the other's left out. */
const Side = ({ parts, kind }) => html`<p class="plain" dir="auto">${parts.filter((p) => p.kind === "same" || p.kind === kind)
    .map((p, i) => p.kind === "same" ? p.text : html`<${TAGS[kind]} key=${i}>${p.text}<//>`)}</p>`;

function Column({ messages, id, setId, label, marked, parts, kind, show }) {
    const message = messages.find((m) => m.id === id);
    return html`<section>
        <${Select} label=${label} value=${id} onChange=${setId} options=${messages.map((m, i) => [m.id, `${i + 1}: ${shownName(m.model)}`])} />
        <div class="compared">${marked ? html`<${Side} parts=${parts} kind=${kind} />` : html`<${Markdown} key=${id} text=${message.text} />`}</div>
        <p><${Figures} model=${message.model} stats=${message.stats} /></p>
        <${Button} small onClick=${() => show(id)}>${t("chat.compare_use")}<//>
    </section>`;
}

export function Compare() {
    const { conversation, id } = comparing.value;
    const messages = conversation.branches(id).ids.map((one) => conversation.message(one).value);
    const at = messages.findIndex((m) => m.id === id);
    const [left, setLeft] = useState(messages[at > 0 ? at - 1 : 1].id), [right, setRight] = useState(id), [marked, setMarked] = useState(true);
    const textOf = (one) => messages.find((m) => m.id === one).text;
    const parts = useMemo(() => diffWords(textOf(left), textOf(right)), [textOf(left), textOf(right)]);
    const close = () => {
        comparing.value = null;
    };
    const show = (one) => {
        conversation.show(one);
        close();
    };
    return html`<${Dialog} title=${t("chat.compare")} close=${close} wide class="compare">
        <${Toggle} label=${t("chat.compare_marks")} checked=${marked} onChange=${setMarked}
            hint=${parts.every((p) => p.kind === "same") && t("chat.compare_same")} />
        <div class="columns">
            <${Column} messages=${messages} id=${left} setId=${setLeft} label=${t("chat.compare_left")} marked=${marked} parts=${parts} kind="out" show=${show} />
            <${Column} messages=${messages} id=${right} setId=${setRight} label=${t("chat.compare_right")} marked=${marked} parts=${parts} kind="in" show=${show} />
        </div>
    <//>`;
}
