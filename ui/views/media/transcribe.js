/* Transcription: of a file, or of the microphone while it is spoken into. */
import { html } from "../../lib/html.js";
import { t } from "../../lib/i18n.js";
import { useKept } from "../../lib/kept.js";
import { languages } from "../../lib/media/languages.js";
import { requestOf } from "../../lib/media/transcribe.js";
import { href, route } from "../../lib/route.js";
import { AsCode } from "../../components/as_code.js";
import { Select, Toggle } from "../../components/field.js";
import { FromFile } from "./from_file.js";
import { FromMicrophone } from "./from_microphone.js";
import { ModelPicker, Panel } from "./panel.js";

const WAYS = { file: FromFile, microphone: FromMicrophone };
const ASK = { language: "", translate: false, times: true };

const choice = (current) => html`<nav class="choice" aria-label=${t("media.transcribe.from")}>
    ${Object.keys(WAYS).map((way) => html`<a key=${way} href=${href("media", "transcribe", { from: way === "file" ? "" : way })}
        aria-current=${way === current ? "true" : undefined}>${t(`media.transcribe.from.${way}`)}</a>`)}</nav>`;

function Form({ model, models }) {
    const [ask, setAsk] = useKept("media.transcribe", ASK), set = (name) => (value) => setAsk({ ...ask, [name]: value });
    const asked = route.value.query.get("from"), way = asked in WAYS ? asked : "file", Way = WAYS[way];
    const [file] = useKept("media.transcribe.file", null);
    const whole = { ...ask, model: model.id, times: ask.times || way === "microphone" };
    return html`
        <div class="fields">
            <${ModelPicker} can="transcribe" models=${models} model=${model} />
            <${Select} label=${t("media.transcribe.language")} value=${ask.language} onChange=${set("language")}
                options=${[["", t("media.transcribe.any_language")], ...languages()]} />
        </div>
        <div class="toggles">
            <${Toggle} label=${t("media.transcribe.translate")} checked=${ask.translate} onChange=${set("translate")} />
            ${way === "file" && html`<${Toggle} label=${t("media.transcribe.times")} hint=${t("media.transcribe.times_hint")}
                checked=${ask.times} onChange=${set("times")} />`}
        </div>
        ${choice(way)}
        <${Way} key=${way} ask=${whole} />
        <${AsCode} request=${requestOf({ name: way === "file" ? file?.name ?? "sound.mp3" : "piece.wav" }, whole)} />`;
}

export const Transcribe = () => html`<${Panel} part="transcribe">${(model, models) => html`<${Form} model=${model} models=${models} />`}<//>`;
