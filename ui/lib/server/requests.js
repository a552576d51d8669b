/* The list of requests that have ended, as the page holds it. Pure. */

export const KEPT = 1000;

/* The list after another reply of GET requests?after=. Numbers begin again with another server. */
export function merged(before, reply) {
    const same = before && before.log === reply.log_id && reply.last_seq >= before.last;
    const known = new Set(same ? before.list.map((r) => r.seq) : []);
    const list = [...same ? before.list : [], ...reply.requests.filter((r) => !known.has(r.seq))].slice(-KEPT);
    return { list, last: reply.last_seq, log: reply.log_id, capture: reply.capture };
}

/* Whether a request has ended well; otherwise the kind of its end. */
export const outcome = (request) => request.end === "failed" ? "failed" : request.end;

/* Newest first. text: words that all must occur in what the list shows of a request. */
export function filtered(list, { text = "", end = "", model = "", client = "" }) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (r) => (!end || r.end === end) && (!model || r.model === model) && (!client || r.client === client) &&
        words.every((word) => [r.id, r.model, r.client, r.path, r.task, r.error, r.status].join(" ").toLowerCase().includes(word));
    return list.filter(fits).reverse();
}

/* The different values of a member, sorted; for the choices of a filter. */
export const choicesOf = (list, member) => [...new Set(list.map((r) => r[member]).filter(Boolean))].sort();

/* The captured body as an object, if it is whole and JSON; else null. */
export function bodyOf(request) {
    const { text, cut } = request.body ?? {};
    if (!text || cut)
        return null;
    try {
        const body = JSON.parse(text);
        return body && typeof body === "object" && !Array.isArray(body) ? body : null;
    } catch {
        return null;
    }
}

/* A text as it reads best: JSON with indents, events and others as they are. */
export function readable(text) {
    try {
        return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        return text;
    }
}
