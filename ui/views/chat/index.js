/* The chat view: the list of chats in the navigation; here the conversation that the address names,
 * or an empty one. The field for a new message is there first; what shows messages, settings and comparisons is
 * loaded after it. */
import { html, useEffect } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { useKeys } from "../../lib/keys.js";
import { go, href, route } from "../../lib/route.js";
import { useStyles } from "../../lib/styles.js";
import { useTitle } from "../../lib/title.js";
import { Later, part } from "../../components/later.js";
import { aside } from "../../components/navigation.js";
import { addFinder } from "../../components/palette.js";
import { searchChats } from "../../store/chats.js";
import { conversationOf, showConversation } from "../../store/open_chats.js";
import { ChatList } from "./chat_list.js";
import { Composer } from "./composer.js";
import { dragging } from "./drop.js";
import { Head, titleText } from "./head.js";
import { useNamedModel } from "./named_model.js";
import { comparing, editing, panelOpen } from "./ui_state.js";
import { Welcome } from "./welcome.js";

const thread = new Later(() => import("./thread.js")), panel = new Later(() => import("./panel.js"));
const compare = new Later(() => import("./compare.js"));
const Thread = part(thread, "Thread"), Panel = part(panel, "Panel"), Compare = part(compare, "Compare");

if (route.peek().rest[0])
    thread.ahead();
await useStyles("chat");

const FOUND_MAX = 6;

/* Loads what most readers need next, when the browser has nothing else to do. */
function loadParts() {
    for (const one of [thread, panel, compare])
        one.ahead();
}

/* Chats in the command palette. */
async function findChats(text) {
    if (text.trim().length < 2)
        return [];
    return (await searchChats(text, FOUND_MAX)).map((hit) => ({
        text: hit.title || t("chat.untitled"), hint: t("nav.chat"), icon: "chat",
        run: () => go(href("chat", hit.chat, { m: hit.message })),
    }));
}

export default function ChatView() {
    const id = route.value.rest[0] ?? "";
    const conversation = id ? conversationOf(id) : null;
    useEffect(() => {
        aside.value = ChatList;
        const drop = addFinder(findChats);
        (globalThis.requestIdleCallback ?? setTimeout)(loadParts);
        return () => {
            aside.value = null;
            drop();
            showConversation(null);
        };
    }, []);
    useEffect(() => {
        editing.value = "";
        showConversation(conversation);
    }, [id]);
    useNamedModel(id);
    const chat = conversation?.chat.value;
    useTitle(chat && (chat.asking ? t("chat.title_asking", { title: titleText(chat) }) : titleText(chat)));
    useKeys([
        { keys: "alt+n", text: "chat.new", group: "chat", run: () => go(href("chat")) },
        { keys: "alt+s", text: "chat.settings", group: "chat", run: () => { panelOpen.value = !panelOpen.value; } },
    ]);
    return html`<div class=${"chat" + (panelOpen.value ? " with-panel" : "")}>
        <div class="chat-main">
            <${Head} conversation=${conversation} />
            ${conversation ? html`<${Thread} key=${id} conversation=${conversation} />` : html`<div class="thread-scroll"><${Welcome} /></div>`}
            <${Composer} key=${`composer-${id}`} conversation=${conversation} />
        </div>
        ${panelOpen.value && html`<${Panel} key=${`panel-${id}`} conversation=${conversation} />`}
        ${dragging.value && html`<div class="drop-here" aria-hidden="true">${t("chat.drop_here")}</div>`}
        ${comparing.value && html`<${Compare} />`}
    </div>`;
}
