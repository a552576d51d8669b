/* Files that belong to messages. They are read with the key and shown from memory, since a picture's
 * address could carry none. */
import { send, api } from "../lib/client.js";
import { useEffect, useState } from "../lib/html.js";

const KEPT_MAX = 60; /* addresses of pictures */

const urls = new Map(); /* id -> promise of an object URL, used last at the end */

export const blobOf = async (id) => (await send("GET", `/internal/blobs/${id}`, undefined, { headers: { Accept: "*/*" } })).blob();

/* Returns {id, bytes, type}. */
export const storeBlob = (blob, options) => api("POST", "/internal/blobs", blob, options);

function urlOf(id, type) {
    if (!urls.has(id))
        urls.set(id, blobOf(id).then((blob) => URL.createObjectURL(blob.slice(0, blob.size, type))));
    const url = urls.get(id);
    urls.delete(id);
    urls.set(id, url);
    url.catch(() => urls.delete(id));
    if (urls.size > KEPT_MAX) {
        const [oldest, old] = urls.entries().next().value;
        urls.delete(oldest);
        old.then(URL.revokeObjectURL, () => {});
    }
    return url;
}

/* {url, error} of a file, for <img> and <audio>. */
export function useBlobUrl(id, type) {
    const [state, setState] = useState({ url: "", error: null });
    useEffect(() => {
        let live = true;
        urlOf(id, type).then((url) => live && setState({ url, error: null }), (error) => live && setState({ url: "", error }));
        return () => {
            live = false;
        };
    }, [id]);
    return state;
}
