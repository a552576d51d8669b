// The official OpenAI client against quince: what an app written for it relies on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import OpenAI from "openai";

import { Server } from "./server.mjs";

let server;
let client;
const messages = [{ role: "user", content: "hello" }];

before(async () => {
  server = await Server.start({
    quick: { tokens: 3 },
    long: { tokens: 100000, token_ms: 5 },
    broken: { load_fail: "the file is broken" },
  });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0 });
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

test("models are listed and retrieved", async () => {
  const ids = [];
  for await (const model of await client.models.list()) ids.push(model.id);
  assert.deepEqual(ids.sort(), ["user.broken", "user.long", "user.quick"]);
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
    assert.ok(i < 100, "the job goes on after the abort");
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
