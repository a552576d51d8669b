// Five hundred JSON schemas for the tests of constrained decoding: the categories of the public
// JSON-Schema test suite, each keyword alone and with others, and parameters of tools as the clients of
// today send them. Written so that a text of random tokens ends: sizes are small.

const object = (properties, rest = {}) =>
  ({ type: "object", properties, required: Object.keys(properties), additionalProperties: false, ...rest });
const integer = { type: "integer" };
const flag = { type: "boolean" };
const text = (maxLength = 12) => ({ type: "string", maxLength });

const out = [];
const add = (category, ...schemas) => {
  for (const schema of schemas) out.push({ category, schema });
};

// type
for (const type of ["null", "boolean", "integer", "number"]) add("type", { type });
for (const a of ["null", "boolean", "integer", "number"]) {
  for (const b of ["string", "object", "array"]) {
    add("type", { type: [a, b], maxLength: 8, maxItems: 2, items: integer, properties: { a: flag } });
  }
}
add("type", { type: "string", maxLength: 6, nullable: true });

// enum and const
const values = ["red", "a \"quoted\" word", "back\\slash", "tab\there", "\u00e9\u4e2d\u{1f600}", "", 0, -1, 2.5, 1e21, true,
  false, null, [], [1, [2]], {}, { a: { b: [null] } }];
for (const v of values) add("const", { const: v });
for (let i = 0; i < values.length; i++) {
  add("enum", { enum: [values[i], values[(i + 3) % values.length], values[(i + 7) % values.length]] });
}
add("enum", { type: "string", enum: ["a", "bb", 3, null] }, { type: "integer", enum: [1, 2.5, "x", 4] },
  { enum: ["short", "rather long"], maxLength: 6 }, { enum: [1, 5, 9], minimum: 4 },
  { type: "string", enum: Array.from({ length: 200 }, (_, i) => `value-${i * 7}`) });

// numbers
for (const [minimum, maximum] of [[0, 1], [0, 9], [1, 100], [-5, 5], [-120, -7], [0, 255], [1900, 2100], [99, 101],
  [-1, 1000000], [7, 7]]) {
  add("integer bounds", { type: "integer", minimum, maximum },
    { type: "integer", exclusiveMinimum: minimum - 1, exclusiveMaximum: maximum + 1 });
  add("number bounds", { type: "number", minimum, maximum }, { type: "number", exclusiveMinimum: minimum - 0.5, maximum },
    { type: "number", minimum: minimum - 0.125, exclusiveMaximum: maximum + 0.375 });
}
add("number bounds", { type: "number", minimum: 0 }, { type: "number", maximum: -0.001 }, { type: "number", exclusiveMinimum: 0 },
  { type: "integer", minimum: 1 }, { type: "integer", maximum: -1 }, { minimum: 3, maximum: 4 },
  { type: "number", minimum: 0.1, maximum: 0.3 }, { type: "number", exclusiveMinimum: -1e-7, exclusiveMaximum: 1e-7 },
  { type: "integer", minimum: -2147483648, maximum: 2147483647 }, { type: "integer", exclusiveMinimum: 0, maximum: 9007199254740991 });
for (const multipleOf of [1, 2, 3, 5, 7, 10, 12, 25, 60, 100, 1000, 0.5, 0.25, 0.01, 1.5]) {
  add("multipleOf", { type: "number", multipleOf }, { type: "number", multipleOf, minimum: -3000, maximum: 3000 });
}
add("multipleOf", { type: "integer", multipleOf: 2.5 }, { allOf: [{ multipleOf: 4 }, { multipleOf: 6 }], type: "integer" },
  { type: "integer", multipleOf: 3, exclusiveMinimum: 0, maximum: 20 });

// strings
for (const [minLength, maxLength] of [[0, 0], [0, 1], [1, 1], [2, 5], [0, 20], [10, 12], [1, 60]]) {
  add("length", { type: "string", minLength, maxLength });
}
for (const format of ["date", "time", "date-time", "duration", "uuid", "email", "hostname", "ipv4", "ipv6", "uri",
  "json-pointer"]) {
  add("format", { type: "string", format }, object({ when: { type: "string", format }, n: integer }),
    { type: "array", items: { type: "string", format }, minItems: 1, maxItems: 2 });
}
add("format", { type: "integer", format: "int32" }, { type: "string", format: "date", pattern: "^20" },
  { type: "string", format: "email", maxLength: 20 });
