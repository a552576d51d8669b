"""Import and export of chats: own files, those of llama.cpp's web page and of Open WebUI, hostile ones."""
import base64
import hashlib
import json

import pytest
from conftest import wait_until
from test_chats import again, new_chat, patch, put_blob, say, titles, tree

PICTURE = b"\x89PNG\r\n\x1a\n picture"
DATA_URL = "data:image/png;base64," + base64.b64encode(PICTURE).decode()


def import_(server, body, status=200):
    if not isinstance(body, (bytes, str)):
        body = json.dumps(body)
    reply = server.post("/internal/chats/import", body)
    assert reply.status == status, reply.body
    return reply.json


def texts(server, title):
    chat = next(c for c in server.get("/internal/chats").json["chats"] if c["title"] == title)
    whole = tree(server, chat["id"])
    names = {m["id"]: m["text"] for m in whole["messages"]}
    return whole, {m["text"]: names.get(m["parent"]) for m in whole["messages"]}, names.get(whole["chat"]["head"])


# ---- our own ----

def test_an_export_is_imported(house):
    server = house.start()
    blob = put_blob(server, PICTURE).json
    part = {"kind": "image", "blob": blob["id"], "name": "p.png", "type": "image/png", "bytes": len(PICTURE)}
    chat = new_chat(server, "Grüße", folder="F", model="m", system="s", params={"seed": 1})["id"]
    q = say(server, chat, None, "Was ist das?", parts=[part])["id"]
    say(server, chat, q, "Eins", "assistant")
    say(server, chat, q, "Zwei", "assistant")
    patch(server, f"/internal/chats/{chat}", {"pinned": True})
    new_chat(server, "leer")
    reply = server.get("/internal/chats/export")
    assert reply.headers["Content-Disposition"] == 'attachment; filename="quince-chats.json"'
    assert reply.json["format"] == "quince-chats" and len(reply.json["chats"]) == 2
    again = import_(server, reply.body)
    assert again == {"chats": 0, "messages": 0, "skipped": ["'Grüße' is here already", "'leer' is here already"]}
    one = server.get(f"/internal/chats/export?id={chat}")
    assert [c["title"] for c in one.json["chats"]] == ["Grüße"]

    other = house.start()
    assert import_(other, reply.body) == {"chats": 2, "messages": 3, "skipped": []}
    whole, parents, head = texts(other, "Grüße")
    before = tree(server, chat)
    for member in ("title", "folder", "pinned", "created", "updated", "model", "system", "params", "messages"):
        assert whole["chat"][member] == before["chat"][member], member
    assert parents == {"Was ist das?": None, "Eins": "Was ist das?", "Zwei": "Was ist das?"} and head == "Zwei"
    assert whole["messages"][0]["parts"] == [part]
    assert other.get(f"/internal/blobs/{blob['id']}").body == PICTURE
    assert import_(other, reply.body)["chats"] == 0  # a second time
    assert other.get("/internal/chats/search?q=zwei").json["hits"]


def test_markdown(server):
    chat = new_chat(server, "Titel", system="Kurz.")["id"]
    q = say(server, chat, None, "Frage")["id"]
    say(server, chat, q, "verworfen", "assistant")
    say(server, chat, q, "**Antwort**", "assistant")
    reply = server.get(f"/internal/chats/export?format=markdown&id={chat}")
    assert reply.headers["Content-Type"].startswith("text/markdown")
    text = reply.body.decode()
    assert text.startswith("# Titel\n") and text.endswith(
        "## System\n\nKurz.\n\n## User\n\nFrage\n\n## Assistant\n\n**Antwort**\n\n"), text


def test_a_long_export_is_streamed(server):
    picture = bytes(range(256)) * 40000
    blob = put_blob(server, picture).json["id"]
    for i in range(8):
        chat = new_chat(server, f"c{i}")["id"]
        say(server, chat, None, "x" * 100000, parts=[{"kind": "image", "blob": blob, "name": "p"}])
    exported = server.get("/internal/chats/export").json
    assert len(exported["chats"]) == 8
    for c in exported["chats"]:
        part = c["messages"][0]["parts"][0]
        assert hashlib.sha256(base64.b64decode(part["data"])).hexdigest() == blob


# ---- llama.cpp ----

