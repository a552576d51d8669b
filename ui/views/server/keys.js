/* Keys: who may use the server. A new key's secret is shown once. */
import { html, useState } from "../../lib/html.js";
import { hasKey, setKey } from "../../lib/client.js";
import { dateTime } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { Button } from "../../components/button.js";
import { Confirm } from "../../components/dialog.js";
import { Empty } from "../../components/empty.js";
import { Loaded } from "../../components/loaded.js";
import { toast, toastError } from "../../components/toast.js";
import { readKeys, removeKey, serverStatus } from "../../store/server.js";
import { useResource } from "../../store/resource.js";
import { renew } from "../../store/session.js";
import { ForAdmins } from "./guarded.js";
import { NewKey } from "./new_key.js";

/* What would follow from removing a key. */
function consequence(key, keys, mine) {
    const others = keys.filter((k) => k !== key);
    return [t("server.keys.remove.why", { name: key.name }),
        key.name === mine ? t("server.keys.remove.mine") : "",
        !others.length ? t("server.keys.remove.last") : !others.some((k) => k.admin) && key.admin ? t("server.keys.remove.last_admin") : "",
    ].filter(Boolean).join(" ");
}

function Row({ item, keys, mine, reload }) {
    const [asking, setAsking] = useState(false);
    const remove = async () => {
        try {
            await removeKey(item.name);
            toast(t("server.keys.removed", { name: item.name }));
            if (item.name === mine && hasKey())
                setKey("", false); /* the server knows it no more */
            renew();
        } catch (error) {
            toastError(error);
        }
        reload();
    };
    return html`<tr>
        <th scope="row"><code>${item.name}</code> ${item.name === mine && html`<span class="badge good">${t("server.keys.mine")}</span>`}</th>
        <td>${t(item.admin ? "server.keys.may.all" : "server.keys.may.use")}</td>
        <td>${item.from === "environment" ? t("server.keys.environment") : item.created ? dateTime(item.created * 1000) : ""}</td>
        <td>${item.from !== "environment" && html`<${Button} small kind="danger" icon="trash"
            aria-label=${t("server.keys.remove_name", { name: item.name })} onClick=${() => setAsking(true)}>${t("server.keys.remove")}<//>`}
            ${asking && html`<${Confirm} title=${t("server.keys.remove_name", { name: item.name })} text=${consequence(item, keys, mine)}
                action=${t("server.keys.remove")} run=${remove} close=${() => setAsking(false)} />`}</td>
    </tr>`;
}

const Table = ({ keys, mine, reload }) => html`<div class="table-scroll" tabindex="0" role="region" aria-label=${t("server.part.keys")}>
    <table class="table keys-table">
        <thead><tr><th scope="col">${t("server.keys.name")}</th><th scope="col">${t("server.keys.may")}</th>
            <th scope="col">${t("server.keys.created")}</th><td></td></tr></thead>
        <tbody>${keys.map((item) => html`<${Row} key=${item.name} item=${item} keys=${keys} mine=${mine} reload=${reload} />`)}</tbody>
    </table></div>`;

function List({ keys, reload }) {
    const [adding, setAdding] = useState(false);
    const mine = serverStatus.value.data?.client?.key ?? null;
    const add = html`<${Button} kind="primary" icon="plus" onClick=${() => setAdding(true)}>${t("server.keys.add")}<//>`;
    return html`<section>
        <p class="hint">${t(keys.length ? "server.keys.what" : "server.keys.what_none")}</p>
        ${keys.length ? html`<${Table} keys=${keys} mine=${mine} reload=${reload} /><p>${add}</p>` :
        html`<${Empty} icon="key" title=${t("server.keys.none")}><p>${t("server.keys.none.why")}</p>${add}<//>`}
        <h2>${t("server.keys.rights")}</h2>
        <ul class="plain-list">
            <li>${t("server.keys.rights.use")}</li>
            <li>${t("server.keys.rights.admin")}</li>
            <li>${t("server.keys.rights.none")}</li>
        </ul>
        ${adding && html`<${NewKey} keys=${keys} close=${() => { setAdding(false); reload(); }} />`}
    </section>`;
}

function Read() {
    const { reload, ...state } = useResource(readKeys);
    return html`<${Loaded} state=${state} retry=${reload}>${(keys) => html`<${List} keys=${keys} reload=${reload} />`}<//>`;
}

export const Keys = () => html`<${ForAdmins} what=${t("server.keys.admin_only")}>${() => html`<${Read} />`}<//>`;
