// The page as such: it opens, in every theme, language and size, keeps its policy, and is accessible.
import assert from "node:assert/strict";
import { settled, useRig } from "./rig.mjs";

const rig = useRig();

rig.journey("the address / opens the chat", {}, async ({ page, t }) => {
  assert.equal(new URL(page.url()).pathname, "/app/chat");
  await page.getByRole("navigation", { name: t("nav.main") }).waitFor();
  assert.equal(await page.getByRole("link", { name: t("nav.chat"), exact: true }).getAttribute("aria-current"), "page");
});

rig.journey("links change the view without loading the page again", {}, async ({ page, t }) => {
  await page.evaluate(() => { window.stays = true; });
  for (const view of ["models", "media", "server", "chat"]) {
    await page.getByRole("link", { name: t(`nav.${view}`), exact: true }).click();
    await page.waitForURL(`**/app/${view}`);
    await settled(page);
  }
  await page.goBack();
  await page.waitForURL("**/app/server");
  assert.equal(await page.evaluate(() => window.stays), true);
  await page.reload(); // every address of the page is one of the server, too
  await settled(page);
  assert.equal(new URL(page.url()).pathname, "/app/server");
});

rig.journey("an address that names no view opens the chat", {}, async ({ page }) => {
  for (const address of ["/app/constructor", "/app/nothing"]) {
    await page.goto(address);
    await page.locator(".composer textarea").waitFor();
  }
});

rig.journey("while its scripts are loaded the page shows its frame", {}, async ({ page, context }) => {
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  await context.route(/\/app\.js$/, async (route) => { await held; await route.continue(); });
  await page.goto("/app/chat", { waitUntil: "commit" });
  await page.locator("nav .brand").waitFor();
  assert.equal(await page.locator(".composer").count(), 0);
  release();
  await page.locator(".composer textarea").waitFor();
  assert.equal(await page.locator("nav .brand").count(), 1);
});

// The view's code arrives after the first rendering, but before Preact runs the effects of that rendering. Preact runs them
// at the next animation frame or after a short time-out, so requestAnimationFrame and setTimeout are delayed here.
rig.journey("a view that arrives between two steps of the first rendering is shown", { path: null }, async ({ page }) => {
  const LATE_MS = 1500;
  await page.addInitScript((late) => {
    const { setTimeout, requestAnimationFrame } = window;
    window.early = true;
    window.requestAnimationFrame = (run) => window.early ? setTimeout(run, late) : requestAnimationFrame(run);
    window.setTimeout = (run, ms, ...more) => setTimeout(run, window.early && ms > 20 && ms < 200 ? late : ms, ...more);
    setTimeout(() => window.early = false, late);
  }, LATE_MS);
  await page.route("**/views/models/index.js", async (route) => {
    await page.locator(".toasts").waitFor({ state: "attached" });
    await route.continue();
  });
  await page.goto("/app/models");
  await page.getByRole("heading", { level: 1 }).waitFor();
});

rig.journey("it speaks the reader's language", { language: "de" }, async ({ page, t }) => {
  assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
  await page.getByRole("link", { name: t("nav.models"), exact: true }).waitFor();
});

rig.journey("the policy forbids what it is to forbid", { path: "/", allow: [/Content Security Policy|Trusted|request to http:..localhost:1.x.png/] },
  async ({ page, problems }) => {
    const done = await page.evaluate(async () => {
      const tries = {
        inline: () => {
          const script = document.createElement("script");
          script.text = "window.ran = true"; // a trusted type is missing, before any policy on scripts
          document.body.append(script);
        },
        markup: () => { document.body.innerHTML = "<b>x</b>"; },
        policy: () => window.trustedTypes.createPolicy("other", { createHTML: (s) => s }),
      };
      const refused = [];
      for (const [name, act] of Object.entries(tries)) {
        try { act(); } catch { refused.push(name); }
      }
      // Not within this function, which runs by the debugger's leave.
      await new Promise((resolve) => setTimeout(() => {
        try { new Function("window.ran = true")(); } catch { refused.push("evaluated"); }
        resolve();
      }));
      const picture = new Image();
      picture.src = "http://localhost:1/x.png";
      await new Promise((resolve) => { picture.onerror = resolve; });
      return { refused, ran: window.ran ?? false };
    });
    assert.deepEqual(done, { refused: ["inline", "markup", "policy", "evaluated"], ran: false });
    // The rig notices each violation; a journey that does not allow them would have failed.
    assert.ok(problems.length >= 5, problems.join("\n"));
    assert.ok(problems.some((p) => p.includes("img-src")), problems.join("\n"));
  });

rig.journey("files of another version are not there, and the page says that it is outdated", { allow: [/status of 404/] },
  async ({ context, page, t }) => {
    const answer = await page.evaluate(async () => {
      const reply = await fetch("/ui/0123456789abcdef/app.js");
      return [reply.status, await reply.text()];
    });
    assert.equal(answer[0], 404);
    assert.match(answer[1], /another version of the page/);
    await context.route("**/app/", async (route) => {
      const reply = await route.fetch();
      await route.fulfill({ response: reply, headers: { ...reply.headers(), etag: '"0123456789abcdef"' } });
    });
    await page.reload();
    await page.getByText(t("shell.outdated")).waitFor();
  });

rig.journey("the palette finds the appearance and the language", {}, async ({ page, t }) => {
  for (const [words, check] of [["dark", () => document.documentElement.dataset.theme === "dark"], ["deut", () => document.documentElement.lang === "de"]]) {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: t("palette.title") }).fill(words);
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForFunction(check);
  }
});
