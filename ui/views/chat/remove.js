/* Deletes chats, with a way back. */
import { t } from "../../lib/i18n.js";
import { go, href, route } from "../../lib/route.js";
import { toast, toastError } from "../../components/toast.js";
import { changeChats } from "../../store/chats.js";
import { forgetConversation } from "../../store/open_chats.js";

export async function removeChats(list) {
    const ids = list.map((c) => c.id), shown = route.peek().view === "chat" && ids.includes(route.peek().rest[0]) ? route.peek().rest[0] : "";
    if (shown)
        go(href("chat"));
    await changeChats(ids, { deleted: true });
    ids.forEach(forgetConversation);
    const undo = async () => {
        await changeChats(ids, { deleted: false });
        if (shown)
            go(href("chat", shown));
    };
    toast(list.length === 1 ? t("chat.deleted_one", { title: list[0].title || t("chat.untitled") }) : t("chat.deleted", { n: list.length }),
        { action: { text: t("action.undo"), run: () => undo().catch(toastError) } });
}
