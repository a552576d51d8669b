/* Speech: a text is spoken, to be heard here or saved. */
import { html, useEffect, useState } from "../../lib/html.js";
import { bytes, duration } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { downloadBlob } from "../../lib/clipboard.js";
import { useKept } from "../../lib/kept.js";
import { fileName } from "../../lib/media/pictures.js";
import { sendRequest } from "../../lib/requests.js";
import { AsCode } from "../../components/as_code.js";
import { Button } from "../../components/button.js";
import { NumberField, Select, TextField } from "../../components/field.js";
import { taskOf } from "../../store/tasks.js";
import { ModelPicker, Panel } from "./panel.js";
import { VOICES, voicesOf } from "./voices.js";
import { Working } from "./working.js";

const INPUT_MAX = 4096; /* characters that the server reads at once */
const SPEED_LEAST = 0.25, SPEED_MOST = 4;
const FORMATS = ["mp3", "wav", "opus", "flac", "aac"];

const task = taskOf("speech");

function requestOf(model, { text, voice, speed, format, instructions }) {
    return {
        path: "/v1/audio/speech",
        json: {
            model, input: text, voice: voice.trim() || VOICES[0], response_format: format,
            ...speed !== null && speed !== 1 && { speed }, ...instructions.trim() && { instructions: instructions.trim() },
        },
        saves: { as: "body", name: `speech.${format}` },
    };
}

async function speak(request, signal) {
    const blob = await (await sendRequest(request, { signal })).blob();
    const { input, response_format: format } = request.json;
    return { blob, text: input, name: fileName({ prompt: input, kind: "speech" }, format) };
}

function Player({ result, took }) {
    const [url, setUrl] = useState(""), [wrong, setWrong] = useState(false);
    useEffect(() => {
        const made = URL.createObjectURL(result.blob);
        setUrl(made);
        setWrong(false);
        return () => URL.revokeObjectURL(made);
    }, [result]);
    return html`<section class="result" aria-label=${t("media.result")}>
        ${url && html`<audio controls src=${url} aria-label=${t("media.speech.player")} onError=${() => setWrong(true)}></audio>`}
        ${wrong && html`<p class="hint" role="status">${t("media.speech.unplayable")}</p>`}
        <p class="facts-line hint"><span>${bytes(result.blob.size)}</span><span>${duration(took)}</span></p>
        <div class="row"><${Button} icon="download" onClick=${() => downloadBlob(result.blob, result.name)}>${t("media.download")}<//></div>
    </section>`;
}

const EMPTY = { text: "", voice: "", speed: 1, format: FORMATS[0], instructions: "" };

function Form({ model, models }) {
    const [form, setForm] = useKept("media.speech", EMPTY), [wrong, setWrong] = useState({});
    const set = (name) => (value) => setForm({ ...form, [name]: value });
    const { busy, result, took } = task.state.value, request = requestOf(model.id, form);
    const length = [...form.text].length, voices = voicesOf(model);
    const submit = (event) => {
        event.preventDefault();
        const { speed } = form;
        const problems = {
            text: !form.text.trim() ? t("media.speech.no_text") : length > INPUT_MAX ? t("media.speech.long", { n: INPUT_MAX }) : "",
            speed: speed !== null && !(speed >= SPEED_LEAST && speed <= SPEED_MOST) ? t("media.between", { least: SPEED_LEAST, most: SPEED_MOST }) : "",
        };
        setWrong(problems);
        if (!problems.text && !problems.speed)
            task.run(({ signal }) => speak(request, signal));
    };
    return html`
        <form novalidate onSubmit=${submit}>
            <div class="fields">
                <${ModelPicker} can="speak" models=${models} model=${model} />
                <${TextField} label=${t("media.speech.voice")} list="media-voices" value=${form.voice} placeholder=${voices[0]} onInput=${set("voice")} />
                <datalist id="media-voices">${voices.map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
                <${NumberField} label=${t("media.speech.speed")} min=${SPEED_LEAST} max=${SPEED_MOST} step="0.05" value=${form.speed}
                    onInput=${set("speed")} error=${wrong.speed} />
                <${Select} label=${t("media.speech.format")} options=${FORMATS} value=${form.format} onChange=${set("format")} />
            </div>
            <${TextField} label=${t("media.speech.text")} rows="6" value=${form.text} onInput=${set("text")} error=${wrong.text}
                hint=${t("media.speech.length", { n: length, most: INPUT_MAX })} />
            <details><summary>${t("media.more")}</summary>
                <${TextField} label=${t("media.speech.instructions")} value=${form.instructions} onInput=${set("instructions")}
                    hint=${t("media.speech.instructions_hint")} /></details>
            <div class="row">
                <${Button} kind="primary" type="submit" icon="speaker" busy=${busy}>${t("media.speech.do")}<//>
                ${!form.text && html`<${Button} kind="quiet" onClick=${() => set("text")(t("media.speech.example"))}>${t("media.example")}<//>`}
            </div>
        </form>
        <${Working} task=${task} model=${model.id} />
        ${result && html`<${Player} result=${result} took=${took} />`}
        <${AsCode} request=${request} />`;
}

export const Speech = () => html`<${Panel} part="speech">${(model, models) => html`<${Form} model=${model} models=${models} />`}<//>`;
