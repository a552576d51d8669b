// Starts the test MCP server (tests/mcp_server.py) over stdio or HTTP, and stages models that call its tools.
import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "./server.mjs";

const PYTHON = "/usr/bin/python3", FOLDER = path.join(ROOT, "tests"), PROGRAM = path.join(FOLDER, "mcp_server.py");

/** Returns the command line that runs the server over stdio. mode: a fault of the server, see MODES in the script. */
export const command = (mode = "") => ({ command: PYTHON, args: [PROGRAM, ...mode ? [mode] : []] });

const SERVE = "import sys, time, mcp_server\nwith mcp_server.serving(token=sys.argv[1]) as s:\n  print(s.url, flush=True)\n  sys.stdin.read()";

/** Starts the server over HTTP; returns {url, close()}. token: if set, requests without it get the status 401. */
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

/** Adds the server as a program (stdio) by the API; returns its id. */
export const addProgram = async (server, name, { mode = "", ...more } = {}) =>
  (await server.api("/internal/mcp", { name, kind: "stdio", ...command(mode), ...more })).id;

/** Deletes all MCP servers. */
export async function removeAll(server) {
  for (const { id } of (await server.api("/internal/mcp")).servers) await server.api(`/internal/mcp/${id}`, null, { method: "DELETE" });
}

const turn = (calls) => [...calls.map(([name, args], i) => ({ ev: "tool_call", call: i, name, arguments: JSON.stringify(args) })),
  { ev: "done", reason: "tool_calls" }];

/** Returns options of a staged model that makes the calls of each turn in order, each [name, arguments], then says
 *  `text` and the results of the tools. */
export const calling = (turns, text = "It is ") => ({ turns: true, script: [...turns.map(turn),
  [{ ev: "text", text }, { ev: "text", text: "", results: true }, { ev: "done", reason: "stop" }]] });

/** Returns options of a staged model that makes this call in every turn, without end. */
export const callingForEver = (call) => ({ script: turn([call]) });
