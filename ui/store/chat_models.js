/* The models that can talk, and the one that a new chat uses. */
import { computed, effect, signal } from "../lib/html.js";
import { get } from "../lib/client.js";
import { resource } from "./resource.js";
import { epoch } from "./session.js";

const LAST_MODEL = "quince.model";

const { state, load } = resource(async () => (await get("/v1/models")).data);

export const modelsState = state;
export const loadModels = load;

const talks = (m) => (m.downloaded || m.recipe === "remote") && !m.unsupported &&
    (m.capabilities ?? []).some((c) => c === "chat" || c === "complete");

/* Loaded ones first, then those used last. */
export const chatModels = computed(() => (state.value.data ?? []).filter(talks)
    .sort((a, b) => Number(b.loaded) - Number(a.loaded) || (b.last_use ?? 0) - (a.last_use ?? 0) || a.id.localeCompare(b.id)));

export const modelOf = (name) => (state.value.data ?? []).find((m) => m.id === name) ?? null;

const last = signal(localStorage.getItem(LAST_MODEL) ?? "");

/* The model of a chat that has none of its own: the one chosen last in this browser, if it is still
 * there, else the first of the list. "" while the list is not known. */
export const usualModel = computed(() =>
    (chatModels.value.find((m) => m.id === last.value) ?? chatModels.value[0])?.id ?? "");

export function chooseUsual(name) {
    last.value = name;
    localStorage.setItem(LAST_MODEL, name);
}

effect(() => {
    epoch.value;
    load();
});
