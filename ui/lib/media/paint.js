/* Requests for pictures. Pure.
 *
 * ask: {prompt, negative, size ("": the model's own, or "512x512"), steps, guidance, strength, seed},
 * null where the model's default is wanted. source: {file, width, height}. */
import { InBase64 } from "../snippets.js";
import { SIDE_LEAST, SIDE_MOST, roundedSize } from "./pictures.js";

export const KINDS = ["generate", "edit", "vary", "enlarge"];
const PATHS = { generate: "generations", edit: "edits", vary: "variations", enlarge: "upscale" };

const sized = ({ width, height }) => `${width}x${height}`;

/* What a kind of request sends, by the server's names. */
function fields(kind, ask, source) {
    const size = ask.size || (source ? sized(roundedSize(source)) : "");
    const all = {
        prompt: kind === "vary" ? "" : ask.prompt.trim(),
        negative_prompt: kind === "vary" ? "" : ask.negative.trim(),
        size,
        steps: ask.steps,
        cfg_scale: ask.guidance,
        strength: kind === "generate" ? null : ask.strength,
        seed: ask.seed,
    };
    return Object.entries(all).filter(([, value]) => value !== "" && value !== null && value !== undefined);
}

export function requestOf(kind, model, ask, { source = null, mask = null } = {}) {
    const path = `/v1/images/${PATHS[kind]}`, saves = { as: "base64", name: "picture.png" };
    if (kind === "enlarge")
        return { path, saves, json: { model, image: new InBase64(source?.file ?? { name: "picture.png" }) } };
    if (kind === "generate")
        return { path, saves, json: { model, ...Object.fromEntries(fields(kind, ask, null)) } };
    const files = [["image", source?.file ?? { name: "picture.png" }], ...kind === "edit" && mask ? [["mask", mask]] : []];
    return { path, saves, form: [["model", model], ...files, ...fields(kind, ask, source)] };
}

/* What is wrong with what was typed: {field: [key of a text, its values]}. */
export function problemsOf(kind, ask, source) {
    const found = {};
    const limit = (name, least, most, whole) => {
        const value = ask[name];
        if (value !== null && !(value >= least && value <= most && (!whole || Number.isInteger(value))))
            found[name] = ["media.between", { least, most }];
    };
    if (["generate", "edit"].includes(kind) && !ask.prompt.trim())
        found.prompt = ["media.images.no_prompt"];
    if (kind !== "generate" && !source)
        found.source = ["media.images.no_source"];
    const sides = ask.size.split("x").map(Number);
    if (ask.size && sides.some((side) => !(side >= SIDE_LEAST && side <= SIDE_MOST)))
        found.size = ["media.between", { least: SIDE_LEAST, most: SIDE_MOST }];
    limit("steps", 1, 1000, true);
    limit("guidance", 0, 100);
    limit("strength", 0, 1);
    limit("seed", 0, 2 ** 53 - 1, true);
    limit("count", 1, 10, true);
    return found;
}
