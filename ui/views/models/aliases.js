/* Further names of a model. */
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { aliasesOf, shownName } from "../../lib/models/list.js";
import { Button, IconButton } from "../../components/button.js";
import { TextField } from "../../components/field.js";
import { toast, toastError } from "../../components/toast.js";
import { addAlias, models, removeAlias } from "../../store/models.js";

export function Aliases({ model }) {
    const [name, setName] = useState(""), [error, setError] = useState(null);
    const aliases = aliasesOf(models.value.data ?? [], model.id);
    const add = async (event) => {
        event.preventDefault();
        if (!name.trim())
            return;
        try {
            await addAlias(name.trim(), model.id);
            setName("");
            setError(null);
        } catch (e) {
            setError(e);
        }
    };
    const remove = (alias) => removeAlias(alias).then(() => toast(t("models.alias.removed", { name: alias }), {
        action: { text: t("action.undo"), run: () => addAlias(alias, model.id).catch(toastError) },
    }), toastError);
    return html`
        <p class="hint">${t("models.alias.why", { name: shownName(model.id) })}</p>
        ${aliases.length > 0 && html`<ul class="alias-list">${aliases.map((alias) => html`<li key=${alias}
            class="badge">${alias}
            <${IconButton} icon="close" label=${t("models.alias.remove", { name: alias })}
                onClick=${() => remove(alias)} /></li>`)}</ul>`}
        <form class="inline-form" onSubmit=${add}>
            <${TextField} label=${t("models.alias.new")} value=${name} onInput=${setName} error=${error?.message}
                spellcheck="false" autocapitalize="off" />
            <${Button} type="submit" icon="plus">${t("models.alias.add")}<//>
        </form>`;
}
