// The official client of Ollama's API, unchanged, against quinced over the fake backend.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";

import { Ollama } from "ollama";
import { z } from "zod";

import { built, Server, told } from "./server.mjs";

let server, client;
const messages = [{ role: "user", content: "hello" }];
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city",
    parameters: { type: "object", required: ["city"], properties: { city: { type: "string" } } },
  },
};

/* What tells a file of a model that can reason. */
const thinking = "{{ messages[0].content }}<think>";

before(async () => {
  if (!built) return;
  server = await Server.start({
    quick: { tokens: 3 },
    long: { tokens: 100000, token_ms: 5, slots: 1 },
    echo: { echo_job: true, template: thinking },
    dies: { tokens: 50, token_ms: 2, crash_after: 3 },
    thinks: { template: thinking, script: [
      { ev: "reasoning", index: 0, text: "Let me " }, { ev: "reasoning", index: 0, text: "see." },
      { ev: "text", index: 0, text: "Blue." }, { ev: "done", index: 0, reason: "stop" }] },
    tools: { script: [
      { ev: "tool_call", index: 0, call: 0, name: "get_weather", arguments: '{"city":' },
      { ev: "tool_call", index: 0, call: 0, arguments: '"Tokyo"}' },
      { ev: "tool_call", index: 0, call: 1, name: "get_weather", arguments: '{"city":"Paris"}' },
      { ev: "done", index: 0, reason: "tool_calls" }] },
    json: { script: [
      { ev: "text", index: 0, text: '{"age": 22, "available": ' }, { ev: "text", index: 0, text: "true}" },
      { ev: "done", index: 0, reason: "stop" }] },
  }, ["--offline"]);
  client = new Ollama({ host: server.url });
});

after(async () => {
  if (server) assert.equal(await server.stop(), 0);
});

const it = (name, fn) => test(name, { skip: !built && "quinced is not built" }, fn);

async function collect(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  assert.equal(parts.filter((p) => p.done).length, 1);
  assert.equal(parts.at(-1).done, true);
  return parts;
}

it("chat, whole and streamed", async () => {
  const whole = await client.chat({ model: "user.quick", messages });
  assert.deepEqual(whole.message, { role: "assistant", content: "word word word " });
  assert.equal(whole.done_reason, "stop");
  assert.equal(whole.eval_count, 3);
  assert.ok(whole.total_duration > 0 && whole.prompt_eval_count > 0);
  assert.ok(!Number.isNaN(Date.parse(whole.created_at)));
  const parts = await collect(await client.chat({ model: "user.quick", messages, stream: true }));
  assert.equal(parts.map((p) => p.message.content).join(""), "word word word ");
});

it("generate, whole and streamed", async () => {
  const whole = await client.generate({ model: "user.quick", prompt: "hello" });
  assert.equal(whole.response, "word word word ");
  const parts = await collect(await client.generate({ model: "user.quick", prompt: "hello", stream: true }));
  assert.equal(parts.map((p) => p.response).join(""), "word word word ");
});

it("everything a request says reaches the model", async () => {
  const begun = Date.now();
  const reply = await client.generate({
    model: "user.echo", prompt: "Why?", system: "Be brief.", template: "{{ messages }}", context: [1, 2],
    think: "low", keep_alive: "10m", format: "json", logprobs: true, top_logprobs: 2,
    options: { temperature: 0.5, top_k: 5, top_p: 0.5, min_p: 0.1, typical_p: 0.9, repeat_penalty: 1.5, repeat_last_n: 8,
      presence_penalty: 0.5, frequency_penalty: 0.25, seed: 7, stop: ["x"], num_predict: 3, num_ctx: 256, num_keep: 4 },
  });
  const job = JSON.parse(reply.response);
  assert.deepEqual(told(job).map((m) => m.content), ["Be brief.", "Why?"]);
  assert.equal(job.chat.template_text, "{{ messages }}");
  assert.deepEqual(job.chat.before, [1, 2]);
  assert.equal(job.chat.think, 1);
  assert.equal(job.chat.effort, "low");
  assert.deepEqual(job.schema, { type: "object" });
  assert.deepEqual(job.sampling, { max_tokens: 3, temperature: 0.5, top_p: 0.5, top_k: 5, min_p: 0.1, typical_p: 0.9,
    repeat_penalty: 1.5, repeat_last_n: 8, presence_penalty: 0.5, frequency_penalty: 0.25, seed: 7, stop: ["x"],
    logprobs: 2 });
  const { models } = await client.ps();
  assert.equal(models[0].context_length, 256);
  const until = Date.parse(models[0].expires_at) - 600e3;
  assert.ok(begun - 10 <= until && until <= Date.now() + 10, `${until - begun} ms`);
});

