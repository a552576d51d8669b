"""Tests of MCP servers over HTTP: configuration, permissions, the loop of tool calls, and servers that misbehave."""
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import socket
import sqlite3
import time

import pytest
from chat_kit import Chat
from conftest import SANITIZED, Server, fake_model, wait_until
from mcp_kit import (PROGRAM, PYTHON, add_http, add_stdio, ask, call_events, chain, delete, look, mcp_server, none_left,
                     one_call, patch, processes, refresh, saying, tag)
from test_doors import ADMIN, BOTH, KEY, bearer

SECRET, TOKEN = "s3cret-value-of-a-variable", "t0ken-of-a-server"
# A model that is slow enough to be still answering when a test begins to watch: of a finished answer, no record "tools"
# is sent.
UNHURRIED = {"tokens": 5, "token_ms": 100}


# ---- configuration ----

def test_the_json_of_a_server(server):
    reply = server.post("/internal/mcp", {"name": "mine", "kind": "stdio", "command": PYTHON, "args": [PROGRAM, "", tag(server)],
                                          "env": {"KEY": SECRET}, "read": ["/usr/share"], "call_s": 5})
    assert reply.status == 201
    mine = reply.json
    assert mine == {"id": mine["id"], "name": "mine", "kind": "stdio", "enabled": True, "command": PYTHON,
                    "args": [PROGRAM, "", tag(server)], "env": ["KEY"], "read": ["/usr/share"], "call_s": 5, "permissions": {},
                    "created": mine["created"], "updated": mine["updated"], "state": "off", "error": None, "server": None,
                    "tools": None, "left_out": 0}
    assert server.get("/internal/mcp").json == {"servers": [mine]}
    assert look(server, mine["id"]) == mine
    ready = refresh(server, mine["id"])
    assert (ready["state"], ready["error"]) == ("ready", None)
    assert ready["server"] == {"name": "test server", "version": "1.2", "protocol": "2025-06-18"}
    assert [t["name"] for t in ready["tools"]] == [t["name"] for t in mcp_server.TOOLS]
    add = ready["tools"][0]
    assert add == {"name": "add", "title": "", "description": "Adds two numbers", "permission": "ask",
                   "schema": mcp_server.TOOLS[0]["inputSchema"]}
    assert delete(server, mine["id"]).json == {"status": "success"}
    assert server.get("/internal/mcp").json == {"servers": []} and server.get(f"/internal/mcp/{mine['id']}").status == 404
    none_left(server)
    wait_until(lambda: not os.listdir(server.data_dir / "mcp"), what="the removal of its folder")


def test_changes_of_a_server(server):
    id = add_stdio(server, env={"A": "1", "B": "2"})
    assert patch(server, id, env={"A": None, "C": "3"}).json["env"] == ["B", "C"]
    assert patch(server, id, permissions={"add": "always", "echo": "never"}).json["permissions"] == {
        "add": "always", "echo": "never"}
    assert patch(server, id, permissions={"echo": "ask", "fail": "never"}).json["permissions"] == {
        "add": "always", "fail": "never"}
    assert patch(server, id, name="other", enabled=False).json["name"] == "other"
    changed = look(server, id)
    assert (changed["name"], changed["enabled"], changed["args"][0]) == ("other", False, PROGRAM)
    assert {t["name"]: t["permission"] for t in refresh(server, id)["tools"] or []}.get("add") in ("always", None)
    with mcp_server.serving() as s:
        web = add_http(server, s.url, name="web", token=TOKEN)
        assert look(server, web)["has_token"] and "token" not in look(server, web)
        assert not patch(server, web, token=None).json["has_token"]


@pytest.mark.parametrize("members,param", [
    ({"name": ""}, "name"), ({"name": "n" * 65}, "name"), ({"name": "a\nb"}, "name"), ({"kind": "sse"}, "kind"),
    ({"kind": None}, "kind"), ({"call_s": 0}, "call_s"), ({"call_s": 3601}, "call_s"), ({"enabled": 1}, "enabled"),
    ({"url": "ftp://a/b"}, "url"), ({"url": "http://"}, "url"), ({"url": "http://u:p@a/"}, "url"), ({"url": 3}, "url"),
    ({"url": "http://a/ b"}, "url"), ({"token": "a b"}, "token"), ({"token": "x" * 5000}, "token"),
    ({"permissions": {"a": "maybe"}}, "permissions.a"), ({"permissions": []}, "permissions"), ({"command": "x"}, "command"),
    ({"more": 1}, "more")])
def test_wrong_members_of_http(server, members, param):
    reply = server.post("/internal/mcp", {"name": "n", "kind": "http", "url": "http://127.0.0.1:1/", **members})
    assert (reply.status, reply.json["error"]["param"]) == (400, param), reply.body
    assert server.get("/internal/mcp").json == {"servers": []}


@pytest.mark.parametrize("members,param", [
    ({"command": ""}, "command"), ({"command": "a/b"}, "command"), ({"command": None}, "command"), ({"args": "x"}, "args"),
    ({"args": ["x"] * 65}, "args"), ({"args": [1]}, "args[0]"), ({"args": ["x" * 5000]}, "args[0]"),
    ({"env": []}, "env"), ({"env": {"A=B": "x"}}, "env"), ({"env": {"A": None}}, "env.A"), ({"env": {"A": 1}}, "env.A"),
    ({"read": ["tmp"]}, "read[0]"), ({"write": ["/"]}, "write[0]"), ({"read": ["/x"] * 33}, "read"), ({"url": "http://a"}, "url")])
def test_wrong_members_of_stdio(server, members, param):
    reply = server.post("/internal/mcp", {"name": "n", "kind": "stdio", "command": PYTHON, **members})
    assert (reply.status, reply.json["error"]["param"]) == (400, param), reply.body


def test_names_and_numbers_are_limited(server):
    add_stdio(server, "one")
    assert server.post("/internal/mcp", {"name": "one", "kind": "http", "url": "http://a"}).status == 409
    two = add_http(server, "http://a", "two")
    assert patch(server, two, name="one").status == 409 and patch(server, two, name="two").status == 200
    assert patch(server, two, kind="stdio").json["error"]["param"] == "kind"
    for i in range(30):
        add_http(server, "http://a", f"n{i}")
    assert server.post("/internal/mcp", {"name": "more", "kind": "http", "url": "http://a"}).status == 413
    assert server.post("/internal/mcp/" + "0" * 32 + "/refresh", {}).status == 404
    assert patch(server, "0" * 32, name="x").status == 404 and patch(server, "nonsense", name="x").status == 404


