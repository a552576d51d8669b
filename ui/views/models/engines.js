/* Engines: what runs models here, and what can be installed beside quince's own. */
import { html, useState } from "../../lib/html.js";
import { post } from "../../lib/client.js";
import { bytes } from "../../lib/format.js";
import { eventsOf } from "../../lib/events.js";
import { t } from "../../lib/i18n.js";
import { Button } from "../../components/button.js";
import { Confirm } from "../../components/dialog.js";
import { EngineState } from "../../components/engine_state.js";
import { ErrorBox } from "../../components/error.js";
import { Loaded } from "../../components/loaded.js";
import { Progress } from "../../components/progress.js";
import { toast, toastError } from "../../components/toast.js";
import { machine, readMachine, readModels } from "../../store/models.js";

/* One engine of several names is listed once: "default" means another row where a recipe has no engine
 * of quince's. */
const isAlias = (name, engine, backends) => name === "default" && Object.entries(backends)
    .some(([other, e]) => other !== name && e.release_url && e.release_url === engine.release_url);

/* Installs and reports progress: {share, here, total} or null while nothing is known. */
async function install(recipe, backend, progressed) {
    for await (const event of eventsOf("POST", "/v1/install", { recipe, backend, stream: true })) {
        const data = JSON.parse(event.data);
        if (event.event === "error")
            throw Object.assign(new Error(data.message), { status: 500, details: data });
        const total = data.total_download_size;
        const here = data.cumulative_bytes_downloaded ?? 0;
        progressed({ share: total > 0 ? here / total : null, here, total });
        if (event.event === "complete")
            return data;
    }
    throw Object.assign(new Error(t("models.engines.cut")), { status: 500 });
}

function Engine({ recipe, name, engine, isDefault }) {
    const [progress, setProgress] = useState(null), [error, setError] = useState(null);
    const [asking, setAsking] = useState(false);
    const start = async () => {
        setError(null);
        setProgress({ share: null, here: 0, total: 0 });
        try {
            await install(recipe, name, setProgress);
            toast(t("models.engines.installed", { name }));
        } catch (e) {
            setError(e);
        }
        setProgress(null);
        readMachine();
        readModels();
    };
    const remove = async () => {
        try {
            await post("/v1/uninstall", { recipe, backend: name });
            toast(t("models.engines.removed", { name }));
        } catch (e) {
            toastError(e);
        }
        readMachine();
        readModels();
    };
    const canInstall = ["installable", "update_required"].includes(engine.state);
    return html`<li class="model-row">
        <div class="model-what">
            <h3 class="model-title">${engine.source === "quince" ? t("models.engines.own") :
        name === "default" ? t("models.engines.default") : name}
                <${EngineState} state=${engine.state} />
                ${isDefault && engine.state === "installed" && html`<span
                    class="badge">${t("models.engines.used")}</span>`}</h3>
            <p class="facts-line hint">${engine.version && html`<span>${engine.version}</span>`}
                ${engine.source && engine.source !== "quince" && html`<span>${t(`models.engines.source.${engine.source}`)}</span>`}
                ${engine.devices?.map((device) => html`<span>${t(`models.device.${device}`)}</span>`)}</p>
            ${engine.state !== "installed" && engine.state !== "installable" && engine.message && html`<p
                class="hint">${engine.message}</p>`}
        </div>
        <div class="model-actions">
            ${canInstall && !progress && html`<${Button} small icon="download"
                aria-label=${t("models.engines.install", { name })} onClick=${start}>
                ${t(engine.state === "installable" ? "models.engines.do.install" : "models.update.do")}<//>`}
            ${engine.source === "release" && html`<${Button} small kind="danger" icon="trash"
                aria-label=${t("models.engines.remove", { name })}
                onClick=${() => setAsking(true)}>${t("models.engines.do.remove")}<//>`}
        </div>
        ${progress && html`<div class="job"><${Progress} share=${progress.share}
            label=${t("models.engines.progress", { name })} />
            <p class="hint">${progress.total > 0 ? t("models.job.amount", {
        here: bytes(progress.here), total: bytes(progress.total),
    }) : t("models.engines.starting")}</p></div>`}
        ${error && html`<${ErrorBox} error=${error} retry=${start} />`}
        ${asking && html`<${Confirm} title=${t("models.engines.remove", { name })}
            text=${t("models.engines.remove.why")} action=${t("models.engines.do.remove")}
            run=${remove} close=${() => setAsking(false)} />`}
    </li>`;
}

/* The engines of one kind of model, those that work here first. */
function Recipe({ recipe, backends, used }) {
    const usable = ([, engine]) => engine.state === "unsupported" ? 1 : 0;
    const engines = Object.entries(backends).filter(([name, engine]) => !isAlias(name, engine, backends))
        .sort((a, b) => usable(a) - usable(b));
    return html`<section class="group"><h2>${t(`models.engines.recipe.${recipe}`)}</h2>
        <ul class="model-list">${engines.map(([name, engine]) => html`<${Engine} key=${name} recipe=${recipe}
            name=${name} engine=${engine}
            isDefault=${name === used} />`)}</ul></section>`;
}

function All({ info }) {
    const none = info.unavailable_recipes ?? [];
    const list = (recipes) => recipes.map(([recipe, { backends, default_backend: used }]) =>
        html`<${Recipe} key=${recipe} recipe=${recipe} backends=${backends} used=${used} />`);
    const recipes = Object.entries(info.recipes), missing = recipes.filter(([recipe]) => none.includes(recipe));
    return html`
        <p class="hint">${t("models.engines.what")}</p>
        ${info.no_fetch_executables && html`<p class="unsupported">${t("models.engines.no_fetch")}</p>`}
        ${list(recipes.filter(([recipe]) => !none.includes(recipe)))}
        ${missing.length > 0 && html`<details
            class="engines-missing"><summary>${t("models.engines.missing", { n: missing.length })}</summary>
            ${list(missing)}</details>`}`;
}

export const Engines = () => html`<${Loaded} state=${machine.value} retry=${readMachine}>${({ info }) =>
    html`<${All} info=${info} />`}<//>`;
