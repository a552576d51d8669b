/* Short marks beside a model's name: what it can do, whether it fits, what it is doing. Each says
 * in words what its colour means. */
import { html } from "../../lib/html.js";
import { bytes, percent } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { fitOf } from "../../lib/models/fit.js";
import { extrasOf } from "../../lib/models/list.js";
import { href } from "../../lib/route.js";
import { Icon } from "../../components/icon.js";
import { machine, memoryOf } from "../../store/models.js";

/* The look of a badge for each level of lib/models/fit.js. */
export const LOOK = { good: "good", later: "warn", no: "bad", disk: "bad", unknown: "" };

export const Abilities = ({ model }) => extrasOf(model).map((ability) =>
    html`<span key=${ability} class="badge">${t(`models.can.${ability}`)}</span>`);

/* {level, text: whether it fits this machine and why, as a sentence}. */
export function fitText(model) {
    const fit = fitOf({
        size: model.size_bytes, here: model.downloaded, remote: model.recipe === "remote",
    }, machine.value.data?.machine);
    const sizes = Object.fromEntries(Object.entries(fit.values).map(([name, n]) => [name, bytes(n)]));
    return { level: fit.level, text: t(fit.text, sizes) };
}

/* short: the verdict alone, with the reason as a tip. */
export function Fit({ model, short }) {
    const { level, text } = fitText(model);
    if (level === "unknown" && short)
        return null;
    const badge = html`<span class=${`badge ${LOOK[level]}`}
        title=${short ? text : undefined}>${t(`models.fit.level.${level}`)}</span>`;
    return short ? badge : html`<p class="fit">${badge} <span>${text}</span></p>`;
}

/* Why this version cannot run it, as the server says it. */
export const Unsupported = ({ model }) => model.unsupported ? html`<p class="unsupported">
    <${Icon} name="warning" size="16" /> <span>${t("models.unsupported", { reason: model.unsupported })}
    ${/backends install/.test(model.unsupported) && html` <a
        href=${href("models", { show: "engines" })}>${t("models.engines.see")}</a>`}</span></p>` : null;

/* In memory, on the way there, or waiting; nothing for a model that is only on the disk. */
export function State({ model }) {
    const m = memoryOf(model);
    const marks = [];
    if (m?.status === "ready")
        marks.push(html`<span
            class="badge good">${t(m.is_busy ? "models.state.answering" : "models.state.ready")}</span>`);
    else if (m)
        marks.push(html`<span class="badge warn"
            title=${m.reason ?? undefined}>${m.status === "loading" && m.progress > 0 ?
            t("models.state.loading_at", { share: percent(m.progress) }) : t(`models.state.${m.status}`)}</span>`);
    if (m ? m.pinned : model.recipe_options?.pinned)
        marks.push(html`<span class="badge"><${Icon} name="pin" size="12" /> ${t("models.state.pinned")}</span>`);
    if (model.update_available)
        marks.push(html`<span class="badge warn">${t("models.state.update")}</span>`);
    return marks;
}
