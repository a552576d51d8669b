// How quick the page is, measured in headless Chromium on a real server: `node tests/browser/speed.mjs [NAME...]`, on an
// otherwise idle machine. Names: load, tokens, typing, large, heap, log; hour only if it is named. Times of the main
// thread are the processor's, from a trace.
import { lastMessage, say } from "./chat_kit.mjs";
import { openWindow, settled, startBrowser } from "./rig.mjs";
import { Server } from "./server.mjs";
import { Upstream } from "./upstream.mjs";

const MESSAGES = 500, TOKENS = 600, TOKEN_MS = 20, LINES = 10000;
const SENTENCE = "Words come one after the other, and **some** of them are `code`, or _stressed_. ";
const ANSWER = "A paragraph with **bold** text and a [link](https://example.org).\n\n- one\n- two\n\n```python\ndef f(x):\n    return x + 1\n```\n\n" +
  "| a | b |\n|---|---|\n| c | d |\n\nAnd the end.";

const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))] ?? NaN;
const ms = (n) => `${n.toFixed(1)} ms`;
const figures = (list) => `median ${ms(quantile(list, 0.5))}, p95 ${ms(quantile(list, 0.95))}, longest ${ms(quantile(list, 1))}`;

/** Runs act() under a trace. Returns {frames: the main thread's time of each frame with what led to it, total: all of it}. */
async function traced(context, page, act) {
  const client = await context.newCDPSession(page), events = [];
  client.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await client.send("Tracing.start", { transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["toplevel", "devtools.timeline"] } });
  await act();
  const complete = new Promise((resolve) => client.once("Tracing.tracingComplete", resolve));
  await client.send("Tracing.end");
  await complete;
  const frame = events.findLast(({ name }) => name === "FireAnimationFrame");
  const mine = events.filter(({ pid, tid, ph }) => pid === frame?.pid && tid === frame?.tid && ph === "X").sort((a, b) => a.ts - b.ts);
  // Tasks contain tasks: only the outermost count.
  const tasks = [];
  for (const one of mine.filter(({ name }) => /RunTask$/.test(name)))
    if (!tasks.length || one.ts >= tasks.at(-1).ts + tasks.at(-1).dur) tasks.push(one);
  const begins = mine.filter(({ name }) => name === "FireAnimationFrame").map(({ ts }) => ts);
  const frames = begins.map(() => 0);
  for (const { ts, dur, tdur } of tasks) {
    const at = begins.findIndex((begin) => begin >= ts && begin <= ts + dur || begin > ts);
    if (at >= 0) frames[at] += (tdur ?? dur) / 1000;
  }
  return { frames, total: tasks.reduce((sum, { dur, tdur }) => sum + (tdur ?? dur) / 1000, 0) };
}

async function conversation(server, model, count) {
  const chat = await server.api("/internal/chats", { title: `${count} messages`, model });
  for (let i = 0, parent = null; i < count; i++) {
    const message = await server.api("/internal/messages", { chat: chat.id, parent, role: i % 2 ? "assistant" : "user",
      text: i % 2 ? ANSWER : `Question ${i}` });
    parent = message.id;
  }
  return chat.id;
}

/** Prints the size of the heap after garbage collection: after each round of answers (each answer in a new chat), and
  * after the page has been loaded again with the same list of chats. What the former has more than the latter is a leak. */
