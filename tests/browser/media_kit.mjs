// A server whose models are the fake backend (tests/fake_backend.c), for the journeys of the media view: a model for each
// capability, and files to give to them.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";
import { crc32 as crc, deflateSync } from "node:zlib";
import { useRig } from "./rig.mjs";
import { ROOT } from "./server.mjs";

const BUILD = process.env.QUINCE_TEST_BUILD ?? path.join(ROOT, "build");

/** A GGUF file (version 3) of string metadata alone. */
function gguf(metadata) {
  const u32 = (n) => { const b = Buffer.alloc(4); b.writeUInt32LE(n); return b; };
  const u64 = (n) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(n)); return b; };
  const text = (s) => [u64(Buffer.byteLength(s)), Buffer.from(s)];
  return Buffer.concat([Buffer.from("GGUF"), u32(3), u64(0), u64(Object.keys(metadata).length),
    ...Object.entries(metadata).flatMap(([key, value]) => [...text(key), u32(8), ...text(value)])]);
}

const crcTable = Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xEDB88320 ^ n >>> 1 : n >>> 1;
  return n >>> 0;
});
const crc32 = crc ?? ((bytes) => ~bytes.reduce((c, byte) => crcTable[(c ^ byte) & 255] ^ c >>> 8, -1) >>> 0);

/** A PNG of one colour: [red, green, blue]. */
export function png(width, height, colour) {
  const chunk = (kind, data) => {
    const head = Buffer.alloc(4), body = Buffer.concat([Buffer.from(kind), data]), sum = Buffer.alloc(4);
    head.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body) >>> 0);
    return Buffer.concat([head, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8); // 8 bits, RGB
  const row = Buffer.concat([Buffer.from([0]), ...Array(width).fill(Buffer.from(colour))]);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.concat(Array(height).fill(row)))), chunk("IEND", Buffer.alloc(0))]);
}

/** A WAV file of a tone: 8 kHz, 16 bits. */
export function wav(seconds) {
  const n = Math.round(8000 * seconds), out = Buffer.alloc(44 + 2 * n);
  out.write("RIFF", 0, "latin1");
  out.writeUInt32LE(36 + 2 * n, 4);
  out.write("WAVEfmt ", 8, "latin1");
  for (const [at, value] of [[16, 16], [24, 8000], [28, 16000], [40, 2 * n]]) out.writeUInt32LE(value, at);
  for (const [at, value] of [[20, 1], [22, 1], [32, 2], [34, 16]]) out.writeUInt16LE(value, at);
  out.write("data", 36, "latin1");
  for (let i = 0; i < n; i++) out.writeInt16LE(Math.round(8000 * Math.sin(i / 4)), 44 + 2 * i);
  return out;
}

const base64 = (bytes) => bytes.toString("base64");
const segment = (text, start, end) => ({ ev: "segment", text, start, end });

/** Model name -> [recipe, options of the fake backend, labels]. */
const MODELS = {
  "near": ["remote", { dimensions: 8 }, ["embeddings"]],
  "ranker": ["remote", {}, ["reranking"]],
  "ears": ["whispercpp", { script: [segment(" Good morning.", 0, 1.5), segment(" A < B & C.", 1.5, 3661.25),
    { ev: "done", reason: "stop", language: "de" }] }],
  "voice": ["kokoro", { base64: base64(wav(0.5)) }],
  "brush": ["sd-cpp", { base64: base64(png(96, 64, [220, 170, 30])) }],
  "slow-brush": ["sd-cpp", { base64: base64(png(96, 64, [30, 120, 200])), prefill_ms: 20000 }],
  "lens": ["sd-cpp", { base64: base64(png(192, 128, [220, 170, 30])) }, ["upscaling", "image"]],
  "broken-voice": ["kokoro", { fail: "the voice is hoarse" }],
};

/** Like useRig, with the models above. names: those that the server has. */
export function useMediaRig(names = Object.keys(MODELS)) {
  const folder = mkdtempSync(path.join(tmpdir(), "quince-media-")), backends = path.join(folder, "backends");
  mkdirSync(backends);
  for (const kind of ["llm", "asr", "tts", "image", "bridge"])
    copyFileSync(path.join(BUILD, "tests/fake_backend"), path.join(backends, `quince-${kind}`));
  for (const program of ["unpack", "inspect"])
    copyFileSync(path.join(BUILD, `bin/quince-${program}`), path.join(backends, `quince-${program}`));
  const rig = useRig({ args: ["--backend-dir", backends] }, async (ready) => {
    for (const name of names) {
      const [recipe, options, labels] = MODELS[name], file = path.join(folder, `${name}.gguf`);
      if (recipe === "remote") {
        await ready.server.api("/v1/models/register", { model_name: `user.${name}`, recipe, labels,
          model: JSON.stringify(options), base_url: "http://127.0.0.1:9/v1" });
        continue;
      }
      writeFileSync(file, gguf({ "general.architecture": "llama", "general.name": name, "fake.options": JSON.stringify(options) }));
      await ready.server.api("/v1/models/register", { model_name: `user.${name}`, checkpoint: file, recipe, ...labels && { labels } });
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  return rig;
}

/** What setInputFiles takes. */
export const PICTURE = { name: "plum.png", mimeType: "image/png", buffer: png(80, 60, [120, 30, 90]) };
export const SOUND = { name: "tone.wav", mimeType: "audio/wav", buffer: wav(1) };