def test_secrets_are_not_shown(house, server):
    """Secrets do not occur in replies, in the log, or in the list of captured requests."""
    with mcp_server.serving(token=TOKEN) as s:
        web = add_http(server, s.url, name="web", token=TOKEN)
        mine = add_stdio(server, "mine", env={"KEY": SECRET}, permissions="always")
        assert refresh(server, web)["state"] == "ready"
        assert one_call(house, server, mine, "env", {"name": "KEY"}, prefix="mine")["result"] == SECRET
        assert server.post("/internal/requests/capture", {"enabled": True}).status in (200, 400)
        shown = b"".join([server.get("/internal/mcp").body, look(server, mine).__str__().encode(),
                          patch(server, web, name="web2").body, server.get("/internal/requests").body])
        assert SECRET.encode() not in shown and TOKEN.encode() not in shown
        patch(server, web, token="wrong")
        failed = refresh(server, web)
        assert failed["state"] == "failed" and "401" in failed["error"]
    assert SECRET not in server.logs() and TOKEN not in server.logs()
    for path in (server.data_dir / "chats.db").parent.glob("chats.db*"):
        assert path.stat().st_mode & 0o077 == 0


def test_keys_without_admin_rights_cannot_use_programs(house):
    server = house.start(env=BOTH)
    key, admin = bearer(KEY), bearer(ADMIN)
    new = {"name": "n", "kind": "stdio", "command": PYTHON, "args": [PROGRAM]}
    refused = server.post("/internal/mcp", new, headers=key)
    assert (refused.status, refused.json["error"]["code"]) == (403, "admin_key_required")
    assert server.post("/internal/mcp", new).status == 401
    of_admin = add_stdio(server, headers=admin)
    assert refresh(server, of_admin, admin)["state"] == "ready"
    # The admin's server does not exist for another owner.
    assert server.get("/internal/mcp", headers=key).json == {"servers": []}
    for reply in (server.get(f"/internal/mcp/{of_admin}", headers=key), patch(server, of_admin, key, name="x"),
                  delete(server, of_admin, key), server.post(f"/internal/mcp/{of_admin}/refresh", {}, headers=key)):
        assert reply.status == 404
    # Only admins may use HTTP servers at private addresses, such as those of this machine.
    with mcp_server.serving() as s:
        local = add_http(server, s.url, headers=key)
        failed = refresh(server, local, key)
        assert failed["state"] == "failed" and not s.requests, failed
        assert refresh(server, add_http(server, s.url, name="x", headers=admin), admin)["state"] == "ready"


def test_a_key_that_lost_admin_rights_cannot_run_programs(house):
    """The owner had admin rights when it configured the program, and has lost them."""
    server = house.start(env={"QUINCE_API_KEY": KEY})
    id = add_stdio(server, headers=bearer(KEY), permissions="always")
    server.stop()
    server = Server(server.data_dir, house.backend_dir, house.models_dir, env=BOTH)
    house.servers.append(server)
    key = bearer(KEY)
    assert look(server, id, key)["name"] == "tools"
    assert patch(server, id, key, command="/bin/true").status == 403
    assert server.post(f"/internal/mcp/{id}/refresh", {}, headers=key).status == 403
    registered = server.post("/v1/models/register", {"model_name": "user.five", "recipe": "llamacpp", "checkpoint": str(
        fake_model(house.tmp_path, **UNHURRIED))}, headers=bearer(ADMIN))
    assert registered.status == 200, registered.body
    chat = Chat(server, key)
    with chat.watch(chat.answer(chat.say("Hi"), "user.five", mcp=[id])) as watcher:
        assert watcher.end()["state"] == "done"
        assert [r["servers"] for r in watcher.records if r["t"] == "tools"] == [[]]
    assert delete(server, id, key).status == 200
    assert not processes(server)


# ---- the loop of tool calls ----

def test_a_call_is_run_and_the_model_goes_on(house, server):
    id = add_stdio(server, permissions="always")
    chat = Chat(server)
    question = chat.say("What is 1 + 2?")
    answer = chat.answer(question, saying(house, server, [("tools__add", {"a": 1, "b": 2})]), mcp=[id])
    (first, last), records = chain(chat, answer)
    call, = first["calls"]
    assert call == {"id": call["id"], "name": "tools__add", "arguments": '{"a": 1, "b": 2}', "server": id,
                    "server_name": "tools", "tool": "add", "state": "done", "result": "3"}
    assert (first["state"], first["finish"], first["parent"]) == ("done", "tool_calls", question)
    assert (last["state"], last["finish"], last["parent"], last["text"]) == ("done", "stop", first["id"], "3\n")
    assert {"t": "tools", "servers": [{"id": id, "name": "tools", "tools": len(mcp_server.TOOLS), "error": None}]} in records[0]
    assert records[0][-1] == {"t": "end", "state": "done", "finish": "tool_calls", "next": last["id"]}
    assert server.get(f"/internal/chats/{chat.id}").json["chat"]["head"] == last["id"]
    assert "tools" in [r.get("stage") for r in records[0]]
    # A client that connects later reads the same records.
    with chat.watch(answer) as late:
        late.end()
        assert [r for r in late.records if r["t"] == "calls"] == [{"t": "calls", "calls": [call]}]
        assert late.records[-1] == records[0][-1]


def test_the_model_is_offered_the_tools(house, server):
    id = add_stdio(server, name="My tools!")
    own = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    chat = Chat(server, params={"mcp": [id], "tools": [own]})
    answer = chat.answer(chat.say("Hi"), house.model(server, "echo", echo_job=True))
    with chat.watch(answer) as watcher:
        watcher.end()
        job = json.loads(watcher.text)
    tools = {t["function"]["name"]: t["function"] for t in job["chat"]["tools"]}
    assert list(tools) == ["f", *(f"My_tools___{t['name']}" for t in mcp_server.TOOLS)]
    assert tools["My_tools___add"]["description"] == "Adds two numbers"
    # The parameter mcp of a request overrides that of the chat: here, no servers.
    answer = chat.answer(chat.say("Hi"), "user.echo", mcp=[])
    with chat.watch(answer) as watcher:
        watcher.end()
        assert [t["function"]["name"] for t in json.loads(watcher.text)["chat"]["tools"]] == ["f"]


