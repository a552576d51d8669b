/* The server: who it takes this page for, its load over time, requests that have ended, settings and
 * keys; with what changes them. */
import { computed, signal, useEffect } from "../lib/html.js";
import { del, get, post, send } from "../lib/client.js";
import { sampleOf, withSample } from "../lib/server/history.js";
import { merged } from "../lib/server/requests.js";
import { resource, usePolling } from "./resource.js";
import { epoch } from "./session.js";

/* ---- who we are ---- */

/* GET status is open, so that it does not say that a key is missing; another request does. */
const status = resource(async () => {
    const reply = await get("/status");
    if (!reply.client)
        await get("/v1/stats?times=false");
    return reply;
});
/* GET status: `server` (process, port, addresses) and `client` (admin, key: name or null). */
export const serverStatus = status.state;
export const readStatus = status.load;

/* Whether this page has admin rights; null: not known yet. */
export const isAdmin = computed(() => status.state.value.data?.client?.admin ?? null);

/* Reads the status when the component appears, and again with another key. */
export function useStatus() {
    const round = epoch.value;
    useEffect(() => {
        readStatus();
    }, [round]);
}

/* ---- load ---- */

/* {health, stats, error}: the last replies of GET health and GET stats. */
export const load = signal({ health: null, stats: null, error: null });
/* Samples of the last minutes, see lib/server/history.js. They stay while other views are shown. */
export const samples = signal([]);

export async function readLoad() {
    try {
        const [health, stats, system] = await Promise.all([
            get("/api/v1/health"), get("/v1/stats?times=false"), get("/v1/system-stats"),
        ]);
        samples.value = withSample(samples.value, sampleOf(system, stats, health, Date.now()));
        load.value = { health, stats, error: null };
    } catch (error) {
        load.value = { ...load.value, error };
    }
}

export const useLoad = () => usePolling(readLoad, []);

/* ---- requests ---- */

/* {data: see lib/server/requests.js, error} */
export const requests = signal({ data: null, error: null });

export async function readRequests() {
    const { data } = requests.value;
    try {
        let reply = await get(`/internal/requests?limit=1000&after=${data?.last ?? 0}`);
        if (data && (reply.log_id !== data.log || reply.last_seq < data.last)) /* the server was started again */
            reply = await get("/internal/requests?limit=1000");
        requests.value = { data: merged(data, reply), error: null };
    } catch (error) {
        requests.value = { data, error };
    }
}

export const useRequests = (on) => usePolling(readRequests, [], on);

export const readRequest = (id) => get(`/internal/requests/${encodeURIComponent(id)}`);

/* Sends a body to an endpoint again; the pieces of the reply as they arrive, as text. */
export async function* sendAgain(path, body, abort) {
    const reply = await send("POST", path, body, { signal: abort });
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done)
                return;
            yield value;
        }
    } finally {
        reader.cancel().catch(() => {});
    }
}

/* how: {on, minutes, bytes} */
export async function setCapture(how) {
    const capture = await post("/internal/requests/capture", how);
    const { data } = requests.value;
    if (data)
        requests.value = { data: { ...data, capture }, error: null };
    return capture;
}

/* ---- settings ---- */

/* Settings as GET config?details=true has them, each with `preset`, its default. */
export async function readSettings() {
    const [{ settings }, presets] = await Promise.all([get("/internal/config?details=true"), get("/internal/config/defaults")]);
    return settings.map((s) => ({ ...s, preset: presets[s.name.replaceAll("-", "_")] }));
}

/* changes: {name: value, null: reset}. Replies with updated, restart_required, overridden. */
export const saveSettings = (changes) => post("/internal/set", changes);

/* ---- keys ---- */

export const readKeys = async () => (await get("/internal/keys")).keys;
/* Replies with `key`, the secret, which nobody can read again. */
/* takeOver: what this page's reader has stored so far becomes the key's. */
export const addKey = (name, admin, takeOver) => post("/internal/keys", { name, admin, take_over: takeOver });
export const removeKey = (name) => del(`/internal/keys/${encodeURIComponent(name)}`);
