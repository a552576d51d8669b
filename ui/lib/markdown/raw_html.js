/* HTML that a model writes into its markdown. A few plain tags without attributes stand for what
 * markdown has no sign for; everything else is shown as the text that it is. Pure. */

const TAGS = new Set(["abbr", "b", "br", "caption", "cite", "code", "dd", "del", "details", "dfn", "dl", "dt", "em", "hr", "i",
    "ins", "kbd", "mark", "q", "rp", "rt", "ruby", "s", "samp", "small", "strong", "sub", "summary", "sup", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "u", "var", "wbr"]);
const TAG = /<(\/?)([a-z][a-z0-9]{0,9})((?:\s+(?:col|row)span="?\d{1,2}"?)*)\s*\/?>/gi;

const escape = (text) => text.replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

export function plainTags(html) {
    let out = "", at = 0;
    for (const found of html.matchAll(TAG)) {
        const [whole, slash, name, spans] = found, tag = name.toLowerCase();
        if (!TAGS.has(tag))
            continue;
        const kept = tag === "td" || tag === "th" ? spans.replace(/\s+(\w+)="?(\d+)"?/g, ' $1="$2"') : "";
        out += `${escape(html.slice(at, found.index))}<${slash}${tag}${slash ? "" : kept}>`;
        at = found.index + whole.length;
    }
    return out + escape(html.slice(at));
}