def test_missing_disabled_and_failing_servers_are_skipped(house, server):
    off = add_stdio(server, "off", enabled=False)
    dead = add_stdio(server, "dead", mode="die")
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "five", **UNHURRIED), mcp=["0" * 32, off, dead])
    with chat.watch(answer) as watcher:
        assert watcher.end()["state"] == "done"
        servers, = [r["servers"] for r in watcher.records if r["t"] == "tools"]
    assert [(s["id"], s["tools"]) for s in servers] == [(dead, 0)]
    assert "ended with status 5: no licence" in servers[0]["error"]
    for wrong in ("x", ["x"], [1], ["0" * 32] * 17):
        assert chat.ask(chat.say("Hi"), "user.five", mcp=wrong).status == 400


def test_two_servers_with_the_same_tools(house, server):
    """If tools of two servers would get the same name, the second one gets a number; each call reaches the right
    server."""
    one = add_stdio(server, "a b", permissions="always", env={"WHO": "one"})
    two = add_stdio(server, "a.b", permissions="always", env={"WHO": "two"})
    messages = ask(house, server, [one, two], [("a_b__env", {"name": "WHO"}), ("a_b__env_2", {"name": "WHO"})])
    assert [(c["server"], c["result"]) for c in messages[0]["calls"]] == [(one, "one"), (two, "two")]
    assert messages[1]["text"] == "one\ntwo\n"


def test_several_rounds(house, server):
    id = add_stdio(server, permissions="always")
    messages = ask(house, server, [id], [("tools__add", {"a": 1, "b": 1})], [("tools__add", {"a": 2, "b": 2})])
    assert [m["finish"] for m in messages] == ["tool_calls", "tool_calls", "stop"]
    assert messages[2]["text"] == "2\n4\n"


def test_the_rounds_are_limited(house, server):
    id = add_stdio(server, permissions="always")
    model = house.model(server, "endless", script=call_events(("tools__add", {"a": 1, "b": 1})))
    chat = Chat(server)
    messages, records = chain(chat, chat.answer(chat.say("Hi"), model, mcp=[id]))
    assert [m["finish"] for m in messages] == ["tool_calls"] * 9 + ["rounds"]
    assert records[-1][-1] == {"t": "end", "state": "cut", "finish": "rounds"}
    call, = messages[-1]["calls"]
    assert call["state"] == "stopped" and "result" not in call
    # The user can continue from there.
    again, _ = chain(chat, chat.answer(messages[-1]["id"], house.model(server, "five", tokens=5), mcp=[id]))
    assert again[0]["state"] == "done"


def test_calls_of_the_clients_own_tools_are_left_to_the_client(house, server):
    id = add_stdio(server, permissions="always")
    own = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    messages = ask(house, server, [id], [("tools__add", {"a": 1, "b": 2}), ("f", {})], tools=[own])
    assert len(messages) == 1 and messages[0]["finish"] == "tool_calls"
    run, foreign = messages[0]["calls"]
    assert (run["state"], run["result"]) == ("done", "3") and set(foreign) == {"id", "name", "arguments"}


def test_tools_that_do_not_exist(house, server):
    id = add_stdio(server, permissions="always")
    assert one_call(house, server, id, "nothing")["state"] == "failed"


def test_too_many_calls_in_one_message(house, server):
    id = add_stdio(server, permissions="always")
    messages = ask(house, server, [id], [("tools__add", {"a": i, "b": 0}) for i in range(18)])
    assert [c["state"] for c in messages[0]["calls"]] == ["done"] * 16 + ["failed"] * 2


# ---- permissions ----

def asking(house, server, id, *calls, **fields):
    """Asks a model that makes these calls, and waits for the record of the calls. Returns (chat, id of the answer,
    watcher, calls)."""
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), saying(house, server, list(calls)), mcp=[id], **fields)
    watcher = chat.watch(answer)
    record = watcher.until(lambda r: r["t"] == "calls")
    return chat, answer, watcher, record["calls"]


def decide(server, answer, call, allow, headers=None):
    return server.post(f"/internal/messages/{answer}/calls", {"call": call, "allow": allow}, headers=headers)


def test_a_call_waits_for_its_permission(house, server):
    id = add_stdio(server)
    chat, answer, watcher, calls = asking(house, server, id, ("tools__add", {"a": 1, "b": 2}))
    assert [c["state"] for c in calls] == ["asking"]
    stored = chat.messages()[answer]
    assert (stored["state"], stored["calls"]) == ("answering", calls)
    shown = server.get(f"/internal/chats/{chat.id}").json["chat"]
    assert shown["answering"] and shown["asking"]
    with chat.watch(answer) as other:  # like a page after a reload
        assert other.until(lambda r: r["t"] == "calls")["calls"] == calls
        assert other.records[0]["stage"] == "calls"
    for body, status in (({"call": "x", "allow": "once"}, 404), ({"call": calls[0]["id"], "allow": "yes"}, 400),
                         ({"call": calls[0]["id"]}, 400), ({}, 400)):
        assert server.post(f"/internal/messages/{answer}/calls", body).status == status
    assert decide(server, "0" * 32, calls[0]["id"], "once").status == 404
    assert decide(server, answer, calls[0]["id"], "once").status == 202
    end = watcher.end()
    watcher.close()
    assert chain(chat, end["next"])[0][0]["text"] == "3\n"
    assert chat.messages()[answer]["calls"][0]["state"] == "done"
    assert not server.get(f"/internal/chats/{chat.id}").json["chat"]["asking"]
    assert decide(server, answer, calls[0]["id"], "once").status == 404
    assert look(server, id)["permissions"] == {}


@pytest.mark.parametrize("allow,stored,state", [("no", {}, "denied"), ("never", {"add": "never"}, "denied"),
                                                ("always", {"add": "always"}, "done")])
def test_decisions(house, server, allow, stored, state):
    """The decisions "always" and "never" also apply to the other waiting calls of the tool, and to later calls."""
    id = add_stdio(server)
    chat, answer, watcher, calls = asking(house, server, id, ("tools__add", {"a": 1, "b": 2}),
                                          ("tools__add", {"a": 3, "b": 4}))
    assert decide(server, answer, calls[0]["id"], allow).status == 202
    if allow == "no":
        assert decide(server, answer, calls[0]["id"], "once").status == 409
        assert decide(server, answer, calls[1]["id"], "no").status == 202
    end = watcher.end()
    watcher.close()
    chain(chat, end["next"])
    calls = chat.messages()[answer]["calls"]
    assert [c["state"] for c in calls] == [state] * 2
    assert ("did not allow" in calls[0]["result"]) == (state == "denied")
    assert look(server, id)["permissions"] == stored
    if stored:
        assert one_call(house, server, id, "add", {"a": 1, "b": 1})["state"] == state


