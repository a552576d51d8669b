/* Which models and which variants the page recommends. Pure. */
import { fitOf } from "./fit.js";

const GB = 1e9;

/* How much of the memory for models the weights of a recommended variant may take: the rest is for
 * the context and for other programs. */
const COMFORT = 0.6;

/* Quantisations of about 4 to 5 bits lose little and are half as large as 8 bits: the first of these
 * that is offered and fits is recommended. */
const PREFERRED = ["Q4_K_M", "UD-Q4_K_XL", "Q4_K_S", "Q4_K_L", "Q4_0", "MXFP4", "IQ4_XS", "IQ4_NL", "Q4_1",
    "Q5_K_M", "Q5_K_S", "Q6_K", "Q8_0"];

const bitsOf = (name) => Number(/(?:^|[-_.])I?Q(\d)|MXFP(\d)|BF?(16)|F(16|32)/i.exec(name)?.slice(1).find(Boolean)) || 0;

/* The variant to recommend of those that GET pull/variants lists: the preferred quantisation that
 * leaves room for a context; else the largest that fits; else null. */
export function recommended(variants, machine) {
    const sized = variants.filter((v) => v.size_bytes > 0);
    const fits = sized.filter((v) => v.fits !== false && fitOf({ size: v.size_bytes }, machine).level !== "disk");
    const easy = fits.filter((v) => !machine?.limit || v.size_bytes <= machine.limit * COMFORT);
    for (const name of PREFERRED) {
        const found = easy.find((v) => v.name.toUpperCase() === name);
        if (found)
            return found;
    }
    const small = easy.filter((v) => bitsOf(v.name) > 0 && bitsOf(v.name) <= 8);
    const largest = (list) => list.reduce((best, v) => (!best || v.size_bytes > best.size_bytes ? v : best), null);
    return largest(small) ?? largest(easy) ?? largest(fits);
}

/* The parameters that compute each token, as a share of all: mixtures of experts are named like
 * "30B-A3B". */
export function activeShare(name) {
    const [, all, active] = /(\d+(?:\.\d+)?)B-A(\d+(?:\.\d+)?)B/i.exec(name) ?? [];
    if (active)
        return Math.min(1, active / all);
    if (/gpt-oss-120b/i.test(name))
        return 0.05;
    return /gpt-oss-20b/i.test(name) ? 0.18 : 1;
}

/* What speaks for a model among those of a similar size. */
function merit(model, limit) {
    const has = (what) => model.capabilities?.includes(what) || model.labels?.includes(what);
    const bytesPerToken = model.size_bytes * activeShare(model.id);
    return Math.log2(model.size_bytes / GB + 0.1) + (has("hot") ? 1 : 0) + (has("tools") ? 1 : 0) -
        (bytesPerToken > limit / 4 ? 1 : 0) - (bytesPerToken > 6 * GB ? 1.5 : 0) - (has("coding") ? 2 : 0);
}

/* Three classes of size, by the share of the memory for models and by what a download of some
 * minutes brings. */
const CLASSES = [
    { kind: "quick", share: 0.1, most: 2.5 * GB, least: 0.6 * GB },
    { kind: "balanced", share: 0.3, most: 8 * GB, least: 0 },
    { kind: "large", share: 0.6, most: 64 * GB, least: 0 },
];

/* Up to three models of the built-in list for a first chat that this machine can run:
 * [{kind: "quick"|"balanced"|"large", model}], smallest first. */
export function proposals(models, machine) {
    if (!machine?.limit)
        return [];
    const able = models.filter((m) => !m.downloaded && m.suggested && !m.unsupported && m.size_bytes > 0 &&
        m.capabilities?.includes("chat") && ["good", "later"].includes(fitOf({ size: m.size_bytes }, machine).level));
    const chosen = [];
    for (const { kind, share, most, least } of CLASSES) {
        const bound = Math.min(Math.max(machine.limit * share, least), most);
        const above = Math.max(0, ...chosen.map((c) => c.model.size_bytes));
        const best = able.filter((m) => m.size_bytes <= bound && m.size_bytes > above * 1.3)
            .reduce((a, b) => (!a || merit(b, machine.limit) > merit(a, machine.limit) ? b : a), null);
        if (best)
            chosen.push({ kind, model: best });
    }
    return chosen;
}

/* Speed of downloads in bytes per second if none is known: 50 Mbit/s. */
export const ASSUMED_SPEED = 50e6 / 8;

/* A length of time in round figures: {unit: "min"|"h", n}; less than a minute counts as one. */
export function roughly(seconds) {
    const minutes = seconds / 60;
    if (minutes <= 20)
        return { unit: "min", n: Math.max(1, Math.round(minutes)) };
    if (minutes < 87.5)
        return { unit: "min", n: Math.round(minutes / 5) * 5 };
    return { unit: "h", n: Math.round(minutes / 30) / 2 };
}

/* The mean speed of the downloads that ended well, from GET downloads?all=true; null: there are none.
 * Short ones say little. */
export function measuredSpeed(jobs) {
    const useful = jobs.filter((j) => j.status === "completed" && j.changed - j.created >= 5 &&
        j.total_download_size > 0);
    const bytes = useful.reduce((sum, j) => sum + j.total_download_size, 0);
    const seconds = useful.reduce((sum, j) => sum + j.changed - j.created, 0);
    return seconds ? bytes / seconds : null;
}
