// The official Anthropic client against quince: what an app written for it relies on. The fake backend
// counts 7 prompt tokens, 3 of them cached, and one output token for each of its words or events.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";

import { PATIENCE_MS, Server, told } from "./server.mjs";

let server;
let client;
const messages = [{ role: "user", content: "hello" }];
const weather = {
  name: "get_weather",
  description: "The weather of a place",
  input_schema: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
};

before(async () => {
  server = await Server.start({
    quick: { tokens: 3 },
    slow: { tokens: 3, load_ms: 2500 },
    long: { tokens: 100000, token_ms: 5 },
    broken: { load_fail: "the file is broken" },
    crash: { tokens: 20, token_ms: 20, crash_after: 5 },
    echo: { echo_job: true },
    thinker: {
      script: [
        { ev: "reasoning", text: "Two and " }, { ev: "reasoning", text: "two." },
        { ev: "text", text: "Four" }, { ev: "done", reason: "stop" },
      ],
    },
    caller: {
      script: [
        { ev: "text", text: "Let me look." },
        { ev: "tool_call", call: 0, name: "get_weather", arguments: "" },
        { ev: "tool_call", call: 0, arguments: '{"location": "San ' },
        { ev: "tool_call", call: 0, arguments: 'Francisco"}' },
        { ev: "tool_call", call: 1, name: "get_weather", arguments: '{"location": "Paris"}' },
        { ev: "done", reason: "tool_calls" },
      ],
    },
    stopped: { script: [{ ev: "text", text: "a" }, { ev: "done", reason: "stop", stop: "END" }] },
    json: { script: [{ ev: "text", text: '{"answer": 42}' }, { ev: "done", reason: "stop" }] },
  });
  client = new Anthropic({ baseURL: server.url, apiKey: "any", maxRetries: 0 });
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

const ask = (model, more = {}) => ({ model: `user.${model}`, max_tokens: 100, messages, ...more });

/** What a request became, as the echoing model tells it. */
async function job(more) {
  const reply = await client.messages.create(ask("echo", more));
  return JSON.parse(reply.content[0].text);
}

test("a message is answered whole", async () => {
  const { data, response, request_id } = await client.messages.create(ask("quick")).withResponse();
  assert.equal(data.type, "message");
  assert.equal(data.role, "assistant");
  assert.match(data.id, /^msg_/);
  assert.equal(data.model, "user.quick");
  assert.deepEqual(data.content, [{ type: "text", text: "word word word " }]);
  assert.equal(data.stop_reason, "end_turn");
  assert.equal(data.stop_sequence, null);
  assert.equal(data.usage.output_tokens, 3);
  assert.match(request_id, /^req_/);
  assert.equal(response.headers.get("x-quince-warning"), null);
});

test("every prefix and the beta client's query", async () => {
  for (const prefix of ["", "/api"]) {
    const c = new Anthropic({ baseURL: server.url + prefix, authToken: "any", apiKey: null, maxRetries: 0 });
    assert.equal((await c.messages.create(ask("quick"))).content[0].text, "word word word ");
    assert.equal((await c.beta.messages.create(ask("quick", { betas: ["x-2025-01-01"] }))).content[0].text,
      "word word word ");
  }
  for (const prefix of ["/api/v0", "/api/v1", "/v0", "/v1"]) {
    const reply = await fetch(`${server.url}${prefix}/messages?beta=true`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(ask("quick")),
    });
    assert.equal(reply.status, 200);
    assert.equal((await reply.json()).type, "message");
  }
});

test("limits and stop sequences say why it ended", async () => {
  const cut = await client.messages.create(ask("long", { max_tokens: 2 }));
  assert.equal(cut.stop_reason, "max_tokens");
  assert.equal(cut.usage.output_tokens, 2);
  const stopped = await client.messages.create(ask("stopped", { stop_sequences: ["END"] }));
  assert.equal(stopped.stop_reason, "stop_sequence");
  assert.equal(stopped.stop_sequence, "END");
  assert.equal(stopped.usage.input_tokens, 4);
  assert.equal(stopped.usage.cache_read_input_tokens, 3);
});

test("raw events come in their order", async () => {
  const types = [];
  for await (const event of await client.messages.create(ask("thinker", { stream: true }))) {
    types.push(event.type === "content_block_delta" ? event.delta.type : event.type);
  }
  assert.deepEqual(types, [
    "message_start", "content_block_start", "thinking_delta", "thinking_delta", "signature_delta",
    "content_block_stop", "content_block_start", "text_delta", "content_block_stop", "message_delta",
    "message_stop",
  ]);
});

test("the stream helper puts a message together", async () => {
  const texts = [], thoughts = [], blocks = [];
  const stream = client.messages.stream(ask("thinker", { thinking: { type: "enabled", budget_tokens: 1024 } }))
    .on("text", (t) => texts.push(t)).on("thinking", (t) => thoughts.push(t))
    .on("contentBlock", (b) => blocks.push(b.type));
  const final = await stream.finalMessage();
  assert.deepEqual(texts, ["Four"]);
  assert.equal(thoughts.join(""), "Two and two.");
  assert.deepEqual(blocks, ["thinking", "text"]);
  assert.equal(final.content[0].thinking, "Two and two.");
  assert.ok(final.content[0].signature.length > 0);
  assert.equal(await stream.finalText(), "Four");
  assert.equal(final.stop_reason, "end_turn");
  assert.equal(final.usage.input_tokens, 4);
  assert.equal(final.usage.cache_read_input_tokens, 3);
  assert.equal(final.usage.output_tokens, 4);
  const whole = await client.messages.create(ask("thinker"));
  assert.deepEqual(whole.content.map((b) => [b.type, b.thinking, b.text]),
    final.content.map((b) => [b.type, b.thinking, b.text]));
});

test("thinking goes back into the conversation, and can be turned off", async () => {
  const made = await job({
    thinking: { type: "disabled" },
    messages: [...messages, { role: "assistant", content: [
      { type: "thinking", thinking: "Hm", signature: "s" }, { type: "redacted_thinking", data: "x" },
      { type: "text", text: "yes" }] }, { role: "user", content: "and?" }],
  });
  assert.equal(made.chat.think, 0);
  assert.equal(told(made)[1].reasoning_content, "Hm");
  assert.equal(told(made)[1].content, "yes");
  assert.equal((await job({ thinking: { type: "enabled", budget_tokens: 1024 } })).chat.think, 1);
  assert.equal((await job({ thinking: { type: "adaptive" }, output_config: { effort: "low" } })).chat.effort, "low");
});

test("tools: called, streamed, answered", async () => {
  const stream = client.messages.stream(ask("caller", { tools: [weather] }));
  const pieces = [];
  stream.on("inputJson", (piece) => pieces.push(piece));
  const first = await stream.finalMessage();
  assert.equal(first.stop_reason, "tool_use");
  assert.deepEqual(first.content.map((b) => b.type), ["text", "tool_use", "tool_use"]);
  assert.deepEqual(first.content[1].input, { location: "San Francisco" });
  assert.deepEqual(first.content[2].input, { location: "Paris" });
  assert.equal(new Set(first.content.map((b) => b.id)).size, 3);
  assert.match(first.content[1].id, /^[a-zA-Z0-9_-]+$/);
  assert.equal(pieces.join(""), '{"location": "San Francisco"}{"location": "Paris"}');
  assert.deepEqual((await client.messages.create(ask("caller", { tools: [weather] }))).content.map((b) => b.input),
    first.content.map((b) => b.input));
  const made = await job({
    tools: [weather], tool_choice: { type: "any", disable_parallel_tool_use: true },
    messages: [...messages, { role: "assistant", content: first.content }, { role: "user", content: [
      { type: "tool_result", tool_use_id: first.content[1].id, content: "sunny" },
      { type: "tool_result", tool_use_id: first.content[2].id, content: [{ type: "text", text: "rain" }],
        is_error: true }] }],
  });
  assert.equal(made.chat.tool_choice, "required");
  assert.equal(made.chat.single_call, true);
  assert.deepEqual(made.chat.tools[0].function.parameters, weather.input_schema);
  assert.deepEqual(told(made).map((m) => m.role), ["user", "assistant", "tool", "tool"]);
  assert.equal(told(made)[1].tool_calls[0].function.arguments.location, "San Francisco");
  assert.equal(told(made)[2].tool_call_id, first.content[1].id);
  assert.equal(told(made)[3].content, "Error:\nrain");
});

test("the tool runner makes its round trip", async () => {
  const asked = [];
  const runner = client.beta.messages.toolRunner(ask("caller", {
    max_iterations: 2,
    tools: [betaTool({
      name: "get_weather", description: "d", inputSchema: weather.input_schema,
      run: (input) => { asked.push(input.location); return "sunny"; },
    })],
  }));
  const replies = [];
  for await (const message of runner) replies.push(message);
  assert.deepEqual(asked.slice(0, 2), ["San Francisco", "Paris"]);
  assert.equal(replies.length, 2);
});

test("structured output reaches the model as a schema", async () => {
  const schema = { type: "object", properties: { answer: { type: "integer" } }, required: ["answer"] };
  const output_config = { format: { type: "json_schema", schema } };
  assert.deepEqual((await job({ output_config })).schema, schema);
  const parsed = await client.messages.parse(ask("json", { output_config }));
  assert.deepEqual(JSON.parse(parsed.content[0].text), { answer: 42 });
});

test("system, images, documents and a begun answer", async () => {
  const made = await job({
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    messages: [{ role: "user", content: [
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
      { type: "document", title: "T", source: { type: "text", media_type: "text/plain", data: "D" } },
      { type: "text", text: "look" }] }, { role: "assistant", content: "{" }],
  });
  assert.deepEqual(told(made), [
    { role: "system", content: "Be brief." },
    { role: "user", content: [0, "T\nD\nlook"] },
    { role: "assistant", content: "{" },
  ]);
  assert.deepEqual(made.attachments, [{ role: "image", type: "image/png", bytes: 8 }]);
  assert.equal(made.chat.continue_last, true);
});

test("tokens are counted", async () => {
  const counted = await client.messages.countTokens({ model: "user.quick", messages, system: "s", tools: [weather] });
  assert.ok(Number.isInteger(counted.input_tokens) && counted.input_tokens > 0);
  const beta = await client.beta.messages.countTokens({ model: "user.quick", messages });
  assert.ok(beta.input_tokens > 0);
});

test("models are listed in pages and retrieved", async () => {
  const ids = [];
  for await (const model of client.models.list({ limit: 4 })) {
    assert.equal(model.type, "model");
    assert.equal(model.display_name, model.id);
    assert.ok(!Number.isNaN(Date.parse(model.created_at)));
    ids.push(model.id);
  }
  assert.equal(ids.length, 10);
  assert.ok(ids.includes("user.quick"));
  const page = await client.models.list({ limit: 3 });
  assert.equal(page.data.length, 3);
  assert.equal(page.has_more, true);
  assert.equal(page.first_id, page.data[0].id);
  assert.equal(page.last_id, page.data[2].id);
  const back = await client.models.list({ limit: 2, before_id: page.data[2].id });
  assert.deepEqual(back.data.map((m) => m.id), page.data.slice(0, 2).map((m) => m.id));
  assert.equal((await client.models.retrieve("user.quick")).type, "model");
  await assert.rejects(client.models.retrieve("nobody"), Anthropic.NotFoundError);
});

test("members without effect are told in a header and in the body", async () => {
  const { data, response } = await client.messages.create(ask("quick", { service_tier: "auto", top_a: 1 }))
    .withResponse();
  assert.equal(response.headers.get("x-quince-warning"), "Ignored: service_tier, top_a");
  assert.equal(response.headers.get("x-lemonade-warning"), "Ignored: service_tier, top_a");
  assert.deepEqual(data.warnings, ["Ignored: service_tier, top_a"]);
});

test("a client is kept informed while the model loads", async () => {
  const reply = await fetch(`${server.url}/v1/messages`, {
    method: "POST", headers: { "content-type": "application/json" },
    body: JSON.stringify(ask("slow", { stream: true })),
  });
  const text = await reply.text();
  assert.ok(text.startsWith('event: ping\ndata: {"type":"ping"}\n\n'));
  assert.ok(text.indexOf("message_start") > text.indexOf("ping"));
  assert.equal(text.match(/event: message_stop/g).length, 1);
});

test("an abort in mid-stream frees the model", async () => {
  const stream = client.messages.stream(ask("long", { max_tokens: 100000 }));
  let pieces = 0;
  stream.on("text", () => { if (++pieces === 5) stream.abort(); });
  await assert.rejects(stream.finalMessage(), Anthropic.APIUserAbortError);
  for (let i = 0; ; i++) {
    const loaded = (await server.get("/v1/health")).all_models_loaded.find((m) => m.model_name === "user.long");
    if (!loaded?.is_busy) break;
    assert.ok(i < PATIENCE_MS / 20, "the job goes on after the abort");
    await sleep(20);
  }
});

test("errors are typed", async () => {
  await assert.rejects(client.messages.create(ask("quick", { model: "nobody" })), (e) => {
    assert.ok(e instanceof Anthropic.NotFoundError);
    assert.equal(e.status, 404);
    assert.equal(e.type, "not_found_error");
    assert.match(e.requestID, /^req_/);
    assert.equal(e.error.request_id, e.requestID);
    return true;
  });
  await assert.rejects(client.messages.create(ask("quick", { max_tokens: undefined })), (e) => {
    assert.ok(e instanceof Anthropic.BadRequestError);
    assert.equal(e.error.error.type, "invalid_request_error");
    assert.match(e.error.error.message, /^max_tokens/);
    return true;
  });
  await assert.rejects(client.messages.create(ask("quick", { stream: true, temperature: "hot" })),
    Anthropic.BadRequestError);
  await assert.rejects(client.messages.create(ask("broken")), (e) => {
    assert.ok(e instanceof Anthropic.InternalServerError);
    assert.equal(e.error.error.type, "api_error");
    assert.match(e.message, /the file is broken/);
    return true;
  });
});

test("an error in mid-stream is the stream's last event", async () => {
  let text = "";
  await assert.rejects(async () => {
    for await (const event of await client.messages.create(ask("crash", { stream: true }))) {
      text += event.delta?.text ?? "";
    }
  }, (e) => {
    assert.ok(e instanceof Anthropic.APIError);
    assert.equal(e.error.error.type, "api_error");
    return true;
  });
  assert.ok(text.startsWith("word "));
});

test("a refused request is tried again", async () => {
  let tries = 0;
  const patient = new Anthropic({
    baseURL: server.url, apiKey: "any", maxRetries: 2,
    fetch: (url, init) => (++tries < 3 ? new Response("{}", { status: 503, headers: { "retry-after-ms": "1" } })
      : fetch(url, init)),
  });
  assert.equal((await patient.messages.create(ask("quick"))).content[0].text, "word word word ");
  assert.equal(tries, 3);
});
