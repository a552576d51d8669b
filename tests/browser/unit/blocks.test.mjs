/* Cutting a growing text into blocks: however a text arrives, its blocks are those that the whole text
 * has, and none that was finished changes. */
import assert from "node:assert/strict";
import test from "node:test";
import { Lexer } from "../../../ui/vendor/marked.mjs";
import { Blocks } from "../../../ui/lib/markdown/blocks.js";
import { fence } from "../../../ui/lib/markdown/fence.js";

const lex = (text) => new Lexer().blockTokens(text, []);

function inPieces(text, sizes) {
  const blocks = new Blocks(lex), all = [];
  for (let at = 0, i = 0; at < text.length; i++) {
  at += sizes[i % sizes.length];
  const { finished, open } = blocks.feed(text.slice(0, at));
  all.push(...finished);
  assert.ok(text.slice(0, at).endsWith(open), "the open block is the end of the text");
  }
  return [...all, ...blocks.feed(text, true).finished];
}

const TEXTS = {
  "paragraphs": ["One.\nTwo.\n\nThree.", ["One.\nTwo.", "Three."]],
  "a heading that begins as text": ["a\n#tag\n\nb", ["a\n#tag", "b"]],
  "an underlined heading": ["a\n---\n\nb", ["a\n---", "b"]],
  "a list with an empty line": ["- a\n\n  b\n- c\n\nd", ["- a\n\n  b\n- c", "d"]],
  "a fence with empty lines": ["x\n\n```js\na\n\n\nb\n```\n\ny", ["x", "```js\na\n\n\nb\n```", "y"]],
  "a fence that holds a shorter fence": ["````\n```\na\n```\n````\nb", ["````\n```\na\n```\n````\n", "b"]],
  "a fence that is not closed": ["x\n\n~~~\na\n\nb", ["x", "~~~\na\n\nb"]],
  "a table": ["a\n\n| b | c |\n|---|---|\n| d | e |\n\nf", ["a", "| b | c |\n|---|---|\n| d | e |\n\n", "f"]],
  "code in ticks is no fence": ["```a``` b\n\nc", ["```a``` b", "c"]],
};

for (const [name, [text, expected]] of Object.entries(TEXTS))
  for (const sizes of [[1], [2, 3], [7], [1000]])
  test(`${name}, in pieces of ${sizes}`, () => {
  assert.deepEqual(inPieces(text, sizes).map((b) => b.trim()), expected.map((b) => b.trim()));
  });

test("a closed fence does not wait for what follows", () => {
  const blocks = new Blocks(lex);
  assert.deepEqual(blocks.feed("```\na\n```\nNext te"), { finished: ["```\na\n```\n"], open: "Next te" });
  assert.deepEqual(new Blocks(lex).feed("x\n\n```\na\n```\nNext te").open, "Next te");
});

test("a text with a hard paragraph keeps the blocks around it", () => {
  const hard = "_a_b ".repeat(1000).trim(), text = `# a\n\n${hard}\n\n\`\`\`\nb\n\nc\n\`\`\`\n\n- d\n- e`;
  for (const sizes of [[50], [10000]])
    assert.deepEqual(inPieces(text, sizes).map((b) => b.trim()), ["# a", hard, "```\nb\n\nc\n```", "- d\n- e"]);
});

test("depth beyond the parser's limit is one block", () => {
  assert.equal(inPieces(">".repeat(10000) + "x", [100000]).length, 1);
});

test("fences", () => {
  assert.deepEqual(fence("```C++ x\na\n"), { language: "c++", text: "a", closed: false });
  assert.deepEqual(fence("  ~~~\n  a\n b\n  ~~~\n\n"), { language: "", text: "a\nb", closed: true });
  assert.deepEqual(fence("```\n```"), { language: "", text: "", closed: true });
  assert.equal(fence("text\n```\n"), null);
});
