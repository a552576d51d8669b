/* What is said into the microphone, piece by piece. */
import { html } from "../../lib/html.js";
import { canRecord } from "../../lib/audio/recorder.js";
import { t } from "../../lib/i18n.js";
import { Button } from "../../components/button.js";
import { ErrorBox } from "../../components/error.js";
import { listen, listening, forget, recorder, stop } from "../../store/listening.js";
import { Transcript } from "./transcript.js";

const LOUD = 0.25; /* the level that fills the meter */

/* Why the browser does not let the page listen, in words. */
const refusals = { NotAllowedError: "media.mic.refused", NotFoundError: "media.mic.none", NotReadableError: "media.mic.busy" };
const inWords = (error) => error.name in refusals ? { message: t(refusals[error.name]) } : error;

/* Drawn by itself ten times a second, without what stands around it. */
function Level() {
    const level = recorder.value?.level.value ?? 0;
    return html`<span class="level" aria-hidden="true"><span style=${{ width: `${Math.min(1, level / LOUD) * 100}%` }}></span></span>`;
}

export function FromMicrophone({ ask }) {
    const { on, busy, error, segments, language } = listening.value;
    if (!canRecord())
        return html`<p class="hint">${t("media.mic.insecure")}</p>`;
    const last = segments.at(-1);
    const state = on ? t(busy ? "media.mic.hearing" : "media.mic.listening") : busy ? t("media.mic.finishing") : t("media.mic.off");
    return html`
        <div class="row microphone">
            ${on ? html`<${Button} kind="danger" icon="stop" onClick=${stop}>${t("media.mic.stop")}<//>` :
        html`<${Button} kind="primary" icon="mic" busy=${busy} onClick=${() => listen(ask)}>${t("media.mic.start")}<//>`}
            <${Level} />
            <p class="hint" role="status">${state}</p>
            ${!on && segments.length > 0 && html`<${Button} kind="quiet" icon="trash" onClick=${forget}>${t("media.mic.forget")}<//>`}
        </div>
        ${error && html`<${ErrorBox} error=${inWords(error)} retry=${() => listen(ask)} />`}
        ${segments.length > 0 && html`<${Transcript} name="microphone" live=${on}
            result=${{ segments, language, duration: last.end, text: segments.map((s) => s.text).join(" ") }} />`}`;
}
