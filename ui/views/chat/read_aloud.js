/* Reads an answer aloud with a speech model of this server; nothing is shown without one. */
import { html, signal } from "../../lib/html.js";
import { send } from "../../lib/client.js";
import { spoken } from "../../lib/chat/sentences.js";
import { t } from "../../lib/i18n.js";
import { IconButton } from "../../components/button.js";
import { toastError } from "../../components/toast.js";
import { modelsState } from "../../store/chat_models.js";

const INPUT_MAX = 4000; /* characters that the server reads at once */

/* {text, audio} of what is being read, or null. */
const reading = signal(null);

function stop() {
    const { audio } = reading.peek() ?? {};
    if (audio) {
        audio.pause();
        URL.revokeObjectURL(audio.src);
    }
    reading.value = null;
}

async function read(text, model) {
    stop();
    reading.value = { text, audio: null };
    try {
        const reply = await send("POST", "/v1/audio/speech", { model, input: spoken(text, t("chat.code")).slice(0, INPUT_MAX) });
        const audio = new Audio(URL.createObjectURL(await reply.blob()));
        if (reading.peek()?.text !== text)
            return;
        reading.value = { text, audio };
        audio.addEventListener("ended", stop);
        await audio.play();
    } catch (error) {
        stop();
        toastError(error);
    }
}

export function ReadAloud({ text }) {
    const model = modelsState.value.data?.find((m) => m.downloaded && !m.unsupported && m.capabilities?.includes("speak"));
    if (!model)
        return null;
    const on = reading.value?.text === text;
    return html`<${IconButton} icon=${on ? "stop" : "speaker"} pressed=${on} label=${t(on ? "chat.read_stop" : "chat.read_aloud")}
        onClick=${() => on ? stop() : read(text, model.id)} />`;
}
