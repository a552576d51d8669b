/* The options that a model is loaded with: what holds, what is the default, what is saved; and the
 * memory that a load would take. */
import { html, useEffect, useState } from "../../lib/html.js";
import { bytes, number } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { changesOf, isAutomatic, isRare, shownFields, textOf } from "../../lib/models/options.js";
import { can, shownName } from "../../lib/models/list.js";
import { Button } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";
import { NumberField, Select, TextField } from "../../components/field.js";
import { Loaded } from "../../components/loaded.js";
import { toast } from "../../components/toast.js";
import { forget, installed, machine, memoryOf, readOptions, saveOptions, tryOptions } from "../../store/models.js";
import { useResource } from "../../store/resource.js";
import { load } from "./actions.js";

const SETTLE_MS = 400;

/* How a default is named where nothing is saved. */
function defaultText(field, reply) {
    const value = reply.defaults[field.name];
    if (field.name === "ctx_size" && isAutomatic(field.name, value))
        return t("models.options.automatic.context", { n: number(reply.resolved_ctx_size ?? 0) });
    if (isAutomatic(field.name, value))
        return t("models.options.automatic");
    if (field.type === "bool")
        return t(value ? "models.options.on" : "models.options.off");
    return t("models.options.default", { value: typeof value === "number" ? number(value) : textOf(field.name, value) });
}

/* The texts that a field can have, where they are known: [[value, text]]. */
function choices(field, model) {
    if (field.type === "bool")
        return [["true", t("models.options.on")], ["false", t("models.options.off")]];
    if (field.words?.length)
        return field.words.map((word) => [word, word]);
    if (field.name === "draft_model")
        return installed.value.filter((m) => can(m, "chat") && m.id !== model.id && m.recipe === model.recipe)
            .map((m) => [m.id, shownName(m.id)]);
    const engines = /^(.+)_backend$/.exec(field.name)?.[1];
    const recipe = engines && machine.value.data?.info.recipes[engines];
    return recipe ? [["auto", t("models.options.backend.auto")], ...Object.entries(recipe.backends)
        .filter(([name, e]) => e.state === "installed" && name !== "default").map(([name]) => [name, name])] : null;
}

function Field({ field, reply, model, text, error, onInput }) {
    const saved = field.name in reply.saved;
    const label = t(`models.option.${field.name}`);
    const shown = html`${label === `models.option.${field.name}` ? field.name : label}${saved && html` <span
        class="badge">${t("models.options.saved")}</span>`}`;
    const explained = t(`models.option.${field.name}.hint`);
    const hint = explained === `models.option.${field.name}.hint` ? "" : explained;
    const common = { label: shown, hint, error, name: field.name };
    const list = choices(field, model);
    if (list && text && !list.some(([value]) => value === text))
        list.push([text, text]);
    if (list)
        return html`<${Select} ...${common} value=${text} onChange=${onInput}
            options=${[["", defaultText(field, reply)], ...list]} />`;
    if (field.type === "number")
        return html`<${NumberField} ...${common} value=${text} placeholder=${defaultText(field, reply)}
            step=${field.whole ? "1" : "any"}
            onInput=${(n) => onInput(n === null || Number.isNaN(n) ? "" : String(n))} />`;
    return html`<${TextField} ...${common} value=${text} placeholder=${defaultText(field, reply)}
        rows=${field.type === "array" ? 3 : undefined}
        spellcheck="false" onInput=${onInput} />`;
}

/* What a load with these options takes, as the server reckons it. */
function Estimate({ memory }) {
    if (!memory)
        return null;
    const values = { needed: bytes(memory.needed_bytes), room: bytes(memory.may_use_bytes) };
    const text = memory.may_use_bytes === null ? "models.options.memory" :
        memory.fits ? "models.options.memory.fits" : "models.options.memory.not";
    const leaving = { names: memory.evicts.map(shownName).join(", "), n: memory.evicts.length };
    return html`<p class=${memory.fits ? "hint" : "field-error"} role="status">
        ${t(text, values)} ${leaving.n > 0 && t("models.options.memory.evicts", leaving)}
    </p>`;
}

/* The estimate for what is in the form, asked again when typing has stopped. */
function useEstimate(model, reply, changes, wrong) {
    const [estimate, setEstimate] = useState({ memory: reply.memory, error: null });
    const asked = JSON.stringify(changes);
    useEffect(() => {
        if (wrong)
            return undefined;
        if (asked === "{}") {
            setEstimate({ memory: reply.memory, error: null });
            return undefined;
        }
        let live = true;
        const timer = setTimeout(() => tryOptions(model.id, changes).then(
            (r) => live && setEstimate({ memory: r.memory, error: null }),
            (error) => live && setEstimate({ memory: null, error })), SETTLE_MS);
        return () => {
            live = false;
            clearTimeout(timer);
        };
    }, [asked, wrong, reply]);
    return estimate;
}

