// What the server view works out by itself: plots, speeds, the log's lines, requests, settings, addresses.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { addressesOf, APIS, ollamaUrl, PROGRAMS } from "../../../ui/lib/server/connect.js";
import { knows, pointsOf, sampleOf, SPAN_MS, withSample } from "../../../ui/lib/server/history.js";
import { lineOf, LogBuffer, placeOf, requestOf } from "../../../ui/lib/server/log_buffer.js";
import * as mcp from "../../../ui/lib/server/mcp.js";
import { bodyOf, choicesOf, filtered, merged, readable } from "../../../ui/lib/server/requests.js";
import { CHOICES, editorOf, given, GROUPS, grouped, shown } from "../../../ui/lib/server/settings.js";
import { areaPath, linePath, roundUp, segments, summary } from "../../../ui/lib/plot.js";
import { ROOT } from "../server.mjs";
import { LANGUAGES, texts } from "../texts.mjs";

// ---- plots ----

test("the top of a scale is a round number", () => {
    for (const [value, top] of [[0, 1], [-3, 1], [NaN, 1], [1, 1], [1.1, 2], [3, 5], [5, 5], [7, 10], [99, 100], [101, 200], [0.03, 0.05], [1e9, 1e9]])
        assert.equal(roundUp(value), top, String(value));
});

const box = { now: 1000, span: 1000, max: 10, gap: 300, width: 100, height: 50 };

test("points become a line, broken where nothing is known", () => {
    const points = [[0, 0], [100, 10], [200, null], [400, 5], [600, 20], [950, -1]].map(([at, value]) => ({ at, value }));
    assert.deepEqual(segments(points, box), [[[0, 50], [10, 0]], [[40, 25], [60, 0]], [[95, 50]]]);
    assert.deepEqual(segments([{ at: -1, value: 3 }], box), [], "older than the span");
    assert.equal(linePath([[[0, 50], [10, 0]]]), "M0 50L10 0");
    assert.equal(areaPath([[[0, 40], [10, 0]]], 50), "M0 50L0 40L10 0L10 50Z");
});

test("a plot in words", () => {
    assert.deepEqual(summary([{ value: 3 }, { value: null }, { value: 1 }]), { now: 1, min: 1, max: 3 });
    assert.equal(summary([{ value: null }]), null);
});

// ---- samples ----

test("a sample has what is known, and nothing for the rest", () => {
    const health = { all_models_loaded: [{ requests_running: 2, requests_waiting: 1 }, { requests_running: 1 }] };
    const s = sampleOf({ cpu_percent: 12.5, memory_gb: 2, memory_total_gb: 8, gpu_percent: null, vram_gb: -1, gpu_power_w: 30 },
        { stream_chunks_total: 7 }, health, 99);
    assert.deepEqual(s, { at: 99, cpu: 12.5, memory: 2e9, memoryTotal: 8e9, gpu: null, vram: null, cpuPower: null, gpuPower: 30,
        running: 3, waiting: 1, pieces: 7 });
    assert.equal(sampleOf(null, null, null, 1).running, 0);
});

test("speed is what came between two samples; another server begins anew", () => {
    let list = withSample([], { at: 1000, pieces: 10 });
    assert.equal(list[0].speed, null);
    list = withSample(list, { at: 3000, pieces: 50 });
    assert.equal(list[1].speed, 20);
    list = withSample(list, { at: 4000, pieces: 3 });
    assert.equal(list[2].speed, null);
    list = withSample(list, { at: 1000 + SPAN_MS, pieces: 4 });
    assert.equal(list.length, 3, "the oldest has left");
    assert.deepEqual(pointsOf(list, "pieces").map((p) => p.value), [50, 3, 4]);
    assert.equal(knows(list, "speed"), true);
    assert.equal(knows(list, "gpu"), false);
});

// ---- the log ----