def permission(server, id, tool):
    one, = (t for t in look(server, id)["tools"] if t["name"] == tool)
    return one["permission"], one.get("changed", False)


def test_always_covers_only_the_allowed_definition(house, server):
    """If a server changes the definition of a tool that was allowed, the user is asked again."""
    id = add_stdio(server, permissions="always")
    add = {"a": 1, "b": 2}
    assert one_call(house, server, id, "add", add)["state"] == "done"
    assert permission(server, id, "add") == ("always", False)
    one_call(house, server, id, "redefine")
    wait_until(lambda: permission(server, id, "add") == ("ask", True), what="the other definition")
    assert permission(server, id, "echo") == ("always", False)
    chat, answer, watcher, calls = asking(house, server, id, ("tools__add", add))
    assert [c["state"] for c in calls] == ["asking"]
    assert decide(server, answer, calls[0]["id"], "always").status == 202
    chain(chat, watcher.end()["next"])
    watcher.close()
    assert permission(server, id, "add") == ("always", False)
    assert one_call(house, server, id, "add", add)["state"] == "done"
    # A new process has the first definition again, but the second one is allowed now.
    patch(server, id, call_s=30)
    refresh(server, id)
    assert permission(server, id, "add") == ("ask", True)
    patch(server, id, permissions={"add": "always"})
    assert permission(server, id, "add") == ("always", False)
    assert "never" not in look(server, id)["permissions"].values()
    assert all(len(p) < 7 for p in look(server, id)["permissions"].values()), "digests are not shown"


@pytest.mark.parametrize("members", [{"command": "/usr/bin/env"}, {"args": [PROGRAM, "pages"]}])
def test_another_program_is_not_trusted(server, members):
    """A change of the command or arguments removes the permissions "always"; a change of the command also the
    secrets."""
    id = add_stdio(server, permissions={"add": "always", "echo": "never"}, env={"A": "1", "B": "2"})
    refresh(server, id)
    before = look(server, id)
    kept = patch(server, id, command=before["command"], args=before["args"], name="other", call_s=7).json
    assert (kept["permissions"], kept["env"]) == ({"add": "always", "echo": "never"}, ["A", "B"])
    after = patch(server, id, **members).json
    assert after["permissions"] == {"echo": "never"}
    assert after["env"] == ([] if "command" in members else ["A", "B"])
    again = patch(server, id, command="/bin/sh", env={"C": "3"}, permissions={"add": "always"}).json
    assert (again["env"], again["permissions"]) == (["C"], {"add": "always", "echo": "never"})


def test_another_address_does_not_get_the_token(server):
    with mcp_server.serving() as one, mcp_server.serving() as two:
        id = add_http(server, one.url, token=TOKEN)
        refresh(server, id)
        assert patch(server, id, url=one.url, enabled=True).json["has_token"]
        moved = patch(server, id, url=two.url).json
        assert not moved["has_token"] and moved["permissions"] == {}
        refresh(server, id)
        assert two.requests and all(TOKEN not in str(headers) for _, headers in two.requests)
        assert patch(server, id, url=one.url, token=TOKEN).json["has_token"]


def test_calls_with_the_same_id(house, server):
    """Engines may use an id twice; the decision applies to the call that waits for a permission."""
    id = add_stdio(server, permissions={"echo": "always"})
    calls = [{"ev": "tool_call", "call": i, "id": "same", "name": f"tools__{name}", "arguments": '{"a": 1, "b": 2}'}
             for i, name in enumerate(("echo", "add"))]
    script = [[*calls, {"ev": "done", "reason": "tool_calls"}],
              [{"ev": "text", "text": "", "results": True}, {"ev": "done", "reason": "stop"}]]
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "same", script=script, turns=True), mcp=[id])
    with chat.watch(answer) as watcher:
        watcher.until(lambda r: r["t"] == "calls" and [c["state"] for c in r["calls"]] == ["done", "asking"])
        assert decide(server, answer, "same", "once").status == 202
        chain(chat, watcher.end()["next"])
    assert chat.messages()[answer]["calls"][1]["result"] == "3"


def test_stored_text_does_not_change_the_stage(house, server):
    """Text that is stored while calls run does not change the stage."""
    id = add_stdio(server)
    script = [{"ev": "text", "text": "One"}, {"ev": "text", "text": " two"}, *call_events(("tools__add", {}))]
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "talks", script=script), mcp=[id])
    wait_until(lambda: chat.messages()[answer]["text"] == "One two", what="the text")
    with chat.watch(answer) as late:
        assert late.next()["stage"] == "calls"
    chat.stop(answer)


def test_two_owners(house):
    """Only the owner of an answer can allow or deny its calls."""
    server = house.start(env=BOTH)
    admin = bearer(ADMIN)
    id = add_stdio(server, headers=admin)
    server.post("/v1/models/register", {"model_name": "user.caller", "recipe": "llamacpp", "checkpoint": str(
        make_caller(house, [("tools__add", {"a": 1, "b": 2})]))}, headers=admin)
    chat = Chat(server, admin)
    answer = chat.answer(chat.say("Hi"), "user.caller", mcp=[id])
    with chat.watch(answer) as watcher:
        call, = watcher.until(lambda r: r["t"] == "calls")["calls"]
        assert decide(server, answer, call["id"], "always", bearer(KEY)).status == 404
        assert decide(server, answer, call["id"], "always").status == 401
        assert decide(server, answer, call["id"], "once", admin).status == 202
        end = watcher.end()
    assert chain(chat, end["next"])[0][0]["text"] == "3\n"
    # The servers of one owner are not offered in chats of another.
    chat = Chat(server, bearer(KEY))
    answer = chat.answer(chat.say("Hi"), "user.caller", mcp=[id])
    with chat.watch(answer) as watcher:
        watcher.end()
        assert [r["servers"] for r in watcher.records if r["t"] == "tools"] in ([], [[]])
    assert chat.messages()[answer]["calls"][0].get("state") in (None, "failed")


def make_caller(house, calls):
    return fake_model(house.tmp_path, turns=True, script=[call_events(*calls), [{"ev": "text", "text": "", "results": True},
                                                                              {"ev": "done", "reason": "stop"}]])


# ---- stop, restart ----

