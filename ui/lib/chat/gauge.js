/* What the context of a model is filled with. The server reports how many tokens a prompt had; how
 * they divide is estimated by characters. Pure. */

const IMAGE_CHARS = 2500; /* what a picture counts as, in characters of text */

const chars = (text) => text?.length ?? 0;

/* path: the messages shown, oldest first; system: the chat's system message. Returns {context, used,
 * parts: [{name, tokens}]} after the last answer that has figures; null if there is none. */
export function gauge(path, system) {
    const at = path.findLastIndex((m) => m.role === "assistant" && m.stats?.prompt > 0);
    if (at < 0)
        return null;
    const { prompt, output = 0, context = 0 } = path[at].stats;
    const weights = { system: chars(system), files: 0, history: 0, reasoning: 0 };
    for (const m of path.slice(0, at)) {
        weights.history += chars(m.text) + (m.calls ?? []).reduce((n, c) => n + chars(c.arguments) + chars(c.result), 0);
        for (const part of m.parts ?? [])
            weights.files += part.kind === "image" ? IMAGE_CHARS : part.bytes ?? 0;
    }
    const last = path[at], whole = chars(last.text) + chars(last.reasoning);
    const thought = whole ? Math.round(output * chars(last.reasoning) / whole) : 0;
    const total = Object.values(weights).reduce((a, b) => a + b, 0);
    const share = (weight) => total ? Math.round(prompt * weight / total) : 0;
    const files = share(weights.files), own = share(weights.system);
    const parts = [
        { name: "system", tokens: own },
        { name: "files", tokens: files },
        { name: "history", tokens: prompt - own - files + output - thought },
        { name: "reasoning", tokens: thought },
    ].filter((part) => part.tokens > 0);
    return { context, used: prompt + output, parts };
}
