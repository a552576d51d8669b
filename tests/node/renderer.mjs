// Both interpreters behind one interface: ours, as the program template_render, and the reference,
// @huggingface/jinja. Used by the differential tests of chat templates.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Template } from "@huggingface/jinja";

const build = process.env.QUINCE_TEST_BUILD ?? "build";
export const program = join(build, "tests", "template_render");
export const missing = existsSync(program) ? false : `${program} is not built`;

// Renders all requests ({template or file, vars}) in one run; answers {text} or {error, code} each.
export function renderOurs(requests) {
  const input = requests.map((r) => JSON.stringify(r) + "\n").join("");
  const done = spawnSync(program, { input, maxBuffer: 1 << 30, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${program} ended with ${done.status ?? done.signal}: ${done.stderr}`);
  const answers = done.stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  if (answers.length !== requests.length) throw new Error(`${answers.length} answers to ${requests.length} requests`);
  return answers;
}

// raise_exception is an unnamed function that the interpreter calls for the template: any other
// error has a method of the interpreter at the top of its stack.
function raised(error) {
  const frames = error.stack.split("\n").filter((line) => /^\s+at /.test(line));
  return /^\s+at (file:|<anonymous>)/.test(frames[0] ?? "") && / FunctionValue\.value /.test(frames[1] ?? "");
}

// Methods that Jinja's lists and dictionaries have from Python, that real templates call, and that the reference does
// not know (a member named "items" hides the method there). What ours makes of them is in test_template.c.
const beyond = /\.(append|pop)\(|\.items\(\)/;
const lacks = (source, error) =>
  beyond.test(source) && error.message.startsWith("Cannot call something that is not a function");

const compiled = new Map();
export function renderReference(source, vars) {
  try {
    if (!compiled.has(source)) compiled.set(source, new Template(source));
    const text = compiled.get(source).render(vars);
    // What is not a whole character becomes U+FFFD when it leaves JavaScript.
    return { text: Buffer.from(text, "utf8").toString("utf8") };
  } catch (error) {
    return { error: error.message, raised: raised(error), lacks: lacks(source, error) };
  }
}

// What differs, as text, or null. Errors of the template must be errors on both sides; the text of
// raise_exception must be the same.
export function difference(reference, ours) {
  const show = () => `reference: ${JSON.stringify(reference)}\nours:      ${JSON.stringify(ours)}`;
  if (reference.error === undefined) return reference.text === ours.text ? null : show();
  if (ours.error === undefined) return reference.lacks ? null : show();
  if (reference.lacks) return null;
  if (reference.raised !== (ours.code === "invalid")) return show();
  return !reference.raised || reference.error === ours.error ? null : show();
}
