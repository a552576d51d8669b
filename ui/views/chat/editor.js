/* Changing a message makes a branch: what was there before stays. */
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { Button } from "../../components/button.js";
import { toastError } from "../../components/toast.js";
import { askOf } from "./settings.js";
import { editing } from "./ui_state.js";

export function Editor({ conversation, message }) {
    const [text, setText] = useState(message.text), [busy, setBusy] = useState(false);
    const area = useRef(null);
    useEffect(() => {
        area.current.focus();
        area.current.setSelectionRange(text.length, text.length);
    }, []);
    const close = () => {
        editing.value = "";
        requestAnimationFrame(() => document.getElementById(`m-${message.id}`)?.focus());
    };
    const mine = message.role === "user";
    const save = async () => {
        if (!text.trim() && !message.parts?.length)
            return;
        setBusy(true);
        try {
            const { parent, parts } = message;
            if (mine)
                await conversation.say({ parent, text, parts }, askOf(conversation));
            else
                await conversation.put({ parent, role: message.role, text });
            editing.value = "";
        } catch (error) {
            setBusy(false);
            toastError(error);
        }
    };
    const pressed = (event) => {
        if (event.key === "Escape") {
            event.preventDefault();
            close();
        } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            save();
        }
    };
    return html`<div class="editor">
        <textarea ref=${area} rows="3" dir="auto" aria-label=${t("chat.edit_text")} value=${text} onKeyDown=${pressed}
            onInput=${(e) => setText(e.currentTarget.value)}></textarea>
        <p class="hint">${t(mine ? "chat.edit_hint" : "chat.edit_answer_hint")}</p>
        <div class="row">
            <${Button} kind="primary" busy=${busy} onClick=${save}>${t(mine ? "chat.edit_send" : "chat.edit_save")}<//>
            <${Button} onClick=${close}>${t("action.cancel")}<//>
        </div>
    </div>`;
}
