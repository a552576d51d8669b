/* The service worker, with caches and a server that are played here. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import vm from "node:vm";

const SOURCE = readFileSync(new URL("../../../ui/sw.js", import.meta.url), "utf8").replace("@BUILD@", "b1");
const ORIGIN = "http://localhost:1";
const CHAT = `/internal/chats/${"a".repeat(32)}`, OTHER = `/internal/chats/${"b".repeat(32)}`;

class FakeCache {
    map = new Map();
    #url(key) {
        return new URL(key.url ?? key, ORIGIN).href;
    }
    async match(key) {
        return this.map.get(this.#url(key))?.clone();
    }
    async put(key, reply) {
        this.map.set(this.#url(key), reply);
    }
    async delete(key) {
        return this.map.delete(this.#url(key));
    }
    async keys() {
        return [...this.map.keys()].map((url) => ({ url }));
    }
    async add(path) {
        await this.put(path, new Response(path));
    }
    async addAll(paths) {
        for (const path of paths)
            await this.add(path);
    }
}

/* A worker; server(url, request) answers, or throws while it is down. */
function worker(server) {
    const all = new Map(), listeners = {};
    const caches = {
        open: async (name) => all.get(name) ?? all.set(name, new FakeCache()).get(name),
        keys: async () => [...all.keys()],
        delete: async (name) => all.delete(name),
        match: async (key, { cacheName }) => all.get(cacheName)?.match(key),
    };
    const self = { addEventListener: (name, run) => { listeners[name] = run; }, location: { origin: ORIGIN }, skipWaiting: async () => {},
        clients: { claim: async () => {} }, registration: {} };
    const fetched = [];
    vm.runInNewContext(SOURCE, { self, caches, crypto, URL, Response, Headers, TextEncoder,
        Request: class { constructor(url, how) { Object.assign(this, { url: new URL(url, ORIGIN).href, headers: new Headers(how?.headers) }); } },
        fetch: async (request) => { fetched.push(request.url); return server(request.url, request); } });
    const tell = async (name, event) => {
        const work = [];
        let answer;
        listeners[name]({ ...event, waitUntil: (p) => work.push(p), respondWith: (p) => { answer = p; } });
        const reply = await answer;
        await Promise.all(work);
        return reply;
    };
    const ask = (path, { method = "GET", mode = "cors", key = "" } = {}) => tell("fetch", {
        request: { url: ORIGIN + path, method, mode, headers: new Headers(key ? { Authorization: `Bearer ${key}` } : {}) } });
    return { ask, tell, all, fetched };
}

const json = (value, status = 200) => new Response(JSON.stringify(value), { status });
const down = () => {
    throw new TypeError("Failed to fetch");
};

test("chats are read from the server, and from what is kept while it is down", async () => {
    let server = (url) => json({ url });
    const w = worker((...a) => server(...a));
    assert.equal((await w.ask(CHAT)).headers.has("X-Quince-Kept"), false);
    server = () => json({ newer: true });
    assert.deepEqual(await (await w.ask(CHAT)).json(), { newer: true }, "the server comes first");
    server = down;
    const kept = await w.ask(CHAT);
    assert.deepEqual(await kept.json(), { newer: true });
    assert.equal(kept.headers.get("X-Quince-Kept"), "1");
    await assert.rejects(w.ask(OTHER), /Failed to fetch/, "one that was never seen");
});

test("what is kept belongs to its key", async () => {
    let server = () => json({ secret: 1 });
    const w = worker((...a) => server(...a));
    await w.ask(CHAT, { key: "one" });
    server = down;
    await assert.rejects(w.ask(CHAT, { key: "two" }), /Failed to fetch/);
    await assert.rejects(w.ask(CHAT), /Failed to fetch/);
    assert.equal((await w.ask(CHAT, { key: "one" })).status, 200);
    assert.ok([...w.all.keys()].every((name) => !name.includes("one")), "no name tells a key");
    server = () => json({}, 401);
    await w.ask(CHAT, { key: "one" });
    server = down;
    await assert.rejects(w.ask(CHAT, { key: "one" }), /Failed to fetch/, "a refused key reads nothing any more");
});

