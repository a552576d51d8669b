/* Markdown to HTML, which clean.js then makes safe. Also the block tokens that blocks.js cuts by. */
import { Lexer, Marked } from "marked";
import { codeControls, plainControls } from "./controls.js";
import { blockMaths, inlineMaths } from "./maths.js";
import { plainTags } from "./raw_html.js";

const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

const LANGUAGE = /^[\w+#.-]{1,40}/;

const marked = new Marked({ gfm: true, breaks: true, async: false });
marked.use({
    extensions: [inlineMaths, blockMaths],
    renderer: {
        code({ text, lang }) {
            const name = LANGUAGE.exec(lang ?? "")?.[0];
            return `<pre><code${name ? ` class="language-${escape(name)}"` : ""}>${escape(text)}\n</code></pre>\n`;
        },
        codespan({ text }) {
            return `<code>${escape(codeControls(text))}</code>`;
        },
        html({ text, block }) {
            return block ? `<div class="plain">${plainTags(text.trimEnd())}</div>\n` : plainTags(text);
        },
        /* A task list's box is a character: there are no controls in a text. */
        checkbox({ checked }) {
            return checked ? "☑ " : "☐ ";
        },
    },
});

/* The block tokens of a text. */
export const blockTokens = (text) => new Lexer(marked.defaults).blockTokens(text, []);

/* definitions: lines like "[name]: address" of other blocks. */
export const toHtml = (text, definitions = "") =>
    marked.parse(plainControls(definitions ? `${text}\n\n${definitions}` : text));