it("thinking", async () => {
  const whole = await client.chat({ model: "user.thinks", messages, think: true });
  assert.deepEqual(whole.message, { role: "assistant", content: "Blue.", thinking: "Let me see." });
  const parts = await collect(await client.chat({ model: "user.thinks", messages, think: true, stream: true }));
  assert.equal(parts.map((p) => p.message.thinking ?? "").join(""), "Let me see.");
  assert.equal(parts.map((p) => p.message.content).join(""), "Blue.");
  await assert.rejects(client.chat({ model: "user.quick", messages, think: true }), /does not support thinking/);
  const generated = await client.generate({ model: "user.thinks", prompt: "?", think: true });
  assert.deepEqual([generated.thinking, generated.response], ["Let me see.", "Blue."]);
});

it("tools, there and back", async () => {
  const whole = await client.chat({ model: "user.tools", messages, tools: [weather] });
  const calls = whole.message.tool_calls.map((c) => [c.function.name, c.function.arguments]);
  assert.deepEqual(calls, [["get_weather", { city: "Tokyo" }], ["get_weather", { city: "Paris" }]]);
  const parts = await collect(await client.chat({ model: "user.tools", messages, tools: [weather], stream: true }));
  assert.equal(parts.flatMap((p) => p.message.tool_calls ?? []).length, 2);
  const answer = await client.chat({
    model: "user.echo", tools: [weather],
    messages: [...messages, whole.message, { role: "tool", tool_name: "get_weather", content: "11 degrees" }],
  });
  const job = JSON.parse(answer.message.content);
  assert.equal(told(job)[1].tool_calls[1].function.arguments.city, "Paris");
  assert.deepEqual(told(job)[2], { role: "tool", name: "get_weather", content: "11 degrees" });
  assert.equal(job.chat.tools[0].function.name, "get_weather");
});

it("structured output with zod", async () => {
  const Friend = z.object({ age: z.number(), available: z.boolean() });
  const schema = { type: "object", properties: { age: { type: "integer" }, available: { type: "boolean" } } };
  const reply = await client.chat({ model: "user.json", messages, format: schema });
  assert.deepEqual(Friend.parse(JSON.parse(reply.message.content)), { age: 22, available: true });
  const echoed = await client.chat({ model: "user.echo", messages, format: schema });
  assert.deepEqual(JSON.parse(echoed.message.content).schema, schema);
});

it("list, show, ps, version", async () => {
  const { models } = await client.list();
  const quick = models.find((m) => m.name === "user.quick:latest");
  assert.match(quick.digest, /^[0-9a-f]{64}$/);
  assert.ok(quick.size > 0 && Date.parse(quick.modified_at) > Date.now() - 3600e3);
  assert.equal(quick.details.family, "llama");
  const shown = await client.show({ model: "user.quick" });
  assert.equal(shown.model_info["general.architecture"], "llama");
  assert.deepEqual(shown.capabilities, ["completion"]);
  assert.ok(Array.isArray((await client.ps()).models));
  assert.match((await client.version()).version, /^\d+\.\d+\.\d+/);
});