async function heapAfterAnswers({ browser, server, told, model }, { sentences, wordMs, rounds, answers }) {
  told.say("heap", { text: SENTENCE.repeat(sentences), ms: wordMs });
  const { context, page } = await openWindow(browser, server.url, { storage: { "quince.model": model } });
  await page.goto("/app/chat");
  await page.locator(".composer textarea").waitFor();
  const client = await context.newCDPSession(page), sizes = [], began = Date.now();
  const used = async () => {
    await client.send("HeapProfiler.collectGarbage");
    return ((await client.send("Runtime.getHeapUsage")).usedSize / 1e6).toFixed(1);
  };
  for (let i = 0; i < rounds; i++) {
    for (let k = 0; k < answers; k++) {
      await page.getByRole("link", { name: "New chat" }).click();
      await page.waitForURL(/app\/chat$/);
      await say(page, "heap");
      await page.waitForFunction(() => document.querySelector("article.assistant") && !document.querySelector('article[aria-busy="true"]'),
        null, { timeout: 0, polling: 200 });
    }
    sizes.push(await used());
  }
  const seconds = Math.round((Date.now() - began) / 1000);
  await page.reload();
  await lastMessage(page).locator(".md strong").first().waitFor();
  await settled(page);
  console.log(`heap: ${rounds * answers} answers in ${seconds} s; after each ${answers}: ${sizes.join(", ")} MB; ` +
    `newly loaded: ${await used()} MB`);
  await context.close();
}

