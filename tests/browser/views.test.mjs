// Every view by itself, in both themes and languages, on a wide window, on a telephone and enlarged: accessible, nothing
// cut off, and within the policy. One window walks through all views of a group.
import assert from "node:assert/strict";
import { SIZES, outside, settled, useRig, violations } from "./rig.mjs";
import { VIEWS } from "./views.mjs";

const rig = useRig();

// The rules that depend on a theme: the other rules have been checked in the other theme, at the same size.
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

const group = (view) => view.path.split(/[/?]/)[2];

/** Looks at one view with look(), which returns what is wrong; says of which view and how it was. */
async function walk({ page, open, server }, views, look) {
  const found = [];
  for (const { name, path, prepare } of views) {
    await page.emulateMedia({ colorScheme: "light" });
    await open(path);
    await prepare?.({ page, server });
    found.push(...(await look()).map((text) => `${name}: ${text}`));
  }
  assert.deepEqual(found, []);
}

/** Shows the page in this theme and size, then looks at it. */
async function shown(page, theme, size, look) {
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize(SIZES[size]);
  await settled(page);
  return (await look()).map((text) => `${theme}, ${size}: ${text}`);
}

for (const name of new Set(VIEWS.map(group))) {
  const views = VIEWS.filter((view) => group(view) === name);

  rig.journey(`${name}: views in English, wide, and dark on a telephone`, { path: null }, async (window) => {
    const { page } = window;
    await walk(window, views, async () => [
      ...await shown(page, "light", "wide", () => violations(page)),
      ...await shown(page, "dark", "wide", () => violations(page, { rules: OF_COLOURS })),
      ...await shown(page, "dark", "narrow", () => violations(page)),
    ]);
  });

  rig.journey(`${name}: views in German, on a telephone and enlarged`, { path: null, size: "narrow", language: "de" }, async (window) => {
    const { page } = window;
    await walk(window, views, async () => [
      ...await shown(page, "light", "narrow", () => violations(page)),
      ...await shown(page, "light", "narrow", () => outside(page)),
      ...await shown(page, "dark", "narrow", () => violations(page, { rules: OF_COLOURS })),
      ...await shown(page, "dark", "zoomed", () => outside(page)),
    ]);
  });
}
