/* The reader's chats, in the navigation: pinned ones, folders, then by age. */
import { html, signal, useEffect, useRef, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { href, route } from "../../lib/route.js";
import { Button, IconButton } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";
import { Icon } from "../../components/icon.js";
import { Loading } from "../../components/loading.js";
import { Menu } from "../../components/menu.js";
import { drawer } from "../../components/shell.js";
import { toastError } from "../../components/toast.js";
import { changeChats, chats, followChats, loadChats, loadMore } from "../../store/chats.js";
import { MoveDialog, TrashDialog } from "./chat_dialogs.js";
import { SearchResults } from "./chat_search.js";
import { ChatDialog, chatItems } from "./head.js";
import { removeChats } from "./remove.js";
import { exportChats, importFiles } from "./transfer.js";

const DAY_MS = 864e5;
const FOLDED = "quince.folded";

/* Ids of the chats that are selected; null: nothing is being selected. */
export const selected = signal(null);

const folded = signal(new Set(JSON.parse(localStorage.getItem(FOLDED) ?? "[]")));
function fold(name, closed) {
    const next = new Set(folded.peek());
    next[closed ? "add" : "delete"](name);
    folded.value = next;
    localStorage.setItem(FOLDED, JSON.stringify([...next]));
}

function ageOf(updated) {
    const midnight = new Date().setHours(0, 0, 0, 0);
    if (updated >= midnight)
        return "today";
    if (updated >= midnight - DAY_MS)
        return "yesterday";
    return updated >= midnight - 7 * DAY_MS ? "week" : updated >= midnight - 30 * DAY_MS ? "month" : "older";
}

/* [{key, title, folder, list}], in the order in which they are shown. */
function sections(all) {
    const of = new Map();
    const put = (key, title, chat, folder = false) => {
        if (!of.has(key))
            of.set(key, { key, title, folder, list: [] });
        of.get(key).list.push(chat);
    };
    for (const chat of all.filter((c) => c.pinned))
        put("pinned", t("chat.pinned"), chat);
    for (const chat of all.filter((c) => !c.pinned && c.folder).sort((a, b) => a.folder.localeCompare(b.folder)))
        put(`/${chat.folder}`, chat.folder, chat, true);
    for (const chat of all.filter((c) => !c.pinned && !c.folder))
        put(ageOf(chat.updated), t(`chat.age.${ageOf(chat.updated)}`), chat);
    return [...of.values()];
}

const toggle = (id) => {
    const next = new Set(selected.peek());
    next[next.has(id) ? "delete" : "add"](id);
    selected.value = next;
};

function Row({ chat }) {
    const [dialog, setDialog] = useState("");
    const here = route.value.view === "chat" && route.value.rest[0] === chat.id;
    const title = chat.title || t("chat.untitled");
    if (selected.value)
        return html`<li class="chat-row"><label><input type="checkbox" checked=${selected.value.has(chat.id)} onChange=${() => toggle(chat.id)} />
            <bdi>${title}</bdi></label></li>`;
    return html`<li class="chat-row">
        <a href=${href("chat", chat.id)} aria-current=${here ? "page" : undefined} title=${title} onClick=${() => { drawer.value = false; }}>
            <bdi>${title}</bdi>${chat.asking ?
        html`<span class="asks" role="img" aria-label=${t("chat.is_asking")} title=${t("chat.is_asking")}>?</span>` :
        chat.answering && html`<span class="busy-dot" role="img" aria-label=${t("chat.is_answering")}></span>`}</a>
        <${Menu} label=${t("chat.actions_for", { title })} items=${chatItems(chat, setDialog)} />
        <${ChatDialog} name=${dialog} chat=${chat} close=${() => setDialog("")} />
    </li>`;
}

function Section({ section }) {
    const rows = html`<ul>${section.list.map((chat) => html`<${Row} key=${chat.id} chat=${chat} />`)}</ul>`;
    if (!section.folder)
        return html`<section><h2 class="section-title">${section.title}</h2>${rows}</section>`;
    return html`<details class="folder" open=${!folded.value.has(section.title)} onToggle=${(e) => fold(section.title, !e.currentTarget.open)}>
        <summary class="section-title"><${Icon} name="folder" size="16" /> <bdi>${section.title}</bdi> <span>${section.list.length}</span></summary>${rows}
    </details>`;
}

function Selection() {
    const [move, setMove] = useState(false);
    const list = chats.value.all.filter((c) => selected.value.has(c.id)), none = !list.length;
    const end = () => {
        selected.value = null;
    };
    return html`<div class="selection" role="group" aria-label=${t("chat.selection")}>
        <p>${t("chat.selected", { n: list.length })}</p>
        <div class="row">
            <${IconButton} icon="pin" label=${t("chat.pin")} disabled=${none}
                onClick=${() => changeChats(list.map((c) => c.id), { pinned: true }).then(end, toastError)} />
            <${IconButton} icon="folder" label=${t("chat.move")} disabled=${none} onClick=${() => setMove(true)} />
            <${IconButton} icon="trash" label=${t("chat.delete")} disabled=${none} onClick=${() => removeChats(list).then(end, toastError)} />
            <${Button} small onClick=${() => { selected.value = list.length === chats.value.all.length ? new Set() : new Set(chats.value.all.map((c) => c.id)); }}>
                ${t("chat.select_all")}<//>
            <${Button} small onClick=${end}>${t("chat.select_end")}<//>
        </div>
        ${move && html`<${MoveDialog} chats=${list} close=${() => setMove(false)} done=${end} />`}
    </div>`;
}

function ListMenu({ openTrash }) {
    const input = useRef(null);
    return html`<${Menu} label=${t("chat.list_actions")} align="end" items=${[
        { text: t("chat.select"), icon: "list", run: () => { selected.value = new Set(); } },
        { text: t("chat.trash"), icon: "trash", run: openTrash },
        null,
        { text: t("chat.import"), icon: "upload", run: () => input.current.click() },
        { text: t("chat.export_all_json"), icon: "download", run: () => exportChats("json").catch(toastError) },
        { text: t("chat.export_all_markdown"), icon: "download", run: () => exportChats("markdown").catch(toastError) },
    ]} />
    <input ref=${input} type="file" hidden multiple accept=".json,.jsonl,application/json" tabindex="-1" aria-label=${t("chat.import")}
        onChange=${(e) => { importFiles([...e.currentTarget.files]); e.currentTarget.value = ""; }} />`;
}

function List() {
    const { all, next, loaded, error } = chats.value;
    if (error && !loaded)
        return html`<${ErrorBox} error=${error} retry=${loadChats} />`;
    if (!loaded)
        return html`<${Loading} />`;
    if (!all.length)
        return html`<p class="hint none">${t("chat.none")}</p>`;
    return html`${sections(all).map((section) => html`<${Section} key=${section.key} section=${section} />`)}
        ${next && html`<${Button} small kind="quiet" onClick=${() => loadMore().catch(toastError)}>${t("chat.list_more")}<//>`}`;
}

export function ChatList() {
    const [text, setText] = useState(""), [trash, setTrash] = useState(false);
    useEffect(followChats, []);
    return html`<div class="chats">
        <div class="chats-top">
            <div class="chats-head">
                <${Button} class="new-chat" icon="plus" href=${href("chat")} onClick=${() => { drawer.value = false; }}>${t("chat.new")}<//>
                <${ListMenu} openTrash=${() => setTrash(true)} />
            </div>
            <input type="search" aria-label=${t("chat.search")} placeholder=${t("chat.search")} value=${text} onInput=${(e) => setText(e.currentTarget.value)} />
        </div>
        ${selected.value && html`<${Selection} />`}
        ${text.trim() ? html`<${SearchResults} text=${text.trim()} />` : html`<nav aria-label=${t("chat.list")}><${List} /></nav>`}
        ${trash && html`<${TrashDialog} close=${() => setTrash(false)} />`}
    </div>`;
}
