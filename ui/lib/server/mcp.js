/* MCP servers as the form of the server view has them, and what is sent of it. Pure. */

export const PERMISSIONS = ["ask", "always", "never"];
export const OFFERED_MAX = 16; /* servers of one answer */
export const CALL_S = 60;

const lines = (text) => text.split("\n").map((one) => one.trim()).filter(Boolean);
const joined = (list) => (list ?? []).join("\n");

/* What the form shows of a server; of a new one without an argument. Secrets are never read: token is
 * empty, and so are the values of `env`, of which each has {name, value, stored}. */
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

/* Variables that are to be set. */
const given = (env) => Object.fromEntries(env.map((one) => [one.name.trim(), one.value])
    .filter(([name, value], i) => value !== "" || (name !== "" && !env[i].stored)));

/* The members of a new server. */
export function bodyOf(form) {
    const { kind, call_s } = form, name = form.name.trim(), all = { name, kind, ...call_s && { call_s } };
    if (kind === "http")
        return { ...all, url: form.url.trim(), ...form.token && { token: form.token } };
    return { ...all, command: form.command.trim(), args: lines(form.args), env: given(form.env), read: lines(form.read), write: lines(form.write) };
}

/* The variables that change: new values, and null for those that are removed. */
function envChanges(form, server) {
    const kept = new Set(form.env.map((one) => one.name.trim()));
    const gone = server.env.filter((name) => !kept.has(name)).map((name) => [name, null]);
    return { ...given(form.env), ...Object.fromEntries(gone) };
}

/* The members that differ from those of the server, which is ended and started again if more than its
 * name changes. */
export function changesOf(form, server) {
    const before = bodyOf(formOf(server)), after = bodyOf(form);
    const out = Object.fromEntries(Object.entries(after).filter(([name, value]) => !["kind", "env", "token"].includes(name) &&
        JSON.stringify(value) !== JSON.stringify(before[name])));
    if (server.kind === "http" && (form.token || form.dropToken))
        out.token = form.token || null;
    const env = server.kind === "stdio" ? envChanges(form, server) : {};
    return Object.keys(env).length ? { ...out, env } : out;
}

/* What the server forgets of a server that is changed: "http" or "stdio", its secrets and all permissions
 * "always"; "args", those permissions; "" nothing. */
export function forgottenOf(form, server) {
    const name = form.kind === "http" ? "url" : "command";
    if (form[name].trim() !== server[name])
        return form.kind;
    return form.kind === "stdio" && JSON.stringify(lines(form.args)) !== JSON.stringify(lines(joined(server.args))) ? "args" : "";
}

/* The field of the form that an error's parameter is about: "args" of "args[0]", "env" of "env.KEY". */
export const fieldOf = (param) => /^\w+/.exec(param ?? "")?.[0] ?? "";

/* The permission that all tools have; "" if they differ. */
export const commonPermission = (tools) =>
    tools.length && tools.every((one) => one.permission === tools[0].permission) ? tools[0].permission : "";

/* Where a server is: its address, or its command line. */
export const whereOf = (server) => server.kind === "http" ? server.url : [server.command, ...server.args].join(" ");

/* What a server shows as its state: "disabled" is not one of the API's. */
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

/* The form of the first server in a configuration as other programs have it: {"mcpServers": {NAME:
 * {command, args, env} or {url, headers}}}, or the part within. null: it is none. */
export function formOfConfig(text) {
    try {
        const root = JSON.parse(text), all = root.mcpServers ?? root.servers ?? root;
        const [name, entry] = all.command || all.url ? ["", all] : Object.entries(all)[0];
        return formOfEntry(name, entry);
    } catch {
        return null;
    }
}
