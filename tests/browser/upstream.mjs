// A server that quinced asks as a remote model, and that says what a test tells it to: for answers that are long, slow,
// hostile or broken.
import { createServer } from "node:http";

const WORDS = /\s*\S+|\s+$/g, LINES = /[^\n]*\n|[^\n]+$/g;

/** What is said to a message: {text, think, calls, finish, status, error, ms (between words), lines (instead of words)}. held: after this many words
 *  the answer waits for `go`. cut: after this many words the connection breaks. */
export class Upstream {
  static async start() {
    const upstream = new Upstream();
    upstream.scripts = new Map();
    upstream.requests = [];
    upstream.waiting = [];
    upstream.server = createServer((request, reply) => upstream.handle(request, reply).catch(() => reply.destroy()));
    await new Promise((resolve) => upstream.server.listen(0, "127.0.0.1", resolve));
    upstream.url = `http://127.0.0.1:${upstream.server.address().port}/v1`;
    return upstream;
  }

  /** Registers this server as a model; returns its name. */
  async register(server, name = "told", labels = ["vision", "reasoning", "tool-calling"]) {
    await server.api("/v1/models/register", { model_name: `user.${name}`, recipe: "remote", base_url: this.url, model: "told",
      flavour: "llamacpp", context: 32768, slots: 8, labels });
    return `user.${name}`;
  }

  /** What is answered to a message whose text begins with these words. */
  say(words, script) {
    this.scripts.set(words, script);
  }

  /** Lets the answers that are held go on. */
  go() {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  async close() {
    this.go();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  scriptFor(messages) {
    const asked = messages.findLast(({ role }) => role === "user")?.content ?? "";
    const text = typeof asked === "string" ? asked : asked.find((part) => part.type === "text")?.text ?? "";
    const name = [...this.scripts.keys()].find((words) => text.startsWith(words));
    return this.scripts.get(name) ?? { text: `You said: ${text.split("\n")[0]}` };
  }

  async handle(request, reply) {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    if (request.url === "/v1/models") {
      reply.setHeader("Content-Type", "application/json");
      reply.end(JSON.stringify({ object: "list", data: [{ id: "told", object: "model" }] }));
      return;
    }
    const asked = JSON.parse(body), script = this.scriptFor(asked.messages);
    this.requests.push(asked);
    if (script.status) {
      reply.writeHead(script.status, { "Content-Type": "application/json" });
      reply.end(JSON.stringify({ error: { message: script.error, type: "server_error" } }));
      return;
    }
    await this.stream(script, reply);
  }

  async stream(script, reply) {
    reply.writeHead(200, { "Content-Type": "text/event-stream" });
    const send = (delta, finish = null, more = {}) => reply.write(`data: ${JSON.stringify({ object: "chat.completion.chunk",
      model: "told", choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`);
    const cut = script.lines ? LINES : WORDS;
    const words = [...(script.think ?? "").match(cut) ?? []].map((word) => ({ reasoning_content: word }))
      .concat([...(script.text ?? "").match(cut) ?? []].map((word) => ({ content: word })));
    for (const [i, delta] of words.entries()) {
      if (i === script.cut) {
        await new Promise((resolve) => setTimeout(resolve, 200)); // what was sent arrives before
        reply.destroy();
        return;
      }
      if (i === script.held) await new Promise((resolve) => this.waiting.push(resolve));
      if (reply.destroyed) return;
      send(delta);
      if (script.ms) await new Promise((resolve) => setTimeout(resolve, script.ms));
    }
    (script.calls ?? []).forEach((call, index) => send({ tool_calls: [{ index, id: `call_${index}`, type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.arguments) } }] }));
    send({}, script.finish ?? (script.calls ? "tool_calls" : "stop"));
    reply.write(`data: ${JSON.stringify({ object: "chat.completion.chunk", model: "told", choices: [],
      usage: { prompt_tokens: script.prompt ?? 40, completion_tokens: words.length },
      timings: { cache_n: 0, prompt_n: script.prompt ?? 40, prompt_ms: 5, predicted_n: words.length, predicted_ms: 10 * words.length } })}\n\n`);
    reply.end("data: [DONE]\n\n");
  }
}
