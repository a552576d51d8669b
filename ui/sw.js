/* The service worker: keeps the files of its build and the chats that were seen last, so that the page
 * opens and old chats can be read while the server is down. It keeps nothing else, and never answers in
 * the server's place while the server answers. */
const BUILD = "@BUILD@";
const FILES = `files-${BUILD}`; /* one cache for each build */
const CHATS = "chats-"; /* one for each key, by its checksum */

const PAGE = "/app/"; /* every address of the page is this file */
const BUILD_FILES = `/ui/${BUILD}/`;
const ROOT_FILES = ["/favicon.svg", "/manifest.webmanifest"];
/* A chat, or a list of chats; not their search, export or events. */
const CHAT_PATH = /^\/internal\/chats(?:\/[0-9a-f]{32})?$/;

const CHATS_MAX = 100; /* answers for a key */
const CHAT_BYTES_MAX = 4 * 1000 * 1000; /* of one answer */
const KEPT = "X-Quince-Kept"; /* marks an answer that the server has not given now */

/* Grows when everything that is kept of chats is deleted: what was on its way then is not kept. */
let generation = 0;

self.addEventListener("install", (event) => {
    const page = new Request(PAGE, { headers: { Accept: "text/html" }, cache: "reload" });
    event.waitUntil((async () => {
        const cache = await caches.open(FILES), reply = await fetch(page);
        if (isOfBuild(reply))
            await cache.put(PAGE, reply);
        await cache.addAll(ROOT_FILES);
        await self.skipWaiting();
    })());
});

self.addEventListener("activate", (event) => {
    event.waitUntil((async () => {
        for (const name of await caches.keys())
            if (name.startsWith("files-") && name !== FILES)
                await caches.delete(name);
        await self.registration.navigationPreload?.enable();
        await self.clients.claim();
    })());
});

/* From lib/offline.js: {type: "files", urls}, what the page had loaded before this worker was there;
 * {type: "forget"}, the key has changed. */
self.addEventListener("message", (event) => {
    if (event.data.type === "files")
        event.waitUntil(keepFiles(event.data.urls));
    else if (event.data.type === "forget")
        event.waitUntil(forgetChats());
});

self.addEventListener("fetch", (event) => {
    const { request } = event, url = new URL(request.url);
    if (url.origin !== self.location.origin)
        return;
    if (CHAT_PATH.test(url.pathname) && request.method === "DELETE")
        event.waitUntil(forgetChat(request));
    if (request.method !== "GET")
        return;
    if (request.mode === "navigate" && (url.pathname === "/" || url.pathname.startsWith(PAGE)))
        event.respondWith(answerPage(event));
    else if (url.pathname.startsWith(BUILD_FILES) || ROOT_FILES.includes(url.pathname))
        event.respondWith(answerFile(request));
    else if (CHAT_PATH.test(url.pathname))
        event.respondWith(answerChats(event));
});

/* The page's entity tag names its build. */
const isOfBuild = (reply) => reply.ok && (reply.headers.get("ETag") ?? "").includes(BUILD);

async function answerPage(event) {
    try {
        const reply = await event.preloadResponse ?? await fetch(event.request);
        if (isOfBuild(reply)) {
            const copy = reply.clone();
            event.waitUntil(caches.open(FILES).then((cache) => cache.put(PAGE, copy)));
        }
        return reply;
    } catch (error) {
        const kept = await caches.match(PAGE, { cacheName: FILES, ignoreVary: true });
        if (!kept)
            throw error;
        return kept;
    }
}

async function answerFile(request) {
    const path = new URL(request.url).pathname;
    const kept = await caches.match(path, { cacheName: FILES, ignoreVary: true });
    if (kept)
        return kept;
    const reply = await fetch(request);
    if (reply.ok)
        await (await caches.open(FILES)).put(path, reply.clone());
    return reply;
}

async function keepFiles(urls) {
    const cache = await caches.open(FILES);
    for (const url of urls) {
        const { origin, pathname } = new URL(url);
        if (origin === self.location.origin && pathname.startsWith(BUILD_FILES) && !await cache.match(pathname, { ignoreVary: true }))
            await cache.add(pathname).catch(() => {}); /* a newer server has other files */
    }
}

/* ---- chats ---- */

/* The name of a cache does not tell the key. */
async function cacheName(request) {
    const key = new TextEncoder().encode(request.headers.get("Authorization") ?? "");
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", key));
    return CHATS + [...sum.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/* The server first; what is kept only if it does not answer at all. */
async function answerChats(event) {
    const { request } = event, name = await cacheName(request), from = generation;
    let reply;
    try {
        reply = await fetch(request);
    } catch (error) {
        const kept = await caches.match(request.url, { cacheName: name });
        if (!kept)
            throw error;
        return kept;
    }
    if (reply.ok)
        event.waitUntil(keepChats(name, request.url, reply.clone(), from));
    else if (reply.status === 401 || reply.status === 403)
        event.waitUntil(caches.delete(name)); /* the key is worth nothing any more */
    else if (reply.status === 404)
        event.waitUntil(caches.open(name).then((cache) => cache.delete(request.url)));
    return reply;
}

async function keepChats(name, url, reply, from) {
    const body = await reply.blob();
    if (body.size > CHAT_BYTES_MAX || from !== generation)
        return;
    const cache = await caches.open(name);
    await cache.delete(url); /* the one that was seen last is the last of the cache's keys */
    await cache.put(url, new Response(body, { headers: { "Content-Type": "application/json", [KEPT]: "1" } }));
    const all = await cache.keys();
    for (const old of all.slice(0, Math.max(0, all.length - CHATS_MAX)))
        await cache.delete(old);
    if (from !== generation)
        await caches.delete(name);
}

/* A chat that is deleted for good, and the lists that name it. */
async function forgetChat(request) {
    const cache = await caches.open(await cacheName(request)), { pathname } = new URL(request.url);
    for (const kept of await cache.keys()) {
        const path = new URL(kept.url).pathname;
        if (path === pathname || path === "/internal/chats")
            await cache.delete(kept);
    }
}

async function forgetChats() {
    generation++;
    for (const name of await caches.keys())
        if (name.startsWith(CHATS))
            await caches.delete(name);
}
