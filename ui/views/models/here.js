/* The models that are here, by what they are for, those in memory first. */
import { html, useState } from "../../lib/html.js";
import { bytes } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { aliasesOf, grouped, listed, withoutAliases } from "../../lib/models/list.js";
import { href } from "../../lib/route.js";
import { Button } from "../../components/button.js";
import { Empty } from "../../components/empty.js";
import { Loaded } from "../../components/loaded.js";
import { toast, toastError } from "../../components/toast.js";
import { checkUpdates, inMemory, installed, machine, memoryOf, readModels } from "../../store/models.js";
import { AbilityFilter, OrderFilter, Search, useFilter } from "./filter.js";
import { Proposals } from "./proposals.js";
import { ModelRow } from "./row.js";

function UpdateButton() {
    const [busy, setBusy] = useState(false);
    const check = async () => {
        setBusy(true);
        try {
            const { updates_available: n, not_checked: missed } = await checkUpdates();
            toast([t("models.update.found", { n }), missed.length ? t("models.update.missed", { n: missed.length }) : ""].join(" "));
        } catch (error) {
            toastError(error);
        }
        setBusy(false);
    };
    return html`<${Button} small icon="retry" busy=${busy} onClick=${check}>${t("models.update.check")}<//>`;
}

/* How much memory the loaded models use, and how much of the disk all models. */
function Sums() {
    const loaded = [...inMemory.value.values()].filter((m) => m.status === "ready");
    const used = loaded.reduce((sum, m) => sum + (m.resident_bytes ?? m.memory_bytes ?? 0), 0);
    const disk = machine.value.data?.machine.storage?.used_bytes;
    return html`<p class="hint" role="status">
        ${loaded.length ? t("models.memory_used", { n: loaded.length, size: bytes(used) }) : t("models.memory_empty")}
        ${" "}${disk > 0 && t("models.disk_used", { size: bytes(disk) })}</p>`;
}

/* Only what ships with quince is here: what a newcomer needs next. */
const isFresh = () => !installed.value.some((m) => !m.labels?.includes("starter"));

function List({ models }) {
    const [filter, set] = useFilter();
    const all = withoutAliases(installed.value).map((m) =>
        ({ ...m, loaded: Boolean(memoryOf(m)), aliases: aliasesOf(models, m.id) }));
    const shown = listed(all, { query: filter.q, ability: filter.can, order: filter.order || "name" });
    return html`
        ${isFresh() && html`<${Proposals} />`}
        <section aria-label=${t("models.part.here")}>
            <div class="toolbar">
                <${Search} label=${t("models.search.here")} value=${filter.q} onInput=${(q) => set({ q })} />
                <${OrderFilter} value=${filter.order || "name"} onChange=${(order) => set({ order })} />
                <${UpdateButton} />
            </div>
            <${AbilityFilter} models=${all} value=${filter.can} onChange=${(can) => set({ can })} />
            <${Sums} />
            ${grouped(shown).map(({ kind, models: list }) => html`<section key=${kind} class="group">
                <h2>${t(`models.kind.${kind}`)}</h2>
                <ul class="model-list">${list.map((m) => html`<${ModelRow} key=${m.id} model=${m} />`)}</ul>
            </section>`)}
            ${!shown.length && (all.length ? html`<${Empty} icon="search" title=${t("models.none_found")}>
                    <${Button} onClick=${() => set({ q: "", can: "" })}>${t("models.filter.reset")}<//><//>` :
        html`<${Empty} icon="box" title=${t("models.none")}><p>${t("models.none.why")}</p>
                    <${Button} kind="primary" href=${href("models", { show: "get" })}>${t("models.part.get")}<//><//>`)}
        </section>`;
}

export const Here = ({ models }) => html`<${Loaded} state=${models} retry=${readModels}>${(list) =>
    html`<${List} models=${list} />`}<//>`;
