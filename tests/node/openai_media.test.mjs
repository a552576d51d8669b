// The official OpenAI client's sounds and pictures: files go up as forms, replies come down in every form.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import OpenAI, { toFile } from "openai";

import { Server } from "./server.mjs";

let server;
let client;
const segment = (text, start, end, more = {}) => ({ ev: "segment", text, start, end, ...more });
const wav = Buffer.concat([Buffer.from("RIFF\x24\0\0\0WAVEfmt ", "latin1"), Buffer.alloc(24)]);
const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from("\r\n--b\0\r\n", "latin1")]);
const sound = (bytes = wav) => toFile(bytes, "speech.wav");
const picture = (name = "a.png", bytes = png) => toFile(bytes, name, { type: "image/png" });
const bytes = async (reply) => Buffer.from(await reply.arrayBuffer());

before(async () => {
  server = await Server.start({
    asr: {
      recipe: "whispercpp",
      script: [
        segment(" Hello", 0, 0.5, { words: [{ word: "Hello", start: 0, end: 0.5 }], avg_logprob: -0.5 }),
        segment(" there.", 0.5, 1, { words: [{ word: "there.", start: 0.5, end: 1 }] }),
        { ev: "done", reason: "stop", language: "en" },
      ],
    },
    echo: { recipe: "whispercpp", echo_job: true },
    tts: { recipe: "kokoro", tokens: 3, word: "sound" },
    image: { recipe: "sd-cpp", tokens: 1, word: "picture" },
    mirror: { recipe: "sd-cpp", echo_attachment: 1 },
    job: { recipe: "sd-cpp", echo_job: true },
    quick: { tokens: 3 },
  });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0 });
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

test("transcriptions as json, text and subtitles", async () => {
  const { transcriptions } = client.audio;
  const json = await transcriptions.create({ file: await sound(), model: "user.asr" });
  assert.equal(json.text, "Hello there.");
  assert.deepEqual(json.usage, { type: "duration", seconds: 3 });
  const text = await transcriptions.create({ file: await sound(), model: "user.asr", response_format: "text" });
  assert.equal(text, "Hello there.\n");
  const srt = await transcriptions.create({ file: await sound(), model: "user.asr", response_format: "srt" });
  assert.match(srt, /^1\n00:00:00,000 --> 00:00:00,500\nHello\n\n2\n/);
  const vtt = await transcriptions.create({ file: await sound(), model: "user.asr", response_format: "vtt" });
  assert.match(vtt, /^WEBVTT\n\n00:00:00\.000 --> 00:00:00\.500\nHello\n\n/);
});

test("a verbose transcription has segments and words", async () => {
  const reply = await client.audio.transcriptions.create({
    file: await sound(), model: "user.asr", response_format: "verbose_json", timestamp_granularities: ["word", "segment"],
  });
  assert.equal(reply.language, "english");
  assert.equal(reply.duration, 3);
  assert.deepEqual(reply.words, [{ word: "Hello", start: 0, end: 0.5 }, { word: "there.", start: 0.5, end: 1 }]);
  assert.deepEqual(reply.segments.map((s) => [s.id, s.start, s.end, s.text]), [[0, 0, 0.5, " Hello"], [1, 0.5, 1, " there."]]);
  assert.equal(reply.segments[0].avg_logprob, -0.5);
});

test("a streamed transcription", async () => {
  const stream = await client.audio.transcriptions.create({ file: await sound(), model: "user.asr", stream: true });
  let text = "";
  let last;
  for await (const event of stream) {
    if (event.type === "transcript.text.delta") text += event.delta;
    last = event;
  }
  assert.equal(text, "Hello there.");
  assert.equal(last.type, "transcript.text.done");
  assert.equal(last.text, text);
});

test("every parameter of a transcription reaches the model", async () => {
  const reply = await client.audio.transcriptions.create({
    file: await sound(), model: "user.echo", language: "de", prompt: "Gestern", temperature: 0.5, include: ["logprobs"],
    chunking_strategy: "auto",
  });
  const job = JSON.parse(reply.text);
  assert.deepEqual(job.transcribe, { language: "de", prompt: "Gestern" });
  assert.deepEqual(job.sampling, { temperature: 0.5, logprobs: 0 });
  assert.deepEqual(reply.logprobs, [{ token: "word ", logprob: -0.5, bytes: [119] }]);
});

test("translations", async () => {
  const reply = await client.audio.translations.create({ file: await sound(), model: "user.asr", response_format: "verbose_json" });
  assert.equal(reply.language, "english");
  assert.equal(reply.text, "Hello there.");
  const job = JSON.parse((await client.audio.translations.create({ file: await sound(), model: "user.echo" })).text);
  assert.equal(job.transcribe.translate, true);
});

