// Habits of the page: a hint at the first visit, titles, the focus after a change of view, paper, and the offline shell.
import assert from "node:assert/strict";
import { settled, useRig } from "./rig.mjs";

const rig = useRig();
// The browser prints each request that finds no server.
const down = [/ERR_CONNECTION_REFUSED/, /ERR_EMPTY_RESPONSE/, /ERR_CONNECTION_RESET/,
  /net::ERR_FAILED/]; // a request that the service worker could not send

rig.journey("the first visit shows a hint, once", { first: true }, async ({ page, t, axe }) => {
  const hint = page.getByRole("complementary", { name: t("welcome.title") });
  await hint.waitFor();
  await axe();
  await hint.getByRole("link", { name: t("welcome.models") }).click();
  await page.waitForURL("**/app/models");
  await hint.waitFor({ state: "detached" });
  await page.reload();
  await settled(page);
  assert.equal(await hint.count(), 0);
});

rig.journey("the focus goes to the heading of a new view, and the title names it", { path: "/app/media" }, async ({ page, t }) => {
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "BODY", "at the start it stays");
  await page.getByRole("link", { name: t("nav.models"), exact: true }).click();
  await page.waitForFunction((name) => document.activeElement.tagName === "H1" && document.activeElement.textContent === name, t("nav.models"));
  await page.keyboard.press("Alt+3");
  await page.waitForFunction((name) => document.activeElement.tagName === "H1" && document.activeElement.textContent === name, t("nav.media"));
  assert.match(await page.title(), new RegExp(t("nav.media")));
  await page.keyboard.press("Tab"); // from there, not from the top
  assert.equal(await page.evaluate(() => document.querySelector("#main").contains(document.activeElement)), true);
});

rig.journey("paper is light and without controls", { path: "/app/media", theme: "dark" }, async ({ page }) => {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const seen = await page.evaluate(() => ({
    text: getComputedStyle(document.querySelector("h1")).color,
    nav: getComputedStyle(document.querySelector(".nav")).display,
    tabs: getComputedStyle(document.querySelector(".tabs")).display,
  }));
  assert.deepEqual(seen, { text: "rgb(31, 35, 41)", nav: "none", tabs: "none" });
});

/** Waits until the service worker is in charge and keeps the files that the page has loaded. */
const kept = (page, some = "views/media/index.js") => page.waitForFunction(async (file) => {
  if (!navigator.serviceWorker.controller) return false;
  for (const name of await caches.keys())
    if ((await (await caches.open(name)).keys()).some(({ url }) => url.endsWith(file))) return true;
  return false;
}, some);

rig.journey("the page opens while the server is down, and finds it again", { path: "/app/media", worker: true, allow: down }, async ({ page, t, server }) => {
  await kept(page);
  await kept(page, "/app/");
  await server.kill();
  await page.reload();
  await page.getByRole("heading", { level: 1, name: t("nav.media") }).waitFor();
  await page.getByText(t("shell.unreachable")).waitFor();
  await page.goto("/"); // any address of the page
  await page.getByRole("navigation", { name: t("nav.main") }).waitFor();
  await server.run();
  await page.getByText(t("shell.unreachable")).waitFor({ state: "detached" });
});

rig.journey("the service worker keeps only files of the page", { path: "/app/media", worker: true }, async ({ page, server }) => {
  await kept(page);
  await page.evaluate(() => fetch("/v1/models").then((r) => r.text()));
  const urls = await page.evaluate(async () => {
    const all = [];
    for (const name of await caches.keys()) all.push(...(await (await caches.open(name)).keys()).map(({ url }) => url));
    return all;
  });
  const build = await page.locator('meta[name="build"]').getAttribute("content");
  for (const url of urls)
    assert.ok(url.startsWith(`${server.url}/ui/${build}/`) || ["/app/", "/favicon.svg", "/manifest.webmanifest"].includes(new URL(url).pathname), url);
});
