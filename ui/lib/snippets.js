/* A request as a program: for curl, Python and JavaScript. Pure.
 *
 * A request is {path, json} or {path, form: [[name, text or File]]}, always a POST. Within `json` a
 * file is an InBase64. saves, if the reply is more than text: {as: "body", name} is a file as it
 * comes, {as: "base64", name} are the pictures in `data` of the reply. */

/* A file that stands as base64 within JSON. */
export class InBase64 {
    constructor(file) {
        this.file = file;
    }
}

const isFile = (value) => typeof value === "object" && typeof value?.name === "string";
const KEY = "QUINCE_API_KEY";
const STEP = 4;

/* JSON as a literal of a language. words: {true, false, null}; file: how it reads an InBase64. */
function literal(value, { words, file }, depth = 0) {
    const pad = " ".repeat(STEP * (depth + 1)), end = `\n${" ".repeat(STEP * depth)}`;
    if (value instanceof InBase64)
        return file(value.file.name);
    if (value === null || typeof value === "boolean")
        return words[String(value)];
    if (typeof value !== "object")
        return JSON.stringify(value);
    const list = Array.isArray(value);
    const items = list ? value.map((v) => literal(v, { words, file }, depth + 1)) :
        Object.entries(value).map(([key, v]) => `${JSON.stringify(key)}: ${literal(v, { words, file }, depth + 1)}`);
    if (!items.length)
        return list ? "[]" : "{}";
    return (list ? "[" : "{") + items.map((item) => `\n${pad}${item}`).join(",") + end + (list ? "]" : "}");
}

const JSON_WORDS = { true: "true", false: "false", null: "null" };
const hasFile = (value) => value instanceof InBase64 ||
    (typeof value === "object" && value !== null && Object.values(value).some(hasFile));

/* Later lines moved to the right, where a literal stands within other code. */
const moved = (text, by) => text.replaceAll("\n", `\n${" ".repeat(by)}`);

/* ---- curl ---- */

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const plainName = /^[\w.-]+$/;
const curlFile = (name) => plainName.test(name) ? name : `"${name.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

function curlForm(form) {
    return form.map(([name, value]) => isFile(value) ? `-F ${quoted(`${name}=@${curlFile(value.name)}`)}` :
        `--form-string ${quoted(`${name}=${value}`)}`);
}

/* A JSON body with a file comes from a here-document, in which the shell puts the file's base64. */
function curlJson(json) {
    const type = "-H 'Content-Type: application/json'";
    if (!hasFile(json))
        return { options: [type, `-d ${quoted(literal(json, { words: JSON_WORDS }))}`], after: "" };
    const files = [];
    const text = literal(json, { words: JSON_WORDS, file: (name) => `"@${files.push(name) - 1}@"` });
    const escaped = text.replace(/[\\$`]/g, "\\$&").replace(/"@(\d+)@"/g, (whole, i) => `"$(base64 -w0 ${quoted(files[i])})"`);
    return { options: [type, "-d @- <<END"], after: `\n${escaped}\nEND` };
}

function curl({ path, json, form, saves }, { origin, key }) {
    const { options, after } = form ? { options: curlForm(form), after: "" } : curlJson(json);
    const all = [`curl ${saves ? "-s " : ""}${origin}${path}`, ...key ? [`-H "Authorization: Bearer $${KEY}"`] : [], ...options];
    if (saves?.as === "body")
        all.splice(1, 0, `-o ${quoted(saves.name)}`);
    /* A here-document begins behind the first end of a line, so what reads the reply stands before it. */
    const reader = saves?.as === "base64" ? ` |${after ? " " : "\n    "}jq -r '.data[0].b64_json' | base64 -d > ${quoted(saves.name)}` : "";
    return all.join(" \\\n    ") + reader + after;
}

/* ---- Python ---- */

