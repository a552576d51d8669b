/* What can be done, and whether a model for it is here. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { PARTS, able } from "../../lib/media/abilities.js";
import { href } from "../../lib/route.js";
import { Icon } from "../../components/icon.js";
import { Loaded } from "../../components/loaded.js";
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

export const Overview = () => html`<${Loaded} state=${mediaModels.value} retry=${readMediaModels}>${(models) => html`
    <ul class="cards">${PARTS.map((part) => html`<${Card} key=${part.name} part=${part} models=${models} />`)}</ul>`}<//>`;
