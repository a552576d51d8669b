/* Fenced code, closed or still open. Pure. */

const OPEN = /^( {0,3})(?:(`{3,})([^`\n]*)|(~{3,})([^\n]*))(?:\n|$)/;

/* A block that begins with a fence: {language, text, closed}; null for any other block. */
export function fence(block) {
    const open = OPEN.exec(block);
    if (!open)
        return null;
    const [head, indent, ticks, tickInfo, tildes, tildeInfo] = open;
    const mark = ticks ?? tildes, info = (tickInfo ?? tildeInfo).trim();
    const body = block.slice(head.length);
    const close = new RegExp(`(?:^|\\n) {0,3}${mark[0]}{${mark.length},}[ \\t]*(?:\\n\\s*)?$`).exec(body);
    let text = close ? body.slice(0, close.index) : body.replace(/\n$/, "");
    if (indent)
        text = text.replace(new RegExp(`^ {0,${indent.length}}`, "gm"), "");
    return { language: (/^[\w+#.-]{1,40}/.exec(info)?.[0] ?? "").toLowerCase(), text, closed: close !== null };
}

/* Where the fence that a block begins with ends, behind the line that closes it: an offset. -1: it is
 * not closed; 0: the block begins with no fence. The closing line counts when it is complete. */
export function fenceEnd(block) {
    const open = OPEN.exec(block);
    if (!open)
        return 0;
    const mark = open[2] ?? open[4], from = open[0].length - 1;
    const close = new RegExp(`\\n {0,3}${mark[0]}{${mark.length},}[ \\t]*\\n`, "g");
    close.lastIndex = Math.max(from, 0);
    return close.exec(block) ? close.lastIndex : -1;
}
