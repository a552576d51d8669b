/* Pictures that were made, with what they were made from, in this browser's IndexedDB. A record is
 * {id, when, kind, blob, width, height, params: {model, prompt, negative, size, steps, guidance, seed,
 * strength}}. */

const NAME = "quince.media", STORE = "pictures", VERSION = 1;
export const KEPT_MAX = 60; /* pictures; the oldest go first */

let opening = null;

function open() {
    opening ??= new Promise((done, failed) => {
        const request = indexedDB.open(NAME, VERSION);
        request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
        request.onsuccess = () => done(request.result);
        request.onerror = () => failed(request.error);
    });
    opening.catch(() => {
        opening = null;
    });
    return opening;
}

/* Resolves with the result of what `act` asks of the store, once it is on the disk. */
async function within(mode, act) {
    const transaction = (await open()).transaction(STORE, mode);
    const request = act(transaction.objectStore(STORE));
    return new Promise((done, failed) => {
        transaction.oncomplete = () => done(request?.result);
        transaction.onerror = transaction.onabort = () => failed(transaction.error);
    });
}

/* Newest first. */
export const readAll = async () => (await within("readonly", (store) => store.getAll())).sort((a, b) => b.when - a.when);

export async function keep(record) {
    await within("readwrite", (store) => store.put(record));
    const all = await readAll();
    if (all.length > KEPT_MAX)
        await within("readwrite", (store) => {
            all.slice(KEPT_MAX).forEach(({ id }) => store.delete(id));
        });
}

export const remove = (id) => within("readwrite", (store) => store.delete(id));
