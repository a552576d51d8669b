/* Files that go with the next message: chosen, dropped or pasted; checked against what the model can
 * take before anything is sent. */
import { html, useEffect, useState } from "../../lib/html.js";
import { FILES_MAX, kindOf, refusal } from "../../lib/chat/files.js";
import { bytes } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { shownName } from "../../lib/models/list.js";
import { IconButton } from "../../components/button.js";
import { Icon } from "../../components/icon.js";
import { toast } from "../../components/toast.js";
import { modelOf } from "../../store/chat_models.js";
import { storeBlob } from "../../store/blobs.js";

let last = 0;

/* A file as the composer keeps it. */
const item = (file) => ({ key: ++last, file, name: file.name || t("chat.file.pasted"), type: file.type, size: file.size,
    kind: kindOf({ type: file.type, name: file.name ?? "" }) });

/* The items with new files; what no model can take is refused with a message. */
export function withFiles(items, files) {
    const all = [...items];
    for (const file of files) {
        const one = item(file), why = refusal(one, null);
        if (why)
            toast(t(why, { name: one.name }), { error: true });
        else if (all.length >= FILES_MAX)
            toast(t("chat.file.many", { n: FILES_MAX }), { error: true });
        else
            all.push(one);
    }
    return all;
}

/* Why the items cannot be sent to a model, as a text; "" if they can. */
export function whyNot(items, model) {
    const capabilities = modelOf(model)?.capabilities ?? null;
    for (const one of items) {
        const why = refusal(one, capabilities);
        if (why)
            return t(why, { name: one.name, model: shownName(model) });
    }
    return "";
}

/* Stores the files on the server; returns the parts of a message. */
export const storeAll = (items) => Promise.all(items.map(async ({ file, kind, name, type }) => {
    const stored = await storeBlob(new Blob([file], { type: type || (kind === "file" ? "text/plain" : "application/octet-stream") }));
    return { kind, blob: stored.id, name, type: stored.type, bytes: stored.bytes };
}));

function Preview({ file }) {
    const [url, setUrl] = useState("");
    useEffect(() => {
        const made = URL.createObjectURL(file);
        setUrl(made);
        return () => URL.revokeObjectURL(made);
    }, [file]);
    return url && html`<img src=${url} alt="" width="36" height="36" />`;
}

export function Attachments({ items, drop, why }) {
    return items.length > 0 && html`<ul class="attachments" aria-label=${t("chat.file.attached")}>
        ${items.map((one) => html`<li key=${one.key}>
            ${one.kind === "image" ? html`<${Preview} file=${one.file} />` : html`<${Icon} name=${one.kind === "audio" ? "speaker" : "attach"} />`}
            <span><bdi>${one.name}</bdi> <small>${bytes(one.size)}</small></span>
            <${IconButton} icon="close" label=${t("chat.file.remove", { name: one.name })} onClick=${() => drop(one.key)} />
        </li>`)}
    </ul>
    ${why && html`<p class="field-error" role="alert">${why}</p>`}`;
}
