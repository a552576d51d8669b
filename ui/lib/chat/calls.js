/* Calls of tools in an answer. Pure. */

/* Characters that change the direction in which what follows is shown: a name or an argument with them
 * could read as another one. */
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

/* JSON with line breaks, of which nothing is lost: neither a key that is there twice nor a digit. Other
 * texts, and those that are nested too deeply, as they are. */
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

/* The arguments of a call, as they are, in the order in which they are written. */
export const prettyArguments = (text) => escaped(pretty(text));

export const isAsking = (call) => call.state === "asking";

/* Whether the arguments say something. */
export const hasArguments = (call) => !/^\s*(\{\s*\})?\s*$/.test(call.arguments);

const TEXTS = ["id", "name", "arguments", "server", "server_name", "tool", "state", "result"], NAMES = ["name", "server_name", "tool"];
const OPEN = ["asking", "running"];

const textOf = (value) => typeof value === "string" ? value : JSON.stringify(value);
const given = (value) => value !== undefined && value !== null;

/* The calls of a message as they are shown: those of an imported message may have any form. live: the
 * answer is in progress; without it nothing waits or runs. */
export const shownCalls = (calls, live) => (calls ?? []).filter((call) => call && typeof call === "object").map((call, i) => {
    const one = Object.fromEntries(TEXTS.filter((name) => given(call[name]))
        .map((name) => [name, NAMES.includes(name) ? escaped(textOf(call[name])) : textOf(call[name])]));
    return { id: String(i), name: "", arguments: "", ...one, ...!live && OPEN.includes(one.state) && { state: "stopped" } };
});

/* Whether a finished answer waits to be continued with the results of its calls: the server does that by
 * itself unless it was being stopped. */
export const awaitsNext = (message) => message.role === "assistant" && message.state === "done" && message.finish === "tool_calls" &&
    message.calls?.length > 0 && message.calls.every((call) => given(call?.result));

/* The servers whose tools could not be offered, of a record `tools`. */
export const unavailable = (servers) => (servers ?? []).filter((one) => one.error);
