/* How to point programs at this server: its address, a key, a model, then the program. */
import { html, useEffect } from "../../lib/html.js";
import { hasKey } from "../../lib/client.js";
import { t } from "../../lib/i18n.js";
import { go, href, route } from "../../lib/route.js";
import { addressesOf, APIS, ollamaUrl, PROGRAMS, urlOf } from "../../lib/server/connect.js";
import { Button } from "../../components/button.js";
import { Select } from "../../components/field.js";
import { Snippet } from "../../components/snippet.js";
import { installed, readModels } from "../../store/models.js";
import { isAdmin, serverStatus } from "../../store/server.js";

const NO_MODEL = "quince-starter", NO_KEY = "none";

const programs = Object.values(APIS).flat();

function useChoice() {
    const { query } = route.value;
    const choice = { app: query.get("app") ?? "", at: query.get("at") ?? "", model: query.get("model") ?? "" };
    return [choice, (change) => go(href("server", "connect", { ...choice, ...change }), { replace: true })];
}

/* What has to be done before other machines can reach the server. */
function FromElsewhere({ server }) {
    if (!server)
        return null;
    if (server.open_to_others)
        return html`<p class="hint">${t("server.connect.open")}</p>`;
    return html`<details class="card"><summary>${t("server.connect.lan")}</summary>
        <p>${t("server.connect.lan.why")}</p>
        <ol class="steps">
            <li>${t("server.connect.lan.key")} ${isAdmin.value && html`<a href=${href("server", "keys")}>${t("server.part.keys")}</a>`}
                <${Snippet} label=${t("server.connect.command")} code="quince keys add me --admin --mine" /></li>
            <li>${t("server.connect.lan.host")} ${isAdmin.value && html`<a href=${href("server", "settings", { q: "host" })}>${t("server.part.settings")}</a>`}
                <${Snippet} label=${t("server.connect.command")} code=${`QUINCE_API_KEY=${t("server.connect.your_key")} quince config set host=0.0.0.0`} /></li>
            <li>${t("server.connect.lan.restart")}</li>
            <li>${t("server.connect.lan.then")}
                ${server.addresses.map((address) => html` <code>${urlOf(address, server.port)}</code>`)}</li>
        </ol>
    </details>`;
}

function Choices({ choice, set, addresses, models }) {
    return html`<div class="server-tools">
        <${Select} label=${t("server.connect.from")} value=${choice.at || addresses[0].url} onChange=${(at) => set({ at })}
            options=${addresses.map(({ id, url }) => [url, t(`server.connect.from.${id}`, { url })])} />
        <${Select} label=${t("server.connect.model")} value=${choice.model || models[0]} onChange=${(model) => set({ model })} options=${models} />
    </div>`;
}

function Programs({ current, set }) {
    return html`<div class="programs">${Object.entries(APIS).map(([api, list]) => html`<div key=${api} role="group" aria-label=${t(`server.connect.api.${api}`)}>
        <h2>${t(`server.connect.api.${api}`)}</h2>
        <div class="row">${list.map((name) => html`<${Button} key=${name} small aria-pressed=${String(name === current)}
            onClick=${() => set({ app: name })}>${t(`server.connect.app.${name}`)}<//>`)}</div>
    </div>`)}</div>`;
}

export function Connect() {
    const [choice, set] = useChoice();
    useEffect(() => {
        readModels();
    }, []);
    const status = serverStatus.value.data, server = status?.server ?? null;
    const addresses = addressesOf(server, location);
    const url = (addresses.find((one) => one.url === choice.at) ?? addresses[0]).url;
    const names = installed.value.map((m) => m.id);
    const models = names.length ? names : [NO_MODEL];
    const model = choice.model || models[0];
    const app = programs.includes(choice.app) ? choice.app : programs[0];
    const keys = hasKey() || Boolean(status?.client?.key);
    const parts = PROGRAMS[app]({
        url, ollama: ollamaUrl(url, server?.ollama?.port), model,
        context: installed.value.find((m) => m.id === model)?.context_length,
        key: keys ? t("server.connect.your_key") : NO_KEY, hasKeys: keys,
    });
    return html`<section>
        <p>${t("server.connect.what")}</p>
        <${Choices} choice=${choice} set=${set} addresses=${addresses} models=${models} />
        <p class="hint">${t(keys ? "server.connect.needs_key" : "server.connect.needs_none")}</p>
        <${FromElsewhere} server=${server} />
        <${Programs} current=${app} set=${set} />
        <article class="card connect-app" aria-live="polite"><h2>${t(`server.connect.app.${app}`)}</h2>
            <p>${t(`server.connect.how.${app}`)}</p>
            ${parts.map(([name, code]) => html`<div key=${name}><h3>${t(name)}</h3><${Snippet} label=${t(name)} code=${code} /></div>`)}
            ${server?.ollama?.message && APIS.ollama.includes(app) && html`<p class="hint">${server.ollama.message}</p>`}
        </article>
    </section>`;
}
