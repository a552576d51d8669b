/* Pictures as files: what the server reads, sizes, names. */

export const SIDE_LEAST = 16, SIDE_MOST = 4096; /* pixels that the server accepts */
const READABLE = ["image/png", "image/jpeg", "image/webp"];

/* Resolves with a canvas's PNG. */
export const pngOf = (canvas) => new Promise((done, failed) => canvas.toBlob((blob) =>
    blob ? done(blob) : failed(new Error("toBlob")), "image/png"));

/* How large a picture is shown at most. Pure. */
export function within({ width, height }, most) {
    const scale = Math.min(1, most / Math.max(width, height));
    return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/* A size that engines can make: multiples of 8 within the limits, of the same shape. Pure. */
export function roundedSize(size) {
    const { width, height } = within(size, SIDE_MOST);
    const side = (n) => Math.min(SIDE_MOST, Math.max(SIDE_LEAST, Math.round(n / 8) * 8));
    return { width: side(width), height: side(height) };
}

/* {file, width, height} of a picture that a person has chosen, as PNG where the server could not read
 * it otherwise. Rejects if it is no picture. */
export async function readPicture(blob, name = "picture.png") {
    const bitmap = await createImageBitmap(blob);
    const { width, height } = within(bitmap, SIDE_MOST);
    if (READABLE.includes(blob.type) && width === bitmap.width)
        return { file: new File([blob], name, { type: blob.type }), width, height };
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width, height });
    canvas.getContext("2d").drawImage(bitmap, 0, 0, width, height);
    return { file: new File([await pngOf(canvas)], name.replace(/\.\w+$|$/, ".png"), { type: "image/png" }), width, height };
}

/* The bytes of base64 as a picture. */
export function pictureOf(base64, type = "image/png") {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++)
        bytes[i] = text.charCodeAt(i);
    return new Blob([bytes], { type });
}

const SEED_MOST = 2 ** 31 - 1;

/* Engines tell no seed that they have chosen, so the page chooses it, and can use it again. */
export const randomSeed = () => crypto.getRandomValues(new Uint32Array(1))[0] % SEED_MOST;

/* A name for a download: the first words of the description, and the seed. Pure. */
export function fileName({ prompt = "", seed, kind }, ending = "png") {
    const words = prompt.toLowerCase().match(/[\p{L}\p{N}]+/gu)?.slice(0, 6).join("-");
    return [words || kind || "picture", seed].filter((part) => part !== undefined && part !== null).join("-") + `.${ending}`;
}
