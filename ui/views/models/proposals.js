/* Three models that fit this machine, for a first chat: their sizes and how long they take. The default
 * export is for other views: it reads what it needs by itself. */
import { html } from "../../lib/html.js";
import { bytes } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { proposals } from "../../lib/models/choose.js";
import { jobOf } from "../../lib/models/jobs.js";
import { shownName } from "../../lib/models/list.js";
import { href } from "../../lib/route.js";
import { useStyles } from "../../lib/styles.js";
import { Button } from "../../components/button.js";
import { jobs, useDownloads } from "../../store/downloads.js";
import { machine, models, useModels } from "../../store/models.js";
import { Abilities, Fit } from "./badges.js";
import { download } from "./actions.js";
import { JobLine } from "./job.js";
import { timeFor } from "./variants.js";

await useStyles("models");

function Proposal({ kind, model }) {
    const job = jobOf(jobs.value ?? [], model.id);
    return html`<li class="card proposal">
        <p class="proposal-kind">${t(`models.proposals.${kind}`)}</p>
        <h3><a href=${href("models", model.id)}>${shownName(model.id)}</a></h3>
        <p class="facts-line"><span>${bytes(model.size_bytes)}</span><span>${timeFor(model.size_bytes)}</span></p>
        <p class="hint">${t(`models.proposals.${kind}.why`)}</p>
        <p class="badges"><${Fit} model=${model} short /><${Abilities} model=${model} /></p>
        ${job ? html`<${JobLine} job=${job} />` : html`<${Button} kind=${kind === "balanced" ? "primary" : "plain"}
            icon="download"
            onClick=${() => download({ model_name: model.id })}>${t("models.downloads.do_sized", { size: bytes(model.size_bytes) })}<//>`}
    </li>`;
}

/* Nothing while the machine is not known, or when no model of the list fits. */
export function Proposals({ title = t("models.proposals.title") }) {
    const list = proposals(models.value.data ?? [], machine.value.data?.machine);
    if (!list.length)
        return null;
    return html`<section class="proposals" aria-label=${title}>
        <h2>${title}</h2>
        <p class="hint">${t("models.proposals.why")}</p>
        <ul class="cards">${list.map(({ kind, model }) => html`<${Proposal} key=${model.id} kind=${kind}
            model=${model} />`)}</ul>
    </section>`;
}

/* completed(job): called when one of the downloads has ended well. */
export default function FirstModels({ completed, ...rest }) {
    useModels();
    useDownloads(completed);
    return html`<${Proposals} ...${rest} />`;
}
