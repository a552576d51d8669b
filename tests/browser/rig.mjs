// What a test file of the page starts from: a server, a browser, and journeys. A journey is a test with a browser window
// of its own; it fails, besides by its steps, if the page prints an error on the console, has an uncaught exception,
// violates its Content-Security-Policy, or asks any other server for anything.
//
//   const rig = useRig();
//   rig.journey("the page opens", { path: "/app/models", size: "narrow" }, async ({ page, axe }) => { ... });
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { ROOT, Server } from "./server.mjs";
import { texts } from "./texts.mjs";

export const SIZES = {
  wide: { width: 1280, height: 800 },
  narrow: { width: 360, height: 740 }, // a small telephone
  zoomed: { width: 640, height: 400 }, // 1280 x 800 at 200 %
};
export const THEMES = ["light", "dark"];
const LOCALES = { en: "en-US", de: "de-DE" };

const STEP_TIMEOUT_MS = 60000; // of one step; a machine may stand still for a while
const JOURNEY_TIMEOUT_MS = 240000;
const EVIDENCE_MS = 20000; // of the time of a journey, to keep what it looked like
const REPORTS = path.join(ROOT, "build/reports/browser");

function browserProgram() {
  if (process.env.QUINCE_TEST_CHROMIUM) return process.env.QUINCE_TEST_CHROMIUM;
  for (const name of ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]) {
    const found = (process.env.PATH ?? "").split(":").map((folder) => path.join(folder, name)).find(existsSync);
    if (found) return found;
  }
  throw new Error("there is no chromium on the PATH: install the package chromium-headless-shell, or set QUINCE_TEST_CHROMIUM");
}

/** Starts Chromium without a window. It can reach this machine only: no name but localhost has an address. */
export function startBrowser() {
  return chromium.launch({
    executablePath: browserProgram(),
    args: ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
      "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
      ...(process.getuid() === 0 ? ["--no-sandbox"] : [])], // Chromium's sandbox refuses root
  });
}

