/* The models of the server, which of them are in memory, and the machine; with what changes them. */
import { computed, signal, useEffect } from "../lib/html.js";
import { del, get, post } from "../lib/client.js";
import { machineOf } from "../lib/models/fit.js";
import { resource, usePolling } from "./resource.js";
import { epoch } from "./session.js";

/* The list: what is here and what the built-in list offers, as GET models writes it. */
const list = resource(async () => (await get("/v1/models?show_all=true")).data);
export const models = list.state;
export const readModels = list.load;

const system = resource(async () => {
    const [info, stats] = await Promise.all([get("/v1/system-info"), get("/v1/system-stats")]);
    return { info, machine: machineOf(info, stats) };
});
/* {info: GET system-info, machine: see lib/models/fit.js}, in `data` of the signal. */
export const machine = system.state;
export const readMachine = system.load;

/* What is in memory or on the way there, as all_models_loaded of GET health: by name. */
export const inMemory = signal(new Map());
/* Why a model could not be loaded: ApiError by name, until it is loaded or the reader closes it. */
export const failures = signal(new Map());
/* Names of models that this page is just loading or unloading. */
export const busy = signal(new Set());

/* What is here, aliases included. */
export const installed = computed(() => models.value.data?.filter((m) => m.downloaded || m.recipe === "remote") ?? []);

export const modelOf = (name) => models.value.data?.find((m) => m.id === name) ?? null;

/* The entry of inMemory for a model; an alias has its model's. */
export const memoryOf = (model) => inMemory.value.get(model.alias_of ?? model.id) ?? null;

/* ---- reading ---- */

async function readMemory() {
    try {
        const health = await get("/api/v1/health");
        inMemory.value = new Map((health.all_models_loaded ?? []).map((m) => [m.model_name, m]));
    } catch {
        /* client.js has noted that the server does not answer */
    }
}

/* Keeps the signals above fresh for as long as the component is shown. */
export function useModels() {
    usePolling(readMemory, []);
    const round = epoch.value;
    useEffect(() => {
        const read = () => document.visibilityState === "visible" && readModels();
        read();
        readMachine();
        document.addEventListener("visibilitychange", read);
        return () => document.removeEventListener("visibilitychange", read);
    }, [round]);
}

/* ---- changing: each rejects with an ApiError ---- */

const changed = (set, name, there) => {
    const copy = new Set(set.value);
    copy[there ? "add" : "delete"](name);
    set.value = copy;
};

export function forget(name) {
    const copy = new Map(failures.value);
    copy.delete(name);
    failures.value = copy;
}

/* Loads a model; options: members of POST load. The reply's `warnings` say which options had no
 * effect. A failure is also kept in `failures`. */
export async function loadModel(name, options = {}) {
    forget(name);
    changed(busy, name, true);
    try {
        return await post("/v1/load", { model_name: name, ...options });
    } catch (error) {
        failures.value = new Map(failures.value).set(name, error);
        throw error;
    } finally {
        changed(busy, name, false);
        await readMemory();
        readModels();
    }
}

export async function unloadModel(name) {
    changed(busy, name, true);
    try {
        return await post("/v1/unload", { model_name: name });
    } finally {
        changed(busy, name, false);
        await readMemory();
    }
}

const then = async (promise, ...readers) => {
    const reply = await promise;
    await Promise.all(readers.map((read) => read()));
    return reply;
};

export const setPinned = (name, pinned) => then(post("/internal/pin", { model_name: name, pinned }), readModels, readMemory);
/* What deleting would free: the same reply as deleteModel's, and nothing is deleted. */
export const tryDelete = (name) => post("/v1/delete", { model_name: name, dry_run: true });
/* Replies with freed_bytes, files_removed, files_kept and note. */
export const deleteModel = (name) => post("/v1/delete", { model_name: name });

/* Reads everything again, after a model has gone. */
export const readAll = () => Promise.all([readModels(), readMachine(), readMemory()]);
export const addAlias = (alias, name) => then(post("/internal/aliases", { alias, model_name: name }), readModels);
export const removeAlias = (alias) => then(del(`/internal/aliases/${encodeURIComponent(alias)}`), readModels);
export const registerModel = (definition) => then(post("/v1/models/register", definition), readModels);
/* Looks for models of other programs; replies with `found`. */
export const rescan = () => then(post("/v1/models/rescan"), readModels);
/* Asks the hubs for newer files of all models. */
export const checkUpdates = () => then(post("/v1/models/check-updates"), readModels);

const optionsPath = (name) => `/v1/models/${encodeURIComponent(name)}/options`;
export const readOptions = (name) => get(optionsPath(name));
/* What the options would be after these changes: the same reply, nothing is saved. */
export const tryOptions = (name, changes) => post(optionsPath(name), { ...changes, dry_run: true });
export const saveOptions = (name, changes) => then(post(optionsPath(name), changes), readModels);
export const readFiles = (name) => get(`/v1/models/${encodeURIComponent(name)}/files?include_paths=true`);
/* Licence, template and metadata of a model that is here, as Ollama's API has them. */
export const readDetails = (name) => post("/api/show", { model: name });
