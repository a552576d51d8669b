/* A download: how far it is, what can be done with it. */
import { html } from "../../lib/html.js";
import { bytes, duration, percent } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { actionsOf, hasEnded, isRunning, progressOf } from "../../lib/models/jobs.js";
import { shownName } from "../../lib/models/list.js";
import { IconButton } from "../../components/button.js";
import { Progress } from "../../components/progress.js";
import { controlJob, download } from "./actions.js";

const ICONS = { pause: "pause", resume: "play", cancel: "close", remove: "trash", again: "retry" };

/* What it is doing, in words: "Downloading", "Waiting: 2 are before it", "Looking at the files". */
export function phaseText(job) {
    if (job.status === "downloading" && job.retry_in_s > 0)
        return t("models.job.retry", { time: duration(job.retry_in_s * 1000) });
    if (job.status === "downloading" && !job.running)
        return job.jobs_ahead > 0 ? t("models.job.waiting", { n: job.jobs_ahead }) : t("models.job.phase.waiting");
    if (job.status === "downloading" && ["resolving", "finishing", "verifying", "unpacking"].includes(job.phase))
        return t(`models.job.phase.${job.phase}`);
    return t(`models.job.status.${job.status}`);
}

/* "12 of 40 MB · 3 MB/s · 12 s left" */
function Figures({ job }) {
    const p = progressOf(job);
    const figures = [
        p.total === null ? p.here > 0 && bytes(p.here) : hasEnded(job) && job.complete ? bytes(p.total) :
            t("models.job.amount", { here: bytes(p.here), total: bytes(p.total) }),
        p.share !== null && !hasEnded(job) && percent(p.share),
        p.speed && t("models.job.speed", { speed: bytes(p.speed) }),
        p.left !== null && t("models.job.left", { time: duration(p.left * 1000) }),
    ];
    return figures.filter(Boolean).map((figure) => html`<span>${figure}</span>`);
}

function Actions({ job }) {
    const name = shownName(job.model_name);
    const run = (action) => action === "again" ? download({ model_name: job.model_name }) : controlJob(job.id, action);
    return actionsOf(job).map((action) => html`<${IconButton} key=${action} icon=${ICONS[action]}
        label=${t(`models.job.do.${action}`, { name })} onClick=${() => run(action)} />`);
}

/* The bar, the figures and the buttons, below a model. */
export function JobLine({ job, children }) {
    const p = progressOf(job);
    return html`<div class="job">
        ${!hasEnded(job) && html`<${Progress} share=${isRunning(job) && !job.running ? p.share ?? 0 : p.share}
            label=${t("models.job.progress", { name: shownName(job.model_name) })} />`}
        <div class="row between">
            <p class="facts-line hint"><span
                class=${job.status === "error" ? "job-error" : ""}>${phaseText(job)}</span><${Figures} job=${job} /></p>
            <div class="row job-actions">${children}<${Actions} job=${job} /></div>
        </div>
        ${job.error && html`<p class="field-error">${job.error}</p>`}
    </div>`;
}
