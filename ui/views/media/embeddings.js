/* Embeddings: texts become vectors, and the page shows which of them mean something similar. */
import { html, useState } from "../../lib/html.js";
import { duration } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { useKept } from "../../lib/kept.js";
import { similarities, splitTexts } from "../../lib/media/texts.js";
import { sendForJson } from "../../lib/requests.js";
import { AsCode } from "../../components/as_code.js";
import { Button } from "../../components/button.js";
import { TextField } from "../../components/field.js";
import { taskOf } from "../../store/tasks.js";
import { Similarities } from "./matrix.js";
import { ModelPicker, Panel } from "./panel.js";
import { SplitBy } from "./split_by.js";
import { Working } from "./working.js";

const TEXTS_MAX = 200; /* pairs grow with the square */

const task = taskOf("embeddings");

const requestOf = (model, texts) => ({ path: "/v1/embeddings", json: { model, input: texts } });

async function compare(model, texts, signal) {
    const { data, usage } = await sendForJson(requestOf(model, texts), { signal });
    const vectors = data.map((one) => one.embedding);
    return { texts, dimensions: vectors[0].length, tokens: usage?.prompt_tokens ?? null, rows: similarities(vectors) };
}

function Result({ result, took }) {
    const { texts, dimensions, tokens, rows } = result;
    return html`<section class="result" aria-label=${t("media.result")}>
        <p class="facts-line hint"><span>${t("media.embed.texts", { n: texts.length })}</span>
            <span>${t("media.embed.dimensions", { n: dimensions })}</span>
            ${tokens !== null && html`<span>${t("media.tokens", { n: tokens })}</span>`}
            <span>${duration(took)}</span></p>
        <${Similarities} key=${texts.join("\n")} texts=${texts} rows=${rows} />
    </section>`;
}

function Form({ model, models }) {
    const [text, setText] = useKept("media.embed.text", ""), [by, setBy] = useKept("media.embed.by", "line");
    const [wrong, setWrong] = useState("");
    const texts = splitTexts(text, by), { busy, result, took } = task.state.value;
    const submit = (event) => {
        event.preventDefault();
        const problem = texts.length < 2 ? t("media.embed.few") : texts.length > TEXTS_MAX ? t("media.embed.many", { n: TEXTS_MAX }) : "";
        setWrong(problem);
        if (!problem)
            task.run(({ signal }) => compare(model.id, texts, signal));
    };
    return html`
        <form novalidate onSubmit=${submit}>
            <div class="fields"><${ModelPicker} can="embed" models=${models} model=${model} />
                <${SplitBy} value=${by} onChange=${setBy} /></div>
            <${TextField} label=${t("media.embed.input")} rows="8" value=${text} onInput=${setText} error=${wrong}
                hint=${texts.length ? t("media.embed.texts", { n: texts.length }) : t(`media.split.hint.${by}`)} />
            <div class="row">
                <${Button} kind="primary" type="submit" busy=${busy}>${t("media.embed.do")}<//>
                ${!text && html`<${Button} kind="quiet" onClick=${() => { setBy("line"); setText(t("media.embed.example")); }}>${t("media.example")}<//>`}
            </div>
        </form>
        <${Working} task=${task} model=${model.id} />
        ${result && html`<${Result} result=${result} took=${took} />`}
        <${AsCode} request=${requestOf(model.id, texts)} />`;
}

export const Embeddings = () => html`<${Panel} part="embeddings">${(model, models) => html`<${Form} model=${model} models=${models} />`}<//>`;