@pytest.mark.parametrize("tool", ["add", "hang"])
def test_stop(house, server, tool):
    """Stops an answer while its call waits for a permission, and while its call runs."""
    id = add_stdio(server, permissions={"hang": "always"})
    chat, answer, watcher, calls = asking(house, server, id, (f"tools__{tool}", {"a": 1, "b": 2}))
    assert [c["state"] for c in calls] == ["asking" if tool == "add" else "running"]
    stopped = chat.stop(answer)
    assert stopped.status == 200 and stopped.json["state"] == "stopped"
    assert [c["state"] for c in stopped.json["calls"]] == ["stopped"]
    assert watcher.end()["state"] == "stopped" and "next" not in watcher.records[-1]
    watcher.close()
    assert decide(server, answer, calls[0]["id"], "once").status == 404
    if tool == "hang":  # the MCP server gets a cancellation
        done = json.loads(one_call(house, server, patch(server, id, permissions={"calls": "always"}).json["id"], "calls")
                          ["result"])
        assert len(done["cancelled"]) == 1


def test_deleting_a_chat_for_good_ends_its_answer(house, server):
    id = add_stdio(server)
    chat, answer, watcher, _ = asking(house, server, id, ("tools__add", {}))
    assert server.request("DELETE", f"/internal/chats/{chat.id}").status == 200
    assert watcher.end()["state"] in ("stopped", "failed")
    watcher.close()


@pytest.mark.parametrize("how", ["one", "many", "message"])
def test_moving_to_the_trash_ends_answers(house, server, how):
    """Deletes the chat alone, the chat with many others, or only the question; the running answer ends in each case."""
    id = add_stdio(server, permissions="always")
    chat, answer, watcher, _ = asking(house, server, id, ("tools__hang", {}))
    if how == "message":
        question = chat.messages()[answer]["parent"]
        assert server.request("DELETE", f"/internal/messages/{question}").status == 200
    else:
        ids = [chat.id] + [Chat(server).id for _ in range(20 if how == "many" else 0)]
        assert server.post("/internal/chats/bulk", {"ids": ids, "set": {"deleted": True}}).status == 200
    end = watcher.end()
    watcher.close()
    assert end["state"] == "stopped" and "next" not in end
    done = json.loads(one_call(house, server, id, "calls")["result"])
    assert len(done["cancelled"]) == 1


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_restart(house, how):
    """A restart of quince interrupts an answer whose call waits for a permission. Stopping does not wait for the
    decision."""
    server = house.start()
    id = add_stdio(server)
    chat, answer, watcher, _ = asking(house, server, id, ("tools__add", {"a": 1, "b": 2}))
    began = time.monotonic()
    if how == "kill":
        server.kill()
    else:
        assert server.stop() == 0 and time.monotonic() - began < 25, "it does not wait for the whole drain time"
    watcher.close()
    none_left(server)
    server = Server(server.data_dir, house.backend_dir, house.models_dir)
    house.servers.append(server)
    chat.server = server
    message = chat.messages()[answer]
    assert message["state"] == "interrupted" and [c["state"] for c in message["calls"]] == ["stopped"]
    # The configuration is kept, and the question can be asked again.
    answer = chat.answer(message["parent"], message["model"], mcp=[id])
    with chat.watch(answer) as again:
        call, = again.until(lambda r: r["t"] == "calls")["calls"]
        assert decide(server, answer, call["id"], "once").status == 202
        assert again.end()["state"] == "done"


# ---- results ----

@pytest.mark.parametrize("tool,arguments,state,result", [
    ("fail", {}, "failed", "it went wrong"),
    ("refuse", {}, "failed", "the server reports an error: bad arguments (-32602)"),
    ("structured", {}, "done", '{"degrees":21}'), ("empty", {}, "done", ""), ("slow", {"ms": 300}, "done", "at last"),
    ("image", {}, "done", "[left out: image image/png]\na cat\n[left out: resource_link file:///a.txt]\n"
                          "[left out: resource file:///b.txt]")])
def test_results(house, server, tool, arguments, state, result):
    call = one_call(house, server, add_stdio(server, permissions="always"), tool, arguments)
    assert (call["state"], call["result"]) == (state, result)


def test_huge_results_are_cut(house, server):
    id = add_stdio(server, permissions="always")
    whole = one_call(house, server, id, "huge", {"n": 100000})
    assert whole["result"] == "x" * 100000
    cut = one_call(house, server, id, "huge", {"n": 1000000})
    assert len(cut["result"]) <= 128 * 1024 and cut["result"].endswith("\n[the rest of the result was left out]")
    messages = ask(house, server, [id], [("tools__huge", {"n": 120000})] * 5)
    sizes = [len(c["result"]) for c in messages[0]["calls"]]
    assert sum(sizes) <= 384 * 1024 + 5 * 64 and min(sizes) < 100


def test_arguments_that_are_not_an_object(house, server):
    id = add_stdio(server, permissions="always")
    script = [[{"ev": "tool_call", "call": 0, "name": "tools__echo", "arguments": "[1"}, {"ev": "done", "reason": "tool_calls"}],
              [{"ev": "text", "text": "", "results": True}, {"ev": "done", "reason": "stop"}]]
    chat = Chat(server)
    messages, _ = chain(chat, chat.answer(chat.say("Hi"), house.model(server, "bad", script=script, turns=True), mcp=[id]))
    call, = messages[0]["calls"]
    assert (call["state"], call["result"]) == ("failed", "the arguments are not a JSON object")


# ---- servers that misbehave ----

@pytest.mark.parametrize("tool,words", [
    ("die", "the server ended with status 3: what a pity"), ("nonsense", "not a message of the protocol"),
    ("flood", "sends without pause"), ("long", "too long")])
def test_a_server_that_fails_during_a_call(house, server, tool, words):
    """The call fails with the reason as its result, and the server can be started again."""
    id = add_stdio(server, permissions="always")
    call = one_call(house, server, id, tool)
    assert call["state"] == "failed" and words in call["result"], call
    after = look(server, id)
    assert after["state"] in ("failed", "starting", "ready")
    assert refresh(server, id)["state"] == "ready"
    assert one_call(house, server, id, "add", {"a": 1, "b": 2})["result"] == "3"


def test_a_call_that_hangs_times_out(house, server):
    id = add_stdio(server, permissions="always", call_s=1)
    call = one_call(house, server, id, "hang")
    assert (call["state"], call["result"]) == ("failed", "the server did not answer within 1 s")
    assert one_call(house, server, id, "add", {"a": 1, "b": 2})["result"] == "3", "the server lives on"


@pytest.mark.parametrize("mode,words", [
    ("die", "ended with status 5: no licence"), ("nonsense", "not a message of the protocol"),
    ("flood", "sends without pause"), ("long-line", "too long"), ("half-line", "ended with status 0"),
    ("bad-words", "ended with status 5: \ufffd\ufffd"), ("future", "revision '2099-01-01'"), ("refuse", "come back later (-32000)")])