for (const pattern of ["^a$", "^[a-z]{1,8}$", "^[A-Z]{2}-\\d{3}$", "^(foo|bar|baz)$", "^\\d{4}(-\\d{4})?$", "^#[0-9a-fA-F]{6}$",
  "^v\\d+\\.\\d+\\.\\d+$", "^[\\w.-]{1,10}@[\\w-]{1,10}\\.com$", "^\\S{3}\\s\\S{3}$", "^(a|b(c|d)*){1,3}$", "^[^\"\\\\]{2,4}$",
  "^\"\\w+\"$", "^\\\\[ntr]$", "^[\\u00e0-\\u00ff]{1,3}$", "^\\p{Lu}\\p{Ll}{0,5}$", "^(?=.*\\d)[a-z\\d]{4,6}$",
  "^(?!admin)[a-z]{1,6}$", "^$", "^.{3}$", "^x?y*z{2,3}$", "^(\\+\\d{1,3} )?\\d{6}$", "^[\\x20-\\x7e]{1,9}$", "^\\n$",
  "^\\D\\W$", "^(?:ab){2}$", "^(?<name>ab)$", "^[.*+?]$"]) {
  add("pattern", { type: "string", pattern }, object({ code: { type: "string", pattern } }));
}
add("pattern", { type: "string", pattern: "^a*$", minLength: 2, maxLength: 6 },
  { allOf: [{ pattern: "^[a-m]*$" }, { pattern: "^[h-z]*$" }], type: "string", minLength: 1, maxLength: 5 });

// objects
for (let n = 0; n < 8; n++) {
  const properties = {};
  for (let i = 0; i < n; i++) properties[`p${i}`] = [integer, flag, text(), { type: "null" }][i % 4];
  const names = Object.keys(properties);
  add("properties", { type: "object", properties }, object(properties),
    { type: "object", properties, required: names.filter((_, i) => i % 2), additionalProperties: false });
  if (n > 1) {
    add("counted properties", { type: "object", properties, minProperties: n - 1, additionalProperties: false },
      { type: "object", properties, maxProperties: 2, additionalProperties: false },
      { type: "object", properties, minProperties: 1, maxProperties: n - 1, additionalProperties: false });
  }
}
add("properties", object({ "a b": integer, "q\"uote": flag, "back\\slash": flag, "\u00e9\u4e2d": integer, "": flag, "$ref": integer }),
  { properties: { a: integer, b: false } }, { type: "object", required: ["x"], properties: { y: integer } },
  { type: "object", properties: { a: true, b: {} }, required: ["a"], maxProperties: 2 });
const few = { maxProperties: 2, propertyNames: { maxLength: 6 } };
add("additionalProperties", { type: "object", additionalProperties: integer, ...few },
  { type: "object", properties: { a: flag }, additionalProperties: text(4), ...few },
  { type: "object", additionalProperties: object({ x: integer }), ...few },
  { type: "object", minProperties: 1, maxProperties: 3, propertyNames: { pattern: "^[a-z]{1,3}$" }, additionalProperties: flag },
  { type: "object", propertyNames: { enum: ["x", "y", "z"] }, additionalProperties: integer, maxProperties: 3 },
  { type: "object", properties: { a: integer }, additionalProperties: true, ...few },
  { type: "object", additionalProperties: false });
add("patternProperties", { type: "object", patternProperties: { "^s_[a-z]{1,3}$": text(3) }, additionalProperties: false, maxProperties: 3 },
  { type: "object", properties: { id: integer }, required: ["id"], patternProperties: { "^x-[a-z]{1,4}$": flag }, additionalProperties: false, maxProperties: 3 },
  { type: "object", patternProperties: { "^a[a-c]{0,2}$": integer, "^[a-b]{1,3}$": { minimum: 10 } }, additionalProperties: false, maxProperties: 3 });
add("dependent", { type: "object", properties: { card: integer, address: text() }, dependentRequired: { card: ["address"] } },
  { type: "object", properties: { a: flag, b: flag, c: flag }, dependentRequired: { a: ["b"], b: ["c"] } },
  { type: "object", properties: { a: flag, n: integer }, dependentSchemas: { a: { properties: { n: { minimum: 5 } }, required: ["n"] } } });

// arrays
for (const items of [integer, flag, text(5), { enum: ["a", "b"] }, { type: "array", items: flag, maxItems: 2 }, object({ x: integer })]) {
  for (const [minItems, maxItems] of [[0, 2], [1, 3], [2, 2]]) add("items", { type: "array", items, minItems, maxItems });
}
add("items", { type: "array", maxItems: 2, items: true }, { type: "array", items: integer, minItems: 10, maxItems: 12 },
  { type: "array", items: false }, { type: "array", prefixItems: [integer, text(3)], items: false },
  { type: "array", prefixItems: [integer, flag], minItems: 2, items: { type: "null" }, maxItems: 4 },
  { type: "array", prefixItems: [{ const: "x" }, integer, integer], minItems: 3, maxItems: 3 },
  { type: "array", items: integer, maxItems: 4, contains: { minimum: 10 } },
  { type: "array", uniqueItems: true, items: { enum: ["a", "b", "c"] } },
  { type: "array", uniqueItems: true, items: { enum: [1, 2, 3, 4] }, minItems: 2, maxItems: 3 },
  { type: "array", uniqueItems: true, maxItems: 1, items: integer });

