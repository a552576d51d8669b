/* An answer in progress, and what the records of its stream do to it. Pure. */

export const WAITING = "queued", WRITING = "answering";
export const isUnfinished = (state) => state === WAITING || state === WRITING;

/* What is known of an answer before its stream is read. */
export const newAnswer = (message) => ({
    id: message.id,
    text: message.text ?? "",
    reasoning: message.reasoning ?? "",
    calls: message.calls ?? [],
    tools: [], /* the MCP servers whose tools are offered, from the record "tools" */
    stats: message.stats ?? {},
    state: message.state,
    stage: "", /* "preparing", "tools", "downloading", "waiting", "loading", "computing", "calls"; "": unknown */
    place: 0, /* waiting: in the queue; 0: not known */
    reason: "", /* waiting: a sentence of the server, or "" */
    progress: null, /* loading: 0 to 1 */
    prompt: null, /* {done, total} tokens of the prompt */
    thinking: false, /* the reasoning goes on */
    finish: message.finish ?? "",
    next: "", /* id of the next answer, which continues with the results of the calls; "": none */
    error: message.error ?? null,
    ended: false,
});

const bytes = (text) => new TextEncoder().encode(text).length;

/* Where the stream goes on behind what is known: the id of a record, made of the text itself. */
export const placeOf = (answer) => `${bytes(answer.reasoning)}-${bytes(answer.text)}`;

function setCall(answer, { t, ...call }) {
    const known = answer.calls.some((one) => one.id === call.id);
    answer.calls = known ? answer.calls.map((one) => one.id === call.id ? { ...one, ...call } : one) : [...answer.calls, call];
}

/* Changes the answer by a record. Returns which part has changed: "text", "state" or "" (unknown
 * records, of a later server, are passed over). */
export function apply(answer, record) {
    switch (record.t) {
    case "text":
        answer.text += record.s;
        answer.thinking = false;
        return "text";
    case "think":
        answer.reasoning += record.s;
        answer.thinking = true;
        return "text";
    case "state":
        answer.state = record.state;
        answer.stage = record.stage ?? "";
        answer.place = record.place ?? 0;
        answer.reason = record.reason ?? "";
        answer.progress = record.progress ?? null;
        return "state";
    case "prompt":
        answer.prompt = { done: record.done, total: record.total };
        return "state";
    case "tools":
        answer.tools = record.servers;
        return "state";
    case "calls":
        answer.calls = record.calls;
        return "state";
    case "call":
        setCall(answer, record);
        return "state";
    case "stats": {
        const { t, ...stats } = record;
        answer.stats = { ...answer.stats, ...stats };
        return "state";
    }
    case "end":
        answer.state = record.state;
        answer.finish = record.finish ?? "";
        answer.error = record.error ?? null;
        answer.next = record.next ?? "";
        answer.thinking = false;
        answer.ended = true;
        return "state";
    default:
        return "";
    }
}

/* Returns the message after the answer has ended. The server does not store `tools`: it is kept only while
 * the page is open. */
export const messageOf = (message, answer) => ({
    ...message, text: answer.text, reasoning: answer.reasoning, calls: answer.calls, stats: answer.stats,
    state: answer.state, finish: answer.finish, error: answer.error, ...answer.tools.length && { tools: answer.tools },
});