LLAMA_CONV = {"id": "b3f0", "name": "Llamas", "lastModified": 1760000000000, "currNode": "m4"}
LLAMA_MESSAGES = [
    {"id": "r", "convId": "b3f0", "type": "root", "timestamp": 1760000000000, "role": "system", "content": "",
     "parent": None, "toolCalls": "", "children": ["s"]},
    {"id": "s", "convId": "b3f0", "type": "system", "timestamp": 1760000000001, "role": "system", "content": "Be kind.",
     "parent": "r", "children": ["m1"]},
    {"id": "m1", "convId": "b3f0", "type": "text", "timestamp": 1760000000002, "role": "user", "content": "Hello?",
     "parent": "s", "children": ["m2", "m3"], "extra": [
         {"type": "IMAGE", "name": "a.png", "base64Url": DATA_URL},
         {"type": "textFile", "name": "notes.txt", "content": "some notes"},
         {"type": "AUDIO", "name": "a.wav", "mimeType": "audio/wav", "base64Data": base64.b64encode(b"RIFF").decode()},
         {"type": "VIDEO", "name": "v.mp4", "base64Data": "AAAA", "mimeType": "video/mp4"}]},
    {"id": "m2", "convId": "b3f0", "type": "text", "timestamp": 1760000000003, "role": "assistant", "content": "Hi.",
     "parent": "m1", "children": [], "thinking": "Greet.", "model": "llama-3",
     "timings": {"prompt_n": 12, "prompt_ms": 30.5, "predicted_n": 2, "predicted_ms": 50}},
    {"id": "m3", "convId": "b3f0", "type": "text", "timestamp": 1760000000004, "role": "assistant", "content": "",
     "parent": "m1", "children": ["m4"], "reasoningContent": "A tool.",
     "toolCalls": json.dumps([{"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}])},
    {"id": "m4", "convId": "b3f0", "type": "text", "timestamp": 1760000000005, "role": "tool", "content": "42",
     "parent": "m3", "children": [], "toolCallId": "t1"},
]


def as_lines(conv, messages):
    lines = [{"type": "session", "harness": "llama.app", **conv}]
    for m in messages:
        m = dict(m)
        if m.get("toolCalls"):
            m["toolCalls"] = json.loads(m["toolCalls"])
        else:
            m.pop("toolCalls", None)
        lines.append({"type": "message", "message": m})
    return "\n".join(json.dumps(line) for line in lines)


def check_llama(server):
    whole, parents, head = texts(server, "Llamas")
    assert parents == {"Hello?": None, "Hi.": "Hello?", "": "Hello?", "42": ""} and head == "42"
    assert whole["chat"]["system"] == "Be kind." and whole["chat"]["updated"] == 1760000000000
    by_text = {m["text"]: m for m in whole["messages"]}
    assert by_text["Hi."]["reasoning"] == "Greet." and by_text["Hi."]["model"] == "llama-3"
    assert by_text["Hi."]["stats"] == {"prompt": 12, "prompt_ms": 30.5, "output": 2, "output_ms": 50}
    assert by_text[""]["reasoning"] == "A tool."
    assert by_text[""]["calls"] == [{"id": "t1", "name": "f", "arguments": "{\"x\":1}", "result": None, "state": "done"}]
    assert by_text["42"]["role"] == "tool" and by_text["Hello?"]["created"] == 1760000000002
    parts = by_text["Hello?"]["parts"]
    assert [(p["kind"], p["name"], p["type"]) for p in parts] == [
        ("image", "a.png", "image/png"), ("file", "notes.txt", "text/plain"), ("audio", "a.wav", "audio/wav")]
    contents = [server.get(f"/internal/blobs/{p['blob']}").body for p in parts]
    assert contents == [PICTURE, b"some notes", b"RIFF"]


@pytest.mark.parametrize("form", ["object", "array", "lines", "lines of several"])
def test_llama(server, form):
    whole = {"conv": LLAMA_CONV, "messages": LLAMA_MESSAGES}
    second = as_lines({"id": "z", "name": "Second"}, [])
    body = {"object": json.dumps(whole, indent=2), "array": json.dumps([whole]),
            "lines": as_lines(LLAMA_CONV, LLAMA_MESSAGES) + "\n",
            "lines of several": "\ufeff" + as_lines(LLAMA_CONV, LLAMA_MESSAGES) + "\r\n\n" + second}[form]
    result = import_(server, body.encode())
    assert result["chats"] == (2 if form == "lines of several" else 1) and result["messages"] == 4
    assert len(result["skipped"]) == 1 and "v.mp4" in result["skipped"][0]
    check_llama(server)
    assert import_(server, body.encode())["chats"] == 0


# ---- Open WebUI ----

OPEN_WEBUI = [{
    "id": "7c6f0038", "user_id": "u", "title": "Outer", "created_at": 1750000000, "updated_at": 1750000100,
    "pinned": True, "archived": False, "folder_id": None, "meta": {"tags": []},
    "chat": {
        "title": "Web", "models": ["qwen3:4b"], "system": "Answer in German.", "params": {}, "tags": [],
        "history": {"currentId": "b", "messages": {
            "c": {"id": "c", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "half",
                  "model": "qwen3:4b", "done": False, "timestamp": 1750000003},
            "a": {"id": "a", "parentId": None, "childrenIds": ["b", "c"], "role": "user", "content": "Why?",
                  "timestamp": 1750000001, "models": ["qwen3:4b"],
                  "files": [{"type": "image", "url": DATA_URL}, {"type": "file", "name": "doc.pdf", "id": "f1"}]},
            "b": {"id": "b", "parentId": "a", "childrenIds": [], "role": "assistant", "model": "qwen3:4b",
                  "content": "<details type=\"reasoning\" done=\"true\" duration=\"2\">\n<summary>Thought for 2 seconds"
                             "</summary>\n&gt; 1 &lt; 2 &amp; so\n&gt; on\n</details>\nBecause <b>so</b>.",
                  "usage": {"prompt_tokens": 5, "completion_tokens": 7}, "timestamp": 1750000002},
        }},
        "messages": [{"id": "a", "role": "user", "content": "Why?"}]}}]


@pytest.mark.parametrize("form", ["standard", "legacy"])
def test_open_webui(server, form):
    result = import_(server, OPEN_WEBUI if form == "standard" else [OPEN_WEBUI[0]["chat"]])
    assert result["chats"] == 1 and result["messages"] == 3
    assert len(result["skipped"]) == 1 and "doc.pdf" in result["skipped"][0]
    whole, parents, head = texts(server, "Web")
    assert parents == {"Why?": None, "Because <b>so</b>.": "Why?", "half": "Why?"} and head == "Because <b>so</b>."
    assert whole["chat"]["system"] == "Answer in German." and whole["chat"]["model"] == "qwen3:4b"
    by_text = {m["text"]: m for m in whole["messages"]}
    answer = by_text["Because <b>so</b>."]
    assert answer["reasoning"] == "1 < 2 & so\non" and answer["stats"] == {"prompt": 5, "output": 7}
    assert answer["created"] == 1750000002000 and by_text["half"]["state"] == "interrupted"
    assert server.get(f"/internal/blobs/{by_text['Why?']['parts'][0]['blob']}").body == PICTURE
    if form == "standard":
        assert whole["chat"]["pinned"] and whole["chat"]["created"] == 1750000000000
        assert import_(server, OPEN_WEBUI)["chats"] == 0


# ---- hostile files ----

def ours(*chats):
    return json.dumps({"format": "quince-chats", "version": 1, "chats": list(chats)})


GOOD = {"id": "g", "title": "good", "messages": [{"id": "1", "role": "user", "text": "x"}]}

HOSTILE = {
    "empty": ("", 400), "no JSON": ("hello", 400), "a number": ("1", 400), "zip": (b"PK\x03\x04....", 400),
    "binary": (bytes(range(256)), 400), "unknown": ('{"a": 1}', 400), "unknown items": ("[1, 2]", 400),
    "nested": ("[" * 100000, 400), "nested and closed": ("[" * 5000 + "]" * 5000, 400),
    "nested in a chat": (ours(GOOD)[:-2] + "," + '{"messages":' * 200 + "1" + "}" * 200 + "]}", 400),
    "cut": (ours(GOOD, GOOD)[:-5], 400), "no end": ('{"format":"quince-chats","chats":[{"title":"x', 400),
    "a good one, then garbage": (ours(GOOD)[:-2] + ",{]}", 400),
    "a good one, then a wrong one": (ours(GOOD, {"title": "x"}), 400),
    "role": (ours({**GOOD, "messages": [{"id": "1", "role": "root", "text": "x"}]}), 400),
    "text is no text": (ours({**GOOD, "messages": [{"id": "1", "role": "user", "text": {}}]}), 400),
    "messages are no array": (ours({**GOOD, "messages": {}}), 400),
    "not UTF-8": (ours(GOOD).encode().replace(b"good", b"g\xff\xfed"), 400),
    "long text": (ours(GOOD, {**GOOD, "id": "h", "messages": [{"role": "user", "text": "x" * (4 * 1024 * 1024 + 1)}]}),
                  413),
    "many messages": (ours({**GOOD, "messages": [{"role": "user", "text": ""}] * 20001}), 413),
    "many values": ('[{"conv": {"a": [' + "0," * 1100000 + "0]}, \"messages\": []}]", 400),
    "lines": ('{"type":"session","id":"x"}\n{"type":"message","message":{"role":"user"}}', 400),
    "lines without a session": ('{"type":"message","message":{}}\n{"a":1}', 400),
    "a broken line": (as_lines(LLAMA_CONV, LLAMA_MESSAGES) + "\n{", 400),
    "many chats": (ours(*[{"title": "", "messages": []}] * 20001), 413),
}


def test_hostile_files_change_nothing(server):
    mine = new_chat(server, "mine")["id"]
    for name, (body, status) in HOSTILE.items():
        reply = server.post("/internal/chats/import", body)
        assert reply.status == status, (name, reply.status, reply.body[:300])
        assert reply.json["error"]["message"], name
        assert titles(server) == ["mine"], name
    assert tree(server, mine)["messages"] == []
    assert server.get("/internal/chats/search?q=good").json["hits"] == []
    assert import_(server, ours(GOOD)) == {"chats": 1, "messages": 1, "skipped": []}
    assert not [p for p in (server.data_dir / "chat-blobs").iterdir()]


def test_odd_files_are_imported_in_part(server):
    circle = [{"id": "1", "parent": "2", "role": "user", "text": "1"}, {"id": "2", "parent": "1", "role": "user", "text": "2"},
              {"id": "3", "parent": "none", "role": "user", "text": "3"}, {"role": "user", "text": "4"},
              {"id": "3", "parent": "3", "role": "user", "text": "5", "state": "answering", "parts": [
                  {"kind": "image", "name": "broken", "data": "!!!"}, {"kind": "x", "name": "gone", "blob": "a" * 64},
                  {"kind": "image", "name": "none"}]}]
    result = import_(server, ours({"title": "x" * 600, "pinned": "yes", "created": -5, "messages": circle}))
    assert result["chats"] == 1 and any("broken" in s for s in result["skipped"])
    assert any("none" in s for s in result["skipped"]) and any("below each other" in s for s in result["skipped"])
    whole, parents, _ = texts(server, "x" * 512)
    assert "1" not in parents and "2" not in parents and parents["3"] is None and parents["4"] is None
    assert all(m["parts"] == [] and m["state"] in ("done", "interrupted") for m in whole["messages"])


@pytest.mark.heavy
def test_a_large_file(server):
    """Larger than the setting body-limit, and than memory for one piece."""
    text = "word " * 100000
    body = ours(*[{"id": str(i), "title": str(i), "messages": [{"role": "user", "text": text}]} for i in range(100)])
    assert len(body) > 40 * 1024 * 1024
    assert import_(server, body)["chats"] == 100
    reply = server.request("POST", "/internal/chats/import", b" " * (256 * 1024 * 1024 + 1),
                           {"Content-Type": "application/json"})
    assert reply.status == 413


def test_kill_during_an_import(house):
    server = house.start()
    text = "some words " * 20000
    body = ours(*[{"id": str(i), "title": str(i), "messages": [{"role": "user", "text": text}]} for i in range(150)])
    connection = server.connect()
    connection.request("POST", "/internal/chats/import", body, {"Content-Type": "application/json"})
    path = server.data_dir / "chats.db-wal"
    wait_until(lambda: path.exists() and path.stat().st_size > 1024 * 1024, what="the import has begun")
    server.kill()
    connection.close()
    server = again(house, server)
    listed = titles(server)
    assert listed == [] or len(listed) == 50, listed  # all or nothing
    assert import_(server, body)["chats"] in (0, 150)
