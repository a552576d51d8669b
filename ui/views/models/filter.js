/* What narrows a list of models: words, an ability, the order. What is chosen stands in the address. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { ORDER_NAMES, offered } from "../../lib/models/list.js";
import { go, href, route } from "../../lib/route.js";
import { Icon } from "../../components/icon.js";

const read = () => {
    const { query } = route.value;
    return Object.fromEntries(["q", "can", "order", "all"].map((name) => [name, query.get(name) ?? ""]));
};

/* [{q, can, order, all}, set]: set changes some of them, without a new entry in the history. */
export function useFilter() {
    const show = route.value.query.get("show") ?? "";
    const now = read();
    const set = (changes) => go(href("models", { show, ...now, ...changes }), { replace: true });
    return [now, set];
}

export const Search = ({ value, onInput, label }) => html`<label class="search">
    <span class="visually-hidden">${label}</span>
    <${Icon} name="search" size="18" />
    <input type="search" data-search placeholder=${label} value=${value}
        onInput=${(e) => onInput(e.currentTarget.value)} />
</label>`;

/* Buttons of the abilities that at least one model has; one can be chosen. */
export function AbilityFilter({ models, value, onChange }) {
    const abilities = offered(models);
    if (abilities.length < 2)
        return null;
    return html`<div class="chips" role="group" aria-label=${t("models.filter.can")}>
        ${["", ...abilities].map((ability) => html`<button key=${ability} type="button" class="chip"
            aria-pressed=${String(value === ability)} onClick=${() => onChange(ability)}>
            ${ability ? t(`models.can.${ability}`) : t("models.filter.all")}</button>`)}
    </div>`;
}

export const OrderFilter = ({ value, onChange }) => html`<label class="order">
    <span>${t("models.order")}</span>
    <select value=${value} onChange=${(e) => onChange(e.currentTarget.value)}>
        ${ORDER_NAMES.map((name) => html`<option value=${name}
            selected=${name === value}>${t(`models.order.${name}`)}</option>`)}
    </select>
</label>`;
