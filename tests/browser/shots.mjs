// Pictures of every view, in both themes, both languages and two widths, in build/shots: `scripts/dev shots [NAME...]`.
// The names are those of views.mjs; without one, all.
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { SIZES, THEMES, openWindow, settled, startBrowser } from "./rig.mjs";
import { ROOT, Server } from "./server.mjs";
import { LANGUAGES } from "./texts.mjs";
import { VIEWS } from "./views.mjs";

const FOLDER = path.join(ROOT, "build/shots");
const wanted = process.argv.slice(2), views = VIEWS.filter(({ name }) => !wanted.length || wanted.includes(name));
if (views.length < wanted.length) {
  console.error(`shots: no such view; there are: ${VIEWS.map(({ name }) => name).join(" ")}`);
  process.exit(2);
}
if (!wanted.length) rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });

const server = await Server.start(), browser = await startBrowser();
let problems = 0;
try {
  for (const { name, path: address, prepare } of views) {
    for (const language of LANGUAGES) {
      const window = await openWindow(browser, server.url, { language });
      await window.page.goto(address);
      await settled(window.page);
      await prepare?.({ page: window.page, server });
      for (const size of ["wide", "narrow"]) {
        await window.page.setViewportSize(SIZES[size]);
        for (const theme of THEMES) {
          await window.page.emulateMedia({ colorScheme: theme });
          await settled(window.page);
          await window.page.screenshot({ path: path.join(FOLDER, `${name}-${SIZES[size].width}-${theme}-${language}.png`) });
        }
      }
      for (const problem of window.problems) {
        console.error(`${name} (${language}): ${problem}`);
        problems++;
      }
      await window.context.close();
    }
    console.log(name);
  }
} finally {
  await browser.close();
  await server.remove();
}
console.log(`pictures in ${path.relative(ROOT, FOLDER)}`);
process.exit(problems ? 1 : 0);