/** A profile of the browser, as a person with these preferences has it. */
async function openProfile(browser, url, { size, theme, language, worker }) {
  const context = await browser.newContext({
    baseURL: url,
    viewport: typeof size === "string" ? SIZES[size] : size,
    colorScheme: theme,
    locale: LOCALES[language],
    timezoneId: "UTC",
    reducedMotion: "reduce",
    acceptDownloads: true,
    serviceWorkers: worker ? "allow" : "block", // it reads every file again, which takes longer than most journeys
    permissions: ["clipboard-read", "clipboard-write", "microphone"],
  });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  const { origin } = new URL(url), profile = { context, problems: [] };
  context.on("console", (message) => {
    if (message.type() === "error") profile.problems.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on("weberror", (error) => profile.problems.push(`uncaught: ${error.error().stack ?? error.error()}`));
  context.on("request", (request) => {
    const to = new URL(request.url());
    if (to.origin !== origin && !["data:", "blob:"].includes(to.protocol)) profile.problems.push(`request to ${request.url()}`);
  });
  return profile;
}

/** Makes a used profile one of a first visit; only the page's files, which never change, stay in the browser's cache. */
async function cleanProfile({ context }, page, url) {
  const client = await context.newCDPSession(page);
  await client.send("Storage.clearDataForOrigin", { origin: new URL(url).origin, storageTypes: "all" });
  await client.detach();
}

/** Opens a window as a person with these preferences has it. Returns it with the list of what went wrong in it. spare:
 *  profiles with these preferences that are not in use, or none. */
export async function openWindow(browser, url, how = {}, spare = []) {
  const { size = "wide", theme = "light", language = "en", storage = {}, first = false, worker = false } = how;
  const used = spare.pop(), profile = used ?? await openProfile(browser, url, { size, theme, language, worker });
  const { context } = profile, problems = profile.problems = [];
  const page = await context.newPage();
  if (used) await cleanProfile(profile, page, url);
  page.on("websocket", (socket) => {
    if (new URL(socket.url()).host !== new URL(url).host) problems.push(`socket to ${socket.url()}`);
  });
  await page.addInitScript((entries) => {
    for (const [name, value] of entries)
      if (localStorage.getItem(name) === null) localStorage.setItem(name, value);
  }, Object.entries({ ...(!first && { "quince.welcome": "1" }), ...storage }));
  return { context, page, problems, profile };
}

/** Waits until the view is there and shows what it has read. An answer may be in progress. */
export async function settled(page) {
  await page.waitForFunction(() => document.querySelector("#main")?.firstElementChild &&
    !document.querySelector("#main .loading, #main [aria-busy=true]:not(article)"));
  await page.evaluate(async () => {
    await document.fonts.ready;
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds in the page, or in the part that a selector names: a list of texts. rules: their names; without, all. */
export async function violations(page, { selector, rules } = {}) {
  if (!await page.evaluate(() => "axe" in window)) await page.evaluate(`${axeSource}; undefined`);
  return page.evaluate(async ([part, runOnly]) => {
    const { violations: all } = await window.axe.run(part ?? document, { resultTypes: ["violations"], ...runOnly && { runOnly } });
    return all.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}: ${n.failureSummary}`));
  }, [selector, rules]);
}

/** Fails with every violation that axe finds in the page, or in the part that a selector names. */
export async function checkAccess(page, selector) {
  assert.deepEqual(await violations(page, { selector }), [], "axe found violations");
}

/** What lies beyond the window's right edge although it cannot be scrolled to within its own box: a list of selectors. */
export function outside(page) {
  return page.evaluate(() => {
    const scrolls = (element) => {
      for (let e = element.parentElement; e && e !== document.body; e = e.parentElement)
        if (/auto|scroll/.test(getComputedStyle(e).overflowX) && e.getBoundingClientRect().right <= innerWidth + 1)
          return true;
      return false;
    };
    const found = [];
    if (document.documentElement.scrollWidth > document.documentElement.clientWidth)
      found.push("the page scrolls sideways");
    for (const element of document.body.querySelectorAll("*")) {
      const box = element.getBoundingClientRect();
      if (box.width > 0 && box.height > 0 && box.left < innerWidth && box.right > innerWidth + 1 && !scrolls(element))
        found.push(`${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""}: ${element.textContent.slice(0, 40)}`);
    }
    return found;
  });
}

async function keepEvidence(page, name, error, problems, server) {
  const file = path.join(REPORTS, name.replace(/[^\w]+/g, "-"));
  mkdirSync(REPORTS, { recursive: true });
  await page.screenshot({ path: `${file}.png`, timeout: 5000 }).catch(() => {});
  const html = await within(5000, page.content()).catch(() => "");
  writeFileSync(`${file}.txt`, [error.stack, ...problems, page.url(), html, server.log()].join("\n\n"));
  error.message += `\n(see ${path.relative(ROOT, file)}.png and .txt)`;
}

/** Rejects if a journey takes too long: its steps have limits of their own, scripts in the page have none. */
async function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the journey has not ended after ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A server (with these options of Server.start) and a browser for a test file, from its start to its end. prepare(rig):
 * what else the file needs, once both run. Some versions of Node run several `before` of a file at once. */
export function useRig(options = {}, prepare = async () => {}) {
  const rig = { server: null, browser: null };
  /* Opening the page in a new profile reads a hundred files: profiles are used again by the file's other journeys. */
  const spare = new Map();
  const spareFor = ({ size = "wide", theme = "light", language = "en", worker = false }) => {
    const key = JSON.stringify([size, theme, language, worker]);
    if (!spare.has(key)) spare.set(key, []);
    return spare.get(key);
  };
  const leave = async ({ context, profile, how }, again) => {
    if (!again || how.worker) {
      await context.close();
      return;
    }
    for (const page of context.pages()) await page.close();
    await context.unrouteAll();
    await context.setOffline(false);
    await context.clearCookies();
    spareFor(how).push(profile);
  };
  before(async () => {
    [rig.server, rig.browser] = await Promise.all([Server.start(options), startBrowser()]);
    await prepare(rig);
  });
  after(async () => {
    await rig.browser?.close();
    await rig.server?.remove();
  });
  /**
   * how: path (where it begins; null: it goes there itself), size, theme, language, storage (what the browser has kept
   * from an earlier visit), first (the very first visit: it shows a hint), worker (with the page's service worker), allow
   * (expressions of problems that belong to the journey).
   * steps get page, context, problems, server, browser; t(key) gives a text of the language; axe() checks the page;
   * open(path) goes there and waits; another(how) opens a second window.
   */
  rig.journey = (name, how, steps) => test(name, { timeout: JOURNEY_TIMEOUT_MS }, async () => {
    let passed = false;
    const windows = [], t = await texts(how.language ?? "en");
    const another = async (more = {}) => {
      const wish = { ...how, ...more }, opened = { ...await openWindow(rig.browser, rig.server.url, wish, spareFor(wish)), how: wish };
      windows.push(opened);
      const open = async (where) => {
        await opened.page.goto(where);
        await settled(opened.page);
      };
      return { ...opened, open, axe: (selector) => checkAccess(opened.page, selector) };
    };
    const first = await another();
    const { page } = first;
    const problems = () => windows.flatMap((w) => w.problems)
      .filter((problem) => !(how.allow ?? []).some((expression) => expression.test(problem)));
    try {
      await within(JOURNEY_TIMEOUT_MS - EVIDENCE_MS, (async () => {
        if (how.path !== null) await first.open(how.path ?? "/");
        await steps({ ...first, server: rig.server, browser: rig.browser, another, t: (key) => t[key] ?? key });
      })());
      assert.deepEqual(problems(), [], "the page had problems");
      passed = true;
    } catch (error) {
      await keepEvidence(page, name, error, problems(), rig.server);
      throw error;
    } finally {
      for (const window of windows) await leave(window, passed);
    }
  });
  return rig;
}