const LOG = "0123456789abcdef";
const entry = (seq, line, tag = "infer") => lineOf({ seq, timestamp: "2026-01-01T00:00:00.000Z", severity: "Info", tag,
    line: `2026-01-01T00:00:00.000Z info ${tag} ${line}` }, `${LOG}-${seq}`);

test("a line without what stands before its text", () => {
    const line = entry(5, "id=0123456789abcdef01234567 model=a ms=3");
    assert.equal(line.text, "id=0123456789abcdef01234567 model=a ms=3");
    assert.equal(line.level, "info");
    assert.equal(requestOf(line), "0123456789abcdef01234567");
    assert.equal(requestOf(entry(1, "id=abc")), null);
    assert.equal(lineOf({ timestamp: "", severity: "Error", tag: "x", line: "odd" }, "i").text, "odd");
    assert.deepEqual(placeOf(line.id), { log: LOG, seq: 5 });
    assert.equal(placeOf("abc-1"), null);
    assert.equal(placeOf(undefined), null);
});

test("the newest lines are held, and those that match are shown", () => {
    const buffer = new LogBuffer(4);
    buffer.add([entry(1, "one plum"), entry(2, "two"), entry(3, "three PLUM")]);
    buffer.search("plum");
    assert.deepEqual(buffer.shown.map((l) => l.text), ["one plum", "three PLUM"]);
    buffer.add([entry(4, "four"), entry(5, "a plum, five")]);
    assert.deepEqual(buffer.shown.map((l) => l.text), ["three PLUM", "a plum, five"]);
    assert.equal(buffer.dropped, 1);
    assert.equal(buffer.find(`${LOG}-5`), 1);
    assert.equal(buffer.find(`${LOG}-1`), -1);
    buffer.search("");
    assert.equal(buffer.shown.length, 4);
    assert.equal(buffer.dropped, 0);
    buffer.search("PLUM five");
    assert.deepEqual(buffer.shown.map((l) => l.text), ["a plum, five"], "all words, in any order");
    buffer.clear();
    assert.equal(buffer.shown.length, 0);
});

test("10,000 lines come in without delay", () => {
    const buffer = new LogBuffer(10000), began = process.cpuUsage(); /* not the clock: others may compute, too */
    buffer.search("needle");
    for (let i = 0; i < 40; i++)
        buffer.add(Array.from({ length: 500 }, (_, k) => entry(i * 500 + k, k % 100 ? "hay" : "needle")));
    assert.equal(buffer.lines.length, 10000);
    assert.equal(buffer.shown.length, 100);
    const { user } = process.cpuUsage(began);
    assert.ok(user < 1e6, `${user / 1000} ms`);
});

// ---- requests ----

const request = (seq, more = {}) => ({ seq, id: `id${seq}`, model: "plum", client: "curl", path: "/v1/chat/completions", task: "chat",
    end: "completed", error: null, status: 200, ...more });
const reply = (requests, last, log = "a") => ({ requests, last_seq: last, log_id: log, capture: { on: false } });

test("replies are put together; another server begins anew", () => {
    let data = merged(null, reply([request(1), request(2)], 2));
    data = merged(data, reply([request(2), request(3)], 3));
    assert.deepEqual(data.list.map((r) => r.seq), [1, 2, 3]);
    assert.deepEqual(merged(data, reply([request(1)], 1)).list.map((r) => r.seq), [1]);
    assert.deepEqual(merged(data, reply([request(4)], 4, "b")).list.map((r) => r.seq), [4]);
    const long = merged(data, reply(Array.from({ length: 1500 }, (_, i) => request(i + 10)), 2000));
    assert.equal(long.list.length, 1000);
});

test("requests by what they are", () => {
    const list = [request(1), request(2, { model: "pear", end: "failed", error: "no such thing", status: 404 }), request(3, { client: "phone" })];
    const seqs = (filter) => filtered(list, filter).map((r) => r.seq);
    assert.deepEqual(seqs({}), [3, 2, 1], "newest first");
    assert.deepEqual(seqs({ end: "failed" }), [2]);
    assert.deepEqual(seqs({ model: "plum", client: "curl" }), [1]);
    assert.deepEqual(seqs({ text: "SUCH 404" }), [2]);
    assert.deepEqual(choicesOf(list, "model"), ["pear", "plum"]);
});

