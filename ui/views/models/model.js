/* A model's own page: /app/models/NAME. */
import { html, useState } from "../../lib/html.js";
import { get } from "../../lib/client.js";
import { bytes } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { jobOf } from "../../lib/models/jobs.js";
import { can, shownName, ships } from "../../lib/models/list.js";
import { href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { Empty } from "../../components/empty.js";
import { ErrorBox } from "../../components/error.js";
import { Icon } from "../../components/icon.js";
import { Loading } from "../../components/loading.js";
import { jobs } from "../../store/downloads.js";
import { busy, memoryOf, modelOf, models } from "../../store/models.js";
import { useResource } from "../../store/resource.js";
import * as act from "./actions.js";
import { Aliases } from "./aliases.js";
import { Abilities, Fit, State, Unsupported } from "./badges.js";
import { FactsTable, Memory } from "./facts.js";
import { Files } from "./files.js";
import { JobLine } from "./job.js";
import { Options } from "./options.js";
import { Remove } from "./remove.js";
import { LoadFailure } from "./row.js";
import { timeFor, Variants } from "./variants.js";

function HereActions({ model }) {
    const [removing, setRemoving] = useState(false);
    const m = memoryOf(model), works = busy.value.has(model.id);
    const pinned = Boolean(m ? m.pinned : model.recipe_options?.pinned);
    return html`
        ${can(model, "chat") && !model.unsupported && html`<${Button} kind="primary" icon="chat"
            href=${href("chat", { model: model.id })}>${t("models.page.chat")}<//>`}
        ${!model.unsupported && (m ? html`<${Button} icon="eject" busy=${works && m.status === "ready"}
            onClick=${() => act.unload(model.id)}>
                ${t(m.status === "ready" ? "models.unload.do" : "models.load.cancel")}<//>` :
        html`<${Button} icon="play" busy=${works} onClick=${() => act.load(model.id)}>${t("models.load.do")}<//>`)}
        <${Button} icon="pin" aria-pressed=${String(pinned)}
            onClick=${() => act.pin(model.id, !pinned)}>${t(pinned ? "models.pin.do_off" : "models.pin.do_on")}<//>
        ${model.update_available && html`<${Button} icon="download"
            onClick=${() => act.update(model.id)}>${t("models.update.do")}<//>`}
        ${!ships(model) && html`<${Button} kind="danger" icon="trash"
            onClick=${() => setRemoving(true)}>${t("models.remove.do")}<//>`}
        ${removing && html`<${Remove} model=${model} close=${() => setRemoving(false)} />`}`;
}

const Download = ({ model }) => html`<${Button} kind="primary" icon="download" disabled=${Boolean(model.unsupported)}
    onClick=${() => act.download({ model_name: model.id })}>${model.size_bytes > 0 ?
    t("models.downloads.do_sized", { size: bytes(model.size_bytes) }) : t("models.downloads.do")}<//>
    ${model.size_bytes > 0 && html`<span class="hint">${timeFor(model.size_bytes)}</span>`}`;

/* A repository's name without the variant: what GET pull/variants takes. */
const repositoryOf = (model) => model.registry_source && /^[^/:\s]+\/[^/:\s]+/.exec(model.checkpoint)?.[0];

function Page({ model }) {
    const here = model.downloaded || model.recipe === "remote", job = jobOf(jobs.value ?? [], model.id);
    const repository = repositoryOf(model);
    return html`<div class="document models">
        <header class="model-head">
            <a class="back" href=${href("models", { show: here ? "" : "get" })}><${Icon} name="left"
                size="16" /> ${t(here ? "models.part.here" : "models.part.get")}</a>
            <h1>${shownName(model.id)}</h1>
            <p class="badges"><${State} model=${model} /><${Abilities} model=${model} /></p>
            <${Unsupported} model=${model} />
            ${!model.unsupported && html`<${Fit} model=${model} />`}
            ${model.template_warning && html`<p class="unsupported">${model.template_warning}</p>`}
            <div class="row">${here ? html`<${HereActions} model=${model} />` : !job && html`<${Download}
                model=${model} />`}</div>
            ${job && html`<${JobLine} job=${job} />`}
            <${LoadFailure} name=${model.id} />
        </header>
        <${Memory} model=${model} />
        <section><h2>${t("models.facts.title")}</h2><${FactsTable} model=${model} here=${here} /></section>
        ${here && html`<section id="options"><h2>${t("models.options.title")}</h2><${Options} key=${model.id}
            model=${model} /></section>`}
        ${here && html`<section><h2>${t("models.alias.title")}</h2><${Aliases} model=${model} /></section>`}
        ${model.downloaded && html`<section><h2>${t("models.files.title")}</h2><${Files} model=${model} /></section>`}
        ${!here && repository && html`<section><h2>${t("models.variants.other")}</h2><p
            class="hint">${t("models.variants.other.why")}</p>
            <${Variants} checkpoint=${repository} source=${model.registry_source} /></section>`}
    </div>`;
}

/* A name that the list does not have may be an alias, or be written in another way: the server knows. */
function Unlisted({ name }) {
    const { data, error, reload } = useResource(() => get(`/v1/models/${encodeURIComponent(name)}`), [name]);
    if (data)
        return html`<${Page} model=${data} />`;
    if (!error)
        return html`<${Loading} />`;
    return html`<div class="document models"><h1 class="visually-hidden">${t("nav.models")}</h1>${error.status === 404 ? html`<${Empty} icon="box"
        title=${t("models.page.none", { name })}>
            <p>${t("models.page.none.why")}</p><${Button} href=${href("models")}>${t("models.page.all")}<//><//>` :
        html`<${ErrorBox} error=${error} retry=${reload} />`}</div>`;
}

export function ModelPage({ name }) {
    if (!models.value.data && !models.value.error)
        return html`<${Loading} />`;
    const found = modelOf(name), model = found?.alias_of ? modelOf(found.alias_of) : found;
    return model ? html`<${Page} model=${model} />` : html`<${Unlisted} name=${name} />`;
}
