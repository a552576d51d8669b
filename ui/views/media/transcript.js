/* A transcript, and its files: text, subtitles, JSON. */
import { html } from "../../lib/html.js";
import { copyText, downloadText } from "../../lib/clipboard.js";
import { duration as shownDuration } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { languageName } from "../../lib/media/languages.js";
import { shortTime, toSrt, toText, toVtt } from "../../lib/media/subtitles.js";
import { Button } from "../../components/button.js";
import { Menu } from "../../components/menu.js";
import { toast, toastError } from "../../components/toast.js";

const plain = ({ text, segments }) => segments ? toText(segments) : `${text}\n`;

/* [ending, type, function of the result]; the first and last need no times. */
const FILES = [
    ["txt", "text/plain", plain],
    ["srt", "application/x-subrip", ({ segments }) => toSrt(segments)],
    ["vtt", "text/vtt", ({ segments }) => toVtt(segments)],
    ["json", "application/json", ({ text, segments, language, duration }) =>
        JSON.stringify({ text, ...segments && { segments }, ...language && { language }, ...duration !== null && { duration } }, null, 2) + "\n"],
];

function downloads(result, name) {
    const base = name.replace(/\.\w+$/, "");
    return FILES.filter(([ending]) => result.segments || ending === "txt" || ending === "json").map(([ending, type, make]) => ({
        text: t(`media.transcript.${ending}`), icon: "download", run: () => downloadText(make(result), `${base}.${ending}`, type),
    }));
}

/* name: of the files; seek(seconds) plays the sound from there; live: more is to come, so that it is
 * read aloud as it comes. */
export function Transcript({ result, name, seek, live, children }) {
    const { text, segments, language, duration } = result;
    const copy = () => copyText(plain(result)).then(() => toast(t("action.copied")), toastError);
    const words = text.split(/\s+/).filter(Boolean).length;
    return html`<section class="result" aria-label=${t("media.transcript.title")}>
        <p class="facts-line hint">${language && html`<span>${t("media.transcript.language", { name: languageName(language) })}</span>`}
            ${duration > 0 && html`<span>${t("media.transcript.sound", { time: shownDuration(duration * 1000) })}</span>`}
            <span>${t("media.transcript.words", { n: words })}</span>${children}</p>
        <div class="transcript" aria-live=${live ? "polite" : undefined} tabindex="0" role="group" aria-label=${t("media.transcript.title")}>
            ${!text && html`<p class="hint">${t("media.transcript.nothing")}</p>`}
            ${segments ? html`<ol>${segments.map((s, i) => html`<li key=${i}>
                ${seek ? html`<button type="button" class="time" title=${t("media.transcript.play")} onClick=${() => seek(s.start)}>${shortTime(s.start)}</button>` :
        html`<span class="time">${shortTime(s.start)}</span>`}
                <span>${s.text}</span></li>`)}</ol>` : html`<p>${text}</p>`}
        </div>
        ${text && html`<div class="row">
            <${Button} icon="copy" onClick=${copy}>${t("action.copy")}<//>
            <${Menu} icon="download" text=${t("media.download")} items=${downloads(result, name)} />
        </div>`}
    </section>`;
}