test("a captured body can be sent again if it is whole", () => {
    assert.deepEqual(bodyOf({ body: { text: '{"a":1}', cut: false } }), { a: 1 });
    for (const body of [undefined, { text: null }, { text: '{"a":1}', cut: true }, { text: "[1]", cut: false }, { text: "{", cut: false }])
        assert.equal(bodyOf({ body }), null);
    assert.equal(readable('{"a":1}'), '{\n  "a": 1\n}');
    assert.equal(readable("data: x"), "data: x");
});

// ---- settings ----

const table = readFileSync(path.join(ROOT, "router/settings/settings_table.c"), "utf8");
const names = [...table.matchAll(/^ {4}\{"([a-z0-9-]+)",/gm)].map((m) => m[1]);

test("every setting has a group and is explained in every language", async () => {
    assert.ok(names.length > 50 && names.includes("sd-cpp-backend"), names.join(" "));
    assert.deepEqual(Object.values(GROUPS).flat().sort(), [...names].sort());
    for (const language of LANGUAGES) {
        const all = await texts(language);
        assert.deepEqual(names.filter((name) => !all[`server.setting.${name}`]), [], language);
        assert.deepEqual(Object.keys(all).filter((key) => key.startsWith("server.setting."))
            .map((key) => key.slice("server.setting.".length)).filter((name) => !names.includes(name)), [], language);
    }
});

test("the values to choose from are the server's", () => {
    const profiles = /QN_PROFILE_NAMES "([^"]*)"/.exec(readFileSync(path.join(ROOT, "router/answers/profile.h"), "utf8"))[1];
    assert.deepEqual(CHOICES.profile, profiles.split(/, | or /));
    const levels = /QN_LOG_LEVELS\s*\\?\s*"([^"]*)"/.exec(readFileSync(path.join(ROOT, "lib/base/log.h"), "utf8"))[1];
    assert.deepEqual(CHOICES["log-level"], levels.split(/, | or /));
    const types = /QN_CACHE_TYPES_OWN_TEXT\s*\\?\s*"([^"]*)"/.exec(readFileSync(path.join(ROOT, "lib/contract/cache_types.h"), "utf8"))[1];
    assert.deepEqual(CHOICES["cache-type"], types.split(/, | or /));
});

test("how a setting is edited", () => {
    assert.equal(editorOf("offline", false), "truth");
    assert.equal(editorOf("port", 13305), "number");
    assert.equal(editorOf("log-level", "info"), "choice");
    assert.equal(editorOf("max-loaded-models", 1), "text");
    assert.equal(editorOf("ollama-port", "auto"), "text");
    assert.equal(shown("preload", ["a", "b"]), "a,b");
    assert.equal(shown("groups", {}), "");
    assert.equal(shown("groups", { a: { members: ["b"] } }), '{"a":{"members":["b"]}}');
    assert.equal(shown("port", 1), 1);
    assert.deepEqual(given('{"a": 1}'), { a: 1 });
    assert.equal(given("{a"), "{a");
    assert.equal(given("a,b"), "a,b");
    assert.equal(given(null), null);
});

test("settings by group, and those that are new to the page at the end", () => {
    const s = (name, from = "default") => ({ name, from });
    const list = [s("port"), s("idle", "config.json"), s("brand-new")];
    assert.deepEqual(grouped(list, {}).map(([group, all]) => [group, all.map((x) => x.name)]),
        [["network", ["port"]], ["memory", ["idle"]], ["other", ["brand-new"]]]);
    assert.deepEqual(grouped(list, { changed: true }).map(([group]) => group), ["memory"]);
    assert.deepEqual(grouped(list, { text: "seconds", describe: (name) => name === "idle" ? "Seconds of rest" : "" }).map(([group]) => group), ["memory"]);
});

// ---- connecting ----

