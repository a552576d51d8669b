/* The line above a conversation: its title and what can be done with the whole chat. */
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { IconButton } from "../../components/button.js";
import { Menu } from "../../components/menu.js";
import { toastError } from "../../components/toast.js";
import { changeChat } from "../../store/chats.js";
import { MoveDialog, RenameDialog } from "./chat_dialogs.js";
import { removeChats } from "./remove.js";
import { exportChats } from "./transfer.js";
import { panelOpen } from "./ui_state.js";

export const titleText = (chat) => chat?.title || t("chat.untitled");

/* The actions on one chat; open(name) opens a dialog. */
export function chatItems(chat, open) {
    return [
        { text: t("chat.rename"), icon: "edit", run: () => open("rename") },
        { text: t(chat.pinned ? "chat.unpin" : "chat.pin"), icon: "pin", run: () => changeChat(chat.id, { pinned: !chat.pinned }).catch(toastError) },
        { text: t("chat.move"), icon: "folder", run: () => open("move") },
        null,
        { text: t("chat.export_markdown"), icon: "download", run: () => exportChats("markdown", chat).catch(toastError) },
        { text: t("chat.export_json"), icon: "download", run: () => exportChats("json", chat).catch(toastError) },
        null,
        { text: t("chat.delete"), icon: "trash", danger: true, run: () => removeChats([chat]).catch(toastError) },
    ];
}

export const ChatDialog = ({ name, chat, close }) =>
    name === "rename" ? html`<${RenameDialog} chat=${chat} close=${close} />` :
        name === "move" ? html`<${MoveDialog} chats=${[chat]} close=${close} />` : null;

export function Head({ conversation }) {
    const [dialog, setDialog] = useState("");
    const chat = conversation?.chat.value;
    return html`<header class="chat-head">
        ${conversation ? html`<h1 dir="auto">${titleText(chat)}</h1>` : html`<span></span>`}
        <div class="row">
            <${IconButton} icon="settings" label=${t("chat.settings")} expanded=${panelOpen.value} onClick=${() => { panelOpen.value = !panelOpen.value; }} />
            ${chat && html`<${Menu} label=${t("chat.actions")} align="end" items=${[...chatItems(chat, setDialog).slice(0, -2),
        { text: t("chat.print"), icon: "print", run: () => window.print() }, ...chatItems(chat, setDialog).slice(-2)]} />`}
        </div>
        ${chat && html`<${ChatDialog} name=${dialog} chat=${chat} close=${() => setDialog("")} />`}
    </header>`;
}
