/* Reranking: documents in the order in which they answer a question. */
import { html, useState } from "../../lib/html.js";
import { duration } from "../../lib/format.js";
import { format, t } from "../../lib/i18n.js";
import { useKept } from "../../lib/kept.js";
import { shareOf, splitTexts } from "../../lib/media/texts.js";
import { sendForJson } from "../../lib/requests.js";
import { AsCode } from "../../components/as_code.js";
import { Button } from "../../components/button.js";
import { TextField } from "../../components/field.js";
import { taskOf } from "../../store/tasks.js";
import { ModelPicker, Panel } from "./panel.js";
import { SplitBy } from "./split_by.js";
import { Working } from "./working.js";

const DOCUMENTS_MAX = 1000;

const task = taskOf("rerank");

const requestOf = (model, query, documents) => ({ path: "/v1/rerank", json: { model, query, documents } });

async function rank(model, query, documents, signal) {
    const { results, usage } = await sendForJson(requestOf(model, query, documents), { signal });
    const ranked = results.map(({ index, relevance_score: score }) => ({ index, score, text: documents[index] }))
        .sort((a, b) => b.score - a.score || a.index - b.index);
    return { ranked, tokens: usage?.prompt_tokens ?? null };
}

const score = (n) => format("NumberFormat", { maximumSignificantDigits: 4 }).format(n);

function Result({ result, took }) {
    const { ranked, tokens } = result;
    const range = { least: ranked.at(-1).score, most: ranked[0].score };
    return html`<section class="result" aria-label=${t("media.result")}>
        <p class="facts-line hint"><span>${t("media.rerank.documents", { n: ranked.length })}</span>
            ${tokens !== null && html`<span>${t("media.tokens", { n: tokens })}</span>`}<span>${duration(took)}</span></p>
        <div class="table-scroll" tabindex="0" role="group" aria-label=${t("media.result")}><table class="table ranked">
            <thead><tr><th scope="col" class="number">${t("media.rerank.place")}</th><th scope="col">${t("media.rerank.document")}</th>
                <th scope="col" class="number">${t("media.rerank.score")}</th></tr></thead>
            <tbody>${ranked.map(({ index, score: n, text }, i) => html`<tr key=${index}>
                <td class="number">${i + 1}</td><td class="text">${text}</td>
                <td class="number">${score(n)}<span class="bar" aria-hidden="true"><span style=${{ width: `${shareOf(n, range) * 100}%` }}></span></span></td>
            </tr>`)}</tbody>
        </table></div>
    </section>`;
}

function Form({ model, models }) {
    const [query, setQuery] = useKept("media.rerank.query", ""), [text, setText] = useKept("media.rerank.text", "");
    const [by, setBy] = useKept("media.rerank.by", "line"), [wrong, setWrong] = useState({});
    const documents = splitTexts(text, by), { busy, result, took } = task.state.value;
    const submit = (event) => {
        event.preventDefault();
        const problems = {
            query: query.trim() ? "" : t("media.rerank.no_query"),
            text: !documents.length ? t("media.rerank.no_documents") :
                documents.length > DOCUMENTS_MAX ? t("media.rerank.many", { n: DOCUMENTS_MAX }) : "",
        };
        setWrong(problems);
        if (!problems.query && !problems.text)
            task.run(({ signal }) => rank(model.id, query.trim(), documents, signal));
    };
    const fill = () => {
        setBy("line");
        setQuery(t("media.rerank.example.query"));
        setText(t("media.rerank.example.documents"));
    };
    return html`
        <form novalidate onSubmit=${submit}>
            <div class="fields"><${ModelPicker} can="rerank" models=${models} model=${model} />
                <${SplitBy} value=${by} onChange=${setBy} /></div>
            <${TextField} label=${t("media.rerank.query")} value=${query} onInput=${setQuery} error=${wrong.query} />
            <${TextField} label=${t("media.rerank.input")} rows="8" value=${text} onInput=${setText} error=${wrong.text}
                hint=${documents.length ? t("media.rerank.documents", { n: documents.length }) : t(`media.split.hint.${by}`)} />
            <div class="row">
                <${Button} kind="primary" type="submit" busy=${busy}>${t("media.rerank.do")}<//>
                ${!text && !query && html`<${Button} kind="quiet" onClick=${fill}>${t("media.example")}<//>`}
            </div>
        </form>
        <${Working} task=${task} model=${model.id} />
        ${result && html`<${Result} result=${result} took=${took} />`}
        <${AsCode} request=${requestOf(model.id, query.trim(), documents)} />`;
}

export const Rerank = () => html`<${Panel} part="rerank">${(model, models) => html`<${Form} model=${model} models=${models} />`}<//>`;