const here = { hostname: "localhost", port: "13305", protocol: "http:", origin: "http://localhost:13305" };

test("addresses of the server", () => {
    const server = { port: 13305, open_to_others: true, addresses: ["192.168.1.5", "fd00::7"] };
    assert.deepEqual(addressesOf(server, here).map((a) => [a.id, a.url]), [["here", "http://localhost:13305"],
        ["network", "http://192.168.1.5:13305"], ["network", "http://[fd00::7]:13305"]]);
    assert.deepEqual(addressesOf({ ...server, open_to_others: false }, here).map((a) => a.url), ["http://localhost:13305"]);
    const there = { hostname: "192.168.1.5", port: "13305", protocol: "http:", origin: "http://192.168.1.5:13305" };
    assert.deepEqual(addressesOf(server, there).map((a) => a.url), ["http://192.168.1.5:13305", "http://localhost:13305", "http://[fd00::7]:13305"]);
    const proxy = { hostname: "ai.example", port: "", protocol: "https:", origin: "https://ai.example" };
    assert.deepEqual(addressesOf(server, proxy)[0], { id: "page", url: "https://ai.example" });
    assert.deepEqual(addressesOf(null, here).map((a) => a.url), ["http://localhost:13305"]);
    assert.equal(ollamaUrl("http://192.168.1.5:13305", 11434), "http://192.168.1.5:11434");
    assert.equal(ollamaUrl("http://localhost:13305", null), null);
});

test("every program is told the address, and has its texts", async () => {
    const what = { url: "http://h:1", ollama: null, model: "plum", context: 1000, key: "KEY", hasKeys: true };
    assert.deepEqual(Object.values(APIS).flat().sort(), Object.keys(PROGRAMS).sort());
    for (const language of LANGUAGES) {
        const all = await texts(language);
        for (const [name, program] of Object.entries(PROGRAMS)) {
            const parts = program(what);
            assert.ok(parts.some(([, code]) => code.includes("http://h:1")), name);
            for (const key of [`server.connect.app.${name}`, `server.connect.how.${name}`, ...parts.map(([part]) => part)])
                assert.ok(all[key], `${language}: ${key}`);
        }
    }
    assert.match(PROGRAMS.curl(what)[0][1], /Bearer KEY/);
    assert.doesNotMatch(PROGRAMS.curl({ ...what, hasKeys: false })[0][1], /Bearer/);
    assert.doesNotThrow(() => JSON.parse(PROGRAMS.vscode(what)[0][1]));
    assert.deepEqual(JSON.parse(PROGRAMS.vscode(what)[0][1])[0].models[0].maxOutputTokens, 500);
});

// ---- MCP servers ----

const WEB = { kind: "http", name: "web", url: "https://a/mcp", has_token: true, call_s: 60, enabled: true, state: "off" };
const PROGRAM = { kind: "stdio", name: "files", command: "npx", args: ["-y", "it"], env: ["KEY", "OLD"], read: ["/a"], write: [], call_s: 5 };

test("a form that is not changed changes nothing", () => {
    assert.deepEqual(mcp.changesOf(mcp.formOf(WEB), WEB), {});
    assert.deepEqual(mcp.changesOf(mcp.formOf(PROGRAM), PROGRAM), {});
    /* Arguments that cannot be a line of the text field (empty, or with a line break) are kept, too. */
    const odd = { ...PROGRAM, args: ["two\nlines", ""] };
    assert.deepEqual(mcp.changesOf(mcp.formOf(odd), odd), {});
});

