/* The pictures that were made before in this browser. */
import { html, useId } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { KEPT_MAX } from "../../lib/media/history.js";
import { Button } from "../../components/button.js";
import { toast } from "../../components/toast.js";
import { historyFailed, pictures, removePictures } from "../../store/pictures.js";
import { Picture } from "./picture.js";

async function removeAll() {
    const all = pictures.peek();
    const undo = await removePictures(all);
    toast(t("media.history.removed", { n: all.length }), { action: { text: t("action.undo"), run: undo } });
}

export function History() {
    const id = useId(), all = pictures.value;
    if (!all)
        return null;
    return html`<section class="media-history" aria-labelledby=${id}>
        <div class="row between"><h2 id=${id}>${t("media.history")}</h2>
            ${all.length > 0 && html`<${Button} small kind="quiet" icon="trash" onClick=${removeAll}>${t("media.history.remove")}<//>`}</div>
        <p class="hint">${historyFailed.value ? t("media.history.failed") : all.length ? t("media.history.about", { n: KEPT_MAX }) : t("media.history.none")}</p>
        <ul class="pictures">${all.map((picture) => html`<li key=${picture.id}><${Picture} picture=${picture} small />
            <span class="hint">${picture.params.prompt || t(`media.picture.${picture.kind}`)}</span></li>`)}</ul>
    </section>`;
}
