/* Colours code; highlight.js and each language are loaded with the first code in it. */

const SIZE_MAX = 30000; /* characters; more takes longer than a frame */

/* Names in fences for the files of vendor/highlight/languages. */
const NAMES = {
    bash: "bash", sh: "bash", zsh: "bash", shell: "shell", console: "shell", c: "c", h: "c", cpp: "cpp", "c++": "cpp",
    cc: "cpp", hpp: "cpp", cmake: "cmake", cs: "csharp", "c#": "csharp", csharp: "csharp", css: "css", diff: "diff",
    patch: "diff", dockerfile: "dockerfile", docker: "dockerfile", go: "go", golang: "go", haskell: "haskell", hs: "haskell",
    http: "http", ini: "ini", toml: "ini", java: "java", javascript: "javascript", js: "javascript", mjs: "javascript",
    jsx: "javascript", json: "json", jsonc: "json", kotlin: "kotlin", kt: "kotlin", latex: "latex", tex: "latex", lua: "lua",
    makefile: "makefile", make: "makefile", markdown: "markdown", md: "markdown", nginx: "nginx", perl: "perl", pl: "perl",
    php: "php", powershell: "powershell", ps1: "powershell", python: "python", py: "python", r: "r", ruby: "ruby", rb: "ruby",
    rust: "rust", rs: "rust", scala: "scala", sql: "sql", swift: "swift", typescript: "typescript", ts: "typescript",
    tsx: "typescript", xml: "xml", html: "xml", svg: "xml", yaml: "yaml", yml: "yaml",
};

let core = null;
const languages = new Map();

async function load(name) {
    const [hljs, language] = await Promise.all([
        core ??= import("../../vendor/highlight/core.mjs"),
        import(`../../vendor/highlight/languages/${name}.mjs`),
    ]);
    hljs.default.registerLanguage(name, language.default);
    return hljs.default;
}

/* The tree that highlight.js has made, as elements. */
function build(node, into) {
    for (const child of node.children) {
        if (typeof child === "string") {
            into.append(child);
            continue;
        }
        const span = document.createElement("span");
        if (child.scope && !child.scope.includes(":"))
            span.className = `hljs-${child.scope.split(".")[0]}`;
        build(child, span);
        into.append(span);
    }
    return into;
}

/* Colours a <code> element that has only text; leaves it if the language is unknown. */
export async function highlight(code, language) {
    const name = NAMES[language?.toLowerCase()];
    const text = code.textContent;
    if (!name || text.length > SIZE_MAX)
        return;
    try {
        if (!languages.has(name))
            languages.set(name, load(name));
        const hljs = await languages.get(name);
        const { _emitter: tree } = hljs.highlight(text, { language: name, ignoreIllegals: true });
        code.replaceChildren(build(tree.rootNode, document.createDocumentFragment()));
    } catch {
        languages.delete(name);
        core = null;
    }
}
