/* Presets: settings of a chat with a name. Pure. */

/* The same text for the same value, in whichever order members stand. */
const canonical = (value) => JSON.stringify(value, (_, v) => v && typeof v === "object" && !Array.isArray(v) ?
    Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v);

export const sameSettings = (a, b) => (a.system ?? "") === (b.system ?? "") &&
    canonical(a.params ?? {}) === canonical(b.params ?? {});

/* Whether there is nothing that a preset could keep. */
export const isBare = ({ system, params }) => !system && !Object.keys(params ?? {}).length;

/* The preset that a chat's settings are those of; null: none. */
export const presetOf = (presets, settings) => presets.find((one) => sameSettings(one, settings)) ?? null;
