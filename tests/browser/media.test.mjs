// The media view with models that are there: each panel asks its API, shows what comes back, and says what went wrong.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { PICTURE, SOUND, useMediaRig } from "./media_kit.mjs";
import { outside } from "./rig.mjs";

const rig = useMediaRig();
const refused = [/status of [45]\d\d/]; // the browser prints each request that was refused

/** The JSON of the next request to a path. */
const sent = async (page, where) => (await page.waitForRequest((r) => r.url().endsWith(where))).postDataJSON();
const result = (page, t) => page.getByRole("region", { name: t("media.result") });
const choose = (page, t, name) => page.getByLabel(t("media.model")).selectOption(`user.${name}`);
/** The text of a file that a click downloads, and its name. */
async function downloaded(page, click) {
  const [download] = await Promise.all([page.waitForEvent("download"), click()]);
  return [download.suggestedFilename(), readFileSync(await download.path())];
}

rig.journey("the overview says what is ready", { path: "/app/media" }, async ({ page, t }) => {
  const card = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: t("media.part.speech") }) }).last();
  await card.getByText(t("media.ready")).waitFor();
  await card.getByText(/user\.voice/).waitFor();
  await card.getByRole("link", { name: t("media.part.speech") }).click();
  await page.waitForURL("**/app/media/speech");
  assert.match(await page.title(), new RegExp(t("media.part.speech")));
});

rig.journey("texts are compared", { path: "/app/media/embeddings" }, async ({ page, t, axe }) => {
  const texts = page.getByLabel(t("media.embed.input"));
  await page.getByRole("button", { name: t("media.embed.do") }).click();
  await page.getByText(t("media.embed.few")).waitFor(); // and nothing was sent
  await texts.fill("an apple\n\n a pear \nan apple\n");
  const asked = sent(page, "/v1/embeddings");
  await page.getByRole("button", { name: t("media.embed.do") }).click();
  assert.deepEqual(await asked, { model: "user.near", input: ["an apple", "a pear", "an apple"] });
  await result(page, t).getByText("8 dimensions").waitFor();
  // Equal texts are nearest: first of the list, 1 in the table.
  const first = result(page, t).locator(".pairs li").first();
  assert.match(await first.textContent(), /1\.000.*an apple.*an apple/s);
  const table = page.getByRole("table");
  assert.deepEqual(await table.getByRole("rowheader").allTextContents(), ["1. an apple", "2. a pear", "3. an apple"]);
  const cells = (await table.getByRole("row").nth(1).getByRole("cell").allTextContents()).map(Number);
  assert.ok(cells[2] === 1 && cells[1] < 1, String(cells));
  await axe();
  await page.emulateMedia({ colorScheme: "dark" });
  await axe();
  // Paragraphs, and pairs of one text.
  await page.getByLabel(t("media.split")).selectOption("paragraph");
  await texts.fill("one\nstill one\n\ntwo\n \nthree");
  await page.getByRole("button", { name: t("media.embed.do") }).click();
  await page.getByRole("rowheader", { name: "3. three" }).waitFor();
  await page.getByLabel(t("media.embed.of")).selectOption("2");
  assert.equal(await result(page, t).locator(".pairs li").count(), 2);
});

rig.journey("documents are put in order", { path: "/app/media/rerank" }, async ({ page, t, axe, server }) => {
  await page.getByRole("button", { name: t("media.rerank.do") }).click();
  await page.getByText(t("media.rerank.no_query")).waitFor();
  const documents = ["alpha", "beta", "gamma", "delta"];
  await page.getByLabel(t("media.rerank.query")).fill("which?");
  await page.getByLabel(t("media.rerank.input")).fill(documents.join("\n"));
  await page.getByRole("button", { name: t("media.rerank.do") }).click();
  await page.getByRole("row").nth(4).waitFor();
  const { results } = await server.api("/v1/rerank", { model: "user.ranker", query: "which?", documents });
  const order = results.sort((a, b) => b.relevance_score - a.relevance_score).map((r) => documents[r.index]);
  assert.deepEqual(await page.locator(".ranked .text").allTextContents(), order);
  await axe();
});