it("create, copy, delete", async () => {
  const made = await client.create({ model: "mario", from: "user.echo", system: "You are Mario.", parameters: { seed: 5 } });
  assert.equal(made.status, "success");
  const states = [];
  for await (const s of await client.create({ model: "mario", from: "user.echo", system: "Mario!", stream: true })) {
    states.push(s.status);
  }
  assert.equal(states.at(-1), "success");
  assert.deepEqual(await client.copy({ source: "mario", destination: "luigi" }), { status: "success" });
  const job = JSON.parse((await client.chat({ model: "luigi", messages })).message.content);
  assert.equal(told(job)[0].content, "Mario!");
  assert.equal((await client.show({ model: "luigi" })).system, "Mario!");
  assert.deepEqual(await client.delete({ model: "mario" }), { status: "success" });
  assert.deepEqual(await client.delete({ model: "luigi" }), { status: "success" });
  const names = (await client.list()).models.map((m) => m.name);
  assert.ok(!names.includes("mario:latest") && !names.includes("luigi:latest"));
  await assert.rejects(client.delete({ model: "mario" }), (e) => e.status_code === 404);
});

it("a model of a blob", async () => {
  const { readFile } = await import("node:fs/promises");
  const data = await readFile(`${server.dir}/quick.gguf`);
  const digest = `sha256:${createHash("sha256").update(data).digest("hex")}`;
  const sent = await fetch(`${server.url}/api/blobs/${digest}`, { method: "POST", body: data });
  assert.equal(sent.status, 201);
  assert.equal((await fetch(`${server.url}/api/blobs/${digest}`, { method: "HEAD" })).status, 200);
  await client.create({ model: "mine", files: { "quick.gguf": digest } });
  assert.equal((await client.chat({ model: "mine", messages })).eval_count, 3);
  await client.delete({ model: "mine" });
});

it("pull of what is here, and of what is not; push", async () => {
  assert.equal((await client.pull({ model: "user.quick" })).status, "success");
  const states = [];
  for await (const s of await client.pull({ model: "user.quick", stream: true })) states.push(s.status);
  assert.equal(states[0], "pulling manifest");
  assert.equal(states.at(-1), "success");
  await assert.rejects(client.pull({ model: "llama3.2" }), /offline/);
  await assert.rejects(client.push({ model: "user.quick" }), (e) => e.status_code === 501);
});

it("embeddings have a clear error", async () => {
  await assert.rejects(client.embed({ model: "user.quick", input: ["a", "b"] }), /cannot make embeddings/);
  await assert.rejects(client.embeddings({ model: "user.quick", prompt: "a" }), /cannot make embeddings/);
});

it("loading and unloading", async () => {
  assert.equal((await client.generate({ model: "user.quick", prompt: "" })).done_reason, "load");
  assert.ok((await client.ps()).models.some((m) => m.name === "user.quick:latest"));
  assert.equal((await client.chat({ model: "user.quick", messages: [], keep_alive: 0 })).done_reason, "unload");
});

it("errors, before and within a stream", async () => {
  await assert.rejects(client.chat({ model: "nobody", messages }),
    (e) => e.status_code === 404 && /model 'nobody' not found/.test(e.message));
  await assert.rejects(client.chat({ model: "user.quick", messages, options: { temperature: "hot" } }),
    (e) => e.status_code === 400 && /options.temperature/.test(e.message));
  await assert.rejects(async () => {
    for await (const part of await client.chat({ model: "user.dies", messages, stream: true })) assert.ok(!part.done);
  }, /process/);
});

it("an abort frees the model", async () => {
  const stream = await client.chat({ model: "user.long", messages, stream: true });
  let n = 0;
  await assert.rejects(async () => {
    for await (const part of stream) {
      assert.ok(part);
      if (++n === 3) stream.abort();
    }
  }, { name: "AbortError" });
  // The only slot is free again.
  const next = await client.chat({ model: "user.long", messages, options: { num_predict: 1 }, stream: true });
  for await (const part of next) {
    assert.ok(part);
    next.abort();
    break;
  }
});
