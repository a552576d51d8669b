/* Prepares the tool calls of an answer for display. Pure functions. */

/* Characters that change the direction of the text after them: with them, a name or an argument could look
 * like another one. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const escaped = (text) => text.replace(DIRECTIONS, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g, DEEP = 50;

const isJson = (text) => {
    try {
        JSON.parse(text);
        return true;
    } catch {
        return false;
    }
};

/* Returns JSON text with line breaks and indentation. Keeps duplicate keys and all digits of numbers. Returns
 * text that is not JSON, or that is nested too deeply, unchanged. */
export function pretty(text) {
    const tokens = isJson(text) ? text.match(TOKEN) : [], out = [];
    let depth = 0;
    for (const [i, token] of tokens.entries()) {
        const opened = "{[".includes(tokens[i - 1] ?? " "), closes = "}]".includes(token);
        depth -= closes ? 1 : 0;
        if ((closes && !opened) || (!closes && (opened || tokens[i - 1] === ",")))
            out.push(`\n${"  ".repeat(depth)}`);
        out.push(token[0] === '"' ? JSON.stringify(JSON.parse(token)) : token === ":" ? ": " : token);
        depth += "{[".includes(token) ? 1 : 0;
        if (depth > DEEP)
            return text;
    }
    return out.join("") || text;
}

/* Formats the arguments of a call, keeping their order. Characters that change the text direction are
 * escaped. */
export const prettyArguments = (text) => escaped(pretty(text));

export const isAsking = (call) => call.state === "asking";

/* Returns false if the arguments are empty or an empty object. */
export const hasArguments = (call) => !/^\s*(\{\s*\})?\s*$/.test(call.arguments);

const TEXTS = ["id", "name", "arguments", "server", "server_name", "tool", "state", "result"], NAMES = ["name", "server_name", "tool"];
const OPEN = ["asking", "running"];

const textOf = (value) => typeof value === "string" ? value : JSON.stringify(value);
const given = (value) => value !== undefined && value !== null;

/* Returns the calls of a message for display. Calls of an imported message may have any form, so they are
 * normalised. live: the answer is in progress; if false, calls that are still asking or running are shown as
 * stopped. */
export const shownCalls = (calls, live) => (calls ?? []).filter((call) => call && typeof call === "object").map((call, i) => {
    const one = Object.fromEntries(TEXTS.filter((name) => given(call[name]))
        .map((name) => [name, NAMES.includes(name) ? escaped(textOf(call[name])) : textOf(call[name])]));
    return { id: String(i), name: "", arguments: "", ...one, ...!live && OPEN.includes(one.state) && { state: "stopped" } };
});

/* Returns true if a finished answer has the results of all its calls, but no answer continues it. Normally
 * the server begins that answer itself; it does not if it was being stopped. */
export const awaitsNext = (message) => message.role === "assistant" && message.state === "done" && message.finish === "tool_calls" &&
    message.calls?.length > 0 && message.calls.every((call) => given(call?.result));

/* Returns the servers of a record "tools" whose tools could not be offered. */
export const unavailable = (servers) => (servers ?? []).filter((one) => one.error);
