// MCP servers for the journeys (tests/mcp_server.py), as a program and over HTTP, and models that call their tools.
import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "./server.mjs";

const PYTHON = "/usr/bin/python3", FOLDER = path.join(ROOT, "tests"), PROGRAM = path.join(FOLDER, "mcp_server.py");

/** The command line of the server as a program. mode: what is wrong with it, see the script. */
export const command = (mode = "") => ({ command: PYTHON, args: [PROGRAM, ...mode ? [mode] : []] });

const SERVE = "import sys, time, mcp_server\nwith mcp_server.serving(token=sys.argv[1]) as s:\n  print(s.url, flush=True)\n  sys.stdin.read()";

/** The server over HTTP: {url, close()}. token: without it, it refuses. */
export async function serve({ token = "" } = {}) {
  const process = spawn(PYTHON, ["-c", SERVE, token], { env: { PYTHONPATH: FOLDER, PYTHONDONTWRITEBYTECODE: "1" }, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => process.once("exit", resolve));
  for await (const url of createInterface({ input: process.stdout }))
    return { url, close: () => {
      process.stdin.end();
      return ended;
    } };
  throw new Error("the MCP server over HTTP did not start");
}

/** Configures the program by the API; returns its id. permissions: of its tools. */
export const addProgram = async (server, name, { mode = "", ...more } = {}) =>
  (await server.api("/internal/mcp", { name, kind: "stdio", ...command(mode), ...more })).id;

/** Deletes all MCP servers. */
export async function removeAll(server) {
  for (const { id } of (await server.api("/internal/mcp")).servers) await server.api(`/internal/mcp/${id}`, null, { method: "DELETE" });
}

const turn = (calls) => [...calls.map(([name, args], i) => ({ ev: "tool_call", call: i, name, arguments: JSON.stringify(args) })),
  { ev: "done", reason: "tool_calls" }];

/** Options of a staged model that makes the calls of one turn after the other, each [name, arguments], then says `text` and
 *  what the tools have returned. */
export const calling = (turns, text = "It is ") => ({ turns: true, script: [...turns.map(turn),
  [{ ev: "text", text }, { ev: "text", text: "", results: true }, { ev: "done", reason: "stop" }]] });

/** Options of one that never ends calling. */
export const callingForEver = (call) => ({ script: turn([call]) });