const MEASUREMENTS = {
  async load({ browser, server, model }) {
    const paints = [], ready = [];
    let sizes = null;
    for (let i = 0; i < 5; i++) {
      const { context, page } = await openWindow(browser, server.url, { storage: { "quince.model": model } });
      await page.goto("/app/chat");
      await page.locator(".composer textarea").waitFor();
      await settled(page);
      const found = await page.evaluate(() => ({
        paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
        scripts: performance.getEntriesByType("resource").filter((e) => /\.m?js$/.test(e.name)).map((e) => [e.name, e.encodedBodySize]),
        ready: performance.getEntriesByName("chat-ready")[0]?.startTime,
      }));
      paints.push(found.paint);
      ready.push(found.ready);
      sizes ??= found.scripts;
      await context.close();
    }
    const sum = (list) => list.reduce((n, [, size]) => n + size, 0);
    const chat = sizes.filter(([name]) => /views\/chat|lib\/(markdown|chat)|store\/(chat|conv|live|blobs)|marked|dompurify/.test(name));
    console.log(`load: ${(sum(sizes) / 1000).toFixed(1)} kB of scripts in ${sizes.length} files, ${((sum(sizes) - sum(chat)) / 1000).toFixed(1)} kB without the chat`);
    console.log(`load: first paint ${figures(paints)}; field ready ${figures(ready)}`);
  },

  async tokens({ browser, server, told, model }) {
    const id = await conversation(server, model, MESSAGES);
    told.say("stream", { text: SENTENCE.repeat(Math.ceil(TOKENS / 14)), ms: TOKEN_MS });
    const { context, page } = await openWindow(browser, server.url);
    const began = Date.now();
    await page.goto(`/app/chat/${id}`);
    await page.locator("article").nth(MESSAGES - 1).waitFor();
    console.log(`tokens: a chat of ${MESSAGES} messages is open after ${Date.now() - began} ms`);
    await page.waitForTimeout(2000);
    await say(page, "stream");
    await lastMessage(page).locator(".md strong").first().waitFor();
    await page.waitForTimeout(1000);
    const words = () => lastMessage(page).locator(".md").evaluate((e) => e.textContent.split(/\s+/).length);
    const first = await words();
    const { frames, total } = await traced(context, page, () => page.waitForTimeout(5000));
    const count = await words() - first;
    console.log(`tokens: ${count} words in ${frames.length} frames; ${ms(total / count)} of main thread each; a frame: ${figures(frames)}`);
    await context.close();
  },

  async typing({ browser, server, model }) {
    const id = await conversation(server, model, MESSAGES);
    const { context, page } = await openWindow(browser, server.url);
    await page.goto(`/app/chat/${id}`);
    await page.locator("article").nth(MESSAGES - 1).waitFor();
    await page.waitForTimeout(1500);
    await page.evaluate(() => {
      window.delays = [];
      new PerformanceObserver((list) => window.delays.push(...list.getEntries().filter((e) => e.name === "keydown" || e.name === "keypress").map((e) => e.duration)))
        .observe({ type: "event", durationThreshold: 16 });
    });
    await page.locator(".composer textarea").pressSequentially("The quick brown fox jumps over the lazy dog. ".repeat(3), { delay: 40 });
    const delays = await page.evaluate(() => window.delays);
    console.log(`typing: ${delays.length} of 135 keys took 16 ms or more until the next paint${delays.length ? `: ${figures(delays)}` : ""}`);
    await context.close();
  },

  async large({ browser, server, told, model }) {
    const code = `\`\`\`js\n${"const a = f(b, 'text'); // comment\n".repeat(60)}\`\`\`\n\n${SENTENCE.repeat(4)}\n\n`;
    told.say("large", { text: code.repeat(40), lines: true, ms: 2 });
    const { context, page } = await openWindow(browser, server.url, { storage: { "quince.model": model } });
    await page.goto("/app/chat");
    await page.locator(".composer textarea").waitFor();
    await say(page, "large");
    const { frames } = await traced(context, page, async () => {
      await page.waitForFunction(() => document.querySelectorAll(".md .code").length >= 40, null, { timeout: 120000 });
    });
    const size = await lastMessage(page).locator(".md").evaluate((e) => e.textContent.length);
    console.log(`large: ${Math.round(size / 1000)} kB with 40 blocks of code; a frame: ${figures(frames)}`);
    await context.close();
  },

  async heap(rig) {
    await heapAfterAnswers(rig, { sentences: 60, wordMs: 1, rounds: 6, answers: 5 });
  },

  /** An hour of streaming, two minutes an answer. */
  async hour(rig) {
    await heapAfterAnswers(rig, { sentences: 430, wordMs: 20, rounds: 6, answers: 5 });
  },

  async log({ browser, server }) {
    const { context, page } = await openWindow(browser, server.url);
    await page.goto("/app/server/logs");
    await page.locator(".virtual-row").first().waitFor();
    // More lines than the server keeps, through the page's own store.
    await page.evaluate(async (count) => {
      const build = document.querySelector('meta[name="build"]').content;
      const { addLines } = await import(`/ui/${build}/store/logs.js`);
      window.addLog = (from, n) => addLines(Array.from({ length: n }, (_, i) => ({
        seq: from + i, timestamp: "2026-01-01T00:00:00.000Z", severity: "Info", tag: "infer",
        line: `2026-01-01T00:00:00.000Z info infer id=${from + i} a line of usual length with some words in it` })));
      window.addLog(1e6, count);
    }, LINES);
    await page.getByText(`${LINES.toLocaleString("en")} lines.`).waitFor();
    const scrolled = await traced(context, page, () => page.evaluate(async () => {
      const list = document.querySelector(".virtual");
      for (list.scrollTop = 0; list.scrollTop + list.clientHeight < 100000; list.scrollTop += 400)
        await new Promise((resolve) => requestAnimationFrame(resolve));
    }));
    console.log(`log: ${LINES} lines are scrolled in ${scrolled.frames.length} frames; a frame: ${figures(scrolled.frames)}`);
    const followed = await traced(context, page, () => page.evaluate(async () => {
      const list = document.querySelector(".virtual");
      list.scrollTop = list.scrollHeight;
      for (let i = 0; i < 120; i++) {
        window.addLog(2e6 + i * 20, 20);
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    }));
    console.log(`log: 20 lines come with each of ${followed.frames.length} frames; a frame: ${figures(followed.frames)}`);
    await page.evaluate(() => document.querySelector("input[type=search]").focus());
    const searched = await traced(context, page, () => page.keyboard.type("id=1001", { delay: 60 }));
    console.log(`log: a search is typed; a frame: ${figures(searched.frames)}`);
    await context.close();
  },
};

const wanted = process.argv.slice(2);
const server = await Server.start(), browser = await startBrowser(), told = await Upstream.start();
const model = await told.register(server);
try {
  for (const [name, measure] of Object.entries(MEASUREMENTS))
    if (wanted.length ? wanted.includes(name) : name !== "hour") await measure({ browser, server, told, model });
} finally {
  await browser.close();
  await server.remove();
  await told.close();
}
