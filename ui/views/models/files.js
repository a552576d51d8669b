/* The files of a model. */
import { html } from "../../lib/html.js";
import { bytes } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { Loaded } from "../../components/loaded.js";
import { readFiles } from "../../store/models.js";
import { useResource } from "../../store/resource.js";

const ROLES = ["main", "shard", "mmproj", "draft"];

const Table = ({ files }) => html`<div class="table-scroll" tabindex="0" role="group" aria-label=${t("models.files.title")}><table
        class="table">
        <thead><tr><th scope="col">${t("models.files.name")}</th><th scope="col">${t("models.files.role")}</th>
            <th scope="col" class="number">${t("models.facts.size")}</th></tr></thead>
        <tbody>${files.map((f) => html`<tr key=${f.path ?? f.name}>
            <td>${f.name}${!f.exists && html` <span class="badge bad">${t("models.files.missing")}</span>`}
                ${f.path && html`<br /><small>${f.path}</small>`}</td>
            <td>${ROLES.includes(f.role) ? t(`models.files.role.${f.role}`) : f.role}</td>
            <td class="number">${bytes(f.size_bytes)}</td></tr>`)}</tbody>
    </table></div>`;

export function Files({ model }) {
    const { reload, ...state } = useResource(() => readFiles(model.id), [model.id]);
    return html`<${Loaded} state=${state} retry=${reload}>${({ files }) => html`<${Table} files=${files} />`}<//>`;
}
