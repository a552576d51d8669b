/* The frame of a panel: what it is for, the model, and its form; or what to fetch. */
import { html, useId } from "../../lib/html.js";
import { bytes } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { PARTS, able, obtainable } from "../../lib/media/abilities.js";
import { href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { Empty } from "../../components/empty.js";
import { Select } from "../../components/field.js";
import { Loaded } from "../../components/loaded.js";
import { choose, chosen, mediaModels, readMediaModels } from "../../store/media_models.js";

/* can: the capability that is missing. */
export function Missing({ can, icon, title }) {
    const { offers, reason } = obtainable(mediaModels.value.data, can);
    return html`<${Empty} icon=${icon} title=${title}>
        ${offers.length > 0 && html`<p>${t("media.fetch")}</p>
            <ul class="offers">${offers.map((m) => html`<li key=${m.id}><a href=${href("models", m.id)}>${m.id}</a>
                ${m.size_bytes > 0 && html`<span class="hint"> ${bytes(m.size_bytes)}</span>`}</li>`)}</ul>`}
        ${reason && html`<p>${t("media.cannot", { reason })}</p>`}
        <div class="row">
            <${Button} kind="primary" icon="download" href=${href("models", { show: "get", can })}>${t("media.get")}<//>
            ${reason && html`<${Button} href=${href("models", { show: "engines" })}>${t("media.engines")}<//>`}
        </div>
    <//>`;
}

/* Nothing to choose with one model, but its name is worth knowing. */
export function ModelPicker({ can, models, model }) {
    return html`<${Select} label=${t("media.model")} value=${model.id} options=${models.map((m) => m.id)}
        onChange=${(id) => choose(can, id)} />`;
}

/* part: its name in PARTS. children: a function of the model and the models to choose from. can, find,
 * what: of another capability than the part's own. above: stands above the form in any case. */
export function Panel({ part, can: given, find = able, what, above, children }) {
    const id = useId();
    const { can: own, icon } = PARTS.find((p) => p.name === part), can = given ?? own;
    const body = (all) => {
        const models = find(all, can), model = chosen(can, models);
        return model ? children(model, models) : html`<${Missing} can=${can} icon=${icon} title=${t("media.none", { what: what ?? t(`media.part.${part}`) })} />`;
    };
    return html`<section class="media-part" aria-labelledby=${id}>
        <header><h2 id=${id}>${t(`media.part.${part}`)}</h2>
            <p class="hint">${t(`media.about.${part}`)}</p></header>
        ${above}
        <${Loaded} state=${mediaModels.value} retry=${readMediaModels}>${body}<//>
    </section>`;
}