def test_a_server_that_does_not_start(server, mode, words):
    id = add_stdio(server, mode=mode)
    failed = refresh(server, id)
    assert failed["state"] == "failed" and words in failed["error"] and failed["tools"] is None, failed
    assert server.get("/live").status == 200
    none_left(server)


@pytest.mark.parametrize("mode,n", [("pages", len(mcp_server.TOOLS)), ("banner", len(mcp_server.TOOLS)), ("toolless", 0),
                                    ("old", len(mcp_server.TOOLS)), ("endless-pages", 64)])
def test_unusual_but_valid_servers(server, mode, n):
    ready = refresh(server, add_stdio(server, mode=mode))
    assert (ready["state"], len(ready["tools"])) == ("ready", n)


def test_a_program_that_does_not_exist(server):
    reply = server.post("/internal/mcp", {"name": "n", "kind": "stdio", "command": "no-such-program"})
    assert "no program 'no-such-program'" in refresh(server, reply.json["id"])["error"]
    patch(server, reply.json["id"], command="/dev/null")
    assert refresh(server, reply.json["id"])["state"] == "failed"


def test_the_pause_grows_with_each_failure(house, server):
    """An answer does not start a failed server before the pause is over; a refresh does."""
    id = add_stdio(server, mode="die")
    for _ in range(4):
        failed = refresh(server, id)
    assert 4000 < failed["retry_ms"] <= 8000
    chat = Chat(server)
    answer = chat.answer(chat.say("Hi"), house.model(server, "five", **UNHURRIED), mcp=[id])
    with chat.watch(answer) as watcher:
        watcher.end()
        servers, = [r["servers"] for r in watcher.records if r["t"] == "tools"]
    assert "it can be started again in" in servers[0]["error"]


def test_a_server_that_is_killed_is_started_again(house, server):
    id = add_stdio(server, permissions="always")
    refresh(server, id)
    for pid in processes(server):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: look(server, id)["state"] == "failed", what="the failure")
    assert "killed by signal 9" in look(server, id)["error"]
    wait_until(lambda: look(server, id)["retry_ms"] == 0, what="the pause")
    assert one_call(house, server, id, "add", {"a": 1, "b": 2})["result"] == "3"


def test_a_server_adds_a_tool(house, server):
    id = add_stdio(server, permissions="always")
    n = len(refresh(server, id)["tools"])
    one_call(house, server, id, "more")
    wait_until(lambda: len(look(server, id)["tools"]) == n + 1, what="the new tool")


def test_requests_of_the_server_are_answered(house, server):
    id = add_stdio(server, permissions="always")
    one_call(house, server, id, "ask")

    def answers():
        return json.loads(one_call(house, server, id, "calls")["result"])["asked"]
    got = wait_until(answers, what="the answers")
    assert {m["id"]: m.get("error", {}).get("code", m.get("result")) for m in got} == {"p": {}, 77: -32601}


def test_a_server_that_is_changed_or_deleted_during_a_call(house, server):
    id = add_stdio(server, permissions="always")
    chat, answer, watcher, _ = asking(house, server, id, ("tools__hang", {}))
    assert patch(server, id, call_s=10).status == 200
    end = watcher.end()
    watcher.close()
    call, = chat.messages()[answer]["calls"]
    assert (call["state"], call["result"]) == ("failed", "the server's configuration has changed") and "next" in end
    chat, answer, watcher, _ = asking(house, server, id, ("tools__hang", {}))
    assert delete(server, id).status == 200
    watcher.end()
    watcher.close()
    assert chat.messages()[answer]["calls"][0]["result"] == "the server was deleted"
    none_left(server)


# ---- the sandbox ----

def test_files_that_a_program_can_use(house, server, tmp_path):
    secret, shared, free = tmp_path / "secret", tmp_path / "shared", tmp_path / "free"
    secret.write_text("secret")
    shared.write_text("shared")
    free.mkdir()
    id = add_stdio(server, permissions="always", read=[str(shared)], write=[str(free)])

    def call(tool, path):
        c = one_call(house, server, id, tool, {"path": str(path)})
        return c["state"], c["result"]
    assert call("read", shared) == ("done", "shared")
    assert call("read", secret) == ("failed", "PermissionError")
    assert call("read", server.data_dir / "chats.db") == ("failed", "PermissionError")
    assert call("write", secret) == ("failed", "PermissionError")
    assert call("write", shared) == ("failed", "PermissionError")
    assert call("write", free / "x")[0] == "done"
    assert call("write", "x") == ("done", str(server.data_dir / "mcp" / id / "x"))


def test_a_program_cannot_reach_the_data_folder(server, tmp_path):
    """A server is refused if its configuration names a folder around the data folder, something in it, or a symbolic
    link to it."""
    link, program = tmp_path / "link", server.data_dir.parent / "program"
    link.symlink_to(server.data_dir)
    program.write_text("#!/bin/sh")
    program.chmod(0o755)
    other = server.data_dir / "mcp" / "other"
    other.mkdir(parents=True)
    id = add_stdio(server)
    args = [PROGRAM, "", tag(server)]
    for members in ({"args": [*args, str(server.data_dir.parent)]}, {"read": [str(server.data_dir / "chats.db")]},
                    {"write": [str(link)]}, {"read": [str(other)]}, {"command": str(program)}):
        usual = {"args": args, "read": [], "write": [], "command": PYTHON}
        assert patch(server, id, **{**usual, **members}).status == 200
        failed = refresh(server, id)
        assert failed["state"] == "failed" and "must not reach quince's own data" in failed["error"], (members, failed)
    own = server.data_dir / "mcp" / id
    assert patch(server, id, **{**usual, "args": [*args, str(own / "tmp"), "/"]}).status == 200
    assert refresh(server, id)["state"] == "ready"


def test_a_program_cannot_widen_its_sandbox(house, server, tmp_path):
    """A configured path inside a folder that the program can change may have been replaced by a symbolic link."""
    free, secret, user = tmp_path / "free", tmp_path / "secret", tmp_path / "user"
    free.mkdir(), secret.mkdir(), (free / "docs").mkdir()
    (secret / "x").write_text("secret"), (free / "docs" / "x").write_text("free"), user.symlink_to(free / "docs")
    args = [PROGRAM, "", tag(server)]
    id = add_stdio(server, permissions="always", write=[str(free)], args=[*args, str(free / "docs")])
    assert one_call(house, server, id, "read", {"path": str(free / "docs" / "x")})["result"] == "free"
    (free / "docs").rename(free / "before")
    (free / "docs").symlink_to(free / "before")
    patch(server, id, read=[str(user)])
    assert refresh(server, id)["state"] == "ready", "it stays in the folder"
    (free / "docs").unlink()
    (free / "docs").symlink_to(secret)
    for members in ({"args": [*args, str(free / "docs")]}, {"read": [str(free / "docs" / "x")]}, {"read": [str(user)]},
                    {"read": [f"{free}/before/../docs"]}, {"write": [str(free), str(free / "docs")]}):
        assert patch(server, id, **{"args": args, "read": [], "write": [str(free)], **members}).status == 200
        failed = refresh(server, id)
        assert failed["state"] == "failed" and "a symbolic link leads out of it" in failed["error"], (members, failed)


