/* All settings: what each means, where its value comes from, whether a change needs a restart. Changes
 * are collected and saved together, since the server takes all or none. */
import { html, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { go, href, route } from "../../lib/route.js";
import { given, grouped, same, shown } from "../../lib/server/settings.js";
import { Button } from "../../components/button.js";
import { Empty } from "../../components/empty.js";
import { ErrorBox } from "../../components/error.js";
import { TextField, Toggle } from "../../components/field.js";
import { Loaded } from "../../components/loaded.js";
import { toast } from "../../components/toast.js";
import { readSettings, saveSettings } from "../../store/server.js";
import { useResource } from "../../store/resource.js";
import { ForAdmins } from "./guarded.js";
import { Setting } from "./setting.js";

const describe = (name) => t(`server.setting.${name}`);

function useFilter() {
    const { query } = route.value;
    const filter = { q: query.get("q") ?? "", changed: query.get("changed") ?? "" };
    return [filter, (change) => go(href("server", "settings", { ...filter, ...change }), { replace: true })];
}

/* The settings whose new value waits for the next start. */
function Waiting({ settings }) {
    const names = settings.filter((s) => s.restart_required).map((s) => s.name);
    return names.length ? html`<p class="notice-box warn" role="status">${t("server.settings.waiting", { n: names.length, names: names.join(", ") })}</p>` : null;
}

/* The edits: {name: what stands in the editor}, without those that say what is saved already. */
function useEdits(settings) {
    const [edits, setEdits] = useState({});
    const edit = (s, value) => setEdits((all) => {
        const { [s.name]: old, ...others } = all;
        return same(value, shown(s.name, s.value)) ? others : { ...others, [s.name]: value };
    });
    return { edits, edit, clear: () => setEdits({}), names: Object.keys(edits).filter((name) => settings.some((s) => s.name === name)) };
}

function SaveBar({ names, busy, error, save, clear }) {
    if (!names.length)
        return null;
    return html`<div class="save-bar" role="region" aria-label=${t("server.settings.unsaved")}>
        ${error && html`<${ErrorBox} error=${error} />`}
        <div class="row between"><span role="status">${t("server.settings.changes", { n: names.length })}</span>
            <span class="row"><${Button} onClick=${clear}>${t("server.settings.discard")}<//>
                <${Button} kind="primary" type="submit" busy=${busy} onClick=${save}>${t("action.save")}<//></span></div>
    </div>`;
}

/* What the server said about a change, as one message. */
function tell({ restart_required: later = [], overridden = [] }) {
    toast([t("server.settings.saved"), later.length ? t("server.settings.later", { names: later.join(", ") }) : "",
        overridden.length ? t("server.settings.overridden", { names: overridden.join(", ") }) : ""].filter(Boolean).join(" "));
}

function Form({ settings, reload }) {
    const [filter, set] = useFilter();
    const { edits, edit, clear, names } = useEdits(settings);
    const [busy, setBusy] = useState(false), [error, setError] = useState(null);
    const wrong = error?.details?.param;
    const isShown = settings.some((s) => s.name === wrong);
    const save = async (event) => {
        event.preventDefault();
        setBusy(true);
        setError(null);
        try {
            tell(await saveSettings(Object.fromEntries(names.map((name) => [name, given(edits[name])]))));
            clear();
            reload();
        } catch (e) {
            setError(e);
        }
        setBusy(false);
    };
    const reset = async (name) => {
        setError(null);
        try {
            tell(await saveSettings({ [name]: null }));
            reload();
        } catch (e) {
            setError(e);
        }
    };
    const groups = grouped(settings, { text: filter.q, changed: filter.changed === "1", describe });
    return html`<form class="settings" onSubmit=${save}>
        <${Waiting} settings=${settings} />
        <div class="server-tools">
            <${TextField} type="search" label=${t("server.settings.search")} value=${filter.q} onInput=${(q) => set({ q })} />
            <${Toggle} label=${t("server.settings.changed_only")} checked=${filter.changed === "1"} onChange=${(on) => set({ changed: on ? "1" : "" })} />
        </div>
        ${error && !names.length && html`<${ErrorBox} error=${error} />`}
        ${groups.map(([group, list]) => html`<section key=${group} class="group"><h2>${t(`server.settings.group.${group}`)}</h2>
            ${list.map((s) => html`<${Setting} key=${s.name} setting=${s} text=${describe(s.name)} edited=${edits[s.name]}
                edit=${(value) => edit(s, value)} reset=${() => reset(s.name)} error=${s.name === wrong ? error.message : null} />`)}
        </section>`)}
        ${!groups.length && html`<${Empty} icon="search" title=${t("server.settings.none_found")}>
            <${Button} onClick=${() => set({ q: "", changed: "" })}>${t("server.reset_filter")}<//><//>`}
        <${SaveBar} names=${names} busy=${busy} error=${isShown ? null : error} save=${save} clear=${() => { clear(); setError(null); }} />
    </form>`;
}

function Read() {
    const { reload, ...state } = useResource(readSettings);
    return html`<${Loaded} state=${state} retry=${reload}>${(settings) => html`<${Form} settings=${settings} reload=${reload} />`}<//>`;
}

export const Settings = () => html`<${ForAdmins} what=${t("server.settings.admin_only")}>${() => html`<${Read} />`}<//>`;
