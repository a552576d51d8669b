/* The pictures that were made in this browser, as the history has them, and the one that is worked on. */
import { signal } from "../lib/html.js";
import { keep, readAll, remove } from "../lib/media/history.js";
import { randomSeed } from "../lib/media/pictures.js";

/* Records, newest first; null until they have been read. failed: the browser keeps nothing (a private
 * window, a full disk); they are then here until the page is closed. */
export const pictures = signal(null);
export const historyFailed = signal(false);

let reading = null;

export function readPictures() {
    reading ??= readAll().then((all) => {
        pictures.value = all;
    }, () => {
        historyFailed.value = true;
        pictures.value = [];
    });
    return reading;
}

const kept = (promise) => promise.catch(() => {
    historyFailed.value = true;
});

const newestFirst = (all) => all.sort((a, b) => b.when - a.when);

export async function addPicture(picture) {
    const when = Date.now();
    const record = { id: `${when}-${randomSeed()}`, when, ...picture };
    await readPictures();
    pictures.value = newestFirst([record, ...pictures.peek()]);
    await kept(keep(record));
    return record;
}

/* Returns what brings them back. */
export async function removePictures(list) {
    pictures.value = pictures.peek().filter((one) => !list.includes(one));
    await kept(Promise.all(list.map((one) => remove(one.id))));
    return async () => {
        pictures.value = newestFirst([...list, ...pictures.peek()]);
        for (const one of list)
            await kept(keep(one));
    };
}

/* {file, width, height, url} of the picture that is to be edited, varied or enlarged. */
export const source = signal(null);

export function setSource(picture) {
    if (source.peek())
        URL.revokeObjectURL(source.peek().url);
    source.value = picture && { ...picture, url: URL.createObjectURL(picture.file) };
}