test("only what has changed is sent; secrets are kept unless they are given or removed", () => {
    const web = mcp.formOf(WEB);
    assert.equal(web.token, "");
    assert.deepEqual(mcp.changesOf({ ...web, name: " x " }, WEB), { name: "x" });
    assert.deepEqual(mcp.changesOf({ ...web, token: "t" }, WEB), { token: "t" });
    assert.deepEqual(mcp.changesOf({ ...web, dropToken: true }, WEB), { token: null });
    assert.deepEqual(mcp.changesOf({ ...web, call_s: null }, WEB), {});
    const form = mcp.formOf(PROGRAM), [key, old] = form.env, more = { name: "NEW", value: "", stored: false };
    assert.deepEqual(form.env.map((one) => one.value), ["", ""]);
    assert.deepEqual(mcp.changesOf({ ...form, env: [{ ...key, value: "1" }, more] }, PROGRAM), { env: { KEY: "1", NEW: "", OLD: null } });
    assert.deepEqual(mcp.changesOf({ ...form, env: [key, old, { ...more, name: "" }] }, PROGRAM), {});
    assert.deepEqual(mcp.changesOf({ ...form, args: "a\n\n b ", read: "" }, PROGRAM), { args: ["a", "b"], read: [] });
});

test("what a change of a server makes it forget", () => {
    const web = mcp.formOf(WEB), program = mcp.formOf(PROGRAM);
    assert.equal(mcp.forgottenOf({ ...web, name: "x", url: " https://a/mcp " }, WEB), "");
    assert.equal(mcp.forgottenOf({ ...web, url: "https://b/mcp" }, WEB), "http");
    assert.equal(mcp.forgottenOf({ ...program, read: "/b" }, PROGRAM), "");
    assert.equal(mcp.forgottenOf({ ...program, args: "-y\nother" }, PROGRAM), "args");
    assert.equal(mcp.forgottenOf({ ...program, command: "uvx" }, PROGRAM), "stdio");
});

test("a new server has the members of its kind", () => {
    const form = { ...mcp.formOf(), name: "n", url: " https://a ", command: "x", args: "1" };
    assert.deepEqual(mcp.bodyOf(form), { name: "n", kind: "http", call_s: 60, url: "https://a" });
    assert.deepEqual(mcp.bodyOf({ ...form, kind: "stdio", env: [{ name: "A", value: "b", stored: false }], call_s: null }),
        { name: "n", kind: "stdio", command: "x", args: ["1"], env: { A: "b" }, read: [], write: [] });
});

test("a configuration of another program", () => {
    const entry = { command: "npx", args: ["-y", "it"], env: { KEY: "k", N: 1 } }, all = { mcpServers: { it: entry, other: {} } };
    for (const text of [all, all.mcpServers]) {
        const form = mcp.formOfConfig(JSON.stringify(text));
        assert.deepEqual([form.kind, form.name, form.command, form.args], ["stdio", "it", "npx", "-y\nit"]);
        assert.deepEqual(form.env, [{ name: "KEY", value: "k", stored: false }, { name: "N", value: "1", stored: false }]);
    }
    assert.equal(mcp.formOfConfig(JSON.stringify(entry)).name, "");
    const web = mcp.formOfConfig('{"servers":{"w":{"type":"http","url":"https://a","headers":{"Authorization":"Bearer t"}}}}');
    assert.deepEqual([web.kind, web.name, web.url, web.token], ["http", "w", "https://a", "t"]);
    for (const text of ["", "{}", "[]", "3", "null", "{", '{"a":{"command":3}}', '{"a":null}', '{"mcpServers":{}}', '{"a":{"command":"x","args":"y"}}'])
        assert.equal(mcp.formOfConfig(text), null, text);
});

test("fields of errors, permissions, states", () => {
    assert.deepEqual(["args[0]", "env.KEY", "url", "", undefined].map(mcp.fieldOf), ["args", "env", "url", "", ""]);
    const tools = (...list) => list.map((permission) => ({ permission }));
    assert.deepEqual([[], tools("ask"), tools("ask", "ask"), tools("ask", "never")].map(mcp.commonPermission), ["", "ask", "ask", ""]);
    assert.deepEqual([mcp.stateOf(WEB), mcp.stateOf({ ...WEB, enabled: false })], ["off", "disabled"]);
    assert.deepEqual([mcp.whereOf(WEB), mcp.whereOf(PROGRAM)], ["https://a/mcp", "npx -y it"]);
});
