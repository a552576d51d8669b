/* The models of the media view: all of the server's list, which one was chosen last for a capability,
 * and how far a model is on its way into memory. */
import { signal, useEffect, useSignal } from "../lib/html.js";
import { get } from "../lib/client.js";
import { resource, usePolling } from "./resource.js";
import { epoch } from "./session.js";

const CHOICE = "quince.media.model.";

const list = resource(async () => (await get("/v1/models?show_all=true")).data);
export const mediaModels = list.state;
export const readMediaModels = list.load;

/* Reads the list when the component appears, and after the server came back. */
export function useMediaModels() {
    const round = epoch.value;
    useEffect(() => {
        readMediaModels();
    }, [round]);
}

/* Grows with each choice, since localStorage tells no one in its own tab. */
const choices = signal(0);

export function choose(can, name) {
    localStorage.setItem(CHOICE + can, name);
    choices.value++;
}

/* The model of those offered that was chosen last, else the first. */
export function chosen(can, offered) {
    choices.value;
    const last = localStorage.getItem(CHOICE + can);
    return offered.find((m) => m.id === last) ?? offered[0] ?? null;
}

/* The entry of GET health for a model: {status, progress, requests_waiting, ...}; null
 * while it is not known. */
export function useModelStatus(name) {
    const status = useSignal(null);
    usePolling(async () => {
        const health = await get("/api/v1/health").catch(() => null);
        status.value = health?.all_models_loaded?.find((m) => m.model_name === name) ?? null;
    }, [name]);
    return status.value;
}
