/* A value over time as a small plot, with the same in words for those who do not see it. */
import { html } from "../lib/html.js";
import { areaPath, linePath, roundUp, segments, summary } from "../lib/plot.js";

const WIDTH = 300, HEIGHT = 64;

/* points: see lib/plot.js. text(value): a value as it is read. words({now, min, max}): the plot as a
 * sentence, from such texts. max: the top of the scale; without it a round number above the values. */
export function Plot({ title, points, text, words, max, now, span, gap }) {
    const found = summary(points.filter((p) => p.at >= now - span));
    if (!found)
        return null;
    const top = max ?? roundUp(found.max);
    const lines = segments(points, { now, span, gap, max: top, width: WIDTH, height: HEIGHT });
    const said = Object.fromEntries(Object.entries(found).map(([name, value]) => [name, text(value)]));
    return html`<figure class="plot">
        <figcaption>${title} <strong>${said.now}</strong></figcaption>
        <div class="plot-box">
            <span class="plot-top" aria-hidden="true">${text(top)}</span>
            <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${words(said)}>
                <path class="plot-grid" d=${`M0 .5H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT - 0.5}H${WIDTH}`} />
                <path class="plot-area" d=${areaPath(lines, HEIGHT)} />
                <path class="plot-line" d=${linePath(lines)} />
            </svg>
        </div>
    </figure>`;
}
