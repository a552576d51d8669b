/* Records of a stream, the difference of answers, sentences that are read aloud, the context's gauge, files. */
import assert from "node:assert/strict";
import test from "node:test";
import { awaitsNext, hasArguments, pretty, prettyArguments, shownCalls, unavailable } from "../../../ui/lib/chat/calls.js";
import { diffWords } from "../../../ui/lib/chat/diff.js";
import { kindOf, refusal } from "../../../ui/lib/chat/files.js";
import { gauge } from "../../../ui/lib/chat/gauge.js";
import { apply, messageOf, newAnswer, placeOf } from "../../../ui/lib/chat/records.js";
import { isBare, presetOf, sameSettings } from "../../../ui/lib/chat/presets.js";
import { sentences } from "../../../ui/lib/chat/sentences.js";

test("records make the message", () => {
  const message = { id: "m", role: "assistant", text: "", reasoning: "", calls: [], stats: {}, state: "queued" };
  const answer = newAnswer(message);
  for (const record of [
  { t: "state", state: "queued", stage: "waiting", place: 2 }, { t: "state", state: "answering", stage: "loading", progress: 0.5 },
  { t: "prompt", done: 1, total: 2 }, { t: "think", s: "Hm." }, { t: "text", s: "Yes" }, { t: "text", s: "." },
  { t: "call", id: "1", name: "f", state: "running" }, { t: "call", id: "1", result: "4", state: "done" },
  { t: "stats", output: 3 }, { t: "later", x: 1 }, { t: "end", state: "done", finish: "stop" },
  ])
  apply(answer, record);
  assert.deepEqual(messageOf(message, answer), {
  id: "m", role: "assistant", text: "Yes.", reasoning: "Hm.", calls: [{ id: "1", name: "f", state: "done", result: "4" }],
  stats: { output: 3 }, state: "done", finish: "stop", error: null,
  });
  assert.equal(answer.ended, true);
});

test("the place behind what is known counts bytes of UTF-8", () => {
  assert.equal(placeOf(newAnswer({ id: "m", reasoning: "ä", text: "€a" })), "2-4");
});

test("thinking ends with the first text", () => {
  const answer = newAnswer({ id: "m", state: "answering" });
  apply(answer, { t: "think", s: "a" });
  assert.equal(answer.thinking, true);
  apply(answer, { t: "text", s: "b" });
  assert.equal(answer.thinking, false);
});

test("difference by words", () => {
  assert.deepEqual(diffWords("The port is 80.", "The port is 13305."),
  [{ kind: "same", text: "The port is " }, { kind: "out", text: "80" }, { kind: "in", text: "13305" }, { kind: "same", text: "." }]);
  assert.deepEqual(diffWords("", "new"), [{ kind: "in", text: "new" }]);
  assert.deepEqual(diffWords("same", "same"), [{ kind: "same", text: "same" }]);
});

test("both texts can be read from the difference", () => {
  let seed = 7;
  const random = (n) => (seed = (seed * 16807) % 2147483647) % n;
  for (let i = 0; i < 200; i++) {
  const text = () => Array.from({ length: random(30) }, () => "abcde"[random(5)]).join(" ");
  const one = text(), other = text(), parts = diffWords(one, other);
  assert.equal(parts.filter((p) => p.kind !== "in").map((p) => p.text).join(""), one);
  assert.equal(parts.filter((p) => p.kind !== "out").map((p) => p.text).join(""), other);
  }
});

test("only whole sentences are announced", () => {
  const next = sentences("Code");
  assert.equal(next("It is 3.5 me"), "");
  assert.equal(next("It is 3.5 metres. Then"), "It is 3.5 metres.");
  assert.equal(next("It is 3.5 metres. Then **stop**!\n\n"), "Then stop !");
  assert.equal(next("It is 3.5 metres. Then **stop**!\n\n```js\na. b\n"), "");
  assert.equal(next("It is 3.5 metres. Then **stop**!\n\n```js\na. b\n```\nAnd"), "Code.");
  assert.equal(next("It is 3.5 metres. Then **stop**!\n\n```js\na. b\n```\nAnd", true), "And");
});

test("the gauge counts what the server has counted", () => {
  const path = [
  { role: "user", text: "x".repeat(100), parts: [] },
  { role: "assistant", text: "y".repeat(30), reasoning: "z".repeat(10), stats: { prompt: 200, output: 40, context: 1000 } },
  { role: "user", text: "later" },
  ];
  const { context, used, parts } = gauge(path, "s".repeat(100));
  assert.equal(context, 1000);
  assert.equal(used, 240);
  assert.deepEqual(parts, [{ name: "system", tokens: 100 }, { name: "history", tokens: 130 }, { name: "reasoning", tokens: 10 }]);
  assert.equal(gauge([{ role: "user", text: "x" }], ""), null);
});

