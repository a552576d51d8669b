/* Chats to files and back. */
import { send } from "../../lib/client.js";
import { downloadBlob } from "../../lib/clipboard.js";
import { t } from "../../lib/i18n.js";
import { toast, toastError } from "../../components/toast.js";
import { importChats } from "../../store/chats.js";

const SUFFIX = { json: "json", markdown: "md" };

/* format: "json" or "markdown". chat: null for all chats. */
export async function exportChats(format, chat = null) {
    const query = new URLSearchParams(chat ? { format, id: chat.id } : { format });
    const reply = await send("GET", `/internal/chats/export?${query}`, undefined, { headers: { Accept: "*/*" } });
    const name = (chat?.title || "quince-chats").replace(/[^\p{L}\p{N} _-]+/gu, "").trim().slice(0, 60) || "chat";
    downloadBlob(await reply.blob(), `${name}.${SUFFIX[format]}`);
}

export async function importFiles(files) {
    for (const file of files)
        try {
            const { chats, messages, skipped } = await importChats(file);
            const text = t("chat.imported", { n: chats, messages: t("chat.messages", { n: messages }) });
            toast(skipped?.length ? `${text} ${t("chat.skipped", { n: skipped.length, reason: skipped[0] })}` : text, { error: skipped?.length > 0 && !chats });
        } catch (error) {
            toastError(error);
        }
}