test("speech, whole and as it is made", async () => {
  const ask = { model: "user.tts", input: "Hi", voice: "alloy" };
  const reply = await client.audio.speech.create(ask);
  assert.equal(reply.headers.get("content-type"), "audio/mpeg");
  assert.equal((await bytes(reply)).toString(), "soundsoundsound");
  const wavReply = await client.audio.speech.create({ ...ask, response_format: "wav", speed: 2, instructions: "Gently." });
  assert.equal(wavReply.headers.get("content-type"), "audio/wav");
  assert.equal((await bytes(wavReply)).toString(), "soundsoundsound");
  const streamed = await client.audio.speech.create({ ...ask, response_format: "opus", stream_format: "audio" });
  let text = "";
  for await (const chunk of streamed.body) text += Buffer.from(chunk).toString();
  assert.equal(text, "soundsoundsound");
  const events = await client.audio.speech.create({ ...ask, stream_format: "sse" });
  const types = (await events.text()).split("\n").filter((l) => l.startsWith("data: {")).map((l) => JSON.parse(l.slice(6)).type);
  assert.deepEqual(types, [...Array(3).fill("speech.audio.delta"), "speech.audio.done"]);
});

test("pictures are generated", async () => {
  const reply = await client.images.generate({ model: "user.image", prompt: "a barn", n: 2, size: "512x512" });
  assert.ok(Math.abs(reply.created - Date.now() / 1000) < 3600);
  assert.deepEqual(reply.data.map((d) => Buffer.from(d.b64_json, "base64").toString()), ["picture", "picture"]);
  assert.equal(reply.size, "512x512");
  const byUrl = await client.images.generate({ model: "user.image", prompt: "a barn", response_format: "url" });
  const fetched = await fetch(byUrl.data[0].url);
  assert.equal(fetched.headers.get("content-type"), "image/png");
  assert.equal(await fetched.text(), "picture");
});

test("pictures are streamed", async () => {
  const stream = await client.images.generate({ model: "user.image", prompt: "a barn", stream: true, partial_images: 1 });
  const events = [];
  for await (const event of stream) events.push(event);
  assert.deepEqual(events.map((e) => e.type), ["image_generation.completed"]);
  assert.equal(Buffer.from(events[0].b64_json, "base64").toString(), "picture");
});

test("pictures are edited: several files, a mask, every number", async () => {
  const reply = await client.images.edit({
    model: "user.job", prompt: "a barn", image: [await picture(), await picture("b.png")], mask: await picture("m.png"),
    n: 2, size: "256x512", user: "me", quality: "high", background: "opaque", input_fidelity: "low", output_format: "webp",
  });
  const job = JSON.parse(Buffer.from(reply.data[1].b64_json, "base64").toString());
  assert.deepEqual(job.image, { kind: "edit", prompt: "a barn", width: 256, height: 512, format: "webp" });
  assert.deepEqual(job.attachments, ["image", "image", "mask"].map((role) => ({ role, bytes: png.length })));
  assert.equal(job.sampling.n, 2);
  const large = Buffer.concat([png, Buffer.alloc(2_000_000, "\r\n--")]);
  const mirror = await client.images.edit({ model: "user.mirror", prompt: "x", image: await picture(), mask: await picture("m.png", large) });
  assert.ok(Buffer.from(mirror.data[0].b64_json, "base64").equals(large));
});

test("variations", async () => {
  const reply = await client.images.createVariation({ model: "user.job", image: await picture(), n: 2, size: "512x512" });
  assert.equal(reply.data.length, 2);
  const job = JSON.parse(Buffer.from(reply.data[0].b64_json, "base64").toString());
  assert.deepEqual(job.image, { kind: "variation", width: 512, height: 512, format: "png" });
});

test("errors are typed", async () => {
  await assert.rejects(client.audio.transcriptions.create({ file: await sound(), model: "nobody" }), (e) => {
    assert.ok(e instanceof OpenAI.NotFoundError);
    assert.equal(e.code, "model_not_found");
    return true;
  });
  for (const [ask, words] of [
    [async () => client.audio.transcriptions.create({ file: await sound(Buffer.from("hello")), model: "user.asr" }), /unknown audio format/],
    [async () => client.audio.transcriptions.create({ file: await sound(), model: "user.quick" }), /it is of type llm/],
    [async () => client.audio.speech.create({ model: "user.tts", input: "x".repeat(4097), voice: "alloy" }), /4097 characters/],
    [async () => client.images.generate({ model: "user.image", prompt: "x", n: 11 }), /must be between 1 and 10/],
    [async () => client.images.edit({ model: "user.image", prompt: "x", image: await picture(), n: 0 }), /must be between 1 and 10/],
    [async () => client.images.createVariation({ model: "user.image", image: await picture("a.gif", Buffer.from("GIF89a")) }), /not a PNG/],
  ]) {
    await assert.rejects(ask(), (e) => {
      assert.ok(e instanceof OpenAI.BadRequestError, String(e));
      assert.match(e.message, words);
      return true;
    });
  }
});
