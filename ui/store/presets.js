/* The reader's presets: system prompts and parameters with a name, kept by the server. */
import { del, get, post } from "../lib/client.js";
import { heard } from "./chat_events.js";
import { resource } from "./resource.js";

const list = resource(async () => (await get("/internal/presets")).presets);

/* {data: [{id, name, system, params}], error}, read at the first call of loadPresets. */
export const presets = list.state;
export const loadPresets = list.load;

/* One of the same name is replaced. */
export async function savePreset({ name, system, params }) {
    const saved = await post("/internal/presets", { name, system, params });
    await loadPresets();
    return saved;
}

/* Returns what brings it back. */
export async function deletePreset({ id, name, system, params }) {
    await del(`/internal/presets/${id}`);
    await loadPresets();
    return () => savePreset({ name, system, params });
}

/* Another tab has changed them. */
heard((event) => {
    if ((event.type === "presets" || event.type === "resync") && presets.peek().data)
        loadPresets();
});
