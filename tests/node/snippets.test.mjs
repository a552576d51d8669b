// Every snippet of snippets.txt through our interpreter and the reference.
import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { difference, missing, renderOurs, renderReference } from "./renderer.mjs";

const vars = {
  s: "hello", e: "", n: null, t: true, f: false, i: 5, d: 2.5, big: 1e21, a: [3, 1, 2],
  o: { b: 1, a: { x: [1, "y"] } }, emo: "a😀b é",
  list: [{ n: "x", v: 1 }, { n: "y", v: 2 }, { n: "X" }],
};

const sections = [];
for (const line of readFileSync(new URL("snippets.txt", import.meta.url), "utf8").split("\n")) {
  if (line.startsWith("# ")) sections.push({ name: line.slice(2), snippets: [] });
  else if (line !== "") sections.at(-1).snippets.push(line.replaceAll("⏎", "\n"));
}

for (const { name, snippets } of sections.filter((s) => s.snippets.length > 0)) {
  test(`snippets: ${name}`, { skip: missing }, () => {
    const answers = renderOurs(snippets.map((template) => ({ template, vars })));
    const wrong = snippets
      .map((snippet, k) => [snippet, difference(renderReference(snippet, vars), answers[k])])
      .filter(([, diff]) => diff !== null);
    assert.equal(wrong.map(([snippet, diff]) => `${snippet}\n${diff}`).join("\n\n"), "");
  });
}
