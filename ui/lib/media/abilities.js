/* The parts of the media view, and which models serve each. Pure. */

/* name: of the part's address and texts; can: the capability that its models have. */
export const PARTS = [
    { name: "embeddings", can: "embed", icon: "link" },
    { name: "rerank", can: "rerank", icon: "list" },
    { name: "transcribe", can: "transcribe", icon: "mic" },
    { name: "speech", can: "speak", icon: "speaker" },
    { name: "images", can: "image", icon: "image" },
];

const has = (model, can) => Boolean(model.capabilities?.includes(can));

/* Lists of models call an enlarger an image model, too; it makes none. */
const serves = (model, can) => has(model, can) && !(can === "image" && has(model, "upscale"));

/* The models that can be asked now. */
export const able = (models, can) => models.filter((m) =>
    (m.downloaded || m.recipe === "remote") && !m.unsupported && !m.alias_of && serves(m, can));

/* Models that were made for edits come first; others can do them as well, in their way. */
export const editors = (models) => able(models, "image").sort((a, b) => Number(has(b, "edit")) - Number(has(a, "edit")));

/* What can be fetched: {offers: the best few that can run here; reason: why none can, in the server's
 * words, or ""}. */
export function obtainable(models, can, most = 3) {
    const all = models.filter((m) => serves(m, can) && !m.alias_of);
    const rank = (m) => [m.suggested ? 0 : 1, m.size_bytes ?? Infinity];
    const inOrder = (list) => list.sort((a, b) => rank(a)[0] - rank(b)[0] || rank(a)[1] - rank(b)[1]);
    const offers = inOrder(all.filter((m) => !m.downloaded && !m.unsupported && m.recipe !== "remote")).slice(0, most);
    const refused = inOrder(all.filter((m) => m.unsupported));
    /* A model that is here and cannot run is what its owner wants to know about. */
    const first = refused.find((m) => m.downloaded) ?? refused[0];
    return { offers, reason: offers.length ? "" : first?.unsupported ?? "" };
}
