// Every address of the page that is looked at by itself: views.test.mjs checks each with axe in both themes and at 360
// pixels, and `scripts/dev shots` takes its picture. A view that needs more than its address has `prepare`, which gets
// {page, server} after the page has opened; it may run several times on one server.
import { command as mcpCommand, removeAll as removeMcp } from "./mcp_kit.mjs";
import { STARTER } from "./server.mjs";

const say = (server, more = {}) => server.api("/v1/chat/completions",
  { model: STARTER, messages: [{ role: "user", content: "Hello" }], max_tokens: 8, ...more });

/** A model in memory, and a sample more for the plots. */
async function someWork({ page, server }) {
  await say(server);
  await page.locator(".server-row").first().waitFor();
  await page.locator('.plot-line[d*="L"]').first().waitFor({ state: "attached" });
}

async function someRequests({ page, server }) {
  await say(server);
  await say(server, { temperature: -1 }).catch(() => {});
  await page.locator("tbody tr").nth(1).waitFor();
}

const MEDIA_MODELS = [["near", "embeddings"], ["ranker", "reranking"], ["ears", "transcription"], ["voice", "tts"],
  ["brush", "image"], ["lens", "upscaling"]];
const hasMediaModels = async (server) => (await server.api("/v1/models")).data.some(({ id }) => id === "user.near");

/** A model for each part of the media view, so that it shows its form: of a server that is not asked. */
async function withMediaModels({ page, server }) {
  if (!await hasMediaModels(server)) {
    for (const [name, label] of MEDIA_MODELS)
      await server.api("/v1/models/register", { model_name: `user.${name}`, recipe: "remote", model: name,
        base_url: "http://127.0.0.1:9/v1", labels: [label] });
    await page.reload();
  }
  await page.locator("#main form, #main .fields").first().waitFor();
}

async function withoutMediaModels({ page, server }) {
  if (await hasMediaModels(server)) {
    for (const [name] of MEDIA_MODELS) await server.api("/v1/delete", { model_name: `user.${name}` });
    await page.reload();
  }
  await page.locator("#main .empty").first().waitFor();
}

const SERVE_MCP = { name: "sums", kind: "stdio", ...mcpCommand(), read: ["/usr/share"], env: { KEY: "x" } };

/** Prepare the server view: without MCP servers, or with one that has listed its tools and one that fails. */
async function withoutMcp({ page, server }) {
  await removeMcp(server);
  await page.getByRole("heading", { level: 2 }).first().waitFor();
}

async function withMcp({ page, server }) {
  await removeMcp(server);
  for (const more of [SERVE_MCP, { ...SERVE_MCP, ...mcpCommand("die"), name: "broken" }]) {
    const { id } = await server.api("/internal/mcp", more);
    await server.api(`/internal/mcp/${id}/refresh`, {});
  }
  await page.locator(".mcp-server summary").first().click();
  await page.locator(".mcp-tool").first().waitFor();
}

const call = (id, state, result) => ({ id, name: `sums__${id}`, arguments: '{"a":1,"b":2}', server: "0".repeat(32), server_name: "sums", tool: id,
  state, ...result && { result } });

/** Prepares a conversation with tool calls in different states. */
async function someCalls({ page, server }) {
  const calls = [call("add", "done", "3"), call("sub", "failed", "the server did not answer within 60 s"),
    call("echo", "denied", "The user did not allow this call."), call("wait", "stopped")];
  const messages = [{ id: "1".repeat(32), parent: null, role: "user", created: 1, text: "What is 1 + 2?" },
    { id: "2".repeat(32), parent: "1".repeat(32), role: "assistant", created: 2, text: "Let me see.", calls, model: STARTER, state: "done", finish: "tool_calls" },
    { id: "3".repeat(32), parent: "2".repeat(32), role: "assistant", created: 3, text: "It is 3.", model: STARTER, state: "done", finish: "stop" }];
  await server.api("/internal/chats/import", { format: "quince-chats", version: 1,
    chats: [{ id: "4".repeat(32), title: "Sums", created: 1, updated: 3, head: "3".repeat(32), messages }] });
  const { chats } = await server.api("/internal/chats");
  await page.goto(`/app/chat/${chats.find(({ title }) => title === "Sums").id}`);
  await page.locator("details.call").first().waitFor();
  for (const summary of await page.locator("details.call summary").all()) await summary.click();
}

export const VIEWS = [
  { name: "chat", path: "/app/chat" },
  { name: "chat-calls", path: "/app/chat", prepare: someCalls },
  { name: "models", path: "/app/models" },
  { name: "models-get", path: "/app/models?show=get&all=1" },
  { name: "models-downloads", path: "/app/models?show=downloads" },
  { name: "models-add", path: "/app/models?show=add" },
  { name: "models-engines", path: "/app/models?show=engines" },
  { name: "model", path: "/app/models/quince-starter" },
  { name: "media", path: "/app/media" },
  { name: "media-missing", path: "/app/media/speech", prepare: withoutMediaModels },
  { name: "media-embeddings", path: "/app/media/embeddings", prepare: withMediaModels },
  { name: "media-rerank", path: "/app/media/rerank", prepare: withMediaModels },
  { name: "media-transcribe", path: "/app/media/transcribe", prepare: withMediaModels },
  { name: "media-microphone", path: "/app/media/transcribe?from=microphone", prepare: withMediaModels },
  { name: "media-speech", path: "/app/media/speech", prepare: withMediaModels },
  { name: "media-images", path: "/app/media/images", prepare: withMediaModels },
  { name: "media-enlarge", path: "/app/media/images?do=enlarge", prepare: withMediaModels },
  { name: "server", path: "/app/server", prepare: someWork },
  { name: "server-requests", path: "/app/server/requests", prepare: someRequests },
  { name: "server-logs", path: "/app/server/logs", prepare: ({ page }) => page.locator(".virtual-row").first().waitFor() },
  { name: "server-settings", path: "/app/server/settings" },
  { name: "server-keys", path: "/app/server/keys" },
  { name: "server-engines", path: "/app/server/engines" },
  { name: "server-mcp-none", path: "/app/server/mcp", prepare: withoutMcp },
  { name: "server-mcp", path: "/app/server/mcp", prepare: withMcp },
  { name: "server-connect", path: "/app/server/connect" },
];
