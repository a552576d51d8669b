/* The parts of a text that are more than text: code with its language and buttons, tables that
 * scroll, texts too long to show at once. Made with the DOM, since a block of an answer is made once
 * and never compared again. */
import { copyText, downloadText } from "../clipboard.js";
import { t } from "../i18n.js";
import { codeControls, plainControls } from "./controls.js";

const CODE_SHOWN_MAX = 200000, PLAIN_SHOWN_MAX = 20000; /* characters */
const ROWS_SHOWN_MAX = 200;

/* Suffixes of files for languages whose name is not one. */
const SUFFIX = {
    bash: "sh", shell: "sh", console: "sh", javascript: "js", typescript: "ts", python: "py", ruby: "rb", rust: "rs",
    markdown: "md", csharp: "cs", "c#": "cs", "c++": "cpp", haskell: "hs", kotlin: "kt", perl: "pl", powershell: "ps1",
    latex: "tex", makefile: "mk", dockerfile: "Dockerfile", golang: "go", yaml: "yaml",
};

export function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
}

function button(text, run, extra = "") {
    const element = make("button", { type: "button", className: `button quiet small ${extra}` }, text);
    element.addEventListener("click", () => run(element));
    return element;
}

async function copy(text, element) {
    await copyText(text);
    element.textContent = t("action.copied");
    setTimeout(() => {
        element.textContent = t("action.copy");
    }, 2000);
}

/* A button in place of what was left out; show() brings it. */
function rest(text, show) {
    return button(text, (element) => {
        show();
        element.remove();
    }, "rest");
}

/* A <pre> and its frame. text: may be "" and be set later with setCode. */
export function codeFrame(language, text = "") {
    const code = make("code");
    const pre = make("pre", { tabIndex: 0 }, code);
    const head = make("figcaption", {},
        make("span", { className: "language" }, language || t("chat.code")),
        button(t("action.copy"), (b) => copy(frame.text, b)),
        button(t("chat.download"), () => downloadText(frame.text, `quince.${SUFFIX[language] ?? (language || "txt")}`)));
    pre.setAttribute("aria-label", t("chat.code_in", { language: language || t("chat.code") }));
    pre.setAttribute("role", "group");
    const frame = { element: make("figure", { className: "code" }, head, pre), code, language, text: "" };
    setCode(frame, text);
    return frame;
}

/* Shows the text, or adds to what is shown if it is an extension of it. */
export function setCode(frame, text) {
    const before = frame.text, shown = text.slice(0, CODE_SHOWN_MAX);
    frame.text = text;
    const node = frame.code.firstChild;
    if (node?.nodeType === Node.TEXT_NODE && !node.nextSibling && text.startsWith(before) && before.length < CODE_SHOWN_MAX)
        node.appendData(codeControls(shown.slice(before.length)));
    else if (before.length < CODE_SHOWN_MAX || !text.startsWith(before))
        frame.code.replaceChildren(codeControls(shown));
    if (text.length > CODE_SHOWN_MAX && !frame.more) {
        frame.more = rest(t("chat.show_all"), () => frame.code.append(codeControls(frame.text.slice(CODE_SHOWN_MAX))));
        frame.element.append(frame.more);
    }
}

/* Text as it is, for what cannot be read as markdown. */
export function plainText(text) {
    const paragraph = make("p", { className: "plain" }, plainControls(text.slice(0, PLAIN_SHOWN_MAX)));
    const block = make("div", {}, paragraph);
    if (text.length > PLAIN_SHOWN_MAX)
        block.append(rest(t("chat.show_all"), () => paragraph.append(plainControls(text.slice(PLAIN_SHOWN_MAX)))));
    return block;
}

/* Wide tables scroll within the text; long ones show their first rows. */
function frameTable(table) {
    const scroll = make("div", { className: "table-scroll", tabIndex: 0 });
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", t("chat.table"));
    table.replaceWith(scroll);
    scroll.append(table);
    const hidden = [...table.rows].slice(ROWS_SHOWN_MAX);
    if (!hidden.length)
        return;
    const parent = hidden[0].parentNode;
    hidden.forEach((row) => row.remove());
    scroll.after(rest(t("chat.show_rows", { n: hidden.length }), () => parent.append(...hidden)));
}

/* Puts frames around what a sanitised fragment has. Returns the frames of code. */
export function addFrames(fragment) {
    for (const table of fragment.querySelectorAll("table"))
        frameTable(table);
    return [...fragment.querySelectorAll("pre")].map((pre) => {
        const code = pre.querySelector("code") ?? pre;
        const language = /language-(\S+)/.exec(code.className)?.[1] ?? "";
        const frame = codeFrame(language, code.textContent.replace(/\n$/, ""));
        pre.replaceWith(frame.element);
        return frame;
    });
}
