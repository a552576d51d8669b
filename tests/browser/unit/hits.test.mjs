import assert from "node:assert/strict";
import test from "node:test";
import { byChat, unmarked } from "../../../ui/lib/chat/hits.js";

test("results are shown by chat, in the order of the server", () => {
  const hit = (chat, message, when = 1) => ({ chat, title: chat.toUpperCase(), message, when, snippet: [] });
  const found = byChat([hit("b", null, 9), hit("a", "m1", 8), hit("b", "m2", 7), hit("a", "m3", 6)]);
  assert.deepEqual(found.map(({ chat, title, when, places }) => [chat, title, when, places.map(({ message }) => message)]),
    [["b", "B", 9, ["m2"]], ["a", "A", 8, ["m1", "m3"]]]);
  assert.deepEqual(byChat([]), []);
});

test("the marks of Markdown are left out of a place, those of arithmetic and names are not", () => {
  for (const [text, shown] of [["about **Trip to ", "about Trip to "], ["***very*** `code`", "very code"], ["## Head\n# one", "Head\none"],
    ["5 * 3 and snake_case #1", "5 * 3 and snake_case #1"], ["```sh\nls", "sh\nls"]])
    assert.equal(unmarked(text), shown);
});
