/* The machine's load over the last minutes. What no driver reports is left out. */
import { html } from "../../lib/html.js";
import { bytes, number, percent } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { knows, pointsOf, SPAN_MS } from "../../lib/server/history.js";
import { Plot } from "../../components/plot.js";
import { POLL_MS } from "../../store/resource.js";

const GAP_MS = 4 * POLL_MS;

const share = (value) => percent(value / 100);
const watts = (value) => t("server.watts", { n: number(value, 1) });
const speed = (value) => t("server.speed", { n: number(value, 1) });

/* [member of a sample, how it is read, top of the scale] */
const plots = (last) => [
    ["speed", speed],
    ["running", (value) => number(value, 0)],
    ["waiting", (value) => number(value, 0)],
    ["cpu", share, 100],
    ["memory", bytes, last.memoryTotal ?? undefined],
    ["gpu", share, 100],
    ["vram", bytes],
    ["cpuPower", watts],
    ["gpuPower", watts],
];

export function Plots({ samples }) {
    const last = samples.at(-1);
    if (!last)
        return null;
    const minutes = SPAN_MS / 60000;
    return html`
        <p class="hint">${t("server.plots.span", { n: minutes })}</p>
        <div class="plots">${plots(last).filter(([member]) => knows(samples, member)).map(([member, text, max]) => html`
            <${Plot} key=${member} title=${t(`server.plot.${member}`)} points=${pointsOf(samples, member)} text=${text} max=${max}
                now=${last.at} span=${SPAN_MS} gap=${GAP_MS}
                words=${(said) => t("server.plot.words", { what: t(`server.plot.${member}`), n: minutes, ...said })} />`)}
        </div>`;
}
