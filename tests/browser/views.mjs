// Every address of the page that is looked at by itself: views.test.mjs checks each with axe in both themes and at 360
// pixels, and `scripts/dev shots` takes its picture. A view that needs more than its address has `prepare`, which gets
// {page, server} after the page has opened; it may run several times on one server.
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

export const VIEWS = [
  { name: "chat", path: "/app/chat" },
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
  { name: "server-connect", path: "/app/server/connect" },
];