def landlock():
    """Returns the version of the kernel's Landlock; below 1: the kernel has none."""
    libc = ctypes.CDLL(None)
    return libc.syscall(444, ctypes.c_void_p(None), ctypes.c_size_t(0), ctypes.c_uint32(1))


def test_system_calls_and_ports_of_a_program(house, server):
    """A program cannot use quince's API, which would take it for the user, or services of the user's session."""
    id = add_stdio(server, permissions="always")
    with socket.create_server(("127.0.0.1", 0)) as other:
        got = json.loads(one_call(house, server, id, "reach", {"port": server.port, "other": other.getsockname()[1],
                                                              "pid": server.process.pid})["result"])
    assert {name for name, what in got.items() if what == "ok"} - {"port", "kill"} == {"other", "pair", "run"}
    assert {got[name] for name in ("mptcp", "mptcp_high", "fast_open", "unix", "vsock", "datagram_pair", "ptrace", "unshare",
                                   "mount", "keyctl", "io_uring")} == {"EACCES"}, got
    if landlock() < 4:
        pytest.skip("this kernel's Landlock cannot restrict connections")
    assert got["port"] == "EACCES"
    assert landlock() < 6 or got["kill"] == "EPERM"


def test_a_change_of_ports_ends_programs(house):
    """The rules of the running program do not cover a new port, so the program is ended."""
    server = house.start()
    id = add_stdio(server, permissions="always")
    refresh(server, id)
    before = processes(server)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert server.post("/api/v1/params", {"log_level": "info"}).status == 200
    assert processes(server) == before
    assert server.post("/api/v1/params", {"ollama_port": str(port)}).status == 200
    wait_until(lambda: not set(processes(server)) & set(before), what="the end of the program")
    got = json.loads(one_call(house, server, id, "reach", {"port": port, "other": server.port,
                                                          "pid": server.process.pid})["result"])
    if landlock() >= 4:
        assert (got["port"], got["other"]) == ("EACCES", "EACCES")


def test_the_environment_of_a_program(house):
    server = house.start(env={"MY_PRIVATE_KEY": "private", "QUINCE_LOG_LEVEL": "info"})
    id = add_stdio(server, permissions="always", env={"MINE": "x", "LANG": "C"})
    got = json.loads(one_call(house, server, id, "env")["result"])
    folder = str(server.data_dir / "mcp" / id)
    assert (got["HOME"], got["TMPDIR"], got["MINE"], got["LANG"]) == (folder, f"{folder}/tmp", "x", "C")
    assert set(got) <= {"HOME", "TMPDIR", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "MINE"}


@pytest.mark.parametrize("how", ["delete", "kill"])
def test_no_process_outlives_the_server(house, server, how):
    """Processes that have left the program's session and lost their parent are ended, too."""
    id = add_stdio(server, permissions="always")
    one_call(house, server, id, "spawn")
    wait_until(lambda: len(processes(server)) >= 2, what="its process")
    if how == "delete":
        delete(server, id)
    else:
        server.kill()
    none_left(server)


def test_no_process_outlives_the_keeper(house, server):
    """If the keeper, which normally ends all processes, is killed, they end as well."""
    id = add_stdio(server, permissions="always")
    one_call(house, server, id, "child")
    assert len(processes(server)) == 2
    pid = server.process.pid
    keeper, = [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
               if pathlib.Path(f"/proc/{p}/comm").read_text() == "quince-mcp\n"]
    os.kill(keeper, signal.SIGKILL)
    none_left(server)


