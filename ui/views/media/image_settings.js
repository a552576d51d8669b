/* How a picture is made: size, steps, guidance, seed, and how many. What is left empty is the model's
 * own choice. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { randomSeed, roundedSize } from "../../lib/media/pictures.js";
import { IconButton } from "../../components/button.js";
import { NumberField, Select, TextField } from "../../components/field.js";

const SIZES = ["256x256", "512x512", "768x768", "1024x1024", "768x512", "512x768", "1344x768", "768x1344"];
const OWN = "own"; /* a size that is typed */

const shown = (size) => size.replace("x", " × ");

/* The size that an empty choice means. */
function usual({ image_defaults: d }, source) {
    if (source) {
        const { width, height } = roundedSize(source);
        return t("media.images.size.source", { size: shown(`${width}x${height}`) });
    }
    return d?.width ? t("media.images.size.model_known", { size: shown(`${d.width}x${d.height}`) }) : t("media.images.size.model");
}

function Size({ ask, set, model, source, wrong }) {
    const typed = ask.size !== "" && !SIZES.includes(ask.size);
    const [width = "", height = ""] = ask.size.split("x");
    const side = (w, h) => set({ size: `${w ?? ""}x${h ?? ""}` });
    return html`
        <${Select} label=${t("media.images.size")} value=${typed ? OWN : ask.size} error=${typed ? "" : wrong.size}
            options=${[["", usual(model, source)], ...SIZES.map((size) => [size, shown(size)]), [OWN, t("media.images.size.own")]]}
            onChange=${(size) => set({ size: size === OWN ? "x" : size })} />
        ${typed && html`
            <${NumberField} label=${t("media.images.width")} min="16" max="4096" step="8" value=${width} error=${wrong.size}
                onInput=${(w) => side(w, height)} />
            <${NumberField} label=${t("media.images.height")} min="16" max="4096" step="8" value=${height}
                onInput=${(h) => side(width, h)} />`}`;
}

function Seed({ ask, set, wrong }) {
    return html`<div class="with-button">
        <${NumberField} label=${t("media.images.seed")} min="0" step="1" value=${ask.seed} placeholder=${t("media.images.seed.random")}
            error=${wrong.seed} onInput=${(seed) => set({ seed })} />
        <${IconButton} icon=${ask.seed === null ? "spark" : "close"} label=${t(ask.seed === null ? "media.images.seed.choose" : "media.images.seed.forget")}
            onClick=${() => set({ seed: ask.seed === null ? randomSeed() : null })} />
    </div>`;
}

/* kind: "generate", "edit" or "vary". */
export function Settings({ kind, ask, set, model, source, wrong }) {
    const defaults = model.image_defaults ?? {};
    const opened = [ask.negative, ask.steps, ask.guidance, ask.strength].some((value) => value !== "" && value !== null);
    return html`
        <div class="fields">
            <${Size} ask=${ask} set=${set} model=${model} source=${source} wrong=${wrong} />
            <${NumberField} label=${t("media.images.count")} min="1" max="10" step="1" value=${ask.count} error=${wrong.count}
                onInput=${(count) => set({ count })} />
            <${Seed} ask=${ask} set=${set} wrong=${wrong} />
        </div>
        <details open=${opened}><summary>${t("media.more")}</summary>
            ${kind !== "vary" && html`<${TextField} label=${t("media.images.negative")} hint=${t("media.images.negative_hint")} value=${ask.negative}
                onInput=${(negative) => set({ negative })} />`}
            <div class="fields">
                <${NumberField} label=${t("media.images.steps")} min="1" max="1000" step="1" value=${ask.steps} placeholder=${defaults.steps ?? ""}
                    hint=${t("media.images.steps_hint")} error=${wrong.steps} onInput=${(steps) => set({ steps })} />
                <${NumberField} label=${t("media.images.guidance")} min="0" max="100" step="0.1" value=${ask.guidance} placeholder=${defaults.cfg_scale ?? ""}
                    hint=${t("media.images.guidance_hint")} error=${wrong.guidance} onInput=${(guidance) => set({ guidance })} />
                ${kind !== "generate" && html`<${NumberField} label=${t("media.images.strength")} min="0" max="1" step="0.05" value=${ask.strength}
                    hint=${t("media.images.strength_hint")} error=${wrong.strength} onInput=${(strength) => set({ strength })} />`}
            </div>
        </details>`;
}
