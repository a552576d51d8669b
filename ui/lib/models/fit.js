/* Whether a model fits this machine, and why. Sizes in bytes; null: not known. Pure. */

/* Beside the weights: the process, and the cache of a small context. The server judges variants of a
 * hub by the same figure. */
export const ROOM_BESIDE = 512 * 2 ** 20;
/* The process and the cache of the smallest context. */
const SMALL_CONTEXT = 96 * 2 ** 20;

/* What the page needs to know of a machine, from GET system-info and system-stats.
 * limit: memory that models may use; free: memory that is free now, with what models that can be
 * unloaded use; disk: free bytes where models are stored. */
export function machineOf(info, stats) {
    const memory = info?.model_memory ?? {};
    const total = stats?.memory_total_gb > 0 ? stats.memory_total_gb * 1e9 : null;
    const used = stats?.memory_gb >= 0 ? stats.memory_gb * 1e9 : null;
    const free = memory.free_bytes ?? (total !== null && used !== null ? total - used : null);
    const gpus = Object.entries(info?.devices ?? {})
        .filter(([kind]) => kind.endsWith("gpu")).flatMap(([, list]) => list);
    const limit = memory.limit_bytes > 0 ? memory.limit_bytes : total;
    return {
        total, limit,
        free: free === null ? null : Math.min(free + (memory.used_bytes ?? 0), limit ?? Infinity),
        disk: info?.model_storage?.free_bytes ?? null,
        storage: info?.model_storage ?? null,
        cores: info?.devices?.cpu?.cores ?? null,
        processor: info?.Processor ?? null,
        gpus: gpus.map((gpu) => ({ name: gpu.name, memory: gpu.vram_gb > 0 ? gpu.vram_gb * 2 ** 30 : null })),
    };
}

/* The memory that a model of this size takes with a small context. */
export const memoryFor = (size) => size + size / 10 + SMALL_CONTEXT;

/* {level, text, values}: level is "good", "later" (when other programs or models leave memory),
 * "no", "disk" or "unknown"; text names the sentence that gives the reason.
 * here: its files are on this disk; remote: another machine computes it. */
export function fitOf({ size, here = false, remote = false }, machine) {
    if (remote)
        return { level: "good", text: "models.fit.remote", values: {} };
    if (!(size > 0) || !machine || machine.limit === null)
        return { level: "unknown", text: "models.fit.unknown", values: {} };
    const need = memoryFor(size);
    const values = { need, limit: machine.limit, free: machine.free, disk: machine.disk, size };
    if (size + ROOM_BESIDE > machine.limit)
        return { level: "no", text: "models.fit.no", values };
    if (!here && machine.disk !== null && size > machine.disk)
        return { level: "disk", text: "models.fit.disk", values };
    if (machine.free !== null && need > machine.free)
        return { level: "later", text: "models.fit.later", values };
    return { level: "good", text: "models.fit.good", values };
}
