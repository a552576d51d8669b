/* The variants of a repository: sizes, which of them fit, and the one to take on this machine. */
import { html, useState } from "../../lib/html.js";
import { get } from "../../lib/client.js";
import { bytes, number } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { ASSUMED_SPEED, recommended, roughly } from "../../lib/models/choose.js";
import { fitOf } from "../../lib/models/fit.js";
import { jobOf } from "../../lib/models/jobs.js";
import { Button } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";
import { Loading } from "../../components/loading.js";
import { jobs, speed } from "../../store/downloads.js";
import { machine } from "../../store/models.js";
import { useResource } from "../../store/resource.js";
import { download } from "./actions.js";
import { LOOK } from "./badges.js";
import { JobLine } from "./job.js";

const FEW = 5;

/* The name that a variant gets here: that of the repository, with the variant. */
export const nameOf = (reply, variant) => `user.${reply.suggested_name ?? reply.checkpoint.split("/").pop()}-${
    variant.name.replace(/[^A-Za-z0-9._-]+/g, "-")}`.replace(/-+$/, "");

/* "about 4 min": how long a download takes at the speed of earlier ones. */
export function timeFor(size) {
    const { unit, n } = roughly(size / (speed.value ?? ASSUMED_SPEED));
    return t(speed.value ? "models.time.about" : "models.time.about_at", { time: t(`models.time.${unit}`, { n }) });
}

/* What POST pull needs for a variant. */
function orderOf(reply, variant) {
    const projectors = reply.mmproj_files ?? [], labels = reply.suggested_labels ?? [];
    return {
        model_name: nameOf(reply, variant), checkpoint: `${reply.checkpoint.split(":")[0]}:${variant.name}`,
        source: reply.source, ...reply.recipe ? { recipe: reply.recipe } : {}, ...labels.length ? { labels } : {},
        ...projectors.length ? { mmproj: projectors.find((file) => /[-_.]f16/i.test(file)) ?? projectors[0] } : {},
    };
}

function Row({ reply, variant, best }) {
    const fit = fitOf({ size: variant.size_bytes }, machine.value.data?.machine);
    const level = variant.fits === false && fit.level !== "disk" ? "no" : fit.level;
    const sizes = Object.fromEntries(Object.entries(fit.values).map(([key, n]) => [key, bytes(n)]));
    const order = orderOf(reply, variant), job = jobOf(jobs.value ?? [], order.model_name);
    return html`<tr class=${best ? "best" : ""}>
        <th scope="row">${variant.name} ${best && html`<span
            class="badge good">${t("models.variants.best")}</span>`}</th>
        <td class="number">${bytes(variant.size_bytes)}</td>
        <td>${variant.size_bytes > 0 && timeFor(variant.size_bytes)}</td>
        <td><span class=${`badge ${LOOK[level]}`}>${t(`models.fit.level.${level}`)}</span>
            <small>${t(level === fit.level ? fit.text : "models.fit.no", sizes)}</small></td>
        <td>${job ? html`<${JobLine} job=${job} />` : html`<${Button} small icon="download"
            kind=${best ? "primary" : "plain"}
            disabled=${Boolean(reply.unsupported)} aria-label=${t("models.variants.get", { name: variant.name })}
            onClick=${() => download(order)}>${t("models.downloads.do")}<//>`}</td>
    </tr>`;
}

/* What the hub says of the repository, as far as the server passes it on. */
const Head = ({ reply }) => html`<p class="facts-line hint">
    ${reply.license && html`<span>${t("models.facts.license", { name: reply.license })}</span>`}
    ${reply.architecture && html`<span>${reply.architecture}</span>`}
    ${reply.context_length > 0 && html`<span>${t("models.facts.context", { n: number(reply.context_length) })}</span>`}
    ${reply.mmproj_files?.length > 0 && html`<span>${t("models.can.vision")}</span>`}
</p>`;

/* The table of a repository: checkpoint is its name, source the hub. */
export function Variants({ checkpoint, source }) {
    const [all, setAll] = useState(false);
    const { data, error, reload } = useResource(() => get(`/v1/pull/variants?${new URLSearchParams({
        checkpoint, ...source ? { source } : {}, limit: "all",
    })}`), [checkpoint, source]);
    if (error)
        return html`<${ErrorBox} error=${error} retry=${reload} />`;
    if (!data)
        return html`<${Loading} text=${t("models.variants.loading")} />`;
    const best = recommended(data.variants, machine.value.data?.machine);
    const few = data.variants.slice(0, FEW);
    const shown = all ? data.variants : best && !few.includes(best) ? [best, ...few] : few;
    if (!data.variants.length)
        return html`<p class="hint">${t("models.variants.none")}</p>`;
    return html`<div class="variants">
        <${Head} reply=${data} />
        ${data.unsupported && html`<p class="unsupported">${t("models.unsupported", { reason: data.unsupported })}</p>`}
        ${data.gated && html`<p class="hint">${t("models.hub.gated.why")}</p>`}
        ${!best && html`<p class="hint">${t("models.variants.none_fits")}</p>`}
        <div class="table-scroll" tabindex="0" role="group"
            aria-label=${t("models.variants.title", { name: checkpoint })}><table class="table">
            <thead><tr><th scope="col">${t("models.variants.name")}</th><th scope="col"
                class="number">${t("models.facts.size")}</th>
                <th scope="col">${t("models.variants.time")}</th><th scope="col">${t("models.variants.fits")}</th>
                <th scope="col"><span class="visually-hidden">${t("models.downloads.do")}</span></th></tr></thead>
            <tbody>${shown.map((v) => html`<${Row} key=${v.name} reply=${data} variant=${v}
                best=${v === best} />`)}</tbody>
        </table></div>
        ${data.variants.length > shown.length && html`<${Button} small onClick=${() => setAll(true)}>
            ${t("models.variants.all", { n: data.variants.length })}<//>`}
    </div>`;
}
