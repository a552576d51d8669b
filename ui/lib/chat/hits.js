/* What a search has found, as the page shows it. */

/* Results of the search by chat, in their order: [{chat, title, when, places}]. places: the results in
 * messages; none if only the title matches. */
export function byChat(hits) {
    const found = new Map();
    for (const hit of hits) {
        const { chat, title, when } = hit;
        if (!found.has(chat))
            found.set(chat, { chat, title, when, places: [] });
        if (hit.message)
            found.get(chat).places.push(hit);
    }
    return [...found.values()];
}

/* A piece of a message without the marks that Markdown makes bold text, code and headings of. */
export const unmarked = (text) => text.replace(/\*{2,3}|`+|^#{1,6} /gm, "");
