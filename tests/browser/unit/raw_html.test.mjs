import assert from "node:assert/strict";
import test from "node:test";
import { tooHard } from "../../../ui/lib/markdown/limits.js";
import { plainTags } from "../../../ui/lib/markdown/raw_html.js";

test("plain tags stay, without attributes but spans of cells", () => {
  assert.equal(plainTags("H<sub>2</sub>O<br/>x <BR>"), "H<sub>2</sub>O<br>x <br>");
  assert.equal(plainTags('<td colspan=2 rowspan="3">a</td>'), '<td colspan="2" rowspan="3">a</td>');
  assert.equal(plainTags('<b colspan="2">x</b>'), "<b>x</b>");
});

test("everything else becomes text", () => {
  for (const html of ["<script>a</script>", "<img src=x>", "<b onclick=a>", "<br\u0000>", "<!-- a -->", "<a href=x>", "<b <br", "<svg/onload=a>"])
  assert.doesNotMatch(plainTags(html), /</, html);
  assert.equal(plainTags("<td colspan=100>"), "&lt;td colspan=100&gt;");
  assert.equal(plainTags("<<b>script>"), "&lt;<b>script&gt;");
});

test("what the parser would take too long for is recognised", () => {
  for (const text of ["_a_b ".repeat(1000), "x" + " ".repeat(1000) + "y", ">".repeat(100) + "x", "1. ".repeat(100) + "x", "<".repeat(5000), "x".repeat(200000),
  " ".repeat(200) + "- x"])
  assert.equal(tooHard(text), true, text.slice(0, 20));
  for (const text of ["Some *text* with **marks**.\n".repeat(10), "| **a** | *b* |\n".repeat(500), "- **item**: text\n".repeat(500), "> > quote",
  "word ".repeat(3000)])
  assert.equal(tooHard(text), false, text.slice(0, 20));
});
