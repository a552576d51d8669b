/* Makes pictures, one request for each: so that each has a seed that is known, and is there as soon as
 * it is ready. */
import { ApiError } from "../lib/client.js";
import { t } from "../lib/i18n.js";
import { maskFile } from "../lib/media/mask.js";
import { requestOf } from "../lib/media/paint.js";
import { pictureOf, randomSeed } from "../lib/media/pictures.js";
import { sendForJson } from "../lib/requests.js";
import { addPicture } from "./pictures.js";
import { taskOf } from "./tasks.js";

export const painting = taskOf("images");

/* The form's values: as lib/media/paint.js has them, and how many. */
export const EMPTY = {
    prompt: "", negative: "", size: "", steps: null, guidance: null, strength: null, seed: null, count: 1,
};

async function sizeOf(blob) {
    try {
        const { width, height } = await createImageBitmap(blob);
        return { width, height };
    } catch {
        throw new ApiError(502, t("media.images.unreadable"));
    }
}

async function one(kind, model, ask, given, abort) {
    const { data } = await sendForJson(requestOf(kind, model, ask, given), { signal: abort });
    const blob = pictureOf(data[0].b64_json), { prompt, negative, size, steps, guidance, strength, seed } = ask;
    const params = kind === "enlarge" ? { model } : { model, prompt, negative, size, steps, guidance, strength, seed };
    return addPicture({ kind, blob, ...await sizeOf(blob), params });
}

/* strokes: of the mask, for an edit. The task's state has `made` (records), `done` and `total`. */
export function paint(kind, model, ask, source, strokes = []) {
    const total = kind === "enlarge" ? 1 : ask.count, first = ask.seed ?? randomSeed();
    return painting.run(async ({ signal, tell }) => {
        const mask = kind === "edit" && source ? await maskFile(strokes, source) : null, made = [];
        tell({ made, done: 0, total, result: null });
        for (let i = 0; i < total; i++) {
            made.push(await one(kind, model, { ...ask, seed: first + i }, { source, mask }, signal));
            tell({ made: [...made], done: made.length });
        }
        return made;
    });
}
