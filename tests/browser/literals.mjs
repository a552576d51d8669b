// Finds texts in the page's modules that do not come from ui/strings: in the templates of htm (text between tags, and
// attributes that are shown or read aloud), in properties and assignments of the same names, and in messages.
import { parse } from "acorn";

/** Attributes of elements, and properties of the page's components, whose value a person reads or hears. */
const SHOWN = new Set(["aria-label", "aria-description", "aria-roledescription", "aria-valuetext", "aria-placeholder",
  "title", "placeholder", "alt", "label", "text", "hint", "summary", "caption", "heading", "message"]);
const SHOWN_MEMBERS = new Set(["title", "placeholder", "alt", "textContent", "innerText", "ariaLabel"]);
const SHOWING_CALLS = new Set(["toast", "notify", "announce", "alert", "confirm", "prompt"]);
/** Words that are the same in every language. */
const NAMES = new Set(["quince"]);

const hasWords = (text) => (text.match(/\p{L}[\p{L}\p{M}'’]*/gu) ?? []).some((word) => !NAMES.has(word));

/** Calls visit with every node of a syntax tree and the nodes around it, outermost first. */
function walk(node, visit, around = []) {
  if (!node || typeof node.type !== "string") return;
  visit(node, around);
  const inner = [...around, node];
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) value.forEach((item) => walk(item, visit, inner));
    else if (value && typeof value === "object") walk(value, visit, inner);
  }
}

/** The literal texts that an expression may have as its value: those of both branches, of templates, of sums. */
function literals(node) {
  switch (node?.type) {
  case "Literal": return typeof node.value === "string" ? [node.value] : [];
  case "TemplateLiteral": return [node.quasis.map((q) => q.value.cooked).join("\u2026")];
  case "ConditionalExpression": return [...literals(node.consequent), ...literals(node.alternate)];
  case "LogicalExpression": return [...literals(node.left), ...literals(node.right)];
  case "BinaryExpression": return node.operator === "+" ? [...literals(node.left), ...literals(node.right)] : [];
  case "ArrayExpression": return node.elements.flatMap(literals);
  default: return [];
  }
}

/**
 * The shown parts of a template of htm: {text} or {expression}, each with the attribute it is the value of (null: between
 * tags). Source: htm's build.mjs, whose states these are.
 */
function shownParts(quasi) {
  const parts = [], pieces = quasi.quasis.map((q) => q.value.cooked);
  let mode = "text", quote = "", buffer = "", attribute = "";
  const put = (part) => {
    if (mode === "text") parts.push({ ...part, attribute: null });
    else if (mode === "value" && SHOWN.has(attribute)) parts.push({ ...part, attribute });
  };
  const flush = () => {
    if (buffer && (mode === "text" || mode === "value")) put({ text: buffer });
    if (mode === "name") attribute = buffer;
    buffer = "";
  };
  pieces.forEach((piece, i) => {
    for (let k = 0; k < piece.length; k++) {
      const c = piece[k];
      if (mode === "comment") {
        if (piece.startsWith("-->", k)) [mode, k] = ["text", k + 2];
      } else if (mode === "text") {
        if (c === "<") {
          flush();
          mode = piece.startsWith("<!--", k) ? "comment" : "tag";
        } else buffer += c;
      } else if (quote) {
        if (c === quote) quote = "";
        else buffer += c;
      } else if (c === '"' || c === "'") quote = c;
      else if (c === ">") {
        flush();
        mode = "text";
      } else if (/\s/.test(c)) {
        flush();
        mode = "name";
        attribute = "";
      } else if (c === "=" && mode === "name") {
        flush();
        mode = "value";
      } else if (mode !== "tag") buffer += c;
    }
    if (i < quasi.expressions.length) {
      if (mode === "text" || mode === "value") flush();
      put({ expression: quasi.expressions[i] });
    }
  });
  flush();
  return parts;
}

const nameOf = (node) => node?.name ?? node?.value ?? "";

/**
 * Examines one module. Returns {shown: [{line, text}]: literal texts that are shown; keys: [{line, key}]: keys given to
 * t(); strings: every other literal of the module; prefixes: beginnings of keys that are put together}.
 */
export function examine(source) {
  const found = { shown: [], keys: [], strings: new Set(), prefixes: new Set() };
  const tree = parse(source, { ecmaVersion: "latest", sourceType: "module", locations: true, allowHashBang: true });
  const show = (node, text) => {
    if (hasWords(text)) found.shown.push({ line: node.loc.start.line, text: text.trim().replace(/\s+/g, " ") });
  };
  const showAll = (node) => literals(node).forEach((text) => show(node, text));
  walk(tree, (node, around) => {
    const parent = around.at(-1);
    if (node.type === "TaggedTemplateExpression" && node.tag.name === "html") {
      for (const { text, expression } of shownParts(node.quasi)) {
        if (expression) showAll(expression);
        else show(node, text);
      }
    } else if (node.type === "Literal" && typeof node.value === "string") {
      found.strings.add(node.value);
    } else if (node.type === "TemplateLiteral" && parent?.type !== "TaggedTemplateExpression" && node.expressions.length) {
      if (/^[a-z]\w*\./.test(node.quasis[0].value.cooked)) found.prefixes.add(node.quasis[0].value.cooked);
    } else if (node.type === "Property" && !node.computed && SHOWN.has(nameOf(node.key)) && parent.type === "ObjectExpression") {
      showAll(node.value);
    } else if (node.type === "AssignmentExpression" && SHOWN_MEMBERS.has(nameOf(node.left.property))) {
      showAll(node.right);
    } else if (node.type === "CallExpression") {
      const called = nameOf(node.callee.property ?? node.callee), [first, second] = node.arguments;
      if (called === "t" && first?.type === "Literal") found.keys.push({ line: first.loc.start.line, key: first.value });
      if (called === "t" && first?.type === "ConditionalExpression")
        literals(first).forEach((key) => found.keys.push({ line: first.loc.start.line, key }));
      if (called === "setAttribute" && SHOWN.has(first?.value)) showAll(second);
      if (SHOWING_CALLS.has(called)) showAll(first);
    }
  });
  return found;
}
