// The Responses API through the official OpenAI client.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

import { PATIENCE_MS, Server, told } from "./server.mjs";

let server;
let client;

const text = (s) => ({ ev: "text", text: s });
const done = (reason = "stop") => ({ ev: "done", reason });
const call = (n, name, args) => ({ ev: "tool_call", call: n, ...(name ? { name } : {}), arguments: args });

before(async () => {
  server = await Server.start({
    quick: { tokens: 3 },
    long: { tokens: 100000, token_ms: 5 },
    echo: { echo_job: true },
    thinker: { script: [{ ev: "reasoning", text: "Hm" }, { ev: "reasoning", text: "m." }, text("Yes"), text("."), done()] },
    caller: { script: [text("So:"), call(0, "weather", ""), call(0, null, '{"city":"'), call(0, null, 'Rome"}'),
      call(1, "weather", '{"city":"Oslo"}'), done("tool_calls")] },
    json: { script: [text('{"name":"Ada",'), text('"age":36}'), done()] },
    short: { script: [text("cut o"), done("length")] },
    fallen: { script: [text("a"), { ev: "error", error: { code: "internal", message: "it fell" } }] },
  });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0 });
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

/** What the dialect made of a request: the job, as the echoing model says it. */
async function jobOf(body) {
  const response = await client.responses.create({ model: "user.echo", ...body });
  return JSON.parse(response.output_text);
}

test("a text is answered", async () => {
  const response = await client.responses.create({
    model: "user.quick", input: "hello", instructions: "Be brief.", metadata: { a: "b" }, temperature: 0.5,
  });
  assert.match(response.id, /^resp_[0-9a-f]{32}$/);
  assert.equal(response.object, "response");
  assert.equal(response.status, "completed");
  assert.equal(response.output_text, "word word word ");
  assert.equal(response.instructions, "Be brief.");
  assert.equal(response.temperature, 0.5);
  assert.deepEqual(response.metadata, { a: "b" });
  assert.equal(response.error, null);
  assert.equal(response.incomplete_details, null);
  const [item] = response.output;
  assert.equal(item.type, "message");
  assert.equal(item.role, "assistant");
  assert.equal(item.status, "completed");
  assert.deepEqual(item.content, [{ type: "output_text", annotations: [], logprobs: [], text: "word word word " }]);
  assert.deepEqual(response.usage, {
    input_tokens: 7, input_tokens_details: { cached_tokens: 3 },
    output_tokens: 3, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 10,
  });
});

test("every kind of item becomes part of the conversation", async () => {
  const job = await jobOf({
    instructions: "I",
    input: [
      { role: "developer", content: "D" },
      { role: "user", content: [{ type: "input_text", text: "a" },
        { type: "input_image", detail: "auto", image_url: "data:image/png;base64,AA==" }] },
      { type: "reasoning", id: "rs_x", summary: [], content: [{ type: "reasoning_text", text: "think" }] },
      { type: "message", role: "assistant", id: "msg_x", status: "completed",
        content: [{ type: "output_text", text: "so", annotations: [] }] },
      { type: "function_call", call_id: "c1", name: "f", arguments: '{"q":1}' },
      { type: "function_call", call_id: "c2", name: "f", arguments: '{"q":2}' },
      { type: "function_call_output", call_id: "c1", output: "one" },
      { type: "function_call_output", call_id: "c2", output: [{ type: "input_text", text: "two" }] },
      { role: "assistant", content: "done" },
      { type: "message", role: "user", content: "more" },
    ],
    tools: [{ type: "function", name: "f", parameters: { type: "object" }, strict: true, description: "d" }],
    tool_choice: { type: "function", name: "f" }, parallel_tool_calls: false, reasoning: { effort: "low" },
    max_output_tokens: 9, top_p: 0.5, truncation: "auto",
    include: ["message.output_text.logprobs"], top_logprobs: 3,
  });
  assert.deepEqual(told(job), [
    { role: "system", content: "I\nD" },
    { role: "user", content: ["a", 0] },
    { role: "assistant", content: "so", reasoning_content: "think", tool_calls: [
      { id: "c1", type: "function", function: { name: "f", arguments: { q: 1 } } },
      { id: "c2", type: "function", function: { name: "f", arguments: { q: 2 } } }] },
    { role: "tool", tool_call_id: "c1", content: "one" },
    { role: "tool", tool_call_id: "c2", content: "two" },
    { role: "assistant", content: "done" },
    { role: "user", content: "more" },
  ]);
  assert.deepEqual(job.attachments, [{ role: "image", type: "image/png", bytes: 1 }]);
  assert.deepEqual(job.chat.tools, [{ type: "function",
    function: { name: "f", parameters: { type: "object" }, strict: true, description: "d" } }]);
  assert.equal(job.chat.tool_choice, "named");
  assert.equal(job.chat.tool_name, "f");
  assert.equal(job.chat.single_call, true);
  assert.equal(job.chat.effort, "low");
  assert.equal(job.sampling.max_tokens, 9);
  assert.equal(job.sampling.top_p, 0.5);
  assert.equal(job.sampling.logprobs, 3);
  assert.equal(job.truncate, true);
});

