/* The picture that is edited, varied or enlarged. */
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { readPicture } from "../../lib/media/pictures.js";
import { IconButton } from "../../components/button.js";
import { FileDrop } from "../../components/file_drop.js";
import { setSource, source } from "../../store/pictures.js";

/* children: what is shown in place of the plain picture. */
export function Source({ wrong, children }) {
    const [unread, setUnread] = useState(""), picture = source.value;
    const take = async ([file]) => {
        try {
            setSource(await readPicture(file, file.name));
            setUnread("");
        } catch {
            setUnread(t("media.images.no_picture", { name: file.name }));
        }
    };
    const problem = unread || (picture ? "" : wrong);
    return html`<section class="source" aria-label=${t("media.images.source")}>
        ${picture && (children || html`<img src=${picture.url} alt=${picture.file.name} />`)}
        <${FileDrop} icon="image" accept="image/*" take=${take} label=${t(picture ? "media.images.other" : "media.images.choose")}
            hint=${t("media.images.choose_hint")}>
            ${picture && html`<p class="row"><span>${picture.file.name}</span> <span class="hint">${picture.width} × ${picture.height}</span>
                <${IconButton} icon="close" label=${t("media.images.take_away")} onClick=${() => setSource(null)} /></p>`}
        <//>
        ${problem && html`<p class="field-error" role="alert">${problem}</p>`}
    </section>`;
}
