// A hub with models of its own for the journeys of the models view: orchard.py, and the server's arguments for it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";
import { createInterface } from "node:readline";
import { ROOT } from "./server.mjs";

/** The memory of the machine, as the server takes it: what fits does not depend on the machine that runs the tests. */
const MEMORY_MIB = 8192;

export class Orchard {
  static async start() {
    const orchard = new Orchard();
    orchard.folder = mkdtempSync(path.join(tmpdir(), "quince-orchard-"));
    orchard.process = spawn("python3", [path.join(ROOT, "tests/browser/orchard.py"), orchard.folder],
      { stdio: ["pipe", "pipe", "inherit"] });
    orchard.lines = createInterface({ input: orchard.process.stdout })[Symbol.asyncIterator]();
    const { value } = await orchard.lines.next();
    if (!value) throw new Error("orchard.py did not start");
    Object.assign(orchard, JSON.parse(value)); // url; file: the address of a model's file
    return orchard;
  }

  /** Options of Server.start, and so of useRig. */
  get options() {
    return { args: ["--hf-endpoint", this.url, "--modelscope-endpoint", this.url, "--allow-private-hubs",
      "--builtin-dir", this.folder, "--packs", path.join(this.folder, "packs.json"), "--memory-limit", String(MEMORY_MIB)] };
  }

  async tell(command) {
    this.process.stdin.write(`${JSON.stringify(command)}\n`);
    await this.lines.next();
  }

  /** Faults are those of tests/http/hub_server.py. */
  fault(key, options) { return this.tell({ fault: [key, options] }); }
  heal() { return this.tell({ heal: true }); }
  /** Bytes per second of each connection; 0: as fast as it goes. */
  rate(bytes) { return this.tell({ rate: bytes }); }
  /** New files of a repository. */
  release(repository) { return this.tell({ release: repository }); }

  remove() {
    this.process.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A hub for a test file, to its end. */
export async function useOrchard() {
  const orchard = await Orchard.start();
  after(() => orchard.remove());
  return orchard;
}

/** Downloads a model of the hub by the server itself, without the page. */
export async function fetchModel(server, order) {
  await server.api("/v1/pull", typeof order === "string" ? { model_name: order } : order);
}

/** The row of a model in a list, by the name that it shows. */
export const rowOf = (page, name) => page.locator(".model-row")
  .filter({ has: page.getByRole("link", { name, exact: true }) });
