// The log: live lines, search, levels, pause, links to a line; smooth with 10,000 lines.
import assert from "node:assert/strict";
import { useRig } from "./rig.mjs";
import { STARTER } from "./server.mjs";

const rig = useRig();
const lines = (page) => page.locator(".virtual [role=option]");
/** A request that fails and leaves a line with this word in the log. */
const leave = (server, word) => server.api("/v1/chat/completions", { model: word, messages: [] }).catch(() => {});

rig.journey("lines come as they are written, and are searched", { path: "/app/server/logs" }, async ({ page, t, server, axe }) => {
  await lines(page).filter({ hasText: "version=" }).waitFor();
  await leave(server, "plum-one");
  await lines(page).filter({ hasText: "plum-one" }).last().waitFor();
  await axe();
  await page.keyboard.press("/");
  await page.keyboard.type("plum-one");
  await page.waitForFunction(() => [...document.querySelectorAll(".virtual [role=option]")].every((e) => e.textContent.includes("plum-one")));
  await page.waitForURL(/q=plum-one/);
  await leave(server, "pear-two");
  await leave(server, "plum-one");
  await page.waitForFunction(() => document.querySelectorAll(".virtual [role=option]").length >= 2);
  assert.equal(await lines(page).filter({ hasText: "pear-two" }).count(), 0);
  await page.getByLabel(t("server.logs.search")).fill("no line has this");
  await page.getByRole("heading", { name: t("server.logs.none_found") }).waitFor();
});

rig.journey("levels and models are chosen at the server", { path: "/app/server/logs" }, async ({ page, t, server }) => {
  await server.api("/v1/chat/completions", { model: STARTER, messages: [{ role: "user", content: "Hi" }], max_tokens: 2 });
  await lines(page).filter({ hasText: "tokens_s=" }).last().waitFor();
  await page.getByLabel(t("server.logs.level"), { exact: true }).selectOption("warn");
  await page.waitForURL(/level=warn/);
  await page.waitForFunction(() => ![...document.querySelectorAll(".log-level")].some((e) => e.textContent === "info"));
  await page.getByLabel(t("server.logs.level"), { exact: true }).selectOption("");
  await page.getByLabel(t("server.logs.model"), { exact: true }).selectOption(STARTER);
  await page.waitForURL(new RegExp(`model=${STARTER}`));
  await lines(page).filter({ hasText: "tokens_s=" }).last().waitFor();
  assert.equal(await lines(page).filter({ hasText: "version=" }).count(), 0);
});

rig.journey("a paused log holds new lines back", { path: "/app/server/logs" }, async ({ page, t, server }) => {
  await lines(page).first().waitFor();
  await page.getByRole("button", { name: t("server.pause") }).click();
  await leave(server, "plum-held");
  await page.getByText(/Paused\. \d+ new line/).waitFor();
  assert.equal(await lines(page).filter({ hasText: "plum-held" }).count(), 0);
  await page.getByRole("button", { name: t("server.resume") }).click();
  await lines(page).filter({ hasText: "plum-held" }).last().waitFor();
});

rig.journey("a line is chosen by keyboard, copied and linked to", { path: "/app/server/logs" }, async ({ page, t, server, open }) => {
  await leave(server, "plum-linked");
  await lines(page).filter({ hasText: "plum-linked" }).last().waitFor();
  await page.getByRole("listbox").focus();
  await page.keyboard.press("Home");
  const first = await page.locator("[role=option][aria-selected=true]").innerText();
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await page.locator("[role=option][aria-selected=true]").innerText(), first);
  await page.keyboard.press("End");
  const panel = page.getByRole("region", { name: t("server.logs.line") });
  const text = await panel.locator("pre").innerText();
  await panel.getByRole("button", { name: t("server.logs.copy_line") }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
  await panel.getByRole("button", { name: t("server.logs.copy_link") }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  for (let i = 0; i < 30; i++) await leave(server, `later-${i}`);
  await open(new URL(link).pathname + new URL(link).search);
  await page.locator("[role=option][aria-selected=true]").waitFor();
  assert.equal(await panel.locator("pre").innerText(), text);
  await open("/app/server/logs?line=0123456789abcdef-7");
  await page.getByText(t("server.logs.missing")).waitFor();
});

rig.journey("the log goes on after the server was started again", { path: "/app/server/logs", allow: [/ERR_|Failed to load/] },
  async ({ page, server }) => {
    await lines(page).first().waitFor();
    await server.stop();
    await server.run();
    await leave(server, "plum-again");
    await lines(page).filter({ hasText: "plum-again" }).last().waitFor();
    assert.equal(await lines(page).filter({ hasText: "version=" }).count(), 1, "the lines of the new server alone");
  });

rig.journey("10,000 lines stay smooth", { path: "/app/server/logs", size: "wide" }, async ({ context, page, t }) => {
  const FRAMES = 60, PER_FRAME = 250, BUSY_MAX_MS = 50;
  await lines(page).first().waitFor();
  // The main thread's time of the processor: the clock also counts what others compute.
  const client = await context.newCDPSession(page);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  const used = async () => (await client.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  const perFrame = async (act) => {
    const before = await used();
    await act();
    return (await used() - before) / FRAMES;
  };
  // Lines beyond what the server keeps, through the page's own store.
  const adding = await perFrame(() => page.evaluate(async ([frames, count]) => {
    const build = document.querySelector('meta[name="build"]').content;
    const { addLines } = await import(`/ui/${build}/store/logs.js`);
    const entry = (seq) => ({ seq, timestamp: "2026-01-01T00:00:00.000Z", severity: "Info", tag: "infer",
      line: `2026-01-01T00:00:00.000Z info infer id=${seq} a line of usual length with some words in it` });
    for (let i = 0; i < frames; i++) {
      addLines(Array.from({ length: count }, (_, k) => entry(1e6 + i * count + k)));
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  }, [FRAMES, PER_FRAME]));
  assert.ok(adding < BUSY_MAX_MS, `${adding} ms for each frame with ${PER_FRAME} new lines`);
  await page.getByText("10,000 lines.").first().waitFor();
  assert.ok(await lines(page).count() < 150, "only what is in view is in the document");
  const list = page.getByRole("listbox");
  const scrolling = await perFrame(() => list.evaluate(async (e, frames) => {
    for (let i = 0; i < frames; i++) {
      e.scrollTop = e.scrollHeight / 4 + i * 400;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  }, FRAMES));
  assert.ok(scrolling < BUSY_MAX_MS, `${scrolling} ms for each frame while the list is scrolled`);
  await page.getByRole("button", { name: t("server.logs.end") }).click();
  await lines(page).filter({ hasText: "id=1014999 " }).waitFor();
});
