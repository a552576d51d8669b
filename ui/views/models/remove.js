/* Deleting a model: what would be freed, and what stays. */
import { html, useState } from "../../lib/html.js";
import { bytes } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { aliasesOf, shownName } from "../../lib/models/list.js";
import { go, href, route } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { Dialog } from "../../components/dialog.js";
import { ErrorBox } from "../../components/error.js";
import { Loading } from "../../components/loading.js";
import { toast } from "../../components/toast.js";
import { deleteModel, models, readAll, tryDelete } from "../../store/models.js";
import { useResource } from "../../store/resource.js";

function Effect({ effect, model }) {
    const aliases = aliasesOf(models.value.data ?? [], model.id);
    return html`
        <p>${effect.freed_bytes > 0 ? t("models.remove.frees", { size: bytes(effect.freed_bytes), n: effect.files_removed }) :
        t(model.recipe === "remote" ? "models.remove.frees.remote" : "models.remove.frees.nothing")}</p>
        ${effect.note && html`<p class="hint">${effect.note}</p>`}
        ${aliases.length > 0 && html`<p
            class="hint">${t("models.remove.aliases", { names: aliases.join(", "), n: aliases.length })}</p>`}
        ${model.source === "builtin" && html`<p class="hint">${t("models.remove.again")}</p>`}`;
}

export function Remove({ model, close }) {
    const { data, error } = useResource(() => tryDelete(model.id), [model.id]);
    const [failed, setFailed] = useState(null), [busy, setBusy] = useState(false);
    const run = async () => {
        setBusy(true);
        try {
            const reply = await deleteModel(model.id);
            close();
            toast(t("models.remove.done", { name: shownName(model.id), size: bytes(reply.freed_bytes) }));
            if (route.value.rest.length) /* its own page has nothing to show any more */
                go(href("models"), { replace: true });
            readAll();
        } catch (e) {
            setFailed(e);
            setBusy(false);
        }
    };
    const wrong = failed ?? error;
    return html`<${Dialog} title=${t("models.remove.title", { name: shownName(model.id) })} close=${close}
        actions=${html`
        <${Button} onClick=${close}>${t("action.cancel")}<//>
        <${Button} kind="danger" icon="trash" busy=${busy} disabled=${!data} onClick=${run}>${t("action.delete")}<//>`}>
        ${wrong ? html`<${ErrorBox} error=${wrong} />` : data ? html`<${Effect} effect=${data}
            model=${model} />` : html`<${Loading} />`}
    <//>`;
}
