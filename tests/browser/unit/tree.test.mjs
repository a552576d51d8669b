import assert from "node:assert/strict";
import test from "node:test";
import { branch, pathThrough, siblings, treeOf, withMessage, withoutBranch } from "../../../ui/lib/chat/tree.js";

/*   a - b - c        e is newer than b: the newest branch ends with f
 *     \ e - f   */
const messages = [
  { id: "c", parent: "b", created: 3 }, { id: "a", parent: null, created: 1 }, { id: "e", parent: "a", created: 4 },
  { id: "b", parent: "a", created: 2 }, { id: "f", parent: "e", created: 5 },
];
const tree = treeOf(messages);

test("the path goes through the message that was shown last, then along the newest branch", () => {
  assert.deepEqual(pathThrough(tree, "c"), ["a", "b", "c"]);
  assert.deepEqual(pathThrough(tree, "b"), ["a", "b", "c"]);
  assert.deepEqual(pathThrough(tree, "a"), ["a", "e", "f"]);
  assert.deepEqual(pathThrough(tree, null), ["a", "e", "f"]);
  assert.deepEqual(pathThrough(treeOf([]), null), []);
});

test("branches of a message", () => {
  assert.deepEqual(siblings(tree, "e"), { ids: ["b", "e"], at: 1 });
  assert.deepEqual(siblings(tree, "f"), { ids: ["f"], at: 0 });
});

test("a new message is the newest branch; the tree before stays as it was", () => {
  const next = withMessage(tree, "g", "b");
  assert.deepEqual(pathThrough(next, "b"), ["a", "b", "g"]);
  assert.deepEqual(siblings(next, "g"), { ids: ["c", "g"], at: 1 });
  assert.deepEqual(pathThrough(tree, "b"), ["a", "b", "c"]);
});

test("a deleted branch takes all below it along", () => {
  assert.deepEqual(branch(tree, "e"), ["e", "f"]);
  const next = withoutBranch(tree, "e");
  assert.deepEqual(pathThrough(next, "e"), ["a", "b", "c"]);
  assert.deepEqual(siblings(next, "b"), { ids: ["b"], at: 0 });
});

test("a message whose parent is missing begins a conversation", () => {
  assert.deepEqual(pathThrough(treeOf([{ id: "x", parent: "gone", created: 1 }]), "x"), ["x"]);
});