test("a change of the key forgets all chats, also those on their way", async () => {
    let begun;
    const beginning = new Promise((resolve) => { begun = resolve; });
    const w = worker((url) => url.endsWith("a") ? new Response(new ReadableStream({ start: begun })) : json({}));
    await w.ask(OTHER);
    const slow = w.ask(CHAT), body = await beginning;
    await w.tell("message", { data: { type: "forget" } });
    body.enqueue(new TextEncoder().encode("{}"));
    body.close();
    await slow;
    assert.deepEqual([...w.all.entries()].filter(([name, cache]) => name.startsWith("chats-") && cache.map.size), []);
});

test("nothing else of the server is kept", async () => {
    const w = worker(() => json({}));
    for (const path of ["/v1/models", "/internal/chats/events", "/internal/chats/search?q=x", "/internal/chats/export", "/internal/messages/1/stream", "/health", "/ui/other/app.js"])
        assert.equal(await w.ask(path), undefined, path);
    assert.equal(await w.ask(CHAT, { method: "POST" }), undefined);
    assert.equal(await w.ask(CHAT, { method: "PATCH" }), undefined);
    assert.equal(w.fetched.length, 0);
    await w.ask("/internal/chats?folder=x");
    assert.equal(w.fetched.length, 1, "a list of chats is");
});

test("a chat that is deleted for good is not kept, nor are lists that name it", async () => {
    let server = () => json({});
    const w = worker((...a) => server(...a));
    for (const path of [CHAT, OTHER, "/internal/chats", "/internal/chats?limit=5"])
        await w.ask(path);
    await w.ask(CHAT, { method: "DELETE" });
    server = down;
    for (const path of [CHAT, "/internal/chats", "/internal/chats?limit=5"])
        await assert.rejects(w.ask(path), /Failed to fetch/, path);
    assert.equal((await w.ask(OTHER)).status, 200);
    server = () => json({}, 404);
    await w.ask(OTHER);
    server = down;
    await assert.rejects(w.ask(OTHER), /Failed to fetch/, "one that another window deleted");
});

test("the least recently seen answers go, and large ones are not kept", async () => {
    let server = () => json({});
    const w = worker((...a) => server(...a));
    await w.ask(CHAT);
    for (let i = 0; i < 99; i++)
        await w.ask(`/internal/chats?before=${i}`);
    await w.ask(CHAT); /* seen again */
    await w.ask("/internal/chats?before=99");
    server = () => new Response("x".repeat(4000001));
    await w.ask(OTHER);
    server = down;
    assert.equal((await w.ask(CHAT)).status, 200);
    await assert.rejects(w.ask("/internal/chats?before=0"), /Failed to fetch/);
    await assert.rejects(w.ask(OTHER), /Failed to fetch/);
});

const page = (build) => new Response("page", { headers: { ETag: `"${build}"` } });

test("files of its build are kept, and the page is the server's while it answers", async () => {
    let server = (url) => url.endsWith("/app/") || url.endsWith("/app/models") ? page("b1") : new Response("file");
    const w = worker((...a) => server(...a));
    await w.tell("install", {});
    await w.ask("/ui/b1/app.js");
    const n = w.fetched.length;
    await w.ask("/ui/b1/app.js");
    assert.equal(w.fetched.length, n, "a file never changes");
    await w.ask("/app/models", { mode: "navigate" });
    assert.equal(w.fetched.length, n + 1);
    await w.tell("message", { data: { type: "files", urls: [`${ORIGIN}/ui/b1/lib/a.js`, `${ORIGIN}/ui/b2/lib/b.js`, "http://elsewhere/ui/b1/c.js", `${ORIGIN}/v1/models`] } });
    server = down;
    assert.equal(await (await w.ask("/app/chat/x", { mode: "navigate" })).text(), "page");
    assert.equal((await w.ask("/ui/b1/lib/a.js")).status, 200);
    assert.deepEqual([...w.all.get("files-b1").map.keys()].map((url) => new URL(url).pathname),
        ["/app/", "/favicon.svg", "/manifest.webmanifest", "/ui/b1/app.js", "/ui/b1/lib/a.js"]);
    await w.all.set("files-b0", new FakeCache());
    await w.tell("activate", {});
    assert.deepEqual([...w.all.keys()], ["files-b1"], "an older build's files go");
});

test("a page of another build is passed on, not kept", async () => {
    const w = worker(() => page("b2"));
    await w.tell("install", {});
    assert.equal(await (await w.ask("/app/", { mode: "navigate" })).text(), "page");
    assert.equal([...w.all.get("files-b1").map.keys()].some((url) => url.endsWith("/app/")), false);
});
