/* Downloads as the page shows them. Pure. */

const ENDED = ["completed", "cancelled", "error"];
export const hasEnded = (job) => ENDED.includes(job.status) && !(job.status === "error" && job.retry_in_s > 0);
export const isRunning = (job) => job.status === "downloading";

/* {share: 0 to 1 or null, here, total, speed, left}; total, speed and left are null where the server
 * does not know them. left: seconds. */
export function progressOf(job) {
    const total = job.total_download_size > 0 ? job.total_download_size : null;
    const here = job.cumulative_bytes_downloaded ?? 0;
    if (job.complete)
        return { share: 1, here: total ?? here, total, speed: null, left: null };
    return {
        share: total === null ? null : Math.min(1, here / total),
        here, total,
        speed: isRunning(job) && job.bytes_per_second > 0 ? job.bytes_per_second : null,
        left: isRunning(job) && job.seconds_left !== null && job.seconds_left !== undefined ? job.seconds_left : null,
    };
}

/* What may be done with a job: the names of actions. */
export function actionsOf(job) {
    if (job.status === "downloading")
        return ["pause", "cancel"];
    if (job.status === "paused")
        return ["resume", "cancel"];
    return job.status === "completed" ? ["remove"] : ["again", "remove"];
}

/* Jobs in the order in which the server works on them, by priority and age; then the ended ones, the
 * newest first. */
export const inOrder = (jobs) => [...jobs].sort((a, b) => Number(hasEnded(a)) - Number(hasEnded(b)) ||
    (hasEnded(a) ? b.changed - a.changed : b.priority - a.priority || a.created - b.created));

const PRIORITY_LEAST = -100;

/* The priorities that move a job one place up (step -1) or down (1) among those that have not ended:
 * [{id, priority}] of the jobs whose priority changes; empty: it cannot move. They go down from 0, since
 * higher ones are for administrators. */
export function moved(jobs, id, step) {
    const order = inOrder(jobs).filter((job) => !hasEnded(job));
    const at = order.findIndex((job) => job.id === id), to = at + step;
    if (at < 0 || to < 0 || to >= order.length)
        return [];
    order.splice(to, 0, ...order.splice(at, 1));
    return order.map((job, i) => ({ id: job.id, was: job.priority, priority: Math.max(PRIORITY_LEAST, -i) }))
        .filter((job) => job.was !== job.priority).map(({ id: job, priority }) => ({ id: job, priority }));
}

/* The job of a model, if it is being downloaded or its download has stopped. */
export const jobOf = (jobs, model) => jobs.find((job) => job.model_name === model && !job.complete &&
    job.status !== "cancelled") ?? null;
