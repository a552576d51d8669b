/* Registers the service worker (sw.js), which keeps the page and the chats that were seen last for the
 * time when the server is down. Browsers allow that on https:// addresses and on localhost. */

const WORKER = "/sw.js";
const CHATS = "chats-"; /* its caches of chats */

/* The header of an answer that the service worker has kept: the server has not given it now. */
export const KEPT = "X-Quince-Kept";

/* The address of a script is a trusted type; the policy lets through this one alone. */
const policy = window.trustedTypes?.createPolicy("quince", {
    createScriptURL(url) {
        if (url !== WORKER)
            throw new TypeError(url);
        return url;
    },
});

/* Tells a worker what was loaded before it was there; one of another build takes none of it. */
const tell = (worker) => worker?.postMessage({
    type: "files", urls: performance.getEntriesByType("resource").map((entry) => entry.name),
});

async function register() {
    const workers = navigator.serviceWorker;
    try {
        workers.addEventListener("controllerchange", () => tell(workers.controller));
        await workers.register(policy ? policy.createScriptURL(WORKER) : WORKER);
        tell((await workers.ready).active);
    } catch {
        /* a browser that allows none: the page works without */
    }
}

/* Called once. Waits until the page stands, which is what its reader waits for. */
export function startOffline() {
    if (!("serviceWorker" in navigator))
        return;
    const idle = window.requestIdleCallback ?? ((run) => setTimeout(run, 1000));
    if (document.readyState === "complete")
        idle(register);
    else
        window.addEventListener("load", () => idle(register), { once: true });
}

/* Deletes the chats that are kept: they belong to the key with which they were read. */
export async function forgetChats() {
    navigator.serviceWorker?.controller?.postMessage({ type: "forget" });
    for (const name of await window.caches?.keys().catch(() => []) ?? [])
        if (name.startsWith(CHATS))
            await window.caches.delete(name);
}
