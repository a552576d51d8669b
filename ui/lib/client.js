/* Requests to the server, with the key if there is one. Nothing else in the page calls fetch. */
import { signal } from "./html.js";
import { KEPT, forgetChats } from "./offline.js";

const KEY = "quince.key";

/* The server's answer to a request that failed, or the reason why there was none (status 0). */
export class ApiError extends Error {
    constructor(status, message, { code = "", details = null, retryAfter = 0 } = {}) {
        super(message);
        this.status = status;
        this.code = code;
        this.details = details;
        this.retryAfter = retryAfter;
    }
}

/* Whether the last request reached the server. */
export const reachable = signal(true);
/* Whether the server has refused the last request for want of a valid key. */
export const locked = signal(false);

let key = localStorage.getItem(KEY) || sessionStorage.getItem(KEY) || "";

/* keep: also after the browser is closed. An empty key is forgotten. */
export function setKey(text, keep) {
    if (text.trim() !== key)
        forgetChats();
    key = text.trim();
    for (const storage of [localStorage, sessionStorage])
        storage.removeItem(KEY);
    if (key)
        (keep ? localStorage : sessionStorage).setItem(KEY, key);
    locked.value = false;
}

export const hasKey = () => key !== "";

/* The error of a reply: all APIs of the server write one of these forms. */
async function errorOf(reply) {
    let message = "", code = "", details = null;
    try {
        const body = await reply.json();
        const e = body.error ?? body;
        message = typeof e === "string" ? e : e.message ?? "";
        code = String(e.code ?? e.type ?? "");
        details = typeof e === "object" ? e : null;
    } catch {
        /* not JSON: the status has to do */
    }
    return new ApiError(reply.status, message || `HTTP ${reply.status}`, {
        code, details, retryAfter: Number(reply.headers.get("Retry-After")) || 0,
    });
}

/* Sends a request and returns its Response, with a status below 400; else throws an ApiError.
 * body: an object is sent as JSON; a Blob, FormData or string as it is. */
export async function send(method, path, body, { signal: abort, headers = {} } = {}) {
    const isJson = body !== undefined && body !== null && !(body instanceof Blob) &&
        !(body instanceof FormData) && typeof body !== "string";
    const all = { Accept: "application/json", ...headers };
    if (isJson)
        all["Content-Type"] = "application/json";
    if (key)
        all.Authorization = `Bearer ${key}`;
    let reply;
    try {
        reply = await fetch(path, {
            method, headers: all, signal: abort, body: isJson ? JSON.stringify(body) : body,
            credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
        });
    } catch (error) {
        if (error.name === "AbortError")
            throw error;
        reachable.value = false;
        throw new ApiError(0, error.message, { code: "unreachable" });
    }
    reachable.value = !reply.headers.has(KEPT);
    if (reply.status === 401)
        locked.value = true;
    if (!reply.ok)
        throw await errorOf(reply);
    return reply;
}

/* The JSON of a reply; null if it has no body. */
export async function api(method, path, body, options) {
    const reply = await send(method, path, body, options);
    const text = await reply.text();
    return text ? JSON.parse(text) : null;
}

export const get = (path, options) => api("GET", path, undefined, options);
export const post = (path, body = {}, options) => api("POST", path, body, options);
export const patch = (path, body, options) => api("PATCH", path, body, options);
export const del = (path, body, options) => api("DELETE", path, body, options);
