/* How similar texts are: a list of pairs, nearest first, and all of them as a shaded table. */
import { html, useState } from "../../lib/html.js";
import { format, t } from "../../lib/i18n.js";
import { nearest, rangeOf, shareOf } from "../../lib/media/texts.js";
import { Select } from "../../components/field.js";

const MATRIX_MAX = 24; /* texts in the table */
const PAIRS_MAX = 50, SHORT = 60;

const value = (n) => format("NumberFormat", { minimumFractionDigits: 3, maximumFractionDigits: 3 }).format(n);
const short = (text) => text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;

function Pairs({ texts, rows, range }) {
    const [one, setOne] = useState("");
    const all = nearest(rows, one === "" ? null : Number(one)), shown = all.slice(0, PAIRS_MAX);
    const options = [["", t("media.embed.all_pairs")], ...texts.map((text, i) => [String(i), `${i + 1}. ${short(text)}`])];
    return html`<section class="pairs">
        <h3>${t("media.embed.nearest")}</h3>
        <${Select} label=${t("media.embed.of")} value=${one} options=${options} onChange=${setOne} />
        <ol>${shown.map(({ a, b, value: n }) => html`<li key=${`${a} ${b}`}>
            <span class="bar" aria-hidden="true"><span style=${{ width: `${shareOf(n, range) * 100}%` }}></span></span>
            <b class="figure">${value(n)}</b>
            <span class="pair"><span>${texts[a]}</span><span>${texts[b]}</span></span></li>`)}</ol>
        ${all.length > shown.length && html`<p class="hint">${t("media.embed.more_pairs", { n: all.length - shown.length })}</p>`}
    </section>`;
}

function Matrix({ texts, rows, range }) {
    return html`<section>
        <h3>${t("media.embed.matrix")}</h3>
        <div class="table-scroll" tabindex="0" role="group" aria-label=${t("media.embed.matrix")}>
            <table class="matrix">
                <thead><tr><td></td>${texts.map((text, j) => html`<th key=${j} scope="col" title=${text} aria-label=${`${j + 1}. ${short(text)}`}>${j + 1}</th>`)}</tr></thead>
                <tbody>${rows.map((row, i) => html`<tr key=${i}>
                    <th scope="row" title=${texts[i]}><span>${i + 1}. ${short(texts[i])}</span></th>
                    ${row.map((n, j) => html`<td key=${j} class=${i === j ? "self" : ""}
                        style=${{ "--share": `${i === j ? 0 : Math.round(shareOf(n, range) * 100)}%` }}>${value(n)}</td>`)}
                </tr>`)}</tbody>
            </table>
        </div>
        <p class="hint">${t("media.embed.shading")}</p>
    </section>`;
}

export function Similarities({ texts, rows }) {
    const range = rangeOf(rows);
    return html`
        <${Pairs} texts=${texts} rows=${rows} range=${range} />
        ${texts.length <= MATRIX_MAX ? html`<${Matrix} texts=${texts} rows=${rows} range=${range} />` :
        html`<p class="hint">${t("media.embed.no_matrix", { n: MATRIX_MAX })}</p>`}`;
}
