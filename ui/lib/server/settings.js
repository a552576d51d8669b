/* The settings of the server as the page groups, shows and reads them. Names, values and rules are
 * the server's (router/settings/settings_table.c); a setting that stands in no group is shown at the
 * end. Pure. */

export const GROUPS = {
    network: ["host", "port", "listen", "profile", "ollama-port", "websocket-port", "insecure", "allow-hosts", "allow-origins",
        "metrics-auth", "rate-limit", "rate-burst"],
    memory: ["max-loaded-models", "memory-limit", "gpu-memory-limit", "idle", "auto-evict", "auto-evict-threshold-pct", "groups", "preload"],
    compute: ["threads", "context", "slots", "cache-type", "no-speculation", "context-shift", "prefix-cache", "weight-cache"],
    queue: ["max-concurrent", "max-queue", "queue-limit", "batch-wait", "request-timeout", "drain"],
    models: ["models-dir", "extra-models-dir", "no-discovery", "no-presets", "builtin-dir"],
    downloads: ["offline", "bandwidth-limit", "download-threads", "default-model-source", "hf-endpoint", "modelscope-endpoint",
        "ollama-registry", "allow-private-hubs", "disk-reserve", "upload-limit", "body-limit"],
    engines: ["llamacpp-backend", "llamacpp-args", "whispercpp-backend", "sd-cpp-backend", "prefer-system", "packs",
        "no-fetch-executables", "backend-dir"],
    log: ["log-level", "data-dir"],
};

/* Settings with a few possible values. */
export const CHOICES = {
    "profile": ["lemonade", "ollama", "auto", "layerscale", "dppan", "kolosal", "localllm"],
    "log-level": ["critical", "error", "warn", "info", "debug", "trace"],
    "cache-type": ["f16", "q8_0", "q4_0", "f32"],
    "default-model-source": ["huggingface", "modelscope"],
};

/* Their values are lists or objects: a text in JSON, unless a plain text says the same. */
const MANY = { "preload": ",", "extra-models-dir": ":" };

/* What a setting is edited with: "truth", "number", "choice" or "text". */
export function editorOf(name, preset) {
    if (name in CHOICES)
        return "choice";
    if (typeof preset === "boolean")
        return "truth";
    /* A limit by kind, and a port that may be a word, can be texts although their default is a number. */
    return typeof preset === "number" && name !== "max-loaded-models" ? "number" : "text";
}

/* A value as it stands in the editor. */
export function shown(name, value) {
    if (Array.isArray(value) && name in MANY)
        return value.join(MANY[name]);
    if (value !== null && typeof value === "object")
        return Object.keys(value).length ? JSON.stringify(value) : "";
    return value;
}

/* What the server gets for what stands in the editor: JSON where it looks like JSON, null (the value of
 * the next layer) for an emptied number. */
export function given(value) {
    if (typeof value !== "string" || !/^\s*[[{]/.test(value))
        return value;
    try {
        return JSON.parse(value);
    } catch {
        return value; /* the server says what is wrong with it */
    }
}

export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/* [[group, settings]] of the settings that match what is searched; settings as GET config?details=true
 * has them, with `preset`. describe(name): the explanation. */
export function grouped(settings, { text = "", changed = false, describe = () => "" }) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (s) => (!changed || s.from !== "default") &&
        words.every((word) => `${s.name} ${describe(s.name)}`.toLowerCase().includes(word));
    const byName = new Map(settings.filter(fits).map((s) => [s.name, s]));
    const out = Object.entries(GROUPS).map(([group, names]) => {
        const list = names.map((name) => byName.get(name)).filter(Boolean);
        names.forEach((name) => byName.delete(name));
        return [group, list];
    });
    return [...out, ["other", [...byName.values()]]].filter(([, list]) => list.length);
}
