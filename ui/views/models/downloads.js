/* All downloads, in the order in which they are worked on, and their limits. */
import { html, useState } from "../../lib/html.js";
import { ago } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { hasEnded, inOrder, moved } from "../../lib/models/jobs.js";
import { shownName } from "../../lib/models/list.js";
import { href } from "../../lib/route.js";
import { Button, IconButton } from "../../components/button.js";
import { Empty } from "../../components/empty.js";
import { ErrorBox } from "../../components/error.js";
import { NumberField, Select } from "../../components/field.js";
import { Loading } from "../../components/loading.js";
import { toast, toastError } from "../../components/toast.js";
import { control, jobs, jobsError, readJobs, readLimits, reorder, setLimits } from "../../store/downloads.js";
import { useResource } from "../../store/resource.js";
import { JobLine } from "./job.js";

const KIB_PER_MB = 1e6 / 1024, THREADS_MAX = 3;

function Job({ job, all }) {
    const move = (step) => reorder(moved(all, job.id, step)).catch(toastError);
    const name = shownName(job.model_name), ended = hasEnded(job);
    return html`<li class="model-row">
        <div class="model-what">
            <h3 class="model-title"><a href=${href("models", job.model_name)}>${name}</a></h3>
            <p class="facts-line hint"><span>${job.checkpoint}</span>${ended && html`<span>${ago(job.changed * 1000)}</span>`}</p>
        </div>
        <${JobLine} job=${job}>
            ${!ended && html`
                <${IconButton} icon="up" label=${t("models.job.do.up", { name })}
                    disabled=${!moved(all, job.id, -1).length} onClick=${() => move(-1)} />
                <${IconButton} icon="down" label=${t("models.job.do.down", { name })}
                    disabled=${!moved(all, job.id, 1).length} onClick=${() => move(1)} />`}
        <//>
    </li>`;
}

/* How fast downloads may be together, and how many at once; settings of the server. */
function Limits() {
    const { data, error, reload } = useResource(readLimits);
    const [limit, setLimit] = useState(undefined), [threads, setThreads] = useState(undefined);
    const [wrong, setWrong] = useState(null);
    if (error)
        return error.status === 403 ? html`<p class="hint">${t("models.limits.not_yours")}</p>` : html`<${ErrorBox}
            error=${error} retry=${reload} />`;
    if (!data)
        return html`<${Loading} />`;
    const shown = limit === undefined ? (data.limit ? Math.round((data.limit / KIB_PER_MB) * 100) / 100 : null) : limit;
    const save = async (event) => {
        event.preventDefault();
        try {
            await setLimits({ limit: shown ? Math.round(shown * KIB_PER_MB) : 0, threads: Number(threads ?? data.threads) });
            setWrong(null);
            toast(t("models.limits.saved"));
            reload();
        } catch (e) {
            setWrong(e);
        }
    };
    return html`<form class="limits" onSubmit=${save}>
        <${NumberField} label=${t("models.limits.bandwidth")} hint=${t("models.limits.bandwidth.hint")} min="0"
            step="any" value=${shown} onInput=${setLimit}
            error=${wrong?.details?.param?.includes("bandwidth") ? wrong.message : null} />
        <${Select} label=${t("models.limits.threads")} value=${String(threads ?? data.threads)} onChange=${setThreads}
            options=${Array.from({ length: THREADS_MAX }, (_, i) => [String(i + 1), String(i + 1)])} />
        ${wrong && !wrong.details?.param?.includes("bandwidth") && html`<${ErrorBox} error=${wrong} />`}
        <${Button} type="submit">${t("action.save")}<//>
    </form>`;
}

export function Downloads() {
    if (jobsError.value && !jobs.value)
        return html`<${ErrorBox} error=${jobsError.value} retry=${readJobs} />`;
    if (!jobs.value)
        return html`<${Loading} />`;
    const all = inOrder(jobs.value), open = all.filter((j) => !hasEnded(j)), ended = all.filter(hasEnded);
    const clear = async () => {
        for (const job of ended)
            await control(job.id, "remove").catch(toastError);
    };
    return html`
        <section>
            <h2>${t("models.downloads.open")}</h2>
            ${open.length ? html`<ol class="model-list">${open.map((job) => html`<${Job} key=${job.id} job=${job}
                all=${all} />`)}</ol>` :
        html`<${Empty} icon="download" title=${t("models.downloads.none")}><p>${t("models.downloads.none.why")}</p>
                <${Button} kind="primary" href=${href("models", { show: "get" })}>${t("models.part.get")}<//><//>`}
        </section>
        ${ended.length > 0 && html`<section>
            <div class="row between"><h2>${t("models.downloads.ended")}</h2><${Button} small
                onClick=${clear}>${t("models.downloads.clear")}<//></div>
            <ol class="model-list">${ended.map((job) => html`<${Job} key=${job.id} job=${job} all=${all} />`)}</ol>
        </section>`}
        <section><h2>${t("models.limits.title")}</h2><${Limits} /></section>`;
}
