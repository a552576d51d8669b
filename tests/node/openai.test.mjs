// The official OpenAI client against quince: what an app written for it relies on.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

import { PATIENCE_MS, Server, told } from "./server.mjs";

let server;
let client;
const text = (s) => ({ ev: "text", text: s });
const done = (reason = "stop") => ({ ev: "done", reason });
const call = (n, name, args) => ({ ev: "tool_call", call: n, ...(name ? { name } : {}), arguments: args });
const weather = { type: "function", function: { name: "weather", parameters: { type: "object" } } };
const messages = [{ role: "user", content: "hello" }];

before(async () => {
  server = await Server.start({
    quick: { tokens: 3 },
    long: { tokens: 100000, token_ms: 5 },
    broken: { load_fail: "the file is broken" },
    echo: { echo_job: true },
    thinker: { script: [{ ev: "reasoning", text: "Hm" }, { ev: "reasoning", text: "m." }, text("Yes."), done()] },
    caller: { script: [call(0, "weather", ""), call(0, null, '{"city":"'), call(0, null, 'Rome"}'),
      call(1, "weather", '{"city":"Oslo"}'), done("tool_calls")] },
    json: { script: [text('{"name":"Ada",'), text('"age":36}'), done()] },
    short: { script: [text("cut o"), done("length")] },
    fallen: { script: [text("a"), { ev: "error", error: { code: "internal", message: "it fell" } }] },
    full: { script: [{ ev: "error", error: { code: "context", message: "too long a prompt" } }] },
  });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0 });
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

test("models are listed and retrieved", async () => {
  const ids = [];
  for await (const model of await client.models.list()) ids.push(model.id);
  assert.deepEqual(ids.sort(), ["broken", "caller", "echo", "fallen", "full", "json", "long", "quick", "short", "thinker"]
    .map((name) => `user.${name}`));
  const model = await client.models.retrieve("user.quick");
  assert.equal(model.object, "model");
});

test("a chat is answered whole", async () => {
  const reply = await client.chat.completions.create({ model: "user.quick", messages, seed: 1, stop: ["x"] });
  assert.equal(reply.choices[0].message.content, "word word word ");
  assert.equal(reply.choices[0].finish_reason, "stop");
  assert.equal(reply.usage.total_tokens, reply.usage.prompt_tokens + 3);
});

test("a chat is streamed", async () => {
  const stream = await client.chat.completions.create({
    model: "user.quick", messages, stream: true, stream_options: { include_usage: true },
  });
  let text = "";
  let usage;
  const finishes = [];
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta?.content ?? "";
    if (chunk.choices[0]?.finish_reason) finishes.push(chunk.choices[0].finish_reason);
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, "word word word ");
  assert.deepEqual(finishes, ["stop"]);
  assert.equal(usage.completion_tokens, 3);
});

test("the client's own accumulation of a stream agrees", async () => {
  const stream = client.beta?.chat?.completions?.stream
    ? client.beta.chat.completions.stream({ model: "user.quick", messages })
    : client.chat.completions.stream({ model: "user.quick", messages });
  const final = await stream.finalChatCompletion();
  assert.equal(final.choices[0].message.content, "word word word ");
});

test("completions, whole and streamed", async () => {
  const reply = await client.completions.create({ model: "user.quick", prompt: "Once", max_tokens: 2 });
  assert.equal(reply.choices[0].text, "word word ");
  assert.equal(reply.choices[0].finish_reason, "length");
  let text = "";
  for await (const chunk of await client.completions.create({ model: "user.quick", prompt: "Once", stream: true })) {
    text += chunk.choices[0]?.text ?? "";
  }
  assert.equal(text, "word word word ");
});

test("an abort in mid-stream frees the model", async () => {
  const stream = await client.chat.completions.create({ model: "user.long", messages, stream: true });
  let chunks = 0;
  for await (const chunk of stream) {
    assert.ok(chunk);
    if (++chunks === 5) stream.controller.abort();
  }
  for (let i = 0; ; i++) {
    const [loaded] = (await server.get("/v1/health")).all_models_loaded;
    if (!loaded.is_busy) break;
    assert.ok(i < PATIENCE_MS / 20, "the job goes on after the abort");
    await sleep(20);
  }
});

test("errors are typed", async () => {
  await assert.rejects(client.chat.completions.create({ model: "nobody", messages }), (e) => {
    assert.ok(e instanceof OpenAI.NotFoundError);
    assert.equal(e.code, "model_not_found");
    assert.equal(e.param, "model");
    return true;
  });
  await assert.rejects(client.chat.completions.create({ model: "user.quick", messages, temperature: -1 }), (e) => {
    assert.ok(e instanceof OpenAI.BadRequestError);
    assert.equal(e.param, "temperature");
    assert.equal(e.type, "invalid_request_error");
    return true;
  });
  await assert.rejects(client.chat.completions.create({ model: "user.quick", messages: [] }),
    OpenAI.BadRequestError);
  await assert.rejects(client.chat.completions.create({ model: "user.broken", messages }), (e) => {
    assert.ok(e instanceof OpenAI.APIError);
    assert.match(e.message, /the file is broken/);
    return true;
  });
});

