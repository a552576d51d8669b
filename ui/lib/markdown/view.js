/* Shows a markdown text in an element and follows its growth: a finished block is rendered once; of
 * the one that is still open, only what has changed is exchanged. */
import { Blocks } from "./blocks.js";
import { clean } from "./clean.js";
import { complete } from "./complete.js";
import { fence } from "./fence.js";
import { addFrames, codeFrame, make, plainText, setCode } from "./frames.js";
import { highlight } from "./highlight.js";
import { tooHard } from "./limits.js";
import { morph } from "./morph.js";
import { blockTokens, toHtml } from "./parse.js";
import { typeset } from "./typeset.js";
import { whenNear } from "./near.js";

/* After a rendering that took n ms the next one waits for n times this. */
const REST_FACTOR = 8;
const CHEAP_MS = 2;

const DEFINITION = /^ {0,3}\[([^\]\n]+)\]:[ \t]*\S[^\n]*$/gm;
const REFERENCE = /\[([^\]\n]+)\]/g;
const DEFINITIONS_MAX = 1000; /* link definitions that are used from one text; later ones are ignored */

const labelOf = (name) => name.trim().replace(/\s+/g, " ").toLowerCase();

/* A block that is not a fence, as a fragment; what marked cannot read is shown as it is. */
function fragmentOf(source, definitions) {
    if (!tooHard(source)) {
        try {
            return clean(toHtml(source, definitions));
        } catch {
            /* shown as plain text below */
        }
    }
    return plainText(source);
}

function colour({ element, code, language }) {
    whenNear(element, () => highlight(code, language));
}

function finishedBlock(source, definitions) {
    const block = make("div", { className: "block", dir: "auto" });
    const code = fence(source);
    if (code) {
        const frame = codeFrame(code.language, code.text);
        block.append(frame.element);
        colour(frame);
        return block;
    }
    block.append(fragmentOf(source, definitions));
    addFrames(block).forEach(colour);
    typeset(block);
    return block;
}

export class MarkdownView {
    #element;
    #cutter = new Blocks(blockTokens);
    #open = null; /* {element, frame} of the open block */
    #definitions = new Map(); /* label -> line; the first one of a label counts */
    #blocks = []; /* {source, element}, to render again what refers to a later definition */
    #cost = 0;
    #last = 0;
    #timer = 0;

    #shown = "";
    #ended = false;

    constructor(element) {
        this.#element = element;
    }

    /* text: all of it. An extension of the text before adds to what is shown, any other text
     * replaces it. ended: nothing follows. */
    update(text, ended = false) {
        clearTimeout(this.#timer);
        if (this.#ended ? text === this.#shown : text === this.#shown && !ended)
            return;
        if (this.#ended || !text.startsWith(this.#shown))
            this.#reset();
        const now = performance.now(), due = this.#last + this.#cost * REST_FACTOR;
        if (!ended && this.#cost > CHEAP_MS && now < due) {
            this.#timer = setTimeout(() => this.update(text), due - now);
            return;
        }
        this.#shown = text;
        this.#ended = ended;
        this.#show(text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text, ended);
        this.#last = performance.now();
        this.#cost = this.#last - now;
    }

    dispose() {
        clearTimeout(this.#timer);
        this.#reset();
    }

    #reset() {
        this.#element.replaceChildren();
        this.#cutter = new Blocks(blockTokens);
        this.#open = null;
        this.#definitions = new Map();
        this.#blocks = [];
        this.#cost = 0;
        this.#shown = "";
        this.#ended = false;
    }

    #show(text, ended) {
        const { finished, open } = this.#cutter.feed(text, ended);
        for (const source of finished)
            this.#finish(source);
        if (open.trim())
            this.#showOpen(open);
        else
            this.#dropOpen();
        if (ended && this.#definitions.size)
            this.#resolve();
    }

    #finish(source) {
        for (const [line, name] of source.matchAll(DEFINITION))
            if (this.#definitions.size < DEFINITIONS_MAX && !this.#definitions.has(labelOf(name)))
                this.#definitions.set(labelOf(name), line);
        const element = finishedBlock(source, "");
        this.#blocks.push({ source, element });
        this.#element.insertBefore(element, this.#open?.element ?? null);
        this.#dropOpen();
    }

    #dropOpen() {
        this.#open?.element.remove();
        this.#open = null;
    }

    #showOpen(source) {
        const code = fence(source);
        if (!this.#open) {
            this.#open = { element: make("div", { className: "block open", dir: "auto" }), frame: null };
            this.#element.append(this.#open.element);
        }
        const { element } = this.#open;
        if (code) {
            if (this.#open.frame?.language !== code.language) {
                this.#open.frame = codeFrame(code.language);
                element.replaceChildren(this.#open.frame.element);
            }
            setCode(this.#open.frame, code.text);
            return;
        }
        this.#open.frame = null;
        const next = make("div");
        next.append(fragmentOf(complete(source), this.#named(source)));
        addFrames(next);
        morph(element, next);
    }

    /* The link definitions that a text refers to, one per line. A block is parsed with these alone: with
     * all of them, the time would grow with the square of their number. */
    #named(source) {
        const lines = new Set();
        if (this.#definitions.size)
            for (const [, name] of source.matchAll(REFERENCE))
                if (this.#definitions.has(labelOf(name)))
                    lines.add(this.#definitions.get(labelOf(name)));
        return [...lines].join("\n");
    }

    /* Renders the blocks again that use a definition which came after them. */
    #resolve() {
        for (const one of this.#blocks) {
            const definitions = fence(one.source) ? "" : this.#named(one.source.replace(DEFINITION, ""));
            if (!definitions)
                continue;
            const element = finishedBlock(one.source, definitions);
            one.element.replaceWith(element);
            one.element = element;
        }
    }
}
