/* Closes what a growing paragraph has opened, so that "**bold" does not show its asterisks until the
 * closing ones arrive. Pure. */

/* The end of the text in which marks belong together: after the last empty line or beginning of an
 * item, a heading or a row. */
const tailOf = (text) => text.slice(Math.max(text.lastIndexOf("\n\n"), text.search(/\n[ \t]*(?:[-+*|#>]|\d+[.)])[^\n]*$/), 0));

export function complete(text) {
    const tail = tailOf(text);
    if (/^\s*(`{3,}|~{3,})/.test(tail))
        return text;
    const ticks = tail.match(/`+/g) ?? [];
    if (ticks.length % 2 && ticks.at(-1).length <= 2)
        return /`$/.test(text) ? text.replace(/`+$/, "") : text + ticks.at(-1);
    const plain = tail.replace(/(`+)[^]*?\1/g, "");
    const link = /!?\[[^\]\n]*(?:\]\([^)\s]*)?$/.exec(plain);
    if (link && text.endsWith(link[0]))
        return text.slice(0, -link[0].length) + link[0].replace(/^!?\[|\]\(.*$/g, "");
    if ((plain.match(/\*\*/g) ?? []).length % 2)
        return /\*\*\s*$/.test(text) ? text.replace(/\*\*\s*$/, "") : `${text.trimEnd()}**`;
    return text;
}