def test_the_folder_of_a_deleted_server(house, server, tmp_path):
    """The folder is removed after the program, which still writes to it, has ended. Symbolic links are not followed,
    and a very deep tree is removed, too."""
    kept, folders = tmp_path / "kept", server.data_dir / "mcp"
    kept.mkdir()
    (kept / "x").write_text("kept")
    id, other = add_stdio(server, permissions="always"), add_stdio(server, name="other")
    refresh(server, other)
    one_call(house, server, id, "litter")
    (folders / id / "link").symlink_to(kept)
    (folders / id / "deep").mkdir()
    os.mkdir(deep := f"{folders / id}/deep/0")
    fd = os.open(deep, os.O_RDONLY)
    for n in range(1100):  # longer than a path may be
        os.mkdir("deep", dir_fd=fd)
        os.symlink(kept, "link", dir_fd=fd)
        below = os.open("deep", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    assert delete(server, id).status == 200
    wait_until(lambda: not (folders / id).exists(), what="the end of the folder")
    assert (kept / "x").read_text() == "kept" and (folders / other).exists()


def test_folders_without_a_server_are_removed(house, server):
    """Folders of deleted servers may remain if quince ends before it has removed them; the next start removes them."""
    id = add_stdio(server)
    refresh(server, id)
    lost = server.data_dir / "mcp" / "lost" / "x"
    lost.mkdir(parents=True)
    assert server.stop() == 0 and lost.exists()
    again = Server(server.data_dir, house.backend_dir, house.models_dir)
    house.servers.append(again)
    wait_until(lambda: not lost.parent.exists(), what="the end of the folder")
    assert (server.data_dir / "mcp" / id).exists() and refresh(again, id)["state"] == "ready"


# ---- HTTP ----

@pytest.mark.parametrize("how", [{}, {"streams": True}, {"listens": True}, {"mode": "sessionless"}])
def test_http(house, server, how):
    with mcp_server.serving(token=TOKEN, **how) as s:
        id = add_http(server, s.url, token=TOKEN)
        assert one_call(house, server, id, "add", {"a": 1, "b": 2})["result"] == "3"
        n = len(look(server, id)["tools"])
        one_call(house, server, id, "more")
        if how.get("mode") != "sessionless" and how:
            wait_until(lambda: len(look(server, id)["tools"]) == n + 1, what="the new tool")
        posts = [h for method, h in s.requests if method == "POST"]
        assert "Mcp-Session-Id" not in posts[0] and "MCP-Protocol-Version" not in posts[0]
        assert all(h["MCP-Protocol-Version"] == "2025-06-18" for h in posts[1:])
        assert all(h["Accept"] == "application/json, text/event-stream" for h in posts)
        if how.get("mode") != "sessionless":
            assert len({h["Mcp-Session-Id"] for h in posts[1:]}) == 1
        assert delete(server, id).status == 200
        if how.get("mode") != "sessionless":
            wait_until(lambda: "DELETE" in [m for m, _ in s.requests], what="the end of the session")


@pytest.mark.parametrize("lose,state", [(1, "done"), (2, "failed")])
def test_http_session_lost(house, server, lose, state):
    with mcp_server.serving() as s:
        id = add_http(server, s.url)
        refresh(server, id)
        s.lose = lose
        call = one_call(house, server, id, "add", {"a": 1, "b": 2})
        assert call["state"] == state and (call["result"] == "3") == (state == "done"), call


def test_http_session_lost_at_a_notification(house, server):
    """The next request gets the status 404, too, and begins a new session."""
    with mcp_server.serving() as s:
        id = add_http(server, s.url, call_s=1)
        refresh(server, id)
        s.lose_at = "notifications/cancelled"
        assert one_call(house, server, id, "hang")["state"] == "failed"
        wait_until(lambda: not s.sessions, what="the loss of the session")
        for _ in range(2):
            assert one_call(house, server, id, "add", {"a": 1, "b": 2})["result"] == "3"
        assert len(s.sessions) == 1


def test_http_replies_without_end(house, server):
    """Endless replies to notifications are closed after a time limit, and do not delay later requests."""
    with mcp_server.serving() as s:
        s.endless_at = "notifications/initialized"
        id = add_http(server, s.url)
        assert refresh(server, id)["state"] == "ready"
        s.endless_at = "answers"
        assert one_call(house, server, id, "pings", {"n": 10})["result"] == "asked"
        assert one_call(house, server, id, "add", {"a": 1, "b": 2})["result"] == "3"
        one_call(house, server, id, "pings", {"n": 100})
        wait_until(lambda: "too many requests without a reply" in (look(server, id)["error"] or ""), what="the end")


@pytest.mark.release
def test_limits_of_the_process_for_http(server):
    with mcp_server.serving() as s:
        refresh(server, add_http(server, s.url))
        pid = server.process.pid
        one, = [p for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
                if pathlib.Path(f"/proc/{p}/comm").read_text() == "quince-mcp\n"]
        assert pathlib.Path(f"/proc/{one}/oom_score_adj").read_text() == "500\n"
        limits = {line[:26].strip(): line[26:].split()[0]
                  for line in pathlib.Path(f"/proc/{one}/limits").read_text().splitlines()}
        assert limits["Max open files"] == "256"
        assert limits["Max data size"] in (str(512 << 20), "unlimited" if SANITIZED else "")


@pytest.mark.parametrize("mode,words", [("500", "HTTP status 500"), ("nonsense", "answer")])
def test_http_that_does_not_start(server, mode, words):
    with mcp_server.serving(mode=mode) as s:
        failed = refresh(server, add_http(server, s.url))
        assert failed["state"] == "failed" and words in failed["error"], failed


def test_http_redirects_are_not_followed(server):
    with mcp_server.serving() as other, mcp_server.serving(redirect=other.url) as s:
        failed = refresh(server, add_http(server, s.url, token=TOKEN))
        assert failed["state"] == "failed" and "307" in failed["error"]
        assert not other.requests


def test_http_no_server_at_the_address(server):
    failed = refresh(server, add_http(server, "http://127.0.0.1:1/mcp?key=" + SECRET))
    assert failed["state"] == "failed" and "cannot be reached" in failed["error"]
    assert SECRET not in server.logs()


@pytest.mark.parametrize("tool,words", [("flood", "sends without pause"), ("long", "too long"), ("nonsense", "not a message"),
                                        ("hang", "within 1 s")])
def test_http_that_misbehaves_during_a_call(house, server, tool, words):
    with mcp_server.serving() as s:
        id = add_http(server, s.url, call_s=1 if tool == "hang" else 30)
        call = one_call(house, server, id, tool)
        assert call["state"] == "failed" and words in call["result"], call


# ---- events, export, database ----

def test_changes_are_sent_as_events(house, server):
    with contextlib.closing(server.connect()) as c:
        c.request("GET", "/internal/chats/events")
        events = c.getresponse()

        def next_type():
            for raw in events:
                if raw.startswith(b"data: "):
                    return json.loads(raw[6:])
        id = add_stdio(server)
        assert next_type() == {"type": "mcp"}
        refresh(server, id)
        assert next_type() == {"type": "mcp"}


def test_exports_have_no_servers(house, server):
    id = add_stdio(server, env={"KEY": SECRET}, permissions="always")
    one_call(house, server, id, "add", {"a": 1, "b": 2})
    export = server.get("/internal/chats/export?format=json")
    assert SECRET.encode() not in export.body and b'"result":"3"' in export.body.replace(b'": "', b'":"')


def test_an_error_of_the_database_is_reported(house):
    """If the servers cannot be read from the database, the answer is made without tools, and reports the error."""
    server = house.start()
    id = add_stdio(server)
    model = house.model(server, "slow", tokens=50, token_ms=20)
    server.stop()
    with contextlib.closing(sqlite3.connect(server.data_dir / "chats.db")) as db:
        db.execute("DROP TABLE mcp_server")
    server = Server(server.data_dir, house.backend_dir, house.models_dir)
    house.servers.append(server)
    chat = Chat(server)
    with chat.watch(chat.answer(chat.say("Hi"), model, mcp=[id])) as watcher:
        assert watcher.end()["state"] == "done"
        one, = next(r["servers"] for r in watcher.records if r["t"] == "tools")
    assert (one["id"], one["tools"]) == (id, 0) and one["error"], one


def test_an_earlier_database_is_migrated(house):
    """Version 2 of chats.db has no table of MCP servers; the start adds it."""
    server = house.start()
    chat = Chat(server)
    server.stop()
    with contextlib.closing(sqlite3.connect(server.data_dir / "chats.db")) as db:
        db.execute("DROP TABLE mcp_server")
        db.execute("PRAGMA user_version = 2")
    server = Server(server.data_dir, house.backend_dir, house.models_dir)
    house.servers.append(server)
    chat.server = server
    assert chat.messages() == {}
    assert refresh(server, add_stdio(server))["state"] == "ready"
