/* Cuts a markdown text that grows into its top-level blocks (paragraphs, lists, code, tables), so
 * that a finished block is rendered once and only the last one again. Pure. */
import { fenceEnd } from "./fence.js";
import { tooHard } from "./limits.js";

/* Cuts at empty lines outside of fences, where blocks mostly end. All parts together are the text. */
function paragraphs(text) {
    const parts = [];
    let at = 0, empty = false;
    for (let line = 0; line < text.length;) {
        const end = text.indexOf("\n", line) + 1 || text.length, blank = text.slice(line, end).trim() === "";
        if (empty && !blank) {
            parts.push(text.slice(at, line));
            at = line;
        }
        empty = blank;
        const fence = blank ? 0 : fenceEnd(text.slice(line));
        line = fence > 0 ? line + fence : fence < 0 ? text.length : end;
    }
    return [...parts, text.slice(at)];
}

/* lex(text) returns the block tokens of a text, each with `type` and `raw`, the part of the text
 * that it stands for; all parts together are the text. */
export class Blocks {
    #lex;
    #start = 0; /* of the block that is open, in the text */
    #looked = 0; /* length of the text that was cut last */

    constructor(lex) {
        this.#lex = lex;
    }

    /* text: all of it, an extension of the text of the call before, with "\n" as its only line
     * break. Returns the blocks that are finished since then, and the one that is still open. A block
     * is finished when a later one has begun on a complete line: what follows cannot change it. */
    feed(text, ended = false) {
        const complete = ended ? text.length : text.lastIndexOf("\n") + 1;
        const finished = [];
        if (ended || complete > this.#looked) {
            for (const raw of this.#cut(text.slice(this.#start, complete), ended)) {
                if (raw.trim())
                    finished.push(raw);
                this.#start += raw.length;
            }
            this.#looked = complete;
        }
        return { finished, open: ended ? "" : text.slice(this.#start) };
    }

    /* The finished blocks at the beginning of a text, and the empty lines between them. */
    #cut(text, ended) {
        const fence = fenceEnd(text);
        if (fence > 0)
            return [text.slice(0, fence), ...this.#cut(text.slice(fence), ended)];
        if (fence < 0)
            return ended ? [text] : [];
        if (!tooHard(text))
            return this.#tokens(text, ended);
        const parts = paragraphs(text);
        return (ended ? parts : parts.slice(0, -1)).flatMap((part) => this.#cutPart(part));
    }

    /* A part that is finished: its blocks; a fence, or what is too hard to read, is one. */
    #cutPart(part) {
        return fenceEnd(part) || tooHard(part) ? [part] : this.#tokens(part, true);
    }

    #tokens(text, ended) {
        let tokens;
        try {
            tokens = this.#lex(text);
        } catch {
            return ended ? [text] : []; /* the parser's own limit of depth */
        }
        const last = tokens.findLastIndex((token) => token.type !== "space");
        const settled = tokens.slice(0, ended ? tokens.length : Math.max(last, 0));
        let at = 0;
        const blocks = settled.map(({ raw }) => text.slice(at, at += raw.length));
        /* A fence that is closed does not wait for what follows. */
        const rest = text.slice(at);
        return fenceEnd(rest) > 0 ? [...blocks, ...this.#cut(rest, ended)] : blocks;
    }
}
