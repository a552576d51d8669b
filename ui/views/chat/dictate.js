/* Speech instead of typing: records, has a model of this server write it down, and hands on the text.
 * Nothing is shown without such a model, or where the browser allows no microphone. */
import { html, useEffect, useRef, useState } from "../../lib/html.js";
import { api } from "../../lib/client.js";
import { t } from "../../lib/i18n.js";
import { IconButton } from "../../components/button.js";
import { toast, toastError } from "../../components/toast.js";
import { modelsState } from "../../store/chat_models.js";

const KINDS = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];

async function write(blob, model) {
    const form = new FormData();
    form.append("model", model);
    form.append("file", blob, `dictation.${/audio\/(\w+)/.exec(blob.type)[1]}`);
    return (await api("POST", "/v1/audio/transcriptions", form)).text.trim();
}

/* add(text) gets what was said. */
export function Dictate({ add }) {
    const [state, setState] = useState("idle"), recorder = useRef(null);
    const model = modelsState.value.data?.find((m) => m.downloaded && !m.unsupported && m.capabilities?.includes("transcribe"));
    useEffect(() => () => recorder.current?.stream.getTracks().forEach((track) => track.stop()), []);
    if (!model || !navigator.mediaDevices)
        return null;
    const begin = async () => {
        const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
        const pieces = [], made = new MediaRecorder(stream, { mimeType: KINDS.find((kind) => MediaRecorder.isTypeSupported(kind)) });
        made.ondataavailable = (event) => pieces.push(event.data);
        made.onstop = async () => {
            stream.getTracks().forEach((track) => track.stop());
            setState("writing");
            try {
                add(await write(new Blob(pieces, { type: made.mimeType }), model.id));
            } catch (error) {
                toastError(error);
            }
            setState("idle");
        };
        recorder.current = made;
        made.start();
        setState("recording");
    };
    const press = () => state === "recording" ? recorder.current.stop() :
        begin().catch(() => toast(t("chat.no_microphone"), { error: true }));
    return html`<${IconButton} icon=${state === "recording" ? "stop" : "mic"} pressed=${state === "recording"} disabled=${state === "writing"}
        label=${t(state === "recording" ? "chat.dictate_stop" : state === "writing" ? "chat.dictate_writing" : "chat.dictate")} onClick=${press} />`;
}
