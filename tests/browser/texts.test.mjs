// Every text of the page is in ui/strings, in every language, and used.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { examine } from "./literals.mjs";
import { ROOT } from "./server.mjs";
import { LANGUAGES, texts } from "./texts.mjs";

const UI = path.join(ROOT, "ui");

function files(ending, folder = UI) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return ["vendor", "strings"].includes(entry.name) ? [] : files(ending, name);
    return entry.name.endsWith(ending) ? [name] : [];
  });
}

const modules = files(".js").map((name) => ({ name: path.relative(ROOT, name), ...examine(readFileSync(name, "utf8")) }));
const all = Object.fromEntries(await Promise.all(LANGUAGES.map(async (language) => [language, await texts(language)])));
const isKey = (text) => text in all.en;

test("a literal text is found wherever it would be shown", () => {
  const lines = (source) => examine(source).shown.map((s) => s.text);
  assert.deepEqual(lines("html`<p class=\"big\" id=main>Hello <b>you</b>, quince</p>`"), ["Hello", "you"]);
  assert.deepEqual(lines("html`<p>${n} ${t('a.b')} · 3 % <${Row} kind=wide name=\"x\" /></p>`"), []);
  assert.deepEqual(lines("html`<p>${n ? 'One' : `${n} more`}</p>`"), ["One", "\u2026 more"]);
  assert.deepEqual(lines("html`<button aria-label=\"Close it\" title=${a && 'Shut'} class=${'x'}>×</button>`"),
    ["Close it", "Shut"]);
  assert.deepEqual(lines("html`<img alt='A plum' src=/p.png/><${B} label=Name hint=\"${'h'}ere\" ...${rest} />`"),
    ["A plum", "Name", "h", "ere"]);
  assert.deepEqual(lines("html`<!-- no text --><div>${list.map((x) => html`<i>${x} items</i>`)}<//>`"), ["items"]);
  assert.deepEqual(lines("const menu = [{ text: 'Delete', run: () => go('chat'), id: 'delete' }];"), ["Delete"]);
  assert.deepEqual(lines("e.title = 'Done'; e.setAttribute('aria-label', 'Send'); e.setAttribute('role', 'x');"),
    ["Done", "Send"]);
  assert.deepEqual(lines("toast('Saved'); say('x'); toast(t('saved'));"), ["Saved"]);
});

test("no text outside ui/strings", () => {
  const found = modules.flatMap(({ name, shown }) =>
    shown.filter(({ text }) => !isKey(text)).map(({ line, text }) => `${name}:${line}: ${text}`));
  for (const name of files(".css"))
    for (const [, text] of readFileSync(name, "utf8").matchAll(/content:\s*["']([^"']*\p{L}[^"']*)["']/gu))
      found.push(`${path.relative(ROOT, name)}: ${text}`);
  assert.deepEqual(found, []);
});

test("every key that is asked for has a text, and every text is asked for", () => {
  const missing = modules.flatMap(({ name, keys }) =>
    keys.filter(({ key }) => !isKey(key)).map(({ line, key }) => `${name}:${line}: ${key}`));
  assert.deepEqual(missing, [], "keys without a text");
  const used = new Set(modules.flatMap(({ strings }) => [...strings]));
  const prefixes = modules.flatMap((m) => [...m.prefixes]);
  const unused = Object.keys(all.en).filter((key) => !used.has(key) && !prefixes.some((p) => key.startsWith(p)));
  assert.deepEqual(unused, [], "texts that nothing shows");
});

const forms = (text) => typeof text === "string" ? [text] : Object.values(text);
const fields = (text) => [...new Set(forms(text).flatMap((form) => form.match(/\{\w+\}/g) ?? []))].sort();

for (const language of LANGUAGES) {
  test(`${language}: the same keys as in English, each with the same fields`, () => {
    const here = all[language];
    assert.deepEqual(Object.keys(here).sort(), Object.keys(all.en).sort());
    for (const [key, text] of Object.entries(here)) {
      assert.ok(forms(text).every((form) => typeof form === "string" && form.trim()), `${key} is empty`);
      assert.equal(typeof text, typeof all.en[key], `${key}: plural forms in one language only`);
      assert.deepEqual(fields(text), fields(all.en[key]), `${key}: other fields than in English`);
      if (typeof text === "object") {
        const wanted = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
        assert.deepEqual(Object.keys(text).sort(), [...wanted].sort(), `${key}: its plural forms`);
      }
    }
  });

  test(`${language}: no key in two files`, async () => {
    const folder = path.join(UI, "strings", language), seen = new Map();
    for (const name of readdirSync(folder).filter((n) => n !== "index.js")) {
      const module = await import(`../../ui/strings/${language}/${name}`);
      for (const key of Object.keys(module.default)) {
        assert.ok(!seen.has(key), `${key} is in ${seen.get(key)} and ${name}`);
        seen.set(key, name);
      }
    }
    assert.deepEqual([...seen.keys()].sort(), Object.keys(all[language]).sort(), "a file is not in index.js");
  });
}

test("what is translated is translated", () => {
  const words = (text) => forms(text).join(" ").match(/\p{L}{2,}/gu) ?? [];
  const same = Object.keys(all.en).filter((key) =>
    words(all.en[key]).length >= 3 && JSON.stringify(all.en[key]) === JSON.stringify(all.de[key]));
  assert.deepEqual(same, []);
});
