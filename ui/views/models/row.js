/* A model in a list: what it is, whether it fits, what can be done with it. */
import { html, useState } from "../../lib/html.js";
import { bytes, number } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { jobOf } from "../../lib/models/jobs.js";
import { aliasesOf, can, shownName, ships } from "../../lib/models/list.js";
import { href } from "../../lib/route.js";
import { Button, IconButton } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";
import { Menu } from "../../components/menu.js";
import { jobs } from "../../store/downloads.js";
import { busy, failures, forget, memoryOf, models } from "../../store/models.js";
import { Abilities, Fit, State, Unsupported } from "./badges.js";
import * as act from "./actions.js";
import { JobLine } from "./job.js";
import { Remove } from "./remove.js";

/* A number of parameters as names of models have it: "0.6B", "270M". */
const parameters = (n) => n >= 1e9 ? `${number(n / 1e9, 1)}B` : `${number(n / 1e6, n < 1e7 ? 1 : 0)}M`;

/* The facts that are known, and the marks. */
export function Facts({ model, also }) {
    const facts = [
        model.size_bytes > 0 && bytes(model.size_bytes),
        model.quantization,
        model.parameters > 0 && t("models.facts.parameters", { n: parameters(model.parameters) }),
        model.context_length > 0 && t("models.facts.context", { n: number(model.context_length) }),
        model.recipe === "remote" && t("models.source.remote"),
        !["builtin", "local"].includes(model.source) && t("models.source.found", { program: model.source }),
        also.length > 0 && t("models.alias.also", { names: also.join(", ") }),
    ];
    return html`<p class="facts-line hint">${facts.filter(Boolean).map((fact) => html`<span>${fact}</span>`)}
        <span class="badges"><${Fit} model=${model} short /><${Abilities} model=${model} /></span></p>`;
}

/* Load or unload, chat, and the rest in a menu. */
function HereActions({ model, removing }) {
    const m = memoryOf(model), name = model.id;
    const pinned = Boolean(m ? m.pinned : model.recipe_options?.pinned);
    const items = [
        model.update_available && { text: t("models.update.do"), icon: "download", run: () => act.update(name) },
        { text: t(pinned ? "models.pin.do_off" : "models.pin.do_on"), icon: "pin", run: () => act.pin(name, !pinned) },
        ...ships(model) ? [] : [null, { text: t("models.remove.do"), icon: "trash", danger: true, run: removing }],
    ].filter((item) => item !== false && item !== undefined);
    const works = busy.value.has(name);
    return html`
        ${can(model, "chat") && !model.unsupported && html`<${Button} small icon="chat"
            href=${href("chat", { model: model.id })}>${t("nav.chat")}<//>`}
        ${!model.unsupported && (m ? html`<${Button} small icon="eject" busy=${works && m.status === "ready"}
            onClick=${() => act.unload(name)}>
                ${t(m.status === "ready" ? "models.unload.do" : "models.load.cancel")}<//>` :
        html`<${Button} small icon="play" busy=${works} onClick=${() => act.load(name)}>${t("models.load.do")}<//>`)}
        <${Menu} label=${t("models.more", { name: shownName(model.id) })} items=${items} align="end" />`;
}

/* Why a load failed, with what the process said, until it is closed. */
export function LoadFailure({ name }) {
    const error = failures.value.get(name);
    return error ? html`<div class="failure">
        <${ErrorBox} error=${error} retry=${() => act.load(name)} />
        <${IconButton} icon="close" label=${t("action.close")} onClick=${() => forget(name)} />
    </div>` : null;
}

export function ModelRow({ model }) {
    const [removing, setRemoving] = useState(false);
    const name = model.id, also = aliasesOf(models.value.data ?? [], name), job = jobOf(jobs.value ?? [], model.id);
    const here = model.downloaded || model.recipe === "remote";
    return html`<li class="model-row">
        <div class="model-what">
            <h3 class="model-title"><a href=${href("models", name)}>${shownName(model.id)}</a>
                <${State} model=${model} /></h3>
            <${Facts} model=${model} also=${also} />
            <${Unsupported} model=${model} />
        </div>
        <div class="model-actions">
            ${here ? html`<${HereActions} model=${model} removing=${() => setRemoving(true)} />` :
        !job && html`<${Button} small icon="download" disabled=${Boolean(model.unsupported)}
            onClick=${() => act.download({ model_name: model.id })}>${t("models.downloads.do")}<//>`}
        </div>
        ${job && html`<${JobLine} job=${job} />`}
        <${LoadFailure} name=${name} />
        ${removing && html`<${Remove} model=${model} close=${() => setRemoving(false)} />`}
    </li>`;
}