test("a stream has every event in its order, numbered", async () => {
  const events = [];
  for await (const e of await client.responses.create({ model: "user.thinker", input: "x", stream: true })) events.push(e);
  assert.deepEqual(events.map((e) => e.type), [
    "response.created", "response.in_progress",
    "response.output_item.added", "response.content_part.added",
    "response.reasoning_text.delta", "response.reasoning_text.delta",
    "response.reasoning_text.done", "response.content_part.done", "response.output_item.done",
    "response.output_item.added", "response.content_part.added",
    "response.output_text.delta", "response.output_text.delta",
    "response.output_text.done", "response.content_part.done", "response.output_item.done",
    "response.completed",
  ]);
  assert.deepEqual(events.map((e) => e.sequence_number), events.map((_, i) => i));
  const last = events.at(-1).response;
  assert.equal(last.status, "completed");
  assert.equal(last.output[0].content[0].text, "Hmm.");
  assert.equal(last.output[1].content[0].text, "Yes.");
  assert.ok(events.filter((e) => e.item_id === last.output[1].id).every((e) => e.output_index === 1));
});

test("reasoning is told as a summary when one is asked for", async () => {
  const events = [];
  const stream = await client.responses.create({
    model: "user.thinker", input: "x", stream: true, reasoning: { summary: "auto" },
    include: ["reasoning.encrypted_content"],
  });
  for await (const e of stream) events.push(e);
  assert.deepEqual(events.slice(2, 9).map((e) => e.type), [
    "response.output_item.added", "response.reasoning_summary_part.added",
    "response.reasoning_summary_text.delta", "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done", "response.reasoning_summary_part.done", "response.output_item.done"]);
  const [reasoning] = events.at(-1).response.output;
  assert.deepEqual(reasoning.summary, [{ type: "summary_text", text: "Hmm." }]);
  assert.ok(reasoning.encrypted_content);
  // Sent back without its texts, it still carries what was thought.
  const job = await jobOf({ input: [{ type: "reasoning", id: "r", summary: [], encrypted_content: reasoning.encrypted_content },
    { role: "assistant", content: "Yes." }, { role: "user", content: "?" }] });
  assert.equal(told(job)[0].reasoning_content, "Hmm.");
});

test("the client's own accumulation of a stream agrees", async () => {
  const stream = client.responses.stream({ model: "user.caller", input: "x",
    tools: [zodResponsesFunction({ name: "weather", parameters: z.object({ city: z.string() }) })] });
  const deltas = [];
  stream.on("response.function_call_arguments.delta", (e) => deltas.push(e.delta));
  const final = await stream.finalResponse();
  assert.deepEqual(final.output.map((i) => i.type), ["message", "function_call", "function_call"]);
  assert.equal(final.output[1].arguments, '{"city":"Rome"}');
  assert.equal(final.output[2].arguments, '{"city":"Oslo"}');
  assert.match(final.output[1].call_id, /^call_/);
  assert.notEqual(final.output[1].call_id, final.output[2].call_id);
  assert.deepEqual(deltas, ['{"city":"', 'Rome"}', '{"city":"Oslo"}']);
});

