// Templates put together at random, through our interpreter and the reference. The seed is fixed;
// QUINCE_TEST_SEED tries another one.
import test from "node:test";
import assert from "node:assert/strict";
import { difference, missing, renderOurs, renderReference } from "./renderer.mjs";

const vars = {
  s: "hello", e: "", n: null, t: true, f: false, i: 5, d: 2.5, a: [3, 1, 2],
  o: { b: 1, a: { x: [1, "y"] } }, u: "a😀b é\n c",
  list: [{ n: "x", v: 1 }, { n: "y", v: 2 }, { n: "X" }],
  m: [{ role: "user", content: "hi" }, { role: "assistant", content: null }],
};
const names = [...Object.keys(vars), "q", "x", "loop", "none", "ns"];
const literals = ["'a'", '"b c"', "'x,y'", "'\\n'", "'é'", "'10'", "''", "1", "0", "2.5", "3.0", "[1, 2]", "[]", "({})", "({'k': 1})", "(1, 2)"];
const filters = [
  "upper", "lower", "title", "trim", "length", "first", "last", "list", "string", "int", "float", "abs", "tojson", "reverse",
  "sort", "unique", "join", "items", "dictsort", "capitalize", "safe", "keys", "values()", "upper()", "default('d')",
  "default('d', true)", "join(',')", "replace('l', 'L')", "tojson(indent=2)", "tojson(ensure_ascii=true)", "int(7)", "float(1)",
  "indent(2)", "indent(1, true)", "sort(reverse=true)", "sort(attribute='n')", "dictsort(by='value')", "selectattr('v')",
  "rejectattr('n', 'equalto', 'x')", "map(attribute='v')", "map(attribute='n', default='z')",
];
const tests = [
  "defined", "undefined", "none", "string", "mapping", "iterable", "sequence", "number", "boolean", "integer", "odd", "even",
  "true", "false", "lower", "upper", "callable",
];
const members = [
  "upper()", "strip()", "lstrip()", "title()", "split()", "split(',')", "split('l', 1)", "replace('l', '')", "startswith('h')",
  "endswith(['o', 'y'])", "items()", "keys()", "values()", "get('b')", "get('zz', 1)", "length", "b", "a", "n", "role", "index", "x",
];
const operators = ["+", "-", "~", "*", "/", "//", "%", "**", "==", "!=", "<", ">=", "in", "not in", "and", "or"];
const slices = ["0", "-1", "'b'", "i", "1:", ":-1", "::-1", "::2", "1:2"];
const texts = ["", " ", "\n", "  \n  ", " t ", "\n\n", "x\n", "\t", "{", "}", "{# c #}", "{#- c -#}", "{% generation %}", "{%- endgeneration -%}"];

// Mulberry32.
let state = Number(process.env.QUINCE_TEST_SEED ?? 1);
function random(n) {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % n;
}
const pick = (choices) => choices[random(choices.length)];
const oneOf = (...makers) => makers[random(makers.length)]();

const leaf = () => oneOf(() => pick(names), () => pick(literals));
function expression(depth) {
  const sub = () => expression(depth - 1);
  if (depth === 0) return leaf();
  return oneOf(
    leaf,
    () => `${sub()} ${pick(operators)} ${sub()}`,
    () => `${sub()} ${pick(operators)} ${sub()}`,
    () => `(${sub()}|${pick(filters)})`,
    () => `(${sub()}|${pick(filters)})`,
    () => `${sub()} is ${pick(["", "not "])}${pick(tests)}`,
    () => `(${sub()}).${pick(members)}`,
    () => `(${sub()})[${pick(slices)}]`,
    () => `(${sub()} if ${sub()} else ${sub()})`,
    () => `(${sub()} if ${sub()})`,
    () => `[${sub()}, ${sub()}]`,
    () => `({'k': ${sub()}})`,
    () => `${pick(["not ", "-", "+"])}(${sub()})`,
    () => `namespace(v=${sub()})`,
    () => `mac(${pick(["", "b="])}${sub()})`,
  );
}

const open = () => pick(["{%", "{%-"]);
const close = () => pick(["%}", "-%}"]);
const tag = (words) => `${open()} ${words} ${close()}`;
const maybe = (make) => (random(2) ? make() : "");
function statement(depth) {
  const body = () => block(depth - 1);
  const output = () => `${pick(["{{", "{{-"])} ${expression(random(3))} ${pick(["}}", "-}}"])}`;
  if (depth === 0) return oneOf(() => pick(texts), output);
  return oneOf(
    () => pick(texts),
    output,
    output,
    () => tag(`if ${expression(random(3))}`) + body() + maybe(() => tag(`elif ${expression(1)}`) + body()) + maybe(() => tag("else") + body()) + tag("endif"),
    () => tag(`for ${pick(["x", "i", "k, v"])} in ${pick(["a", "list", "m", "o", "o.items()", "range(3)", expression(2)])}${maybe(() => ` if ${expression(1)}`)}`) + body() + maybe(() => tag("else") + body()) + tag("endfor"),
    () => tag(`set ${pick(["q", "x", "i", "ns.v", "q, x"])} = ${expression(2)}`),
    () => tag(`set ${pick(["q", "x"])}`) + body() + tag("endset"),
    () => tag(`filter ${pick(filters)}`) + body() + tag("endfilter"),
    () => tag(pick(["break", "continue"])),
    () => tag(`call${pick(["", "(x)", "(q=1)"])} mac(${expression(1)})`) + body() + tag("endcall"),
    () => tag(`macro mac(a, b=${expression(1)})`) + body() + pick(["", "{{ caller() }}", "{{ caller(1) }}"]) + tag("endmacro"),
  );
}
function block(depth) {
  return Array.from({ length: 1 + random(4) }, () => statement(depth)).join("");
}

const prelude = "{% set ns = namespace(v=1) %}{% macro mac(a, b=2) %}[{{ a }}{{ b }}{{ caller() if caller is defined }}]{% endmacro %}";
const make = { expressions: () => `{{ ${expression(1 + random(4))} }}`, statements: () => prelude + block(3) };

for (const [name, template] of Object.entries(make)) {
  test(`random ${name}`, { skip: missing }, () => {
    const templates = Array.from({ length: 3000 }, template);
    const answers = renderOurs(templates.map((t) => ({ template: t, vars })));
    const wrong = templates
      // Functions print their JavaScript source in the reference.
      .filter((t, k) => !/<function>/.test(answers[k].text ?? ""))
      .map((t) => [t, difference(renderReference(t, vars), answers[templates.indexOf(t)])])
      .filter(([, diff]) => diff !== null)
      .sort(([a], [b]) => a.length - b.length);
    assert.equal(wrong.slice(0, 5).map(([t, diff]) => `${t}\n${diff}`).join("\n\n"), "");
    assert.ok(answers.filter((a) => a.text !== undefined).length > 300, "hardly anything renders");
  });
}
