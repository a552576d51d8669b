/* Converts MCP servers to the form of the server view, and the form to requests. Pure functions. */

export const PERMISSIONS = ["ask", "always", "never"];
export const OFFERED_MAX = 16; /* maximum servers of one answer */
export const CALL_S = 60;

const lines = (text) => text.split("\n").map((one) => one.trim()).filter(Boolean);
const joined = (list) => (list ?? []).join("\n");

/* Returns the form's values for a server, or for a new one if there is no argument. The server never returns
 * secrets: `token` is empty, and so is the value of each {name, value, stored} in `env`. */
export const formOf = (server = {}) => ({
    kind: server.kind ?? "http",
    name: server.name ?? "",
    url: server.url ?? "",
    token: "",
    dropToken: false,
    command: server.command ?? "",
    args: joined(server.args),
    env: (server.env ?? []).map((name) => ({ name, value: "", stored: true })),
    read: joined(server.read),
    write: joined(server.write),
    call_s: server.call_s ?? CALL_S,
});

/* Returns the variables to be set, without stored ones whose field was left empty. */
const given = (env) => Object.fromEntries(env.map((one) => [one.name.trim(), one.value])
    .filter(([name, value], i) => value !== "" || (name !== "" && !env[i].stored)));

/* Returns the members of the request that adds a server. */
export function bodyOf(form) {
    const { kind, call_s } = form, name = form.name.trim(), all = { name, kind, ...call_s && { call_s } };
    if (kind === "http")
        return { ...all, url: form.url.trim(), ...form.token && { token: form.token } };
    return { ...all, command: form.command.trim(), args: lines(form.args), env: given(form.env), read: lines(form.read), write: lines(form.write) };
}

/* Returns the variables to be changed: new values, and null for removed ones. */
function envChanges(form, server) {
    const kept = new Set(form.env.map((one) => one.name.trim()));
    const gone = server.env.filter((name) => !kept.has(name)).map((name) => [name, null]);
    return { ...given(form.env), ...Object.fromEntries(gone) };
}

/* Returns the members that differ from those of the stored server. If more than its name changes, quince ends
 * the server and starts it again. */
export function changesOf(form, server) {
    const before = bodyOf(formOf(server)), after = bodyOf(form);
    const out = Object.fromEntries(Object.entries(after).filter(([name, value]) => !["kind", "env", "token"].includes(name) &&
        JSON.stringify(value) !== JSON.stringify(before[name])));
    if (server.kind === "http" && (form.token || form.dropToken))
        out.token = form.token || null;
    const env = server.kind === "stdio" ? envChanges(form, server) : {};
    return Object.keys(env).length ? { ...out, env } : out;
}

/* Returns what quince deletes when the server is changed. "http" or "stdio" (its URL or command changes): its
 * secrets and all permissions "always"; "args": these permissions only; "": nothing. */
export function forgottenOf(form, server) {
    const name = form.kind === "http" ? "url" : "command";
    if (form[name].trim() !== server[name])
        return form.kind;
    return form.kind === "stdio" && JSON.stringify(lines(form.args)) !== JSON.stringify(lines(joined(server.args))) ? "args" : "";
}

/* Returns the form's field for the parameter of an error: "args" for "args[0]", "env" for "env.KEY". */
export const fieldOf = (param) => /^\w+/.exec(param ?? "")?.[0] ?? "";

/* Returns the permission if all tools have the same one; otherwise "". */
export const commonPermission = (tools) =>
    tools.length && tools.every((one) => one.permission === tools[0].permission) ? tools[0].permission : "";

/* Returns the URL of a server, or its command line. */
export const whereOf = (server) => server.kind === "http" ? server.url : [server.command, ...server.args].join(" ");

/* Returns the state to be shown: one of the API's states, or "disabled". */
export const stateOf = (server) => server.enabled ? server.state : "disabled";

const isTexts = (list) => Array.isArray(list) && list.every((one) => typeof one === "string");

function formOfEntry(name, entry) {
    const { command, args = [], env = {}, url, headers = {} } = entry;
    const token = /^Bearer\s+(\S+)$/i.exec(headers.Authorization ?? "")?.[1] ?? "";
    if (typeof url === "string")
        return { ...formOf({ name, kind: "http", url }), token };
    if (typeof command !== "string" || !isTexts(args))
        return null;
    return { ...formOf({ name, kind: "stdio", command, args }),
        env: Object.entries(env).map(([variable, value]) => ({ name: variable, value: String(value), stored: false })) };
}

/* Returns the form's values for the first server in a configuration of another program: {"mcpServers": {NAME:
 * {command, args, env} or {url, headers}}}, or an inner part of it. Returns null if the text is no such
 * configuration. */
export function formOfConfig(text) {
    try {
        const root = JSON.parse(text), all = root.mcpServers ?? root.servers ?? root;
        const [name, entry] = all.command || all.url ? ["", all] : Object.entries(all)[0];
        return formOfEntry(name, entry);
    } catch {
        return null;
    }
}
