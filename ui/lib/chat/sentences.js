/* Whole sentences of an answer in progress, for readers who hear it. Pure. */

/* What markdown adds to a text is not read aloud; code is named, not spelled. */
export function spoken(text, codeName) {
    return text
        .replace(/^ {0,3}(`{3,}|~{3,})[^\n]*\n[^]*?(?:\n {0,3}\1[^\n]*(?=\n|$))/gm, `${codeName}.`)
        .replace(/!?\[([^\]\n]*)\]\([^)\n]*\)/g, "$1")
        .replace(/^\s*(?:#{1,6}|>|[-*+])\s+/gm, "")
        .replace(/^\s*\|?[\s:|-]{3,}\|?\s*$/gm, "")
        .replace(/\*\*|__|`|\|/g, " ")
        .replace(/[ \t]+/g, " ");
}

/* Where the last whole sentence of a text ends. A fence that is open is not read yet. */
function settledEnd(text) {
    const fences = [...text.matchAll(/^ {0,3}(?:`{3,}|~{3,})/gm)];
    const limit = fences.length % 2 ? fences.at(-1).index : text.length;
    let end = 0;
    for (const found of text.slice(0, limit).matchAll(/[.!?…:。！？]["')\]»”’]*(?=\s)|\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)]|#)\s)/g))
        end = found.index + found[0].length;
    return fences.length && fences.length % 2 === 0 && limit === text.length ?
        Math.max(end, afterFence(text, fences)) : end;
}

/* A closed fence ends like a sentence. */
function afterFence(text, fences) {
    const line = text.indexOf("\n", fences.at(-1).index);
    return line < 0 ? 0 : line + 1;
}

/* Returns a function that gets the growing text and returns what can be announced since its last
 * call: whole sentences, at the end the rest. */
export function sentences(codeName) {
    let said = 0;
    return (text, ended = false) => {
        const end = ended ? text.length : said + settledEnd(text.slice(said));
        const part = text.slice(said, end);
        said = Math.max(said, end);
        return spoken(part, codeName).trim();
    };
}
