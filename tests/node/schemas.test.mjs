// Constrained decoding judged by ajv: five hundred schemas, each answered by a model of random weights at
// temperature 2. Whatever it says has to parse and to be valid.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

import { schemas } from "./schemas.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const build = process.env.QUINCE_TEST_BUILD ?? path.join(root, "build");
const AT_ONCE = 8;
const TOKENS = 1500;
// Bytes are the vocabulary's first tokens. A random model would seldom think of closing what it has
// opened; numbers in ajv's multipleOf are doubles, so it gets a tolerance.
const BIAS = Object.fromEntries([...'"}]'].map((c) => [c.charCodeAt(0), 6]));

let dir;
let server;
let url;

function makeAjv() {
  const ajv = new Ajv2020.default({ strict: false, multipleOfPrecision: 9 });
  ajv.addMetaSchema(createRequire(import.meta.url)("ajv/dist/refs/json-schema-draft-07.json"));
  addFormats.default(ajv);
  return ajv;
}

before(async () => {
  dir = mkdtempSync(path.join(tmpdir(), "quince-schemas-"));
  const model = path.join(dir, "random.gguf");
  execFileSync("/usr/bin/python3", [path.join(root, "scripts/gguf/make_random_gguf.py"), "--preset", "small-llama",
    "--type", "q8_0", "--set", "vocab=640", model]);
  writeFileSync(path.join(dir, "models.json"), "{}");
  const env = Object.fromEntries(Object.entries(process.env).filter(([k]) => !k.startsWith("QUINCE_")));
  server = spawn(path.join(build, "bin/quinced"), ["--port", "0", "--ollama-port", "off", "--data-dir", path.join(dir, "data"),
    "--backend-dir", path.join(build, "bin"), "--builtin-dir", dir], { env, stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface({ input: server.stdout })) {
    const ready = /ready at (http:\/\/localhost:\d+)/.exec(line);
    if (ready) { url = ready[1]; break; }
  }
  const reply = await post("/v1/models/register", { model_name: "user.random", checkpoint: model, recipe: "llamacpp" });
  assert.ok(reply.ok, await reply.text());
});

after(async () => {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  await ended;
  rmSync(dir, { recursive: true, force: true });
});

function post(where, body) {
  return fetch(url + where, {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  });
}

/** The answer's text and how it ended. */
async function ask(schema, seed, fields = {}) {
  const reply = await post("/v1/chat/completions", {
    model: "user.random", messages: [{ role: "user", content: "word" }], temperature: 2, top_p: 1, top_k: 0, min_p: 0,
    seed, max_tokens: TOKENS, logit_bias: BIAS,
    response_format: { type: "json_schema", json_schema: { name: "it", schema, strict: true } }, ...fields,
  });
  const body = await reply.json();
  assert.equal(reply.status, 200, `${JSON.stringify(body)} for ${JSON.stringify(schema)}`);
  const choice = body.choices[0];
  return { text: choice.message.content, finish: choice.finish_reason };
}

test("five hundred schemas at temperature 2", { timeout: 600000 }, async () => {
  const ajv = makeAjv();
  let next = 0;
  let open = 0;
  const wrong = [];
  async function worker() {
    while (next < schemas.length) {
      const seed = next++;
      const { schema, category } = schemas[seed];
      const { text, finish } = await ask(schema, seed);
      if (finish === "length") { open++; continue; }
      const validate = ajv.compile(schema);
      let value;
      try { value = JSON.parse(text); } catch (e) { wrong.push([category, schema, text, e.message]); continue; }
      if (!validate(value)) wrong.push([category, schema, text, ajv.errorsText(validate.errors)]);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  assert.deepEqual(wrong, []);
  assert.ok(open <= 5, `${open} of ${schemas.length} answers did not end`);
});

test("greedy and with every other setting", async () => {
  const ajv = makeAjv();
  const schema = schemas.find((s) => s.category === "tool").schema;
  const validate = ajv.compile(schema);
  for (const fields of [{ temperature: 0 }, { temperature: 0, frequency_penalty: 1, repeat_penalty: 1.3 },
    { logprobs: true, top_logprobs: 3 }, { top_k: 5 }, { top_p: 0.5, min_p: 0.1 }]) {
    const { text, finish } = await ask(schema, 1, fields);
    assert.equal(finish, "stop", text);
    assert.ok(validate(JSON.parse(text)), `${text} with ${JSON.stringify(fields)}`);
  }
});

test("several choices of one request each conform", async () => {
  const ajv = makeAjv();
  const { schema } = schemas.findLast((s) => s.category === "oneOf");
  const validate = ajv.compile(schema);
  const reply = await post("/v1/chat/completions", {
    model: "user.random", messages: [{ role: "user", content: "word" }], temperature: 2, n: 8, seed: 5, max_tokens: TOKENS,
    logit_bias: BIAS, response_format: { type: "json_schema", json_schema: { name: "it", schema } },
  });
  const { choices } = await reply.json();
  assert.equal(choices.length, 8);
  for (const c of choices) assert.ok(validate(JSON.parse(c.message.content)), c.message.content);
});

test("a schema that cannot be promised is refused with its place", async () => {
  const reply = await post("/v1/chat/completions", {
    model: "user.random", messages: [{ role: "user", content: "word" }],
    response_format: { type: "json_schema", json_schema: { name: "it", schema: {
      type: "object", properties: { a: { type: "array", items: { type: "string" }, uniqueItems: true } } } } },
  });
  assert.equal(reply.status, 400);
  const { error } = await reply.json();
  assert.match(error.message, /properties\.a\.items: uniqueItems/);
});
