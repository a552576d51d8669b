// A server whose models do what a test tells them to (tests/fake_backend.c): they load, read a prompt or go on only when
// a file is there, think for ever, or crash.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";
import { useRig } from "./rig.mjs";
import { BUILD } from "./server.mjs";

/** A GGUF file of strings alone, version 3. */
function gguf(strings) {
  const number = (n) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(n));
    return bytes;
  };
  const small = (n) => number(n).subarray(0, 4), string = (text) => Buffer.concat([number(Buffer.byteLength(text)), Buffer.from(text)]);
  const entries = Object.entries(strings);
  return Buffer.concat([Buffer.from("GGUF"), small(3), number(0), number(entries.length),
    ...entries.flatMap(([name, text]) => [string(name), small(8), string(text)])]);
}

/** A rig with: rig.model(name, options) makes a model and returns its name, rig.gate(name) the path of a file that does
 *  not exist yet, rig.openGate(gate) makes it. */
export function useStagedRig() {
  const folder = mkdtempSync(path.join(tmpdir(), "quince-staged-")), engines = path.join(folder, "engines");
  mkdirSync(engines);
  copyFileSync(path.join(BUILD, "tests/fake_backend"), path.join(engines, "quince-llm"));
  for (const name of ["quince-unpack", "quince-bridge", "quince-inspect", "quince-mcp"]) copyFileSync(path.join(BUILD, "bin", name), path.join(engines, name));
  const rig = useRig({ args: ["--backend-dir", engines] });
  let gates = 0;
  rig.gate = () => path.join(folder, `gate-${++gates}`);
  rig.openGate = (gate) => writeFileSync(gate, "");
  rig.model = async (name, options) => {
    const file = path.join(folder, `${name}.gguf`);
    writeFileSync(file, gguf({ "general.architecture": "llama", "general.name": name, "fake.options": JSON.stringify(options) }));
    await rig.server.api("/v1/models/register", { model_name: `user.${name}`, checkpoint: file, recipe: "llamacpp" });
    return `user.${name}`;
  };
  after(() => rmSync(folder, { recursive: true, force: true }));
  return rig;
}
