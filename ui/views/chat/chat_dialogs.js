/* Dialogs about chats: name, folder, what was deleted. */
import { html, useId, useState } from "../../lib/html.js";
import { ago } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { Button } from "../../components/button.js";
import { Confirm, Dialog } from "../../components/dialog.js";
import { Empty } from "../../components/empty.js";
import { ErrorBox } from "../../components/error.js";
import { TextField } from "../../components/field.js";
import { Loaded } from "../../components/loading.js";
import { toastError } from "../../components/toast.js";
import { changeChat, changeChats, chats, deletedChats, loadChats, purgeChat } from "../../store/chats.js";
import { useResource } from "../../store/resource.js";

/* A dialog of one text field. run(text) is called with it. */
function Ask({ title, label, value, hint, run, close, list }) {
    const [text, setText] = useState(value), form = useId();
    const enter = (event) => {
        event.preventDefault();
        close();
        run(text.trim()).catch(toastError);
    };
    return html`<${Dialog} title=${title} close=${close} actions=${html`<${Button} onClick=${close}>${t("action.cancel")}<//>
            <${Button} kind="primary" type="submit" form=${form}>${t("action.save")}<//>`}>
        <form id=${form} onSubmit=${enter}>
            <${TextField} label=${label} hint=${hint} value=${text} onInput=${setText} autofocus dir="auto" list=${list && `${form}-list`} />
            ${list && html`<datalist id=${`${form}-list`}>${list.map((one) => html`<option key=${one} value=${one} />`)}</datalist>`}
        </form>
    <//>`;
}

export const RenameDialog = ({ chat, close }) => html`<${Ask} title=${t("chat.rename")} label=${t("chat.title")} value=${chat.title}
    close=${close} run=${(title) => changeChat(chat.id, { title })} />`;

export const MoveDialog = ({ chats: moved, close, done = () => {} }) => html`<${Ask} title=${t("chat.move")} label=${t("chat.folder")}
    hint=${t("chat.folder_hint")} value=${moved.length === 1 ? moved[0].folder : ""} list=${chats.value.folders.map((f) => f.name)} close=${close}
    run=${(folder) => changeChats(moved.map((c) => c.id), { folder }).then(done)} />`;

function Deleted({ chat, changed }) {
    const [asked, setAsked] = useState(false);
    const restore = () => changeChat(chat.id, { deleted: false }).then(() => Promise.all([changed(), loadChats()])).catch(toastError);
    return html`<li class="row between">
        <span><bdi>${chat.title || t("chat.untitled")}</bdi> <small>${ago(chat.deleted)}</small></span>
        <span class="row">
            <${Button} small onClick=${restore}>${t("chat.restore")}<//>
            <${Button} small kind="danger" onClick=${() => setAsked(true)}>${t("chat.purge")}<//>
        </span>
        ${asked && html`<${Confirm} title=${t("chat.purge")} text=${t("chat.purge_text", { title: chat.title, n: chat.messages })}
            action=${t("chat.purge")} close=${() => setAsked(false)} run=${() => purgeChat(chat.id).then(changed).catch(toastError)} />`}
    </li>`;
}

/* Chats that can still be restored. */
export function TrashDialog({ close }) {
    const found = useResource(deletedChats);
    return html`<${Dialog} title=${t("chat.trash")} close=${close} wide>
        <p class="hint">${t("chat.trash_hint")}</p>
        <${Loaded} of=${found} ErrorBox=${ErrorBox}>${(all) => all.length ?
        html`<ul class="trash">${all.map((chat) => html`<${Deleted} key=${chat.id} chat=${chat} changed=${found.reload} />`)}</ul>` :
        html`<${Empty} icon="trash" title=${t("chat.trash_empty")} />`}<//>
    <//>`;
}