// combinations
const circle = object({ kind: { const: "circle" }, radius: { type: "number", exclusiveMinimum: 0, maximum: 100 } });
const box = object({ kind: { const: "box" }, width: integer, height: integer });
const line = { type: "object", properties: { kind: { const: "line" }, points: { type: "array", items: integer, maxItems: 3 } } };
for (const word of ["anyOf", "oneOf"]) {
  add(word, { [word]: [circle, box] }, { [word]: [circle, box, line] }, { [word]: [integer, text(4), { type: "null" }] },
    { type: "array", items: { [word]: [circle, box] }, maxItems: 2 },
    { [word]: [{ type: "integer", maximum: 3 }, { type: "integer", minimum: 5 }] },
    { [word]: [{ const: "a" }, { enum: ["b", "c"] }, { type: "string", pattern: "^d[e-g]{1,3}$" }] },
    { type: "object", properties: { a: integer, b: flag }, [word]: [{ required: ["a"] }, { required: ["b"] }] },
    { [word]: [{ type: "array", items: integer, minItems: 1, maxItems: 2 }, object({ none: flag })] });
}
add("allOf", { allOf: [object({ a: integer }, { additionalProperties: undefined }), { properties: { b: flag }, required: ["b"] }] },
  { allOf: [{ type: "integer" }, { minimum: 3 }, { maximum: 9 }] }, { allOf: [{ type: ["integer", "string"] }, { type: ["string", "null"] }], maxLength: 5 },
  { type: "object", properties: { a: { minimum: 2 } }, allOf: [{ properties: { a: { type: "integer", maximum: 5 } }, required: ["a"] }] },
  { type: "string", maxLength: 9, anyOf: [{ pattern: "^a" }, { pattern: "z$" }] });
add("not", { type: "string", not: { enum: ["a", "b"] }, maxLength: 3 }, { type: ["integer", "string", "null"], not: { type: "string" } },
  { type: "string", not: { pattern: "[aeiou]" }, maxLength: 6 },
  { type: "object", properties: { a: integer, b: integer }, not: { required: ["a", "b"] } },
  { type: "object", properties: { a: { enum: ["x", "y"] } }, required: ["a"], not: { properties: { a: { const: "x" } } } });
add("if", { type: "object", properties: { c: { enum: ["US", "FR"] }, zip: text(5), code: integer }, required: ["c"],
  if: { properties: { c: { const: "US" } } }, then: { properties: { zip: { pattern: "^\\d{5}$" } }, required: ["zip"] }, else: { required: ["code"] } },
{ type: "integer", if: { type: "integer" }, then: { minimum: 5, maximum: 50 } },
{ type: "object", properties: { a: flag, b: integer }, if: { required: ["a"] }, then: { required: ["b"] } });