const PYTHON = {
    words: { true: "True", false: "False", null: "None" },
    file: (name) => `base64.b64encode(open(${JSON.stringify(name)}, "rb").read()).decode()`,
};

/* "picture.png" with a number before its ending, as a template of either language. */
const numbered = (name) => name.replace(/(\.\w+)?$/, "-{i}$1");

function python({ path, json, form, saves }, { origin, key }) {
    const modules = [(saves?.as === "base64" || hasFile(json ?? null)) && "base64", key && "os"].filter(Boolean);
    const given = [`${JSON.stringify(origin + path)}`];
    if (key)
        given.push(`headers={"Authorization": f"Bearer {os.environ['${KEY}']}"}`);
    if (form) {
        const texts = form.filter(([, v]) => !isFile(v)), files = form.filter(([, v]) => isFile(v));
        given.push(`data=[${texts.map(([n, v]) => `(${JSON.stringify(n)}, ${JSON.stringify(String(v))})`).join(", ")}]`);
        given.push(`files=[${files.map(([n, f]) => `(${JSON.stringify(n)}, open(${JSON.stringify(f.name)}, "rb"))`).join(", ")}]`);
    } else {
        given.push(`json=${moved(literal(json, PYTHON), STEP)}`);
    }
    const end = !saves ? ["print(reply.json())"] :
        saves.as === "body" ? [`open(${JSON.stringify(saves.name)}, "wb").write(reply.content)`] :
            ['for i, picture in enumerate(reply.json()["data"]):',
                `    open(f${JSON.stringify(numbered(saves.name))}, "wb").write(base64.b64decode(picture["b64_json"]))`];
    return [...modules.map((name) => `import ${name}`), ...modules.length ? [""] : [], "import requests", "",
        "reply = requests.post(", ...given.map((line) => `    ${line},`), ")", "reply.raise_for_status()", ...end].join("\n");
}

/* ---- JavaScript, as Node runs it ---- */

const JAVASCRIPT = { words: JSON_WORDS, file: (name) => `readFileSync(${JSON.stringify(name)}, "base64")` };

function javascript({ path, json, form, saves }, { origin, key }) {
    const names = [form?.some(([, v]) => isFile(v)) && "openAsBlob", hasFile(json ?? null) && "readFileSync", saves && "writeFileSync"]
        .filter(Boolean);
    const headers = [key && `Authorization: \`Bearer \${process.env.${KEY}}\``, !form && '"Content-Type": "application/json"'].filter(Boolean);
    const lines = names.length ? [`import { ${names.join(", ")} } from "node:fs";`, ""] : [];
    if (form) {
        lines.push("const form = new FormData();");
        for (const [name, value] of form)
            lines.push(isFile(value) ?
                `form.append(${JSON.stringify(name)}, await openAsBlob(${JSON.stringify(value.name)}), ${JSON.stringify(value.name)});` :
                `form.append(${JSON.stringify(name)}, ${JSON.stringify(String(value))});`);
    }
    lines.push(`const reply = await fetch(${JSON.stringify(origin + path)}, {`, '    method: "POST",',
        ...headers.length ? [`    headers: { ${headers.join(", ")} },`] : [],
        form ? "    body: form," : `    body: JSON.stringify(${moved(literal(json, JAVASCRIPT), STEP)}),`, "});",
        "if (!reply.ok)", "    throw new Error(await reply.text());");
    if (!saves)
        lines.push("console.log(await reply.json());");
    else if (saves.as === "body")
        lines.push(`writeFileSync(${JSON.stringify(saves.name)}, Buffer.from(await reply.arrayBuffer()));`);
    else
        lines.push("for (const [i, picture] of (await reply.json()).data.entries())",
            `    writeFileSync(\`${numbered(saves.name).replace("{i}", "${i}")}\`, Buffer.from(picture.b64_json, "base64"));`);
    return lines.join("\n");
}

/* By name, in the order in which they are offered. */
export const SNIPPETS = { curl, python, javascript };