function Form({ model, reply, reload }) {
    const [texts, setTexts] = useState({}), [failed, setFailed] = useState(null), [busy, setBusy] = useState("");
    const fields = shownFields(reply.fields), saved = fields.filter((f) => f.name in reply.saved);
    const { changes, errors } = changesOf(fields, texts, reply.saved);
    const changed = Object.keys(changes).length > 0, wrong = Object.keys(errors).length > 0;
    const estimate = useEstimate(model, reply, changes, wrong);
    const refused = failed ?? estimate.error;
    const errorOf = (name) => errors[name] ? t(errors[name].error, errors[name].values) :
        refused?.details?.param === name ? refused.message.replace(`${name}: `, "") : null;
    const run = (what, work) => async () => {
        setBusy(what);
        setFailed(null);
        try {
            await work();
        } catch (error) {
            setFailed(error);
        }
        setBusy("");
    };
    const save = run("save", async () => {
        await saveOptions(model.id, changes);
        setTexts({});
        toast(t(memoryOf(model) ? "models.options.saved_later" : "models.options.saved_now"));
        await reload();
    });
    const reset = run("reset", async () => {
        const before = Object.fromEntries(saved.map((f) => [f.name, reply.saved[f.name]]));
        await saveOptions(model.id, Object.fromEntries(saved.map((f) => [f.name, null])));
        setTexts({});
        await reload();
        toast(t("models.options.reset_done"), {
            action: { text: t("action.undo"), run: () => saveOptions(model.id, before).then(reload) },
        });
    });
    /* What is changed and not saved holds for this load only; an option that is emptied keeps its saved
     * value. A refusal that names a field is shown there. */
    const loadWith = run("load", async () => {
        const error = await load(model.id, Object.fromEntries(Object.entries(changes).filter(([, v]) => v !== null)));
        if (fields.some((f) => f.name === error?.details?.param)) {
            forget(model.id);
            throw error;
        }
    });
    const one = (field) => html`<${Field} key=${field.name} field=${field} reply=${reply} model=${model}
        error=${errorOf(field.name)}
        text=${texts[field.name] ?? textOf(field.name, reply.saved[field.name])}
        onInput=${(text) => { setFailed(null); setTexts({ ...texts, [field.name]: text }); }} />`;
    const rare = fields.filter(isRare);
    const shownError = refused && !fields.some((f) => f.name === refused.details?.param);
    return html`<form class="options" onSubmit=${(e) => { e.preventDefault(); if (changed && !wrong) save(); }}>
        <div class="option-grid">${fields.filter((f) => !isRare(f)).map(one)}</div>
        ${rare.length > 0 && html`<details
            open=${rare.some((f) => f.name in reply.saved || errorOf(f.name)) || undefined}>
            <summary>${t("models.options.rare")}</summary><div class="option-grid">${rare.map(one)}</div></details>`}
        <${Estimate} memory=${estimate.memory} />
        ${shownError && html`<${ErrorBox} error=${refused} />`}
        <div class="row">
            <${Button} kind="primary" type="submit" busy=${busy === "save"}
                disabled=${!changed || wrong}>${t("action.save")}<//>
            <${Button} icon="play" busy=${busy === "load"} disabled=${wrong || Boolean(model.unsupported)}
                onClick=${loadWith}>
                ${t(changed ? "models.options.load_with" : memoryOf(model) ? "models.options.load_again" : "models.load.do")}<//>
            ${Object.keys(texts).length > 0 && html`<${Button} kind="quiet"
                onClick=${() => setTexts({})}>${t("models.options.discard")}<//>`}
            ${saved.length > 0 && html`<${Button} kind="quiet" icon="retry" busy=${busy === "reset"}
                onClick=${reset}>${t("models.options.reset")}<//>`}
        </div>
    </form>`;
}

export function Options({ model }) {
    /* The estimate depends on what is in memory. */
    const { reload, ...state } = useResource(() => readOptions(model.id), [model.id, memoryOf(model)?.status]);
    return html`<${Loaded} state=${state} retry=${reload}>${(reply) => html`
        <p class="hint">${t("models.options.what")}</p>
        <${Form} model=${model} reply=${reply} reload=${reload} />`}<//>`;
}