/** What the dialect made of a request: the job, as the echoing model says it. */
async function jobOf(body) {
  const reply = await client.chat.completions.create({ model: "user.echo", messages, ...body });
  return JSON.parse(reply.choices[0].message.content);
}

test("reasoning stands beside the content", async () => {
  const reply = await client.chat.completions.create({ model: "user.thinker", messages });
  assert.equal(reply.choices[0].message.reasoning_content, "Hmm.");
  assert.equal(reply.choices[0].message.content, "Yes.");
  let thought = "";
  let said = "";
  for await (const chunk of await client.chat.completions.create({ model: "user.thinker", messages, stream: true })) {
    thought += chunk.choices[0].delta.reasoning_content ?? "";
    said += chunk.choices[0].delta.content ?? "";
  }
  assert.deepEqual([thought, said], ["Hmm.", "Yes."]);
});

test("tools are called, whole and streamed", async () => {
  const reply = await client.chat.completions.create({ model: "user.caller", messages, tools: [weather] });
  const [choice] = reply.choices;
  assert.equal(choice.finish_reason, "tool_calls");
  assert.equal(choice.message.content, null);
  assert.deepEqual(choice.message.tool_calls.map((c) => [c.type, c.function.name, JSON.parse(c.function.arguments).city]),
    [["function", "weather", "Rome"], ["function", "weather", "Oslo"]]);
  const ids = choice.message.tool_calls.map((c) => c.id);
  assert.ok(ids.every((id) => /^call_/.test(id)));
  assert.equal(new Set(ids).size, 2);
  const final = await client.chat.completions.stream({ model: "user.caller", messages, tools: [weather] }).finalChatCompletion();
  assert.equal(final.choices[0].finish_reason, "tool_calls");
  assert.deepEqual(final.choices[0].message.tool_calls.map((c) => c.function.arguments),
    choice.message.tool_calls.map((c) => c.function.arguments));
});

test("a round of tools goes back to the model", async () => {
  // The scripted model calls again and again: the helper stops at its limit, and has called ours each time.
  const asked = [];
  const runner = client.chat.completions.runTools({
    model: "user.caller", messages,
    tools: [{ type: "function", function: { name: "weather", parse: JSON.parse,
      function: ({ city }) => { asked.push(city); return "sunny"; }, parameters: { type: "object" } } }],
  }, { maxChatCompletions: 2 });
  await runner.done();
  assert.deepEqual(asked, ["Rome", "Oslo", "Rome", "Oslo"]);
  const job = await jobOf({ messages: runner.messages.slice(0, 4), tools: [weather] });
  assert.deepEqual(told(job).map((m) => m.role), ["user", "assistant", "tool", "tool"]);
  assert.deepEqual(told(job)[1].tool_calls[1].function, { name: "weather", arguments: { city: "Oslo" } });
  assert.equal(told(job)[2].content, "sunny");
  assert.equal(told(job)[2].tool_call_id, told(job)[1].tool_calls[0].id);
});

test("which tools may be called becomes part of the job", async () => {
  const other = { type: "function", function: { name: "other", parameters: {} } };
  let job = await jobOf({ tools: [weather, other], tool_choice: "required", parallel_tool_calls: false });
  assert.equal(job.chat.tool_choice, "required");
  assert.equal(job.chat.single_call, true);
  job = await jobOf({ tools: [weather, other], tool_choice: { type: "function", function: { name: "other" } } });
  assert.equal(job.chat.tool_choice, "named");
  assert.equal(job.chat.tool_name, "other");
  job = await jobOf({ tools: [weather, other], tool_choice: { type: "allowed_tools", allowed_tools: {
    mode: "auto", tools: [{ type: "function", function: { name: "other" } }] } } });
  assert.deepEqual(job.chat.tools.map((t) => t.function.name), ["other"]);
  job = await jobOf({ tools: [weather], tool_choice: "none" });
  assert.equal(job.chat.tool_choice, "none");
});

test("structured output is parsed by the client and constrained by its schema", async () => {
  const Person = z.object({ name: z.string(), age: z.number() });
  const format = zodResponseFormat(Person, "person");
  const reply = await client.chat.completions.parse({ model: "user.json", messages, response_format: format });
  assert.deepEqual(reply.choices[0].message.parsed, { name: "Ada", age: 36 });
  const stream = client.chat.completions.stream({ model: "user.json", messages, response_format: format });
  assert.deepEqual((await stream.finalChatCompletion()).choices[0].message.parsed, { name: "Ada", age: 36 });
  const job = await jobOf({ response_format: format });
  assert.deepEqual(job.schema.required, ["name", "age"]);
  assert.deepEqual((await jobOf({ response_format: { type: "json_object" } })).schema, { type: "object" });
  await assert.rejects(client.chat.completions.parse({ model: "user.short", messages, response_format: format }),
    OpenAI.LengthFinishReasonError);
});