rig.journey("a file is transcribed and saved as subtitles", { path: "/app/media/transcribe" }, async ({ page, t, axe }) => {
  assert.equal(await page.getByRole("button", { name: t("media.transcribe.do") }).isDisabled(), true);
  await page.getByLabel(t("media.transcribe.choose")).setInputFiles(SOUND);
  await page.getByText("tone.wav").first().waitFor();
  await page.getByLabel(t("media.transcribe.language")).selectOption("de");
  const asked = page.waitForRequest((r) => r.url().endsWith("/v1/audio/transcriptions"));
  await page.getByRole("button", { name: t("media.transcribe.do") }).click();
  const body = (await asked).postDataBuffer()?.toString("latin1") ?? "";
  if (body) assert.match(body, /name="language"\r\n\r\nde\r\n/);
  const transcript = page.getByRole("region", { name: t("media.transcript.title") });
  await transcript.getByText("A < B & C.").waitFor();
  await transcript.getByText("Language: German").waitFor();
  await axe();
  const save = async (kind) => {
    await transcript.getByRole("button", { name: t("media.download") }).click();
    const [name, bytes] = await downloaded(page, () => page.getByRole("menuitem", { name: t(`media.transcript.${kind}`) }).click());
    return [name, bytes.toString()];
  };
  assert.deepEqual(await save("srt"), ["tone.srt",
    "1\n00:00:00,000 --> 00:00:01,500\nGood morning.\n\n2\n00:00:01,500 --> 01:01:01,250\nA < B & C.\n\n"]);
  assert.deepEqual(await save("vtt"), ["tone.vtt",
    "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nGood morning.\n\n00:00:01.500 --> 01:01:01.250\nA &lt; B &amp; C.\n\n"]);
  assert.deepEqual(await save("txt"), ["tone.txt", "Good morning.\nA < B & C.\n"]);
  const [, data] = await save("json");
  assert.deepEqual(JSON.parse(data).segments[0], { start: 0, end: 1.5, text: "Good morning." });
  // It stays when other views were shown.
  await page.getByRole("link", { name: t("nav.models"), exact: true }).click();
  await page.goBack();
  await transcript.getByText("Good morning.").waitFor();
});

rig.journey("without times the text is streamed, and it can be translated", { path: "/app/media/transcribe" }, async ({ page, t }) => {
  await page.getByLabel(t("media.transcribe.choose")).setInputFiles(SOUND);
  await page.getByLabel(t("media.transcribe.times"), { exact: true }).uncheck();
  await page.getByLabel(t("media.transcribe.translate")).check();
  const asked = page.waitForRequest((r) => r.url().endsWith("/v1/audio/translations"));
  await page.getByRole("button", { name: t("media.transcribe.do") }).click();
  assert.match((await asked).headers().accept, /event-stream/);
  await page.getByRole("region", { name: t("media.transcript.title") }).getByText("Good morning. A < B & C.").waitFor();
});

rig.journey("what is said into the microphone is written down", { path: "/app/media/transcribe?from=microphone" }, async ({ page, t, axe }) => {
  await page.getByRole("button", { name: t("media.mic.start") }).click();
  await page.getByText(t("media.mic.listening")).waitFor();
  await axe();
  // Chromium's microphone of tests beeps every second.
  const asked = page.waitForRequest((r) => r.url().endsWith("/v1/audio/transcriptions"));
  await page.waitForTimeout(1500);
  await page.getByRole("button", { name: t("media.mic.stop") }).click();
  await asked;
  await page.getByRole("region", { name: t("media.transcript.title") }).getByText("Good morning.").first().waitFor();
  await page.getByText(t("media.mic.off")).waitFor();
});

rig.journey("a text is spoken, played and saved", { path: "/app/media/speech" }, async ({ page, t, axe }) => {
  await choose(page, t, "voice");
  await page.getByLabel(t("media.speech.text")).fill("Hello, plum!");
  await page.getByLabel(t("media.speech.voice")).fill("echo");
  await page.getByLabel(t("media.speech.speed")).fill("1.5");
  await page.getByLabel(t("media.speech.format")).selectOption("wav");
  const asked = sent(page, "/v1/audio/speech");
  await page.getByRole("button", { name: t("media.speech.do") }).click();
  assert.deepEqual(await asked, { model: "user.voice", input: "Hello, plum!", voice: "echo", response_format: "wav", speed: 1.5 });
  const player = page.getByLabel(t("media.speech.player"));
  await player.waitFor();
  await page.waitForFunction(() => document.querySelector("audio").duration > 0.4);
  await axe();
  const [name, bytes] = await downloaded(page, () => page.getByRole("button", { name: t("media.download") }).click());
  assert.equal(name, "hello-plum.wav");
  assert.equal(bytes.subarray(0, 4).toString(), "RIFF");
  await page.getByLabel(t("media.speech.speed")).fill("9");
  await page.getByRole("button", { name: t("media.speech.do") }).click();
  await page.getByText(/from 0\.25 to 4/).waitFor();
});

rig.journey("the server's reason is shown, and it is tried again", { path: "/app/media/speech", allow: refused }, async ({ page, t, axe }) => {
  await choose(page, t, "broken-voice");
  await page.getByLabel(t("media.speech.text")).fill("Hello");
  await page.getByRole("button", { name: t("media.speech.do") }).click();
  await page.getByRole("alert").getByText(/the voice is hoarse/).waitFor();
  await axe();
  const asked = sent(page, "/v1/audio/speech");
  await page.getByRole("button", { name: t("action.retry") }).click();
  assert.equal((await asked).input, "Hello");
  await choose(page, t, "voice");
});

