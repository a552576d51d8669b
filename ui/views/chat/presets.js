/* System prompt and parameters under a name: chosen for a chat, made of a chat's settings, deleted. A
 * chat copies a preset, so that later changes of the preset leave the chat as it is. */
import { html, useEffect, useId, useState } from "../../lib/html.js";
import { isBare, presetOf } from "../../lib/chat/presets.js";
import { t } from "../../lib/i18n.js";
import { Button } from "../../components/button.js";
import { Dialog } from "../../components/dialog.js";
import { ErrorBox } from "../../components/error.js";
import { Select, TextField } from "../../components/field.js";
import { toast, toastError } from "../../components/toast.js";
import { deletePreset, loadPresets, presets, savePreset } from "../../store/presets.js";
import { changeSettings, settingsOf } from "./settings.js";

const NAME_MAX = 100;

function SaveDialog({ settings, list, name: first, close, saved }) {
    const [name, setName] = useState(first), [busy, setBusy] = useState(false), form = useId();
    const plain = name.trim(), known = list.some((one) => one.name === plain);
    const save = async (event) => {
        event.preventDefault();
        if (!plain || busy)
            return;
        setBusy(true);
        try {
            await savePreset({ ...settings, name: plain });
            saved(plain);
            toast(t("chat.preset.saved", { name: plain }));
            close();
        } catch (error) {
            setBusy(false);
            toastError(error);
        }
    };
    return html`<${Dialog} title=${t("chat.preset.save")} close=${close} actions=${html`<${Button} onClick=${close}>${t("action.cancel")}<//>
            <${Button} kind="primary" type="submit" form=${form} busy=${busy} disabled=${!plain}>${t(known ? "chat.preset.replace" : "action.save")}<//>`}>
        <form id=${form} onSubmit=${save}>
            <${TextField} label=${t("chat.preset.name")} hint=${t(known ? "chat.preset.known" : "chat.preset.what")} value=${name}
                onInput=${setName} maxlength=${NAME_MAX} autofocus dir="auto" />
        </form>
    <//>`;
}

/* Takes a preset's settings; what they replace can be brought back. */
function choose(conversation, chosen, before) {
    changeSettings(conversation, { system: chosen?.system ?? "", params: chosen?.params ?? {} });
    if (!isBare(before) && !presetOf(presets.peek().data ?? [], before))
        toast(t("chat.preset.replaced"), { action: { text: t("action.undo"), run: () => changeSettings(conversation, before) } });
}

async function remove(preset) {
    try {
        const undo = await deletePreset(preset);
        toast(t("chat.preset.deleted", { name: preset.name }), { action: { text: t("action.undo"), run: () => undo().catch(toastError) } });
    } catch (error) {
        toastError(error);
    }
}

export function Presets({ conversation }) {
    const [saving, setSaving] = useState(false), [last, setLast] = useState("");
    useEffect(() => {
        loadPresets();
    }, []);
    const { data, error } = presets.value, list = data ?? [];
    const { system, params } = settingsOf(conversation), settings = { system, params };
    const bare = isBare(settings), chosen = bare ? null : presetOf(list, settings);
    const own = [["", t("chat.preset.none")], ...!bare && !chosen ? [["own", t("chat.preset.own")]] : []];
    const picked = (id) => {
        const preset = list.find((one) => one.id === id) ?? null;
        setLast(preset?.name ?? "");
        choose(conversation, preset, settings);
    };
    return html`<div class="presets">
        ${error && html`<${ErrorBox} error=${error} retry=${loadPresets} />`}
        <${Select} label=${t("chat.preset")} value=${chosen?.id ?? (bare ? "" : "own")} onChange=${(id) => id !== "own" && picked(id)}
            options=${[...own, ...list.map((one) => [one.id, one.name])]} hint=${!list.length && t("chat.preset.empty")} />
        <div class="row">
            <${Button} small icon="plus" disabled=${bare || chosen} onClick=${() => setSaving(true)}>${t("chat.preset.save")}<//>
            ${chosen && html`<${Button} small icon="trash" onClick=${() => remove(chosen)}>${t("chat.preset.delete")}<//>`}
        </div>
        ${saving && html`<${SaveDialog} settings=${settings} list=${list} name=${last} saved=${setLast} close=${() => setSaving(false)} />`}
    </div>`;
}