test("calls are parsed by the client's schema", async () => {
  const tools = [zodFunction({ name: "weather", parameters: z.object({ city: z.string() }) })];
  const reply = await client.chat.completions.parse({ model: "user.caller", messages, tools });
  assert.deepEqual(reply.choices[0].message.tool_calls.map((c) => c.function.parsed_arguments), [{ city: "Rome" }, { city: "Oslo" }]);
});

test("deprecated functions are answered in their own form", async () => {
  const reply = await client.chat.completions.create({
    model: "user.caller", messages, functions: [weather.function], function_call: "auto" });
  assert.equal(reply.choices[0].finish_reason, "function_call");
  assert.deepEqual(reply.choices[0].message.function_call, { name: "weather", arguments: '{"city":"Rome"}' });
});

test("members that change nothing here are accepted", async () => {
  const reply = await client.chat.completions.create({
    model: "user.quick", messages, store: true, metadata: { a: "b" }, user: "me", service_tier: "auto",
    prediction: { type: "content", content: "word" }, modalities: ["text"], verbosity: "low", safety_identifier: "s",
    prompt_cache_key: "k", seed: 7, logit_bias: { 5: -100 }, reasoning_effort: "low", max_completion_tokens: 2,
  });
  assert.equal(reply.choices[0].message.content, "word word ");
});

test("several choices, with the probabilities of their tokens", async () => {
  const reply = await client.chat.completions.create({ model: "user.quick", messages, n: 2, logprobs: true, top_logprobs: 1 });
  assert.deepEqual(reply.choices.map((c) => [c.index, c.message.content]), [[0, "word word word "], [1, "word word word "]]);
  assert.equal(reply.choices[1].logprobs.content.length, 3);
  assert.equal(reply.choices[1].logprobs.content[0].logprob, -0.5);
});

test("completions of several prompts, with echo and the best of several", async () => {
  const reply = await client.completions.create({ model: "user.quick", prompt: ["a", "b"], n: 2, best_of: 3, logprobs: 0 });
  assert.deepEqual(reply.choices.map((c) => c.index), [0, 1, 2, 3]);
  assert.equal(reply.choices[3].logprobs.tokens.length, 3);
  const job = JSON.parse((await client.completions.create({
    model: "user.echo", prompt: [1, 2, 3], suffix: "end", echo: true, max_tokens: 4 })).choices[0].text);
  assert.deepEqual(job.complete, { prompt_tokens: [1, 2, 3], echo: true, suffix: "end" });
});

test("errors in mid-stream and a full context have their types", async () => {
  const stream = await client.chat.completions.create({ model: "user.fallen", messages, stream: true });
  await assert.rejects(async () => { for await (const chunk of stream) assert.ok(chunk); }, (e) => {
    assert.ok(e instanceof OpenAI.APIError);
    assert.match(e.message, /it fell/);
    return true;
  });
  for (const wanted of [true, false]) {
    await assert.rejects(client.chat.completions.create({ model: "user.full", messages, stream: wanted }), (e) => {
      assert.ok(e instanceof OpenAI.BadRequestError);
      assert.equal(e.code, "context_length_exceeded");
      return true;
    });
  }
});

test("a model that makes no vectors says so", async () => {
  await assert.rejects(client.embeddings.create({ model: "user.quick", input: ["a", "b"], dimensions: 8 }), (e) => {
    assert.ok(e instanceof OpenAI.BadRequestError);
    assert.match(e.message, /it is of type llm/);
    return true;
  });
});

test("a full queue says when to come back, and the client does", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "quince-queue-"));
  const go = path.join(folder, "go"); // the model is loaded once the client has been refused
  const crowded = await Server.start({ slow: { load_until: go, tokens: 1 } }, ["--queue-limit", "1"]);
  try {
    const statuses = [];
    const watched = async (url, init) => {
      const reply = await fetch(url, init);
      statuses.push(`${reply.status} ${reply.headers.get("retry-after")}`);
      writeFileSync(go, "");
      return reply;
    };
    const options = { baseURL: `${crowded.url}/v1`, apiKey: "any" };
    const first = new OpenAI(options).chat.completions.create({ model: "user.slow", messages });
    for (let i = 0; (await crowded.get("/v1/health")).all_models_loaded.length === 0; i++) {
      assert.ok(i < PATIENCE_MS / 20, "the model is not loaded");
      await sleep(20);
    }
    const patient = new OpenAI({ ...options, maxRetries: 100, fetch: watched });
    const reply = await patient.chat.completions.create({ model: "user.slow", messages });
    assert.equal(reply.choices[0].message.content, "word ");
    assert.equal((await first).choices[0].message.content, "word ");
    assert.equal(statuses[0], "503 1");
    assert.equal(statuses.at(-1), "200 null");
  } finally {
    assert.equal(await crowded.stop(), 0);
    rmSync(folder, { recursive: true });
  }
});
