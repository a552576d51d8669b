// Starts a real quinced for the tests of the page: on a free port, in a data folder of its own, with the real engine
// and the starter model.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, closeSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const BUILD = process.env.QUINCE_TEST_BUILD ?? path.join(ROOT, "build");
/** The name of the model that every server has. */
export const STARTER = "quince-starter";

// What the tester's own session and other programs would tell the server.
const FOREIGN = /^(QUINCE|LEMONADE|HF|HUGGINGFACE|XDG|LLAMA|OLLAMA|NOTIFY|WATCHDOG|LISTEN)_/;

export class Server {
  /** args: more arguments of quinced. env: more of its environment, such as QUINCE_API_KEY. */
  static async start({ args = [], env = {} } = {}) {
    const program = path.join(BUILD, "bin/quinced");
    if (!existsSync(program)) throw new Error(`${program} does not exist: run scripts/dev build`);
    const server = new Server();
    server.folder = mkdtempSync(path.join(tmpdir(), "quince-browser-"));
    server.options = { args, env };
    mkdirSync(path.join(server.folder, "home"));
    await server.run("0");
    return server;
  }

  /** Starts the program in the server's folder; used again after `kill` or `stop`, at the same address. */
  async run(port = new URL(this.url).port) {
    const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name)));
    const log = openSync(path.join(this.folder, "server.log"), "a");
    this.process = spawn(path.join(BUILD, "bin/quinced"),
      ["--port", port, "--ollama-port", "off", "--no-discovery", "--data-dir", path.join(this.folder, "data"),
        ...this.options.args],
      { env: { ...clean, HOME: path.join(this.folder, "home"), ...this.options.env }, stdio: ["ignore", "pipe", log] });
    closeSync(log);
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.url = undefined;
    for await (const line of createInterface({ input: this.process.stdout })) {
      const ready = /ready at (http:\/\/localhost:\d+)/.exec(line);
      if (ready) {
        this.url = ready[1];
        break;
      }
    }
    if (!this.url) throw new Error(`quinced did not start:\n${this.log()}`);
  }

  log() {
    return readFileSync(path.join(this.folder, "server.log"), "utf8");
  }

  /** The JSON of a request to the server, made by the test itself. body: an object makes it a POST. */
  async api(where, body, { method = body ? "POST" : "GET", key } = {}) {
    const reply = await fetch(this.url + where, {
      method,
      headers: { ...(body && { "Content-Type": "application/json" }), ...(key && { Authorization: `Bearer ${key}` }) },
      body: body && JSON.stringify(body),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${where}: ${reply.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** Ends it at once, as a crash or a power cut would. */
  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  async stop() {
    this.process.kill("SIGTERM");
    const status = await this.ended;
    if (status !== 0 && this.process.signalCode !== "SIGKILL")
      throw new Error(`quinced ended with ${status}:\n${this.log()}`);
  }

  async remove() {
    if (this.process.exitCode === null && this.process.signalCode === null) await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