test("files that a model cannot take are refused with the reason", () => {
  assert.equal(kindOf({ type: "image/png", name: "a.png" }), "image");
  assert.equal(kindOf({ type: "image/svg+xml", name: "a.svg" }), "file");
  assert.equal(kindOf({ type: "", name: "Makefile" }), "file");
  assert.equal(kindOf({ type: "application/zip", name: "a.zip" }), "");
  const image = { type: "image/png", name: "a.png", size: 10 };
  assert.equal(refusal(image, ["chat"]), "chat.file.no_image");
  assert.equal(refusal(image, ["chat", "vision"]), "");
  assert.equal(refusal(image, null), "");
  assert.equal(refusal({ type: "application/pdf", name: "a.pdf", size: 10 }, []), "chat.file.pdf");
  assert.equal(refusal({ type: "text/plain", name: "a.txt", size: 2e6 }, []), "chat.file.long");
});

test("a preset is recognised by its settings, in whichever order they are", () => {
  const one = { system: "Be brief.", params: { temperature: 0.5, response_format: { type: "json_schema", strict: true } } };
  assert.equal(sameSettings(one, { system: "Be brief.", params: { response_format: { strict: true, type: "json_schema" }, temperature: 0.5 } }), true);
  assert.equal(sameSettings(one, { system: "Be brief.", params: { temperature: 0.5 } }), false);
  assert.equal(sameSettings({ params: { stop: ["a", "b"] } }, { system: "", params: { stop: ["b", "a"] } }), false);
  assert.equal(presetOf([{ id: "1", system: "x", params: {} }, { id: "2", ...one }], one).id, "2");
  assert.equal(presetOf([], one), null);
  assert.equal(isBare({ system: "", params: {} }), true);
  assert.equal(isBare(one), false);
});

test("which servers are offered, and which answer goes on", () => {
  const answer = newAnswer({ id: "m", state: "queued" });
  const servers = [{ id: "1", name: "a", tools: 2, error: null }, { id: "2", name: "b", tools: 0, error: "it has ended" }];
  const calls = [{ id: "c", name: "a__f", state: "asking" }];
  for (const record of [{ t: "tools", servers }, { t: "state", state: "answering", stage: "calls" }, { t: "calls", calls },
    { t: "end", state: "done", finish: "tool_calls", next: "n" }])
    assert.equal(apply(answer, record), "state");
  assert.deepEqual([answer.tools, answer.calls, answer.next], [servers, calls, "n"]);
  assert.deepEqual(unavailable(answer.tools).map((one) => one.name), ["b"]);
  assert.deepEqual(unavailable(undefined), []);
  assert.deepEqual(messageOf({ id: "m" }, answer).tools, servers);
});

test("calls as they are shown, whatever an imported message has", () => {
  assert.deepEqual(shownCalls(null, false), []);
  assert.deepEqual(shownCalls([null, 3, { id: "1", name: "f", arguments: { a: 1 }, result: null, state: "asking", more: 1 }], false),
    [{ id: "1", name: "f", arguments: '{"a":1}', state: "stopped" }]);
  assert.deepEqual(shownCalls([{ state: "asking" }], true), [{ id: "0", name: "", arguments: "", state: "asking" }]);
  assert.deepEqual(["", "{}", " { } ", "[1]", '{"a":1}'].map((text) => hasArguments({ arguments: text })), [false, false, false, true, true]);
  assert.equal(pretty('{"a":[1]}'), '{\n  "a": [\n    1\n  ]\n}');
  assert.equal(pretty("[1"), "[1");
  assert.equal(pretty('{"b": {}, "a": [ ], "c": "\\u00e4 {\\"x\\": 1}"}'), '{\n  "b": {},\n  "a": [],\n  "c": "ä {\\"x\\": 1}"\n}');
  /* Characters that change the text direction are escaped, so that the user sees what is really allowed. */
  assert.equal(prettyArguments('{"a":"x\u202ey"}'), '{\n  "a": "x\\u202ey"\n}');
  assert.equal(shownCalls([{ tool: "a\u2067b" }], true)[0].tool, "a\\u2067b");
});

test("an answer with results but without a next answer", () => {
  const message = { role: "assistant", state: "done", finish: "tool_calls", calls: [{ result: "" }] };
  assert.equal(awaitsNext(message), true);
  for (const other of [{ state: "stopped" }, { finish: "stop" }, { calls: [{ result: "" }, {}] }, { calls: [] }, { role: "user" }])
    assert.equal(awaitsNext({ ...message, ...other }), false, JSON.stringify(other));
});

test("arguments are shown as the server is sent them", () => {
  assert.equal(prettyArguments('{"to":"me","to":"them"}'), '{\n  "to": "me",\n  "to": "them"\n}');
  assert.equal(prettyArguments('{"n":12345678901234567890, "x":1.0}'), '{\n  "n": 12345678901234567890,\n  "x": 1.0\n}');
  assert.equal(prettyArguments('{"2":1,"1":2}'), '{\n  "2": 1,\n  "1": 2\n}');
  const deep = "[".repeat(2000) + "]".repeat(2000);
  assert.equal(pretty(deep), deep);
  for (const value of [{ a: [1, { b: null }], c: "x,y:[]{}" }, [], "text", -1.5e-7, [[], [{}]], { "": { "k\n": true } }])
    assert.equal(pretty(JSON.stringify(value)), JSON.stringify(value, null, 2));
});
