/* Pictures: made from a description, or from another picture; and those that were made before. */
import { html, useEffect, useState } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { useKept } from "../../lib/kept.js";
import { able, editors } from "../../lib/media/abilities.js";
import { KINDS, problemsOf, requestOf } from "../../lib/media/paint.js";
import { href, route } from "../../lib/route.js";
import { AsCode } from "../../components/as_code.js";
import { Button } from "../../components/button.js";
import { TextField } from "../../components/field.js";
import { EMPTY, paint, painting } from "../../store/painting.js";
import { pictures, readPictures, source } from "../../store/pictures.js";
import { History } from "./history.js";
import { Settings } from "./image_settings.js";
import { MaskEditor } from "./mask_editor.js";
import { ModelPicker, Panel } from "./panel.js";
import { Picture } from "./picture.js";
import { Source } from "./source.js";
import { Working } from "./working.js";

const CAN = { generate: "image", edit: "image", vary: "image", enlarge: "upscale" };
const NO_MASK = { url: "", strokes: [] };
const FIND = { edit: editors, vary: editors };

const choice = (current) => html`<nav class="choice" aria-label=${t("media.images.what")}>
    ${KINDS.map((kind) => html`<a key=${kind} href=${href("media", "images", { do: kind === "generate" ? "" : kind })}
        aria-current=${kind === current ? "true" : undefined}>${t(`media.images.${kind}`)}</a>`)}</nav>`;

/* Why the fields are not right, as texts by their names. */
const inWords = (problems) => Object.fromEntries(Object.entries(problems).map(([name, [key, values]]) => [name, t(key, values)]));

function Made() {
    const { made: all, busy, done, total } = painting.state.value;
    const made = all?.filter((picture) => pictures.value?.includes(picture)); /* without those deleted since */
    if (!made?.length)
        return null;
    return html`<section class="result" aria-label=${t("media.result")} aria-live="polite">
        <ul class="made">${made.map((picture) => html`<li key=${picture.id}><${Picture} picture=${picture} /></li>`)}</ul>
        ${!busy && done < total && html`<p class="hint">${t("media.images.stopped", { done, total })}</p>`}
    </section>`;
}

function Form({ kind, model, models }) {
    const [ask, setAsk] = useKept("media.images", EMPTY), [mask, setMask] = useKept("media.images.mask", NO_MASK);
    const [wrong, setWrong] = useState({});
    const from = kind === "generate" ? null : source.value, { busy, done, total } = painting.state.value;
    const set = (changes) => setAsk({ ...ask, ...changes });
    const strokes = mask.url === from?.url ? mask.strokes : NO_MASK.strokes; /* a mask belongs to its picture */
    const submit = (event) => {
        event.preventDefault();
        const problems = problemsOf(kind, ask, from);
        setWrong(problems);
        if (!Object.keys(problems).length)
            paint(kind, model.id, ask, from, strokes);
    };
    const texts = inWords(wrong), described = kind === "generate" || kind === "edit";
    return html`
        <form novalidate onSubmit=${submit}>
            <div class="fields"><${ModelPicker} can=${CAN[kind]} models=${models} model=${model} /></div>
            ${kind !== "generate" && html`<${Source} wrong=${texts.source}>
                ${kind === "edit" && from && html`<${MaskEditor} key=${from.url} picture=${from} strokes=${strokes}
                    onChange=${(drawn) => setMask({ url: from.url, strokes: drawn })} />`}<//>`}
            ${described && html`<${TextField} label=${t(`media.images.prompt.${kind}`)} rows="3" value=${ask.prompt}
                onInput=${(prompt) => set({ prompt })} error=${texts.prompt} />`}
            ${kind !== "enlarge" && html`<${Settings} kind=${kind} ask=${ask} set=${set} model=${model} source=${from} wrong=${texts} />`}
            <div class="row"><${Button} kind="primary" type="submit" icon="spark" busy=${busy}>${t(`media.images.do.${kind}`)}<//>
                ${kind === "generate" && !ask.prompt && html`<${Button} kind="quiet"
                    onClick=${() => set({ prompt: t("media.images.example") })}>${t("media.example")}<//>`}</div>
        </form>
        <${Working} task=${painting} model=${model.id} share=${total > 1 ? done / total : null}
            text=${total > 1 ? t("media.images.working", { i: Math.min(done + 1, total), total }) : undefined} />
        <${Made} />
        <${AsCode} request=${requestOf(kind, model.id, ask, { source: from, mask: strokes.length ? { name: "mask.png" } : null })} />`;
}

export function Images() {
    const asked = route.value.query.get("do"), kind = KINDS.includes(asked) ? asked : "generate";
    useEffect(() => {
        readPictures();
    }, []);
    return html`
        <${Panel} part="images" can=${CAN[kind]} find=${FIND[kind] ?? able} what=${kind === "enlarge" ? t("media.images.enlarge") : null} above=${choice(kind)}>
            ${(model, models) => html`<${Form} key=${kind} kind=${kind} model=${model} models=${models} />`}<//>
        <${History} />`;
}
