/* Shows the formulas of an element; Temml is loaded with the first one. */
const asset = (path) => new URL(`../../vendor/temml/${path}`, import.meta.url).href;

/* Sizes are in em and what a macro may expand to is limited, so that a formula stays a formula. */
const OPTIONS = { throwOnError: true, trust: false, maxSize: [20, 20], maxExpand: 500, annotate: false };

let loading = null;

function load() {
    const style = document.createElement("link");
    style.rel = "stylesheet";
    style.href = asset("temml.css");
    document.head.append(style);
    return import("../../vendor/temml/temml.mjs").then((module) => module.default);
}

/* Temml builds MathML by itself, without HTML text. A formula that it cannot read stays as TeX. */
function show(temml, code) {
    const display = code.classList.contains("display");
    const holder = document.createElement("span");
    holder.className = code.className;
    try {
        temml.render(code.textContent, holder, { ...OPTIONS, displayMode: display });
    } catch {
        return;
    }
    /* What is copied as text is the source. */
    holder.title = code.textContent;
    if (display) {
        holder.tabIndex = 0; /* it may be wider than the page, and is then moved by keys */
        holder.role = "group";
    }
    code.replaceWith(holder);
}

/* Does nothing for an element without formulas. */
export async function typeset(element) {
    if (!element.querySelector("code.maths"))
        return;
    try {
        const temml = await (loading ??= load());
        for (const code of element.querySelectorAll("code.maths"))
            show(temml, code);
    } catch {
        loading = null; /* the server was away: the source stays, the next formula tries again */
    }
}
