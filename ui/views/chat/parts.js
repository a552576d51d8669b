/* Files of a message: pictures are shown, sounds can be played, others saved. */
import { html, useState } from "../../lib/html.js";
import { downloadBlob } from "../../lib/clipboard.js";
import { bytes } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { Dialog } from "../../components/dialog.js";
import { Icon } from "../../components/icon.js";
import { toastError } from "../../components/toast.js";
import { blobOf, useBlobUrl } from "../../store/blobs.js";

function Picture({ part }) {
    const [large, setLarge] = useState(false);
    const { url, error } = useBlobUrl(part.blob, part.type);
    if (error)
        return html`<p class="hint">${t("chat.file.missing", { name: part.name })}</p>`;
    return html`<button type="button" class="picture-part" onClick=${() => setLarge(true)} aria-label=${t("chat.file.enlarge", { name: part.name })}>
            ${url && html`<img src=${url} alt=${part.name} />`}
        </button>
        ${large && html`<${Dialog} title=${part.name} close=${() => setLarge(false)} wide><img src=${url} alt=${part.name} /><//>`}`;
}

function Sound({ part }) {
    const { url } = useBlobUrl(part.blob, part.type);
    return html`<figure class="sound-part"><figcaption><bdi>${part.name}</bdi></figcaption>
        ${url && html`<audio controls src=${url} aria-label=${part.name}></audio>`}</figure>`;
}

function File({ part }) {
    const save = () => blobOf(part.blob).then((blob) => downloadBlob(blob, part.name), toastError);
    return html`<button type="button" class="file-part" onClick=${save} title=${t("chat.file.save")}>
        <${Icon} name="attach" size="16" /> <bdi>${part.name}</bdi> <span class="hint">${bytes(part.bytes)}</span></button>`;
}

const KINDS = { image: Picture, audio: Sound };

export const Parts = ({ parts }) => html`<ul class="parts">${parts.map((part) =>
    html`<li key=${part.blob + part.name}><${KINDS[part.kind] ?? File} part=${part} /></li>`)}</ul>`;