rig.journey("pictures are made, kept and made again", { path: "/app/media/images" }, async ({ page, t, axe, open }) => {
  await choose(page, t, "brush");
  await page.getByRole("button", { name: t("media.images.do.generate") }).click();
  await page.getByText(t("media.images.no_prompt")).waitFor();
  await page.getByLabel(t("media.images.prompt.generate")).fill("A quince");
  await page.getByLabel(t("media.images.count")).fill("2");
  await page.getByLabel(t("media.images.seed"), { exact: true }).fill("41");
  await page.getByLabel(t("media.images.size")).selectOption("512x512");
  const bodies = [];
  page.on("request", (r) => { if (r.url().endsWith("/generations")) bodies.push(r.postDataJSON()); });
  await page.getByRole("button", { name: t("media.images.do.generate") }).click();
  await result(page, t).getByRole("button").nth(1).waitFor();
  assert.deepEqual(bodies, [41, 42].map((seed) => ({ model: "user.brush", prompt: "A quince", size: "512x512", seed })));
  await axe();
  await open("/app/media/images"); // they are still there
  const history = page.getByRole("region", { name: t("media.history") });
  await history.getByRole("button", { name: /A quince/ }).nth(1).waitFor();
  await history.getByRole("button", { name: /A quince/ }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("96 × 64").waitFor();
  await axe();
  const [name, bytes] = await downloaded(page, () => dialog.getByRole("button", { name: t("media.download") }).click());
  assert.equal(name, "a-quince-42.png");
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");
  await dialog.getByRole("button", { name: t("media.picture.settings") }).click();
  assert.equal(await page.getByLabel(t("media.images.prompt.generate")).inputValue(), "A quince");
  assert.equal(await page.getByLabel(t("media.images.seed"), { exact: true }).inputValue(), "42");
});

rig.journey("a picture is deleted, and comes back", { path: "/app/media/images" }, async ({ page, t, open }) => {
  await choose(page, t, "brush");
  await page.getByLabel(t("media.images.prompt.generate")).fill("A pear");
  await page.getByRole("button", { name: t("media.images.do.generate") }).click();
  const history = page.getByRole("region", { name: t("media.history") }), pear = history.getByRole("button", { name: /A pear/ });
  await pear.click();
  await page.getByRole("dialog").getByRole("button", { name: t("action.delete") }).click();
  await pear.waitFor({ state: "detached" });
  await page.getByRole("button", { name: t("action.undo") }).click();
  await pear.waitFor();
  await page.getByRole("button", { name: t("media.history.remove") }).click();
  await pear.waitFor({ state: "detached" });
  await open("/app/media/images");
  await page.getByText(t("media.history.none")).waitFor();
});

rig.journey("making pictures can be stopped, and goes on in other views", { path: "/app/media/images" }, async ({ page, t }) => {
  await choose(page, t, "slow-brush");
  await page.getByLabel(t("media.images.prompt.generate")).fill("A slow one");
  await page.getByRole("button", { name: t("media.images.do.generate") }).click();
  await page.getByRole("progressbar").waitFor();
  await page.getByRole("link", { name: t("nav.server"), exact: true }).click();
  await page.getByRole("heading", { level: 1, name: t("nav.server") }).waitFor();
  await page.goBack();
  await page.getByRole("progressbar").waitFor();
  await page.getByRole("button", { name: t("action.cancel") }).click();
  await page.getByRole("progressbar").waitFor({ state: "detached" });
  assert.equal(await page.getByRole("alert").count(), 0, "it is no error");
});

rig.journey("a mask is drawn with the pointer and by keyboard", { path: "/app/media/images?do=edit" }, async ({ page, t, axe }) => {
  await choose(page, t, "brush");
  await page.getByLabel(t("media.images.choose")).setInputFiles(PICTURE);
  const canvas = page.getByLabel(t("media.mask.canvas"));
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width / 4, box.y + box.height / 4);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 4, { steps: 4 });
  await page.mouse.up();
  await axe();
  const painted = () => canvas.evaluate((c) => {
    const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
    return data.filter((v, i) => i % 4 === 3 && v > 128).length;
  });
  const first = await painted();
  assert.ok(first > 0, "the pointer paints");
  await canvas.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Space");
  const drawn = async (right) => { // the canvas is painted with one of the next frames
    for (let frame = 0; frame < 100 && !right(await painted()); frame++) await page.evaluate(() => new Promise(requestAnimationFrame));
    return right(await painted());
  };
  assert.ok(await drawn((n) => n > first), "the space bar paints");
  await page.getByRole("button", { name: t("action.undo") }).click();
  assert.ok(await drawn((n) => n === first), "undo");
  await page.getByLabel(t("media.images.prompt.edit")).fill("A wasp on it");
  // The request's form, as the page builds it: the mask is white on black, and as large as the picture.
  const form = page.evaluate(() => new Promise((done) => {
    const real = window.fetch;
    window.fetch = async (where, how) => {
      if (String(where).endsWith("/edits")) {
        window.fetch = real;
        const mask = await createImageBitmap(how.body.get("mask")), canvas = new OffscreenCanvas(mask.width, mask.height);
        const context = canvas.getContext("2d");
        context.drawImage(mask, 0, 0);
        const at = (x, y) => [...context.getImageData(x, y, 1, 1).data];
        done({ size: [mask.width, mask.height], marked: at(30, 15), rest: at(70, 50),
          texts: Object.fromEntries([...how.body].filter(([, v]) => typeof v === "string")) });
      }
      return real(where, how);
    };
  }));
  await page.getByRole("button", { name: t("media.images.do.edit") }).click();
  const { size, marked, rest, texts } = await form;
  assert.deepEqual([size, marked, rest], [[80, 60], [255, 255, 255, 255], [0, 0, 0, 255]]);
  assert.deepEqual({ ...texts, seed: "" }, { model: "user.brush", prompt: "A wasp on it", size: "80x64", seed: "" });
  await result(page, t).getByRole("button").waitFor();
});