test("structured output is parsed by the client and constrained by a schema", async () => {
  const Person = z.object({ name: z.string(), age: z.number() });
  const response = await client.responses.parse({
    model: "user.json", input: "who", text: { format: zodTextFormat(Person, "person") },
  });
  assert.deepEqual(response.output_parsed, { name: "Ada", age: 36 });
  const job = await jobOf({ input: "x", text: { format: zodTextFormat(Person, "person") } });
  assert.deepEqual(job.schema.required, ["name", "age"]);
});

test("a conversation goes on from an answer that is kept", async () => {
  const first = await client.responses.create({ model: "user.quick", input: "one", instructions: "I" });
  const second = await client.responses.create({
    model: "user.thinker", input: [{ role: "user", content: "two" }], previous_response_id: first.id });
  assert.equal(second.previous_response_id, first.id);
  const job = await jobOf({ input: "three", previous_response_id: second.id });
  assert.deepEqual(told(job), [
    { role: "user", content: "one" },
    { role: "assistant", content: "word word word " },
    { role: "user", content: "two" },
    { role: "assistant", content: "Yes.", reasoning_content: "Hmm." },
    { role: "user", content: "three" },
  ]);
  const kept = await client.responses.retrieve(second.id);
  assert.deepEqual(kept, second);
  // A reference to an item stands for the item.
  const referring = await jobOf({ input: [{ type: "item_reference", id: second.output[1].id }, { role: "user", content: "?" }] });
  assert.deepEqual(told(referring)[0], { role: "assistant", content: "Yes." });
  // A conversation without its beginning is refused, not shortened.
  await client.responses.delete(first.id);
  await assert.rejects(client.responses.create({ model: "user.quick", input: "x", previous_response_id: second.id }), (e) => {
    assert.ok(e instanceof OpenAI.BadRequestError);
    assert.equal(e.param, "previous_response_id");
    return true;
  });
});

test("an answer is retrieved, its input listed, deleted", async () => {
  const input = ["a", "b", "c"].map((content) => ({ role: "user", content }));
  const response = await client.responses.create({ model: "user.quick", input });
  const items = [];
  for await (const item of client.responses.inputItems.list(response.id, { limit: 2, order: "asc" })) items.push(item);
  assert.deepEqual(items.map((i) => i.content[0].text), ["a", "b", "c"]);
  assert.equal(new Set(items.map((i) => i.id)).size, 3);
  assert.deepEqual((await client.responses.inputItems.list(response.id)).data.map((i) => i.content[0].text), ["c", "b", "a"]);
  await assert.rejects(client.responses.cancel(response.id), OpenAI.BadRequestError);
  await client.responses.delete(response.id);
  for (const gone of [() => client.responses.retrieve(response.id), () => client.responses.delete(response.id),
    () => client.responses.cancel(response.id), () => client.responses.inputItems.list(response.id)]) {
    await assert.rejects(gone, OpenAI.NotFoundError);
  }
});

test("what is not to be stored is not", async () => {
  const response = await client.responses.create({ model: "user.quick", input: "x", store: false });
  await assert.rejects(client.responses.retrieve(response.id), OpenAI.NotFoundError);
});

test("a streamed answer is kept, too", async () => {
  const stream = client.responses.stream({ model: "user.quick", input: "x" });
  const final = await stream.finalResponse();
  const kept = await client.responses.retrieve(final.id);
  assert.equal(kept.output_text, "word word word ");
});

test("an answer that is kept is told again as a stream", async () => {
  for (const ask of [
    { model: "user.thinker" }, { model: "user.caller" }, { model: "user.short" },
    { model: "user.thinker", reasoning: { summary: "auto" }, include: ["reasoning.encrypted_content"], metadata: { a: "b" } },
    { model: "user.quick", include: ["message.output_text.logprobs"], top_logprobs: 2 },
  ]) {
    const whole = [];
    let made;
    for await (const e of await client.responses.create({ ...ask, input: "x", stream: true })) {
      if (!e.type.endsWith(".delta")) whole.push(e.type);
      made = e.response ?? made;
    }
    const { output_text: _, ...kept } = await client.responses.retrieve(made.id);
    const events = [];
    for await (const e of await client.responses.retrieve(made.id, { stream: true })) events.push(e);
    assert.deepEqual(events.map((e) => e.sequence_number), events.map((_, i) => i));
    assert.deepEqual(events.filter((e) => !e.type.endsWith(".delta")).map((e) => e.type), whole);
    assert.deepEqual(events.at(-1).response, kept);
    assert.deepEqual(events.filter((e) => e.type === "response.output_item.done").map((e) => e.item), kept.output);
    const text = kept.output.flatMap((i) => i.content ?? []).map((c) => c.text).join("");
    assert.equal(events.filter((e) => /(output|reasoning)_text.delta$/.test(e.type)).map((e) => e.delta).join(""), text);
    const rest = [];
    for await (const e of await client.responses.retrieve(made.id, { stream: true, starting_after: 3 })) rest.push(e);
    assert.deepEqual(rest, events.slice(4));
  }
  await assert.rejects(client.responses.retrieve("resp_none", { stream: true }), OpenAI.NotFoundError);
  const { id } = await client.responses.create({ model: "user.quick", input: "x" });
  await assert.rejects(client.responses.retrieve(id, { stream: true, starting_after: -1 }), OpenAI.BadRequestError);
});

