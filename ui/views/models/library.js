/* Models that can be had: the built-in list, and a search of the hub with the same words. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { grouped, listed, withoutAliases } from "../../lib/models/list.js";
import { Empty } from "../../components/empty.js";
import { Toggle } from "../../components/field.js";
import { Loaded } from "../../components/loaded.js";
import { readModels } from "../../store/models.js";
import { fitText } from "./badges.js";
import { AbilityFilter, OrderFilter, Search, useFilter } from "./filter.js";
import { Hub } from "./hub.js";
import { Proposals } from "./proposals.js";
import { ModelRow } from "./row.js";

/* Without the ones that cannot run here, unless they are asked for. */
const runsHere = (model) => !model.unsupported && !["no", "disk"].includes(fitText(model).level);

function List({ models }) {
    const [filter, set] = useFilter();
    /* A search also finds what is here already, so that nobody downloads it again. */
    const offered = withoutAliases(models).filter((m) => m.recipe !== "remote" && (!m.downloaded || filter.q));
    const choice = { query: filter.q, ability: filter.can, order: filter.order || "size" };
    const shown = listed(offered, { ...choice, fits: filter.all ? null : runsHere });
    const hidden = filter.all ? 0 : listed(offered, choice).length - shown.length;
    return html`
        <section aria-label=${t("models.part.get")}>
            <div class="toolbar">
                <${Search} label=${t("models.search.get")} value=${filter.q} onInput=${(q) => set({ q })} />
                <${OrderFilter} value=${filter.order || "size"} onChange=${(order) => set({ order })} />
            </div>
            <${AbilityFilter} models=${offered} value=${filter.can} onChange=${(can) => set({ can })} />
            <${Toggle} label=${t("models.filter.everything")} hint=${hidden ? t("models.hidden", { n: hidden }) : ""}
                checked=${Boolean(filter.all)} onChange=${(on) => set({ all: on ? "1" : "" })} />
        </section>
        ${!filter.q && !filter.can && html`<${Proposals} />`}
        <section aria-label=${t("models.library.title")}>
            ${filter.q && html`<h2>${t("models.library.title")}</h2>`}
            ${grouped(shown).map(({ kind, models: list }) => html`<section key=${kind} class="group">
                ${filter.q ? null : html`<h2>${t(`models.kind.${kind}`)}</h2>`}
                <ul class="model-list">${list.map((m) => html`<${ModelRow} key=${m.id} model=${m} />`)}</ul>
            </section>`)}
            ${!shown.length && (filter.q ? html`<p
                class="hint">${hidden ? t("models.hidden", { n: hidden }) : t("models.library.none")}</p>` :
        html`<${Empty} icon="search"
            title=${t("models.none_found")}><p>${hidden ? t("models.hidden", { n: hidden }) : ""}</p><//>`)}
        </section>
        <${Hub} query=${filter.q} />`;
}

export const Library = ({ models }) => html`<${Loaded} state=${models} retry=${readModels}>${(list) =>
    html`<${List} models=${list} />`}<//>`;