rig.journey("a picture is varied, then enlarged", { path: "/app/media/images?do=vary" }, async ({ page, t, axe }) => {
  await page.getByRole("button", { name: t("media.images.do.vary") }).click();
  await page.getByText(t("media.images.no_source")).waitFor();
  await choose(page, t, "brush");
  await page.getByLabel(t("media.images.choose")).setInputFiles({ name: "not.png", mimeType: "image/png", buffer: Buffer.from("no") });
  await page.getByText(/not\.png/).waitFor();
  await page.getByLabel(t("media.images.choose")).setInputFiles(PICTURE);
  await page.getByRole("button", { name: t("media.images.do.vary") }).click();
  await result(page, t).getByRole("button").click();
  await page.getByRole("dialog").getByRole("button", { name: t("media.images.enlarge") }).click();
  await page.waitForURL("**/app/media/images?do=enlarge");
  assert.equal(await page.getByLabel(t("media.model")).inputValue(), "user.lens");
  const asked = sent(page, "/v1/images/upscale");
  await page.getByRole("button", { name: t("media.images.do.enlarge") }).click();
  const body = await asked;
  assert.equal(Buffer.from(body.image, "base64").subarray(1, 4).toString(), "PNG");
  await page.getByRole("button", { name: new RegExp(t("media.picture.enlarge")) }).first().click();
  await page.getByRole("dialog").getByText("192 × 128").waitFor();
  await axe();
});

rig.journey("a request is shown as code and copied", { path: "/app/media/embeddings" }, async ({ page, t, server }) => {
  await page.getByLabel(t("media.embed.input")).fill("it's\n$HOME `x`");
  await page.getByText(t("code.title")).click();
  await page.getByRole("button", { name: t("code.python") }).click();
  await page.getByRole("button", { name: t("action.copy") }).click();
  const code = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(code, new RegExp(`^import requests\n\nreply = requests.post\\(\n    "${server.url}/v1/embeddings",`));
  await page.reload(); // the language stays
  await page.getByLabel(t("media.embed.input")).waitFor();
  await page.getByText(t("code.title")).click();
  assert.equal(await page.getByRole("button", { name: t("code.python") }).getAttribute("aria-pressed"), "true");
});

rig.journey("by keyboard alone: from the tabs to a result", { path: "/app/media" }, async ({ page, t }) => {
  await page.getByRole("link", { name: t("media.part.embeddings") }).first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 2, name: t("media.part.embeddings") }).waitFor();
  for (let i = 0; i < 20 && await page.evaluate(() => document.activeElement.tagName) !== "TEXTAREA"; i++)
    await page.keyboard.press("Tab");
  await page.keyboard.type("one");
  await page.keyboard.press("Enter");
  await page.keyboard.type("two");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await result(page, t).getByText("8 dimensions").waitFor();
});

for (const part of ["embeddings", "images?do=edit"]) {
  rig.journey(`${part} on a telephone, in German, dark`, { path: `/app/media/${part}`, size: "narrow", theme: "dark", language: "de" },
    async ({ page, t, axe }) => {
      if (part === "embeddings") {
        await page.getByRole("button", { name: t("media.example") }).click();
        await page.getByRole("button", { name: t("media.embed.do") }).click();
        await page.getByRole("table").waitFor();
      } else {
        await page.getByLabel(t("media.images.choose")).setInputFiles(PICTURE);
        await page.getByLabel(t("media.mask.canvas")).waitFor();
      }
      await axe();
      assert.deepEqual(await outside(page), []);
    });
}
