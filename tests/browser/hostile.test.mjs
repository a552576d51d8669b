// What a model writes cannot run a script, fetch anything, draw over the page or make it stand still.
import assert from "node:assert/strict";
import { composer } from "./chat_kit.mjs";
import { HOSTILE } from "./hostile_outputs.mjs";
import { useRig } from "./rig.mjs";

const rig = useRig();
// The maximum time for one rendering, as a multiple of the time for HARMLESS, which is 0.14 s on an idle machine.
const SLOWEST = 10;
const QUICK_MS = 300; // a rendering that is faster than this is not measured again
const TRIES = 5; // measurements of a slower text: one within the limit is enough, because the machine may be busy

const TOGETHER = 20; // texts that are rendered below each other, before a frame is drawn

/** Renders texts as answers that arrive in pieces; returns for each what is wrong with the result. Runs in the page. */
async function render(texts) {
  const base = document.querySelector('script[type="module"]').src.replace(/app\.js$/, "");
  const { MarkdownView } = await import(`${base}lib/markdown/view.js`);
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));

  /** The longest of the updates of one rendering, in ms. */
  function write(element, text) {
    const view = new MarkdownView(element);
    let slowest = 0;
    const update = (part, ended) => {
      const began = performance.now();
      view.update(part, ended);
      slowest = Math.max(slowest, performance.now() - began);
    };
    for (let i = 1; i <= 4; i++) update(text.slice(0, Math.floor(text.length * i / 4)), false);
    update(text, true);
    return slowest;
  }

  const HTML = new Set(("A ABBR B BLOCKQUOTE BR BUTTON CAPTION CITE CODE DD DEL DETAILS DFN DIV DL DT EM FIGCAPTION FIGURE H1 H2 H3 H4 H5 H6 " +
    "HR I IMG INS KBD LI MARK OL P PRE Q RP RT RUBY S SAMP SMALL SPAN STRONG SUB SUMMARY SUP TABLE TBODY TD TFOOT TH THEAD TR U UL VAR WBR").split(" "));
  const ATTRIBUTES = new Set(("align alt aria-label class colspan dir href open rel role rowspan src start tabindex target title type").split(" "));
  function examine(element) {
    const wrong = new Set();
    for (const one of element.querySelectorAll("*")) {
      const maths = one.namespaceURI === "http://www.w3.org/1998/Math/MathML";
      if (!maths && !HTML.has(one.tagName)) wrong.add(`element ${one.tagName}`);
      for (const { name, value } of one.attributes) {
        if (maths ? /^on|href|^src/i.test(name) : !ATTRIBUTES.has(name)) wrong.add(`attribute ${name}=${value.slice(0, 40)} of ${one.tagName}`);
      }
      if (one.tagName === "A" && one.hasAttribute("href") &&
        (!/^(https?:|mailto:)/.test(one.protocol) || one.target !== "_blank" || one.rel !== "noreferrer noopener")) wrong.add(`link ${one.href}`);
      if (one.tagName === "IMG" && !/^data:image\/(png|jpeg|gif|webp);/.test(one.getAttribute("src"))) wrong.add(`picture ${one.src}`);
    }
    if (element.scrollWidth > element.clientWidth + 2) wrong.add("it is wider than its place");
    for (const one of [...element.querySelectorAll("a, summary")].slice(0, 5)) {
      one.addEventListener("click", (event) => event.preventDefault(), { once: true });
      one.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
      one.click();
      one.focus();
    }
    return wrong;
  }

  const place = document.querySelector(".thread-scroll"), elements = texts.map(() => document.createElement("div"));
  for (const element of elements) element.className = "md";
  place.replaceChildren(...elements);
  const times = elements.map((element, i) => write(element, texts[i]));
  await frame();
  const found = elements.map(examine);
  if (document.documentElement.scrollWidth > innerWidth) found[0].add("one of these makes the page wider");
  const { left, top } = document.querySelector(".composer textarea").getBoundingClientRect();
  if (!document.elementFromPoint(left + 5, top + 5)?.closest(".composer")) found[0].add("one of these covers the page");
  if (window.hits) found[0].add("one of these has run a script");
  return found.map((wrong, i) => ({ wrong: [...wrong], slowest: times[i] }));
}

/** A long answer that means no harm: 100 kB of paragraphs, lists and code. */
const HARMLESS = Array.from({ length: 250 }, (_, i) => `Paragraph ${i} with *emphasis*, **more of it** and \`code\`; ` +
  `${"and some words ".repeat(20)}.\n\n- one\n- two\n`).join("\n");

rig.journey(`${HOSTILE.length} hostile outputs are inert`, { path: null }, async ({ page, context, open, server }) => {
  const asked = [];
  await page.addInitScript(() => {
    window.hits = 0;
    window.hit = () => window.hits++;
  });
  await open("/app/chat");
  await composer(page).waitFor();
  await page.locator(".proposals").waitFor(); // the page has asked for what it shows at its start
  context.on("request", (request) => asked.push(request.url()));
  const found = [], slow = [];
  const timeOf = async (text) => (await page.evaluate(render, [text]))[0].slowest;
  /** Returns whether a text takes too long, compared with HARMLESS before and after it. */
  const tooSlow = async (text) => {
    for (let n = 0; n < TRIES; n++) {
      const before = await timeOf(HARMLESS), slowest = await timeOf(text), after = await timeOf(HARMLESS);
      if (slowest <= SLOWEST * Math.max(before, after)) return false;
    }
    return true;
  };
  for (let at = 0, count; at < HOSTILE.length; at += count) {
    count = HOSTILE[at][0].startsWith("heavy") ? 1 : TOGETHER; // one heavy text is as much as a page can lay out at once
    const some = HOSTILE.slice(at, at + count);
    for (const [i, { wrong, slowest }] of (await page.evaluate(render, some.map(([, text]) => text))).entries()) {
      const name = some[i][0];
      if (wrong.length) found.push(`${name}: ${wrong.join("; ")}`);
      if (slowest > QUICK_MS && await tooSlow(some[i][1])) slow.push(`${name}: ${Math.round(slowest)} ms`);
    }
  }
  assert.deepEqual(found, []);
  assert.deepEqual(slow, []);
  // Nothing was fetched but the page's own modules (highlighting, formulas), and what it looks for from time to time; the
  // rig notices other servers.
  const own = new Set(["/api/v1/health", "/v1/downloads?all=true"].map((where) => server.url + where));
  assert.deepEqual(asked.filter((url) => !url.startsWith(`${server.url}/ui/`) && !url.startsWith("data:") && !own.has(url)), []);
});