// references and recursion
const node = { type: "object", properties: { value: { type: "integer", maximum: 99, minimum: 0 }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
  required: ["value", "next"], additionalProperties: false };
const tree = object({ name: text(4), children: { type: "array", items: { $ref: "#/$defs/tree" }, maxItems: 1 } });
const expression = { anyOf: [{ type: "integer", minimum: 0, maximum: 9 }, object({ op: { enum: ["+", "-"] }, left: { $ref: "#/$defs/e" }, right: { type: "integer", maximum: 9, minimum: 0 } })] };
add("$ref", { $defs: { node }, $ref: "#/$defs/node" }, { $defs: { tree }, $ref: "#/$defs/tree" }, { $defs: { e: expression }, $ref: "#/$defs/e" },
  { $defs: { node }, type: "array", items: { $ref: "#/$defs/node" }, maxItems: 2 },
  { definitions: { id: { type: "integer", minimum: 1 } }, type: "object", properties: { a: { $ref: "#/definitions/id" }, b: { $ref: "#/definitions/id" } } },
  { $defs: { "a/b": { const: 1 }, "c~d": { const: 2 } }, anyOf: [{ $ref: "#/$defs/a~1b" }, { $ref: "#/$defs/c~0d" }] },
  { $defs: { named: { $anchor: "n", enum: ["x", "y"] } }, $ref: "#n" },
  { $defs: { small: { maxLength: 4 } }, type: "object", properties: { s: { $ref: "#/$defs/small", type: "string", minLength: 2 } }, required: ["s"] },
  { type: "object", properties: { v: integer, rest: { $ref: "#" } }, required: ["v"], additionalProperties: false },
  { type: "array", items: { $ref: "#" }, maxItems: 1 });

// tools, as clients of OpenAI, Anthropic, Zod, Pydantic and MCP describe them
const tools = [
  object({ location: { ...text(20), description: "The city and state, e.g. San Francisco, CA" }, unit: { type: "string", enum: ["celsius", "fahrenheit"] } }),
  object({ query: text(30), top_k: { type: "integer", default: 10, minimum: 1, maximum: 50 }, filters: { anyOf: [{ type: "array", items: text(8), maxItems: 2 }, { type: "null" }], default: null } }),
  { $schema: "http://json-schema.org/draft-07/schema#", type: "object", properties: { path: text(20), content: text(30), append: flag }, required: ["path", "content"], additionalProperties: false },
  object({ title: text(15), start: { type: "string", format: "date-time" }, attendees: { type: "array", maxItems: 2, items: object({ email: { type: "string", format: "email" }, optional: flag }) } }),
  object({ steps: { type: "array", minItems: 1, maxItems: 2, items: object({ explanation: text(15), output: text(10) }) }, final_answer: text(12) }),
  { title: "Order", type: "object", $defs: { Item: { title: "Item", type: "object", properties: { sku: { title: "Sku", type: "string", pattern: "^[A-Z]{3}\\d{4}$" }, count: { title: "Count", type: "integer", exclusiveMinimum: 0, maximum: 99 } }, required: ["sku", "count"] } },
    properties: { id: { title: "Id", type: "string", format: "uuid" }, items: { title: "Items", type: "array", items: { $ref: "#/$defs/Item" }, maxItems: 2 }, note: { anyOf: [text(10), { type: "null" }], title: "Note" } }, required: ["id", "items"] },
  object({ action: { anyOf: [object({ type: { const: "click" }, x: { type: "integer", minimum: 0, maximum: 4096 }, y: { type: "integer", minimum: 0, maximum: 4096 } }), object({ type: { const: "type" }, text: text(12) }), object({ type: { const: "wait" } })] } }),
  object({ sql: text(30), limit: { type: ["integer", "null"] } }),
  object({ sentiment: { type: "string", enum: ["positive", "neutral", "negative"] }, confidence: { type: "number", minimum: 0, maximum: 1 }, spans: { type: "array", maxItems: 2, items: { type: "array", items: integer, minItems: 2, maxItems: 2 } } }),
  { type: "object", properties: { command: { type: "string", enum: ["view", "create", "str_replace", "insert"] }, path: text(15), view_range: { type: "array", items: integer, minItems: 2, maxItems: 2 }, insert_line: integer }, required: ["command", "path"] },
  object({ name: text(10), arguments: { type: "object", properties: {}, additionalProperties: false } }),
  { type: "object", properties: {} },
  object({ headers: { type: "object", additionalProperties: text(8), maxProperties: 2, propertyNames: { pattern: "^[A-Za-z-]{1,10}$" } }, url: { type: "string", format: "uri" }, method: { enum: ["GET", "POST"] } }),
  object({ ui: { anyOf: [object({ type: { const: "div" }, label: text(6) }), object({ type: { const: "button" }, label: text(6), onClick: { type: ["string", "null"], maxLength: 6 } })] } }),
];
for (const tool of tools) {
  add("tool", tool);
  if (!tool.$defs) {
    add("tool", { type: "array", items: tool, maxItems: 1 }, object({ name: { const: "call" }, arguments: tool }),
      { oneOf: [object({ tool: { const: "a" }, input: tool }), object({ tool: { const: "b" }, input: integer })] });
  }
}

// Pairs of the above side by side fill it up to five hundred.
const singles = out.filter(({ schema }) => !JSON.stringify(schema).includes("$ref"));
for (let i = 0; out.length < 500; i++) {
  const one = singles[(i * 37) % singles.length].schema, two = singles[(i * 101 + 13) % singles.length].schema;
  add("pair", i % 2 ? object({ first: one, second: two })
    : { type: "object", properties: { first: one, second: two }, required: ["second"], additionalProperties: false });
}
if (out.length !== 500) throw new Error(`${out.length} schemas, not 500`);

export const schemas = out.map((s) => ({ ...s, schema: JSON.parse(JSON.stringify(s.schema)) }));
