"""Helpers for tests of MCP servers: they configure servers, make models that call tools, and follow chains of
answers."""
import json
import pathlib
import sys

from chat_kit import Chat
from conftest import ROOT, wait_until

sys.path.insert(0, str(ROOT / "tests"))
import mcp_server  # noqa: E402

PROGRAM = str(ROOT / "tests" / "mcp_server.py")
PYTHON = "/usr/bin/python3"


def patch(server, id, headers=None, **members):
    return server.request("PATCH", f"/internal/mcp/{id}", members, headers=headers)


def delete(server, id, headers=None):
    return server.request("DELETE", f"/internal/mcp/{id}", headers=headers)


def tag(server):
    """Returns an argument that occurs only in the command lines of programs that this quince server starts."""
    return f"tag:{server.data_dir}"


def add_stdio(server, name="tools", mode="", permissions=None, headers=None, **members):
    """Configures tests/mcp_server.py as a stdio server; returns its id. permissions "always": for all its tools."""
    if permissions == "always":
        permissions = {t["name"]: "always" for t in mcp_server.TOOLS}
    reply = server.post("/internal/mcp", {"name": name, "kind": "stdio", "command": PYTHON, "args": [PROGRAM, mode, tag(server)],
                                          "permissions": permissions or {}, **members}, headers=headers)
    assert reply.status == 201, reply.body
    return reply.json["id"]


def add_http(server, url, name="tools", permissions="always", headers=None, **members):
    if permissions == "always":
        permissions = {t["name"]: "always" for t in mcp_server.TOOLS}
    reply = server.post("/internal/mcp", {"name": name, "kind": "http", "url": url, "permissions": permissions or {},
                                          **members}, headers=headers)
    assert reply.status == 201, reply.body
    return reply.json["id"]


def look(server, id, headers=None):
    reply = server.get(f"/internal/mcp/{id}", headers=headers)
    assert reply.status == 200, reply.body
    return reply.json


def refresh(server, id, headers=None):
    reply = server.post(f"/internal/mcp/{id}/refresh", {}, headers=headers)
    assert reply.status == 200, reply.body
    return reply.json


def call_events(*calls):
    """Returns a script for the fake backend that makes these calls, each (name, arguments)."""
    return [{"ev": "tool_call", "call": i, "name": name, "arguments": json.dumps(arguments)}
            for i, (name, arguments) in enumerate(calls)] + [{"ev": "done", "reason": "tool_calls"}]


def saying(house, server, *turns, name=None):
    """Registers a model that makes the calls of each turn in order, then says the results of the tools; returns its
    name."""
    name = name or f"caller{len(list(house.tmp_path.glob('*.gguf')))}"
    script = [call_events(*t) for t in turns] + [[{"ev": "text", "text": "", "results": True},
                                                  {"ev": "done", "reason": "stop"}]]
    return house.model(server, name, script=script, turns=True)


def chain(chat, answer):
    """Follows an answer and all answers that continue it. Returns their messages, and a list of the records of each."""
    messages, records = [], []
    while answer:
        with chat.watch(answer) as watcher:
            end = watcher.end()
            records.append(watcher.records)
        messages.append(chat.messages()[answer])
        assert messages[-1]["state"] == end["state"]
        answer = end.get("next")
    return messages, records


def ask(house, server, ids, *turns, headers=None, **fields):
    """Asks a model that calls tools; returns the messages of the chain of answers."""
    chat = Chat(server, headers)
    answer = chat.answer(chat.say("Hi"), saying(house, server, *turns), mcp=ids, **fields)
    return chain(chat, answer)[0]


def one_call(house, server, id, tool, arguments=None, prefix="tools", **fields):
    """Lets a model call one tool; returns the call with its result."""
    messages = ask(house, server, [id], [(f"{prefix}__{tool}", arguments or {})], **fields)
    assert len(messages) == 2, messages
    assert (messages[0]["state"], messages[0]["finish"]) == ("done", "tool_calls"), messages
    assert messages[1]["parent"] == messages[0]["id"] and messages[1]["state"] == "done"
    call, = messages[0]["calls"]
    assert messages[1]["text"] == call["result"] + "\n", "the model gets the result"
    return call


def processes(server):
    """Returns the ids of all running processes of programs that this quince server has started."""
    found, text = [], tag(server)
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if text in line and stat[0] != "Z":
                found.append(int(entry.name))
    return found


def none_left(server):
    wait_until(lambda: not processes(server), what="the end of the programs")
