/* Models by what they can do: filtered, searched and put in order. Pure. */

/* The filters, in the order in which they are shown; each has the text models.can.NAME. "coding" is a
 * label of the list, all others are capabilities. */
export const ABILITIES = ["chat", "vision", "tools", "reasoning", "coding", "embed", "rerank", "transcribe", "speak", "image"];

export const can = (model, ability) => ability === "coding" ? Boolean(model.labels?.includes("coding")) :
    Boolean(model.capabilities?.includes(ability));

/* What a model is for, the one group that it is listed in. */
const KINDS = ["chat", "complete", "embed", "rerank", "transcribe", "speak", "image", "upscale"];
export const kindOf = (model) => KINDS.find((kind) => can(model, kind)) ?? "other";

/* The abilities that a row shows as badges: what goes beyond what it is for. */
export const extrasOf = (model) => ABILITIES.slice(1)
    .filter((ability) => can(model, ability) && ability !== kindOf(model));

const plain = (text) => text.toLowerCase().replace(/[-_.:/\s]+/g, " ").trim();

/* Whether every word of the query occurs in the model's name, its further names, checkpoint or labels. */
export function matches(model, query) {
    const text = plain([model.id, model.checkpoint, ...model.aliases ?? [], ...model.labels ?? []].filter(Boolean).join(" "));
    return plain(query).split(" ").every((word) => text.includes(word));
}

/* The abilities that at least one of the models has. */
export const offered = (models) => ABILITIES.filter((ability) => models.some((m) => can(m, ability)));

/* How two models are put in order; all: loaded ones come first. */
const ORDERS = {
    name: (a, b) => a.id.localeCompare(b.id, undefined, { numeric: true }),
    size: (a, b) => (a.size_bytes ?? Infinity) - (b.size_bytes ?? Infinity),
    used: (a, b) => (b.last_use ?? 0) - (a.last_use ?? 0),
};
export const ORDER_NAMES = Object.keys(ORDERS);

/* filter: {query, ability, order, fits: function of a model, or null}. */
export function listed(models, { query = "", ability = "", order = "name", fits = null }) {
    return models.filter((m) => (!ability || can(m, ability)) && (!query || matches(m, query)) && (!fits || fits(m)))
        .sort((a, b) => Number(Boolean(b.loaded)) - Number(Boolean(a.loaded)) || ORDERS[order](a, b) || ORDERS.name(a, b));
}

/* [{kind, models}], in the order of KINDS. */
export function grouped(models) {
    const groups = [...KINDS, "other"].map((kind) => ({ kind, models: models.filter((m) => kindOf(m) === kind) }));
    return groups.filter((g) => g.models.length);
}

/* The name as it is shown: without the prefix that says how it came here. */
export const shownName = (id) => id.replace(/^(user|extra)\./, "");

/* Ships with quince, so that it cannot be deleted. */
export const ships = (model) => Boolean(model.labels?.includes("starter"));

/* An alias is an entry of its own in the server's list, but no model of its own. */
export const withoutAliases = (models) => models.filter((m) => !m.alias_of);
export const aliasesOf = (models, id) => models.filter((m) => m.alias_of === id).map((m) => m.id);