test("an answer that was cut says so", async () => {
  const response = await client.responses.create({ model: "user.short", input: "x" });
  assert.equal(response.status, "incomplete");
  assert.deepEqual(response.incomplete_details, { reason: "max_output_tokens" });
  assert.equal(response.output[0].status, "incomplete");
});

test("an error in mid-stream is told in the stream", async () => {
  const events = [];
  for await (const e of await client.responses.create({ model: "user.fallen", input: "x", stream: true })) events.push(e);
  const [error, failed] = events.slice(-2);
  assert.equal(error.type, "error");
  assert.match(error.message, /it fell/);
  assert.equal(failed.type, "response.failed");
  assert.equal(failed.response.status, "failed");
  assert.equal(failed.response.error.code, "server_error");
});

test("what is not available here is refused by name", async () => {
  const rows = [
    [{ tools: [{ type: "web_search" }] }, "tools[0].type", /web_search/],
    [{ tools: [{ type: "function" }] }, "tools[0].name", /name/],
    [{ input: [{ type: "computer_call_output", call_id: "x" }] }, "input[0].type", /computer_call_output/],
    [{ input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] }, "input[0].content[0].type", /input_file/],
    [{ input: [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }] }, "input[0].content[0].file_id", /image_url/],
    [{ input: [{ type: "item_reference", id: "msg_1" }] }, "input[0].id", /msg_1/],
    [{ input: 5 }, "input", /string/],
    [{ input: [] }, "input", /at least one/],
    [{ background: true }, "background", /background/],
    [{ conversation: "conv_1" }, "conversation", /previous_response_id/],
    [{ prompt: { id: "p" } }, "prompt", /instructions/],
    [{ previous_response_id: "resp_0" }, "previous_response_id", /not found/],
    [{ truncation: "some" }, "truncation", /auto/],
    [{ n: 2 }, "n", /one choice/],
    [{ text: { format: { type: "xml" } } }, "text.format.type", /json_schema/],
    [{ text: { verbosity: "loud" } }, "text.verbosity", /medium/],
    [{ reasoning: { effort: "lots" } }, "reasoning.effort", /minimal/],
    [{ reasoning: { summary: 1 } }, "reasoning.summary", /string/],
    [{ include: "x" }, "include", /array/],
    [{ metadata: [] }, "metadata", /object/],
    [{ max_output_tokens: -2 }, "max_output_tokens", /between 0/],
  ];
  for (const [body, param, message] of rows) {
    await assert.rejects(client.responses.create({ model: "user.quick", input: "x", ...body }), (e) => {
      assert.ok(e instanceof OpenAI.BadRequestError, `${JSON.stringify(body)}: ${e}`);
      assert.equal(e.param, param);
      assert.match(e.message, message);
      return true;
    });
  }
});

test("an abort in mid-stream frees the model", async () => {
  const stream = await client.responses.create({ model: "user.long", input: "x", stream: true });
  let n = 0;
  for await (const e of stream) if (e.type === "response.output_text.delta" && ++n === 5) stream.controller.abort();
  for (let i = 0; ; i++) {
    const busy = (await server.get("/v1/health")).all_models_loaded.find((m) => m.model_name === "user.long");
    if (!busy.is_busy) break;
    assert.ok(i < PATIENCE_MS / 20, "the job goes on after the abort");
    await sleep(20);
  }
});
