/* Calls of tools in an answer. Pure. */

/* JSON with line breaks; other texts as they are. */
export function pretty(text) {
    try {
        return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        return text;
    }
}

export const isAsking = (call) => call.state === "asking";

/* Whether the arguments say nothing. */
export const isBare = (call) => !call.arguments || /^\s*(\{\s*\})?\s*$/.test(call.arguments);

/* Whether a finished answer waits to be continued with the results of its calls: the server does that by
 * itself unless it was being stopped. */
export const awaitsNext = (message) => message.role === "assistant" && message.state === "done" && message.finish === "tool_calls" &&
    message.calls?.length > 0 && message.calls.every((call) => call.result !== undefined && call.result !== null);

/* The servers whose tools could not be offered, of a record `tools`. */
export const unavailable = (servers) => (servers ?? []).filter((one) => one.error);
