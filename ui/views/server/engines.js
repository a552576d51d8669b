/* The engines of this server, briefly. They are installed and removed in the models view. */
import { html, useEffect } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { EngineState } from "../../components/engine_state.js";
import { Loaded } from "../../components/loaded.js";
import { machine, readMachine } from "../../store/models.js";
import { epoch } from "../../store/session.js";

/* Engines that work or can be made to work. */
const usable = (recipes) => Object.entries(recipes).map(([recipe, { backends, default_backend: used }]) => ({
    recipe,
    engines: Object.entries(backends).filter(([name, e]) => e.state !== "unsupported" && !(name === "default" && e.source !== "quince"))
        .map(([name, e]) => ({ name, ...e, used: name === used })),
})).filter(({ engines }) => engines.length);

export function Engines() {
    const round = epoch.value;
    useEffect(() => {
        readMachine();
    }, [round]);
    return html`<${Loaded} state=${machine.value} retry=${readMachine}>${({ info }) => html`<section>
        <p class="hint">${t("server.engines.what")}</p>
        <div class="table-scroll" tabindex="0" role="region" aria-label=${t("server.part.engines")}><table class="table">
            <thead><tr><th scope="col">${t("server.engines.for")}</th><th scope="col">${t("server.engines.engine")}</th>
                <th scope="col">${t("server.engines.state")}</th><th scope="col">${t("server.engines.version")}</th></tr></thead>
            <tbody>${usable(info.recipes ?? {}).map(({ recipe, engines }) => engines.map((e, i) => html`<tr key=${`${recipe} ${e.name}`}>
                ${i === 0 && html`<th scope="rowgroup" rowspan=${engines.length}>${t(`models.engines.recipe.${recipe}`)}</th>`}
                <td>${e.source === "quince" ? t("models.engines.own") : e.name}</td>
                <td><${EngineState} state=${e.state} /></td>
                <td>${e.version}</td></tr>`))}</tbody>
        </table></div>
        <p><${Button} icon="settings" href=${href("models", { show: "engines" })}>${t("server.engines.go")}<//></p>
    </section>`}<//>`;
}
