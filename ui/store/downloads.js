/* Downloads: the server does them, so that they go on without the page; the page asks how far they are.
 * A page that starts or controls one tells the other tabs, so that they ask at once. */
import { signal, useEffect } from "../lib/html.js";
import { get, post } from "../lib/client.js";
import { hasEnded } from "../lib/models/jobs.js";
import { measuredSpeed } from "../lib/models/choose.js";
import { readMachine, readModels } from "./models.js";
import { epoch } from "./session.js";

/* The server has a stream for each download, but none for all of them, which says when one begins; and a
 * browser has six connections to it. */
const ACTIVE_MS = 2000, IDLE_MS = 15000, CHANNEL = "quince.downloads";

/* The jobs of GET downloads?all=true; null until they have been read. */
export const jobs = signal(null);
/* Why they could not be read. */
export const jobsError = signal(null);
/* Bytes per second of earlier downloads; null: there were none. */
export const speed = signal(null);

const channel = typeof BroadcastChannel === "function" ? new BroadcastChannel(CHANNEL) : null;
/* Called with each job that has just been completed. */
const listeners = new Set();
let timer = 0, watchers = 0;

function take(list) {
    const before = new Map((jobs.value ?? []).map((job) => [job.id, job]));
    jobs.value = list;
    speed.value = measuredSpeed(list);
    const done = list.filter((job) => job.complete && before.has(job.id) && !before.get(job.id).complete);
    if (done.length) {
        readModels();
        readMachine();
    }
    for (const job of done)
        listeners.forEach((heard) => heard(job));
}

export async function readJobs() {
    clearTimeout(timer);
    try {
        take(await get("/v1/downloads?all=true"));
        jobsError.value = null;
    } catch (error) {
        jobsError.value = error;
    }
    if (watchers)
        timer = setTimeout(next, jobs.value?.some((job) => !hasEnded(job)) ? ACTIVE_MS : IDLE_MS);
}

function next() {
    if (document.visibilityState === "visible")
        readJobs();
    else
        timer = setTimeout(next, ACTIVE_MS);
}

const told = () => watchers && readJobs();
const shown = () => document.visibilityState === "visible" && told();

async function changedJobs() {
    channel?.postMessage("changed");
    await readJobs();
}

/* Keeps `jobs` fresh for as long as the component is shown; completed(job) is called for each download
 * that ends well meanwhile. */
export function useDownloads(completed) {
    useEffect(() => {
        if (++watchers === 1) {
            channel?.addEventListener("message", told);
            document.addEventListener("visibilitychange", shown);
        }
        return () => {
            if (--watchers)
                return;
            clearTimeout(timer);
            channel?.removeEventListener("message", told);
            document.removeEventListener("visibilitychange", shown);
        };
    }, []);
    useEffect(() => {
        if (completed)
            listeners.add(completed);
        return () => listeners.delete(completed);
    }, [completed]);
    const round = epoch.value;
    useEffect(() => {
        readJobs();
    }, [round]);
}

/* Starts a download, or the update of a model that is here. order: members of POST pull. */
export async function pull(order) {
    const job = await post("/v1/pull", { ...order, subscribe: false });
    await changedJobs();
    return job;
}

/* action: pause, resume, cancel, remove, or priority with {priority}. */
export async function control(id, action, more = {}) {
    await post("/v1/downloads/control", { id, action, ...more });
    await changedJobs();
    if (action === "cancel" || action === "remove")
        readModels();
}

/* Several changes of priority, one after the other; then the list is read once. */
export async function reorder(changes) {
    for (const { id, priority } of changes)
        await post("/v1/downloads/control", { id, action: "priority", priority });
    await changedJobs();
}

/* {limit: KiB per second, 0: none; threads}: the settings of downloads, for administrators. */
export async function readLimits() {
    const config = await get("/internal/config");
    return { limit: config.bandwidth_limit, threads: config.download_threads };
}

export const setLimits = ({ limit, threads }) =>
    post("/internal/set", { bandwidth_limit: limit, download_threads: threads });
