/* What can be done, and whether a model for it is here. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { PARTS, able } from "../../lib/media/abilities.js";
import { href } from "../../lib/route.js";
import { ErrorBox } from "../../components/error.js";
import { Icon } from "../../components/icon.js";
import { Loading } from "../../components/loading.js";
import { mediaModels, readMediaModels } from "../../store/media_models.js";

function Card({ part, models }) {
    const ready = able(models, part.can);
    return html`<li class="card media-card">
        <h2><${Icon} name=${part.icon} /> <a href=${href("media", part.name)}>${t(`media.part.${part.name}`)}</a></h2>
        <p>${t(`media.about.${part.name}`)}</p>
        <p class="hint">${ready.length ? html`<span class="badge good">${t("media.ready")}</span> ${ready.map((m) => m.id).join(", ")}` :
        html`<span class="badge">${t("media.missing")}</span>`}</p>
    </li>`;
}

export function Overview() {
    const { data, error } = mediaModels.value;
    if (error && !data)
        return html`<${ErrorBox} error=${error} retry=${readMediaModels} />`;
    if (!data)
        return html`<${Loading} />`;
    return html`<ul class="cards">${PARTS.map((part) => html`<${Card} key=${part.name} part=${part} models=${data} />`)}</ul>`;
}
