/* Formulas in a text: \( \), $ $ within a line, \[ \], $$ $$ as blocks. These are extensions of
 * marked; what they find becomes <code class="maths"> with TeX in it, which typeset.js replaces. */

const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/* The closing "$" follows no space and precedes no digit, so that "$5 and $6" is money. */
const INLINE = /^(?:\$(?![\s$])((?:\\.|[^$\\\n]){1,1000}?)(?<![\s\\])\$(?![\d$])|\\\(((?:.|\n(?!\n)){1,2000}?)\\\)|\$\$((?:\\.|[^$\\]){1,4000}?)\$\$|\\\[((?:.|\n(?!\n)){1,4000}?)\\\])/;
/* No empty line within, so that where a block ends does not depend on what is far below. */
const BLOCK = /^ {0,3}(?:\$\$((?:\\[^\n]|[^$\\\n]|\\?\n(?![ \t]*\n)){1,8000}?)\$\$|\\\[((?:[^\n]|\n(?![ \t]*\n)){1,8000}?)\\\])[ \t]*(?:\n|$)/;

export const inlineMaths = {
    name: "inlineMaths",
    level: "inline",
    start: (src) => {
        const at = src.search(/\$|\\[([]/);
        return at < 0 ? undefined : at;
    },
    tokenizer(src) {
        const found = INLINE.exec(src);
        if (!found)
            return undefined;
        const tex = found[1] ?? found[2] ?? found[3] ?? found[4];
        return { type: "inlineMaths", raw: found[0], tex, display: found[1] === undefined && found[2] === undefined };
    },
    renderer: ({ tex, display }) => `<code class="maths${display ? " display" : ""}">${escape(tex)}</code>`,
};

export const blockMaths = {
    name: "blockMaths",
    level: "block",
    start: (src) => {
        const found = /\n {0,3}(\$\$|\\\[)/.exec(src);
        return found ? found.index + 1 : undefined;
    },
    tokenizer(src) {
        const found = BLOCK.exec(src);
        return found ? { type: "blockMaths", raw: found[0], tex: found[1] ?? found[2] } : undefined;
    },
    renderer: ({ tex }) => `<p><code class="maths display">${escape(tex)}</code></p>`,
};
