/* Requests for transcriptions, and what comes back. */
import { readableSound, wavFile } from "../audio/wav.js";
import { ApiError } from "../client.js";
import { eventParser } from "../events.js";
import { sendForJson, sendRequest } from "../requests.js";

/* ask: {model, language ("": the model hears which), translate (into English), times, prompt}. Without
 * times the text can be streamed. */
export function requestOf(file, { model, language, translate, times, prompt }) {
    return {
        path: translate ? "/v1/audio/translations" : "/v1/audio/transcriptions",
        form: [["model", model], ["file", file], ["response_format", times ? "verbose_json" : "json"],
            ...language ? [["language", language]] : [], ...prompt ? [["prompt", prompt]] : [], ...times ? [] : [["stream", "true"]]],
    };
}

/* {text, segments, language, duration}; segments are null where there are no times. */
const timed = (reply) => ({
    text: reply.text.trim(),
    segments: (reply.segments ?? []).map(({ start, end, text }) => ({ start, end, text: text.trim() })).filter((s) => s.text),
    language: reply.language ?? "",
    duration: reply.duration ?? null,
});

async function streamed(request, { signal, tell }) {
    const reply = await sendRequest(request, { signal, headers: { Accept: "text/event-stream" } });
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader(), parse = eventParser();
    let text = "", ended = false;
    for (;;) {
        const { done, value } = await reader.read();
        if (done)
            break;
        for (const { data } of parse(value)) {
            if (data === "[DONE]")
                continue;
            const event = JSON.parse(data);
            if (event.error)
                throw new ApiError(500, event.error.message, { details: event.error });
            if (event.type === "transcript.text.done") {
                text = event.text;
                ended = true;
            } else {
                text += event.delta ?? "";
            }
            tell({ text });
        }
    }
    if (!ended)
        throw new ApiError(0, "", { code: "unreachable" });
    return { text: text.trim(), segments: null, language: "", duration: null };
}

/* The transcript of a file; work is what store/tasks.js gives. */
export async function transcribe(file, ask, work) {
    work.tell({ text: "" });
    const request = requestOf(await readableSound(file), ask);
    return ask.times ? timed(await sendForJson(request, { signal: work.signal })) : streamed(request, work);
}

/* The transcript of a piece of a recording that began `start` seconds into it. */
export async function transcribePiece(samples, start, ask, signal) {
    const request = requestOf(wavFile(samples, "piece.wav"), { ...ask, times: true });
    const { text, segments, language } = timed(await sendForJson(request, { signal }));
    const all = segments.length ? segments : text ? [{ start: 0, end: 0, text }] : [];
    return { language, segments: all.map((s) => ({ ...s, start: s.start + start, end: s.end + start })) };
}
