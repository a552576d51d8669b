// Real chat templates through our interpreter and the reference: every conversation with every
// option. The templates lie in QUINCE_TEST_DATA/templates.
import test from "node:test";
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { conversations, options } from "./conversations.mjs";
import { difference, missing, renderOurs, renderReference } from "./renderer.mjs";

const folder = process.env.QUINCE_TEST_DATA ? join(process.env.QUINCE_TEST_DATA, "templates") : null;
const skip = missing || (folder && existsSync(folder) ? false : "QUINCE_TEST_DATA has no templates");
const files = skip ? [] : readdirSync(folder).filter((name) => name.endsWith(".jinja"));

test("chat templates are there", { skip }, () => assert.ok(files.length > 0));

const cases = [];
for (const [name, messages] of Object.entries(conversations))
  for (const [option, chosen] of Object.entries(options))
    cases.push({ title: `${name}, ${option}`, vars: { messages, bos_token: "<s>", eos_token: "</s>", ...chosen } });

for (const name of files) {
  test(`template ${name}`, () => {
    const file = join(folder, name);
    const source = readFileSync(file, "utf8");
    const answers = renderOurs(cases.map(({ vars }) => ({ file, vars })));
    const wrong = cases
      .map(({ title, vars }, k) => [title, difference(renderReference(source, vars), answers[k])])
      .filter(([, diff]) => diff !== null);
    assert.equal(wrong.map(([title, diff]) => `${title}\n${diff}`).join("\n\n").slice(0, 10000), "");
    assert.ok(answers.some((a) => a.text), "no conversation renders");
  });
}
