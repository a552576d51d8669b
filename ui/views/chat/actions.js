/* What can be done with a message, below it: copy, retry, edit, branches; the rest in a menu. */
import { html } from "../../lib/html.js";
import { copyText, downloadText } from "../../lib/clipboard.js";
import { t } from "../../lib/i18n.js";
import { shownName } from "../../lib/models/list.js";
import { go, href } from "../../lib/route.js";
import { IconButton } from "../../components/button.js";
import { Menu } from "../../components/menu.js";
import { toast, toastError } from "../../components/toast.js";
import { chatModels } from "../../store/chat_models.js";
import { Figures } from "./figures.js";
import { forkInto } from "./fork.js";
import { ReadAloud } from "./read_aloud.js";
import { askOf } from "./settings.js";
import { comparing, editing } from "./ui_state.js";

const OTHER_MODELS_MAX = 6;

async function copy(text) {
    await copyText(text);
    toast(t("action.copied"));
}

async function remove(conversation, id) {
    try {
        const undo = await conversation.remove(id);
        toast(t("chat.branch_deleted"), { action: { text: t("action.undo"), run: () => undo().catch(toastError) } });
    } catch (error) {
        toastError(error);
    }
}

/* Which branch is shown, with buttons to its neighbours. */
function Branches({ conversation, id, at, of }) {
    const to = (step) => conversation.show(conversation.branches(id).ids[at + step]);
    return html`<span class="branches" role="group" aria-label=${t("chat.branches")}>
        <${IconButton} icon="left" label=${t("chat.branch_before")} disabled=${at === 0} onClick=${() => to(-1)} />
        <span aria-label=${t("chat.branch_of", { at: at + 1, of })}>${at + 1}/${of}</span>
        <${IconButton} icon="right" label=${t("chat.branch_next")} disabled=${at === of - 1} onClick=${() => to(1)} />
    </span>`;
}

function answerItems(conversation, message, of) {
    const others = chatModels.value.filter((m) => m.id !== message.model).slice(0, OTHER_MODELS_MAX);
    return [
        !message.calls?.length && { text: t("chat.continue"), icon: "play",
            run: () => conversation.answer(message.id, askOf(conversation), { continuing: true }) },
        of > 1 && { text: t("chat.compare"), icon: "columns", run: () => { comparing.value = { conversation, id: message.id }; } },
        others.length > 0 && null,
        ...others.map((m) => ({ text: t("chat.retry_with", { model: shownName(m.id) }), icon: "retry",
            run: () => conversation.answer(message.parent, { ...askOf(conversation), model: m.id }) })),
        others.length > 0 && null,
    ];
}

function items(conversation, message, of) {
    const fork = () => forkInto(conversation, message.id).then((id) => go(href("chat", id)), toastError);
    return [
        ...message.role === "assistant" ? answerItems(conversation, message, of) : [],
        { text: t("chat.link"), icon: "link", run: () => copy(new URL(href("chat", conversation.id, { m: message.id }), location).href) },
        { text: t("chat.fork"), icon: "branch", run: fork },
        { text: t("chat.save_message"), icon: "download", run: () => downloadText(message.text, "quince.md", "text/markdown") },
        null,
        { text: t("chat.delete_branch"), icon: "trash", danger: true, run: () => remove(conversation, message.id) },
    ].filter((item) => item !== false);
}

export function Actions({ conversation, message, live, at, of, last }) {
    const answer = message.role === "assistant", said = !answer || message.text !== "";
    return html`<footer class=${"actions" + (last ? " last" : "")}>
        ${of > 1 && html`<${Branches} conversation=${conversation} id=${message.id} at=${at} of=${of} />`}
        ${!live && html`
            ${said && html`<${IconButton} icon="copy" label=${t("chat.copy_message")} onClick=${() => copy(message.text)} />
            <${IconButton} icon="edit" label=${t("chat.edit")} onClick=${() => { editing.value = message.id; }} />`}
            ${answer && html`<${IconButton} icon="retry" label=${t("chat.retry")}
                onClick=${() => conversation.answer(message.parent, askOf(conversation))} />
            ${said && html`<${ReadAloud} text=${message.text} />`}`}
            <${Menu} label=${t("chat.more")} items=${items(conversation, message, of)} />
            ${answer && html`<${Figures} model=${message.model} stats=${message.stats} />`}`}
    </footer>`;
}
