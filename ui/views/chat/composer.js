/* Where a message is written. Enter sends, Shift+Enter makes a line (or as the reader has set it);
 * ArrowUp in an empty field edits the last message. What was typed and not sent is found again. */
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { PASTE_MAX } from "../../lib/chat/files.js";
import { t } from "../../lib/i18n.js";
import { useKeys } from "../../lib/keys.js";
import { IconButton } from "../../components/button.js";
import { toastError } from "../../components/toast.js";
import { Attachments, storeAll, whyNot, withFiles } from "./attachments.js";
import { ContextGauge } from "./context_gauge.js";
import { Dictate } from "./dictate.js";
import { dropped } from "./drop.js";
import { ModelPicker } from "./model_picker.js";
import { OfferedMark } from "./offered.js";
import { begin } from "./begin.js";
import { askOf, settingsOf } from "./settings.js";
import { editing, enterIsLine } from "./ui_state.js";

const DRAFT = "quince.draft.";

/* Text that is not sent yet, kept by chat in this browser. */
const readDraft = (id) => localStorage.getItem(DRAFT + id) ?? "";
function keepDraft(id, text) {
    if (text.trim())
        localStorage.setItem(DRAFT + id, text);
    else
        localStorage.removeItem(DRAFT + id);
}

/* Keyboards on glass have no Shift+Enter: there the button sends. */
const onGlass = () => matchMedia("(pointer: coarse)").matches;

function sends(event) {
    if (event.key !== "Enter" || event.shiftKey || event.altKey)
        return false;
    return event.ctrlKey || event.metaKey || !(enterIsLine.value || onGlass());
}

/* Grows with its text where the browser does not do so by itself. */
function fit(area) {
    if (CSS.supports("field-sizing", "content"))
        return;
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight}px`;
}

function editLast(conversation) {
    const mine = conversation?.pathMessages().findLast((m) => m.role === "user");
    if (mine)
        editing.value = mine.id;
}

function Attach({ add }) {
    const input = useRef(null);
    return html`<${IconButton} icon="attach" label=${t("chat.attach")} onClick=${() => input.current.click()} />
        <input ref=${input} type="file" multiple hidden aria-label=${t("chat.attach")} tabindex="-1"
            onChange=${(e) => { add([...e.currentTarget.files]); e.currentTarget.value = ""; }} />`;
}

/* conversation: null for a chat that begins with this message. */
export function Composer({ conversation }) {
    const id = conversation?.id ?? "";
    const [text, setText] = useState(() => readDraft(id)), [items, setItems] = useState([]), [busy, setBusy] = useState(false);
    const area = useRef(null);
    const { model, params } = settingsOf(conversation);
    const why = whyNot(items, model), running = conversation?.busy.value ?? null;
    const add = (files) => setItems((before) => withFiles(before, files));
    const change = (value) => {
        setText(value);
        keepDraft(id, value);
    };
    useEffect(() => dropped(add), []);
    useEffect(() => fit(area.current), [text]);
    useEffect(() => {
        performance.mark("chat-ready"); /* for tests/browser/speed.mjs */
        /* On a touch screen the keyboard would cover the conversation. */
        if (matchMedia("(hover: hover)").matches)
            area.current.focus({ preventScroll: true });
    }, []);
    useKeys([
        { keys: enterIsLine.value ? "mod+enter" : "enter", text: "chat.key.send", group: "chat" },
        { keys: enterIsLine.value ? "enter" : "shift+enter", text: "chat.key.line", group: "chat" },
        { keys: "arrowup", text: "chat.key.edit_last", group: "chat" },
        { keys: "/", text: "chat.key.write", group: "chat", run: () => area.current.focus() },
        { keys: "escape", text: "chat.key.stop", group: "chat", run: running && (() => conversation.stop(running).catch(toastError)) },
    ], [id, running, enterIsLine.value]);
    const ready = !busy && !why && model !== "" && (text.trim() !== "" || items.length > 0);
    const send = async () => {
        if (!ready || running)
            return;
        setBusy(true);
        try {
            const said = { text: text.trim(), parts: await storeAll(items) };
            if (conversation)
                await conversation.say({ ...said, parent: conversation.path.peek().at(-1) ?? null }, askOf(conversation));
            else
                await begin(said);
            change("");
            setItems([]);
        } catch (error) {
            toastError(error);
        }
        setBusy(false);
        area.current?.focus();
    };
    const pressed = (event) => {
        if (event.isComposing)
            return;
        if (sends(event)) {
            event.preventDefault();
            send();
        } else if (event.key === "ArrowUp" && text === "" && !event.altKey && !event.shiftKey) {
            event.preventDefault();
            editLast(conversation);
        }
    };
    const pasted = (event) => {
        const files = [...event.clipboardData.files], plain = event.clipboardData.getData("text/plain");
        if (files.length && !plain) {
            event.preventDefault();
            add(files);
        } else if (plain.length > PASTE_MAX) {
            event.preventDefault();
            add([new File([plain], t("chat.file.pasted"), { type: "text/plain" })]);
        }
    };
    return html`<form class="composer" onSubmit=${(e) => { e.preventDefault(); send(); }}>
        <div class="composer-box">
            <${Attachments} items=${items} why=${why} drop=${(key) => setItems(items.filter((one) => one.key !== key))} />
            <textarea ref=${area} rows="1" dir="auto" aria-label=${t("chat.message")} placeholder=${t("chat.placeholder")} value=${text}
                onInput=${(e) => change(e.currentTarget.value)} onKeyDown=${pressed} onPaste=${pasted}></textarea>
            <div class="composer-foot">
                <${Attach} add=${add} />
                <${Dictate} add=${(said) => change(text ? `${text} ${said}` : said)} />
                <${ModelPicker} conversation=${conversation} />
                <${OfferedMark} n=${params.mcp?.length ?? 0} />
                <span class="space"></span>
                ${conversation && html`<${ContextGauge} conversation=${conversation} />`}
                ${running ? html`<${IconButton} icon="stop" class="send" label=${t("chat.stop")} onClick=${() => conversation.stop(running).catch(toastError)} />` :
        html`<${IconButton} icon="up" class="send" label=${t("chat.send")} disabled=${!ready} aria-busy=${busy ? "true" : undefined} onClick=${send} />`}
            </div>
        </div>
    </form>`;
}
