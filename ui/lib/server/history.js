/* What a server does, as samples over time. Pure. */

export const SPAN_MS = 5 * 60 * 1000;

const GB = 1e9;
const known = (value, by = 1) => typeof value === "number" && value >= 0 ? value * by : null;

/* A sample from GET system-stats, GET stats and GET health. pieces: pieces of output so far; their
 * number in a time is the speed, since nearly every piece is a token. */
export function sampleOf(system, stats, health, at) {
    const models = health?.all_models_loaded ?? [];
    const sum = (member) => models.reduce((n, m) => n + (m[member] ?? 0), 0);
    return {
        at,
        cpu: known(system?.cpu_percent),
        memory: known(system?.memory_gb, GB),
        memoryTotal: known(system?.memory_total_gb, GB),
        gpu: known(system?.gpu_percent),
        vram: known(system?.vram_gb, GB),
        cpuPower: known(system?.cpu_power_w),
        gpuPower: known(system?.gpu_power_w),
        running: sum("requests_running"),
        waiting: sum("requests_waiting"),
        pieces: known(stats?.stream_chunks_total),
    };
}

/* The samples with one more, without those that are older than the span. The new one gets `speed`,
 * pieces per second since the one before. */
export function withSample(samples, sample) {
    const before = samples.at(-1);
    const seconds = before ? (sample.at - before.at) / 1000 : 0;
    const grown = before && sample.pieces !== null && before.pieces !== null ? sample.pieces - before.pieces : null;
    /* fewer than before: another server */
    const speed = grown !== null && grown >= 0 && seconds > 0 ? grown / seconds : null;
    return [...samples.filter((s) => s.at > sample.at - SPAN_MS), { ...sample, speed }];
}

export const pointsOf = (samples, member) => samples.map((s) => ({ at: s.at, value: s[member] }));

/* Whether any sample knows this value. */
export const knows = (samples, member) => samples.some((s) => s[member] !== null && s[member] !== undefined);
