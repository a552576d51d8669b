/* The transcript of a file. */
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { ApiError } from "../../lib/client.js";
import { bytes, duration } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { useKept } from "../../lib/kept.js";
import { transcribe } from "../../lib/media/transcribe.js";
import { Button } from "../../components/button.js";
import { FileDrop } from "../../components/file_drop.js";
import { taskOf } from "../../store/tasks.js";
import { Transcript } from "./transcript.js";
import { Working } from "./working.js";

const task = taskOf("transcribe");

/* The browser cannot read every format that it accepts as a sound. */
async function read(file, ask, work) {
    try {
        return { ...await transcribe(file, ask, work), file };
    } catch (error) {
        throw error.name === "EncodingError" ? new ApiError(400, t("media.transcribe.no_sound", { name: file.name })) : error;
    }
}

function Sound({ file, player }) {
    const [url, setUrl] = useState("");
    useEffect(() => {
        const made = URL.createObjectURL(file);
        setUrl(made);
        return () => URL.revokeObjectURL(made);
    }, [file]);
    return url && html`<audio ref=${player} controls src=${url} aria-label=${file.name}></audio>`;
}

export function FromFile({ ask }) {
    const [file, setFile] = useKept("media.transcribe.file", null), player = useRef(null);
    const { busy, result, text, took } = task.state.value;
    const take = ([one]) => {
        task.forget();
        setFile(one);
    };
    const seek = (seconds) => {
        player.current.currentTime = seconds;
        player.current.play().catch(() => {}); /* a sound that cannot be played is still read */
    };
    return html`
        <${FileDrop} label=${t(file ? "media.transcribe.other" : "media.transcribe.choose")} hint=${t("media.transcribe.formats")}
            icon="upload" accept="audio/*,video/*" take=${take}>
            ${file && html`<p><b>${file.name}</b> <span class="hint">${bytes(file.size)}</span></p>`}
        <//>
        ${file && html`<${Sound} file=${file} player=${player} />`}
        <div class="row"><${Button} kind="primary" busy=${busy} disabled=${!file} onClick=${() => task.run((work) => read(file, ask, work))}>
            ${t("media.transcribe.do")}<//></div>
        <${Working} task=${task} model=${ask.model} />
        ${busy && text && html`<div class="transcript" aria-live="polite"><p>${text}</p></div>`}
        ${!busy && result && html`<${Transcript} result=${result} name=${result.file.name} seek=${result.file === file ? seek : null}>
            <span>${duration(took)}</span><//>`}`;
}
