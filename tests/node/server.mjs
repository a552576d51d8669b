// Starts a quinced for a test file: on a free port, with a data directory of its own, over the fake
// backend (tests/fake_backend.c) with one model for each set of options.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const build = process.env.QUINCE_TEST_BUILD ?? path.join(root, "build");

/** For anything that should take far less, on a machine that stands still for a while. */
export const PATIENCE_MS = 150000;

export const built = existsSync(path.join(build, "bin/quinced"));

/** A GGUF file (version 3) of string metadata alone. */
function gguf(metadata) {
  const parts = [Buffer.from("GGUF\x03\0\0\0", "latin1")];
  const u64 = (n) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(n)); return b; };
  const string = (s) => [u64(Buffer.byteLength(s)), Buffer.from(s)];
  parts.push(u64(0), u64(Object.keys(metadata).length));
  for (const [key, value] of Object.entries(metadata)) {
    parts.push(...string(key), Buffer.from([8, 0, 0, 0]), ...string(value));
  }
  return Buffer.concat(parts);
}

/** The messages of a job in the form that chat templates read: content as text, or as parts beside pictures, which are
 * the numbers of their attachments; calls with their arguments as objects. */
export function told(job) {
  return job.chat.messages.map(({ parts = [], ...rest }) => {
    const content = parts.filter((p) => p.kind === "text" || p.kind === "picture");
    const reasoning = parts.find((p) => p.kind === "reasoning");
    const calls = parts.filter((p) => p.kind === "call").map(({ kind, id, name, arguments: text }) =>
      ({ ...(id && { id }), type: "function", function: { name, arguments: JSON.parse(text) } }));
    const pictured = content.some((p) => p.kind === "picture");
    return {
      ...rest,
      content: pictured ? content.map((p) => p.text ?? p.attachment) : content[0]?.text ?? null,
      ...(reasoning && { reasoning_content: reasoning.text }),
      ...(calls.length && { tool_calls: calls }),
    };
  });
}

export class Server {
  /** models: name -> options of the fake backend, the recipe and the file's chat template; the model is called
   *  "user.NAME". args: of quinced. */
  static async start(models, args = []) {
    const server = new Server();
    server.dir = mkdtempSync(path.join(tmpdir(), "quince-node-"));
    const backends = path.join(server.dir, "backends");
    mkdirSync(backends);
    for (const kind of ["llm", "asr", "tts", "image"]) {
      copyFileSync(path.join(build, "tests/fake_backend"), path.join(backends, `quince-${kind}`));
    }
    copyFileSync(path.join(build, "bin/quince-inspect"), path.join(backends, "quince-inspect"));
    writeFileSync(path.join(server.dir, "models.json"), "{}");
    const env = Object.fromEntries(Object.entries(process.env).filter(([k]) => !k.startsWith("QUINCE_")));
    server.process = spawn(path.join(build, "bin/quinced"),
      ["--port", "0", "--ollama-port", "off", "--data-dir", path.join(server.dir, "data"), "--backend-dir", backends,
        "--builtin-dir", server.dir, "--no-discovery", ...args], { env, stdio: ["ignore", "pipe", "ignore"] });
    for await (const line of createInterface({ input: server.process.stdout })) {
      const ready = /ready at (http:\/\/localhost:\d+)/.exec(line);
      if (ready) { server.url = ready[1]; break; }
    }
    if (!server.url) throw new Error("quinced did not start");
    for (const [name, { recipe = "llamacpp", template, ...options }] of Object.entries(models)) {
      const file = path.join(server.dir, `${name}.gguf`);
      writeFileSync(file, gguf({ "general.architecture": "llama", "fake.options": JSON.stringify(options),
        ...(template && { "tokenizer.chat_template": template }) }));
      const reply = await fetch(`${server.url}/v1/models/register`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model_name: `user.${name}`, checkpoint: file, recipe }),
      });
      if (!reply.ok) throw new Error(await reply.text());
    }
    return server;
  }

  async get(where) {
    return (await fetch(this.url + where)).json();
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGTERM");
    const status = await ended;
    rmSync(this.dir, { recursive: true, force: true });
    return status;
  }
}
