/* What is too costly to read as markdown and is shown as plain text: the parser's time grows with
 * the square of some things, and a model can write any amount of them. Pure. */

const BLOCK_MAX = 100000; /* characters of a block */
const LINE_MAX = 20000; /* of a line */
const EMPHASIS_MAX = 400; /* marks of emphasis in one paragraph */
const ANGLES_MAX = 1500; /* "<" in one paragraph */
const SPACES_MAX = 500; /* consecutive ones within a line */
const DEPTH_MAX = 24; /* lists and quotes in one another */

const SPACES = new RegExp(`\\S[ \\t]{${SPACES_MAX},}\\S`);
const NESTED = new RegExp(`^(?:[ \\t]*(?:>|[-+*]|\\d{1,9}[.)])(?=[ \\t>]|$)){${DEPTH_MAX},}`);
const INDENTED = new RegExp(`^[ \\t]{${4 * DEPTH_MAX},}(?:[-+*]|\\d{1,9}[.)])[ \\t]`);
/* Lines that begin a text of their own: an empty one, a row of a table, an item of a list. */
const BREAK = /^\s*($|\||[-+*]\s|\d{1,9}[.)]\s|#)/;

function count(text, marks) {
    let n = 0;
    for (const c of text)
        if (marks.includes(c))
            n++;
    return n;
}

export function tooHard(block) {
    if (block.length > BLOCK_MAX)
        return true;
    let emphasis = 0, angles = 0;
    for (const line of block.split("\n")) {
        if (line.length > LINE_MAX || SPACES.test(line) || NESTED.test(line) || INDENTED.test(line))
            return true;
        if (BREAK.test(line))
            emphasis = angles = 0;
        emphasis += count(line, "*_~");
        angles += count(line, "<");
        if (emphasis > EMPHASIS_MAX || angles > ANGLES_MAX)
            return true;
    }
    return false;
}
