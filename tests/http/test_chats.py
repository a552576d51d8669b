"""Stored chats: lists, trees of messages, undo, owners, search, files, events, limits, kill -9."""
import contextlib
import hashlib
import json
import os
import threading
import time

import pytest
from conftest import PATIENCE_S, SANITIZED, Server
from test_doors import ADMIN, BOTH, KEY, bearer

OTHER_ID = "0" * 32


def again(house, server):
    """Another server on the same data folder."""
    house.servers.append(Server(server.data_dir, house.backend_dir, house.models_dir))
    return house.servers[-1]


def new_chat(server, title="t", headers=None, **more):
    reply = server.post("/internal/chats", {"title": title, **more}, headers=headers)
    assert reply.status == 201, reply.body
    return reply.json


def say(server, chat, parent, text, role="user", headers=None, **more):
    reply = server.post("/internal/messages", {"chat": chat, "parent": parent, "role": role, "text": text, **more},
                        headers=headers)
    assert reply.status == 201, reply.body
    return reply.json


def patch(server, path, body, headers=None):
    return server.request("PATCH", path, body, headers)


def titles(server, query="", headers=None):
    reply = server.get(f"/internal/chats{query}", headers=headers)
    assert reply.status == 200, reply.body
    return [c["title"] for c in reply.json["chats"]]


def tree(server, chat, headers=None):
    reply = server.get(f"/internal/chats/{chat}", headers=headers)
    assert reply.status == 200, reply.body
    return reply.json


# ---- chats and messages ----

def test_a_chat_has_the_promised_shape(server):
    before = time.time() * 1000 - 1000
    chat = new_chat(server, "Ein Titel", folder="Arbeit", model="m", system="Be brief", params={"temperature": 0.5})
    assert set(chat) == {"id", "title", "folder", "pinned", "created", "updated", "model", "system", "params", "head",
                         "messages", "answering", "asking", "deleted"}
    assert len(chat["id"]) == 32 and chat["params"] == {"temperature": 0.5} and chat["system"] == "Be brief"
    assert before < chat["created"] < before + 60000 and chat["head"] is None and chat["deleted"] is None
    message = say(server, chat["id"], None, "Grüße \U0001F44B \"x\" \\ \n")
    assert set(message) == {"id", "chat", "parent", "role", "created", "text", "reasoning", "parts", "calls", "model",
                            "params", "stats", "state", "finish", "error"}
    assert message["text"] == "Grüße \U0001F44B \"x\" \\ \n" and message["state"] == "done" and message["parts"] == []
    assert server.get(f"/internal/messages/{message['id']}").json == message
    whole = tree(server, chat["id"])
    assert whole["messages"] == [message] and whole["chat"]["head"] == message["id"] and whole["chat"]["messages"] == 1
    listed = server.get("/internal/chats").json
    assert [c["id"] for c in listed["chats"]] == [chat["id"]] and listed["folders"] == [{"name": "Arbeit", "n": 1}]
    assert "system" not in listed["chats"][0] and listed["next"] is None


def test_lists_folders_and_undo(server):
    ids = {title: new_chat(server, title)["id"] for title in "abcd"}
    assert patch(server, f"/internal/chats/{ids['a']}", {"pinned": True, "folder": "F"}).json["pinned"] is True
    assert titles(server)[0] == "a" and titles(server, "?folder=F") == ["a"]
    gone = patch(server, f"/internal/chats/{ids['b']}", {"deleted": True}).json
    assert gone["deleted"] and "b" not in titles(server) and titles(server, "?deleted=true") == ["b"]
    assert patch(server, f"/internal/chats/{ids['b']}", {"deleted": False}).json["deleted"] is None
    assert "b" in titles(server) and titles(server, "?deleted=true") == []
    reply = server.post("/internal/chats/bulk", {"ids": [ids["c"], ids["d"]], "set": {"deleted": True, "folder": "G"}})
    assert reply.status == 200 and sorted(titles(server, "?deleted=true")) == ["c", "d"]
    one_wrong = server.post("/internal/chats/bulk", {"ids": [ids["a"], OTHER_ID], "set": {"deleted": True}})
    assert one_wrong.status == 404 and "a" in titles(server)
    assert server.request("DELETE", f"/internal/chats/{ids['a']}").status == 200
    assert server.get(f"/internal/chats/{ids['a']}").status == 404 and titles(server) == ["b"]


def test_pages(server):
    for i in range(7):
        new_chat(server, str(i))
    seen, before = [], ""
    for _ in range(4):
        page = server.get(f"/internal/chats?limit=2{before}").json
        seen += [c["title"] for c in page["chats"]]
        before = f"&before={page['next']}"
    assert sorted(seen) == [str(i) for i in range(7)] and page["next"] is None


def test_branches_are_deleted_and_restored(server):
    chat = new_chat(server)["id"]
    q = say(server, chat, None, "q")["id"]
    one, two = say(server, chat, q, "one", "assistant")["id"], say(server, chat, q, "two", "assistant")["id"]
    below = say(server, chat, two, "below")["id"]
    assert [m["text"] for m in tree(server, chat)["messages"]] == ["q", "one", "two", "below"]
    assert tree(server, chat)["chat"]["head"] == below
    assert patch(server, f"/internal/chats/{chat}", {"head": one}).json["head"] == one
    reply = server.request("DELETE", f"/internal/messages/{two}")
    assert reply.status == 200 and reply.json["deleted"] > 0
    assert [m["id"] for m in tree(server, chat)["messages"]] == [q, one]
    assert patch(server, f"/internal/messages/{below}", {"deleted": False}).status == 409
    assert patch(server, f"/internal/messages/{two}", {"deleted": False}).status == 200
    assert [m["id"] for m in tree(server, chat)["messages"]] == [q, one, two, below]
    assert patch(server, f"/internal/messages/{q}", {"text": "Q"}).json["text"] == "Q"
    assert tree(server, chat)["messages"][0]["text"] == "Q"


INVALID = [
    ("POST", "/internal/chats", {"titel": "x"}, 400, "titel"),
    ("POST", "/internal/chats", {"title": 1}, 400, "title"),
    ("POST", "/internal/chats", {"params": []}, 400, "params"),
    ("POST", "/internal/chats", [], 400, None),
    ("POST", "/internal/chats", {"title": "x" * 513}, 413, "title"),
    ("POST", "/internal/chats", {"system": "x" * (256 * 1024 + 1)}, 413, "system"),
    ("PATCH", "/internal/chats/CHAT", {"head": OTHER_ID}, 400, "head"),
    ("PATCH", "/internal/chats/CHAT", {"messages": 3}, 400, "messages"),
    ("PATCH", "/internal/chats/CHAT", {"pinned": "yes"}, 400, "pinned"),
    ("PATCH", f"/internal/chats/{OTHER_ID}", {"title": "x"}, 404, None),
    ("GET", "/internal/chats/x", None, 404, None),
    ("GET", "/internal/chats/CHAT/x", None, 404, None),
    ("GET", "/internal/chats?limit=0", None, 400, "limit"),
    ("GET", "/internal/chats?limit=201", None, 400, "limit"),
    ("GET", "/internal/chats?before=x", None, 400, "before"),
    ("GET", "/internal/chats?deleted=1", None, 400, "deleted"),
    ("GET", "/internal/chats/search", None, 400, "q"),
    ("GET", f"/internal/chats/search?q={'x' * 1025}", None, 413, "q"),
    ("GET", "/internal/chats/export?format=pdf", None, 400, "format"),
    ("GET", f"/internal/chats/export?id={OTHER_ID}", None, 404, None),
    ("POST", "/internal/chats/bulk", {"ids": "x", "set": {}}, 400, "ids"),
    ("POST", "/internal/chats/bulk", {"ids": [], "set": {"title": "x"}}, 400, "set.title"),
    ("POST", "/internal/chats/bulk", {"ids": [OTHER_ID] * 1001, "set": {}}, 413, "ids"),
    ("POST", "/internal/messages", {"chat": "CHAT", "role": "user"}, 400, "text"),
    ("POST", "/internal/messages", {"chat": "CHAT", "role": "boss", "text": "x"}, 400, "role"),
    ("POST", "/internal/messages", {"chat": OTHER_ID, "role": "user", "text": "x"}, 404, None),
    ("POST", "/internal/messages", {"chat": "CHAT", "parent": OTHER_ID, "role": "user", "text": "x"}, 400, "parent"),
    ("POST", "/internal/messages", {"chat": "CHAT", "role": "user", "text": "x", "state": "done"}, 400, "state"),
    ("POST", "/internal/messages", {"chat": "CHAT", "role": "user", "text": "x", "parts": [{"kind": "video"}]}, 400,
     "parts[0].kind"),
    ("POST", "/internal/messages", {"chat": "CHAT", "role": "user", "text": "x",
                                    "parts": [{"kind": "image", "blob": "../x"}]}, 400, "parts[0].blob"),
    ("POST", "/internal/messages", {"chat": "CHAT", "role": "user", "text": "x",
                                    "parts": [{"kind": "image", "blob": "a" * 64}]}, 400, "parts"),
    ("PATCH", f"/internal/messages/{OTHER_ID}", {"text": "x"}, 404, None),
    ("DELETE", "/internal/messages/none", None, 404, None),
    ("POST", "/internal/presets", {}, 400, "name"),
    ("POST", "/internal/presets", {"name": ""}, 400, "name"),
    ("POST", "/internal/presets", {"name": "x" * 513}, 413, "name"),
    ("POST", "/internal/presets", {"name": "x", "model": "m"}, 400, "model"),
    ("POST", "/internal/presets", {"name": "x", "params": []}, 400, "params"),
    ("POST", "/internal/presets", {"name": "x", "params": {"stop": "x" * 256 * 1024}}, 413, "params"),
    ("POST", "/internal/presets", {"name": "x", "system": "x" * (256 * 1024 + 1)}, 413, "system"),
    ("DELETE", f"/internal/presets/{OTHER_ID}", None, 404, None),
    ("DELETE", "/internal/presets/x", None, 404, None),
    ("GET", "/internal/blobs/../chats.db", None, 404, None),
    ("GET", f"/internal/blobs/{'a' * 64}", None, 404, None),
]


def test_what_is_wrong_is_named(server):
    chat = new_chat(server)["id"]
    for method, path, body, status, param in INVALID:
        body = json.loads(json.dumps(body).replace("CHAT", chat))
        reply = server.request(method, path.replace("CHAT", chat), body)
        assert reply.status == status, (method, path, body, reply.status, reply.body)
        if param:
            assert reply.json["error"]["param"] == param, (path, body, reply.body)
    assert titles(server) == ["t"] and tree(server, chat)["messages"] == []


def test_long_messages(server):
    chat = new_chat(server)["id"]
    longest = "\n" * (4 * 1024 * 1024)  # twice as long as JSON
    message = say(server, chat, None, longest)
    assert message["text"] == longest
    assert server.post("/internal/messages", {"chat": chat, "role": "user", "text": longest + "x"}).status == 413
    assert tree(server, chat)["messages"][0]["text"] == longest
    assert patch(server, f"/internal/messages/{message['id']}", {"text": "short"}).json["text"] == "short"


# ---- owners ----

def test_keys_see_their_own(house):
    server = house.start(env=BOTH)
    mine, theirs = bearer(KEY), bearer(ADMIN)
    chat = new_chat(server, "mine", mine)["id"]
    message = say(server, chat, None, "my secret", headers=mine)["id"]
    blob = server.request("POST", "/internal/blobs", b"my picture", {**mine, "Content-Type": "image/png"}).json["id"]
    assert titles(server, headers=mine) == ["mine"] and titles(server, headers=theirs) == []
    for method, path, body in (("GET", f"/internal/chats/{chat}", None), ("GET", f"/internal/messages/{message}", None),
                               ("PATCH", f"/internal/chats/{chat}", {"title": "x"}),
                               ("PATCH", f"/internal/messages/{message}", {"text": "x"}),
                               ("DELETE", f"/internal/chats/{chat}", None),
                               ("DELETE", f"/internal/messages/{message}", None),
                               ("POST", "/internal/chats/bulk", {"ids": [chat], "set": {"deleted": True}}),
                               ("POST", "/internal/messages", {"chat": chat, "role": "user", "text": "x"}),
                               ("GET", f"/internal/chats/export?id={chat}", None),
                               ("GET", f"/internal/blobs/{blob}", None)):
        reply = server.request(method, path, body, theirs)
        assert reply.status == 404, (method, path, reply.status, reply.body)
    assert server.get("/internal/chats/search?q=secret", headers=theirs).json["hits"] == []
    assert b"secret" not in server.get("/internal/chats/export", headers=theirs).body
    own = new_chat(server, "theirs", theirs)["id"]
    part = [{"kind": "image", "blob": blob, "name": "p"}]
    assert server.post("/internal/messages", {"chat": own, "role": "user", "text": "x", "parts": part},
                       headers=theirs).status == 400
    assert tree(server, chat, mine)["messages"][0]["text"] == "my secret"
    assert titles(server, headers=mine) == ["mine"]


# ---- presets ----

def presets(server, headers=None):
    reply = server.get("/internal/presets", headers=headers)
    assert reply.status == 200, reply.body
    return reply.json["presets"]


def new_preset(server, name, headers=None, **more):
    reply = server.post("/internal/presets", {"name": name, **more}, headers=headers)
    assert reply.status == 201, reply.body
    return reply.json


def test_presets(house, server):
    assert presets(server) == []
    pirate = new_preset(server, "Pirat", system="Arr", params={"temperature": 1.5, "stop": ["."]})
    assert set(pirate) == {"id", "name", "system", "params", "updated"}
    assert (pirate["system"], pirate["params"]) == ("Arr", {"temperature": 1.5, "stop": ["."]})
    new_preset(server, "allein")
    assert [p["name"] for p in presets(server)] == ["allein", "Pirat"]
    assert presets(server)[0]["system"] == "" and presets(server)[0]["params"] == {}
    changed = new_preset(server, "Pirat", system="Ahoi")  # the same name: replaced
    assert (changed["id"], changed["system"], changed["params"]) == (pirate["id"], "Ahoi", {})
    with contextlib.closing(Events(server)) as events:
        assert server.request("DELETE", f"/internal/presets/{pirate['id']}").status == 200
        assert events.next() == {"type": "presets"}
    assert server.request("DELETE", f"/internal/presets/{pirate['id']}").status == 404
    server.stop()
    assert [p["name"] for p in presets(again(house, server))] == ["allein"]


def test_presets_of_an_owner_are_limited(server):
    for n in range(200):
        new_preset(server, f"p{n}")
    reply = server.post("/internal/presets", {"name": "one more"})
    assert reply.status == 413 and "200" in reply.json["error"]["message"], reply.body
    new_preset(server, "p7", system="replaced")
    assert len(presets(server)) == 200


def test_presets_are_their_owners(house):
    server = house.start(env=BOTH)
    mine = new_preset(server, "mine", bearer(KEY), system="secret")
    assert presets(server, bearer(ADMIN)) == []
    assert server.request("DELETE", f"/internal/presets/{mine['id']}", headers=bearer(ADMIN)).status == 404
    assert new_preset(server, "mine", bearer(ADMIN))["id"] != mine["id"]
    assert presets(server, bearer(KEY))[0]["system"] == "secret"


# ---- search ----

def marked(hit):
    return "".join(f"[{s['text']}]" if s["mark"] else s["text"] for s in hit["snippet"])


def search(server, query):
    from urllib.parse import quote
    reply = server.get(f"/internal/chats/search?q={quote(query)}")
    assert reply.status == 200, reply.body
    return reply.json["hits"]


def test_search(server):
    chat = new_chat(server, "Reise nach Köln")["id"]
    message = say(server, chat, None, "Wie weit ist es nach <b>Köln</b>? \"Über\" die A3 & dann?")["id"]
    hits = search(server, "koln")
    assert [h["message"] for h in hits] == [None, message] and {h["chat"] for h in hits} == {chat}
    assert marked(hits[0]) == "Reise nach [Köln]"
    assert marked(hits[1]) == 'Wie weit ist es nach <b>[Köln]</b>? "Über" die A3 & dann?'
    assert hits[0]["title"] == "Reise nach Köln" and hits[1]["when"] > 0
    assert len(search(server, "KÖLN")) == 2 and len(search(server, "wie wei")) == 1
    assert len(search(server, '"weit ist"')) == 1 and search(server, '"ist weit"') == []
    for query in ('"', "AND", "title:x", "a OR b", "(", "*", "^k", "NEAR(a b)", "\\", "'; DROP TABLE chat; --", "%"):
        search(server, query)  # nothing in a query is syntax
    assert len(search(server, "uber")) == 1
    assert patch(server, f"/internal/chats/{chat}", {"deleted": True}).status == 200
    assert search(server, "koln") == []


# ---- files ----

def put_blob(server, data, kind="image/png", headers=None):
    return server.request("POST", "/internal/blobs", data, {"Content-Type": kind, **(headers or {})})


def test_files(server):
    data = os.urandom(300000)
    reply = put_blob(server, data, "Image/PNG; x=y")
    assert reply.status == 201
    assert reply.json == {"id": hashlib.sha256(data).hexdigest(), "bytes": len(data), "type": "image/png"}
    blob = reply.json["id"]
    got = server.get(f"/internal/blobs/{blob}")
    assert got.body == data and got.headers["Content-Type"] == "image/png"
    assert got.headers["X-Content-Type-Options"] == "nosniff" and "sandbox" in got.headers["Content-Security-Policy"]
    assert got.headers["Content-Disposition"] is None
    path = server.data_dir / "chat-blobs" / blob
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert [p.name for p in path.parent.iterdir()] == [blob]
    chat = new_chat(server)["id"]
    part = {"kind": "image", "blob": blob, "name": "a.png", "type": "image/png", "bytes": len(data)}
    assert say(server, chat, None, "x", parts=[part, part])["parts"] == [part, part]
    for kind in ("image/svg+xml", "text/html", "application/pdf", "weird", ""):
        html = put_blob(server, b"<script>alert(1)</script>" + kind.encode(), kind).json["id"]
        shown = server.get(f"/internal/blobs/{html}")
        assert shown.headers["Content-Type"] == "application/octet-stream", kind
        assert shown.headers["Content-Disposition"] == "attachment"
    assert put_blob(server, b"").status == 400
    assert server.request("HEAD", f"/internal/blobs/{blob}").status == 200


def test_files_are_limited(server):
    most = 64 * 1024 * 1024
    reply = put_blob(server, b"x" * most)
    assert reply.status == 201 and reply.json["bytes"] == most
    reply = put_blob(server, b"x" * (most + 1))
    assert reply.status == 413 and "67108864" in reply.json["error"]["message"]
    got = server.get(f"/internal/blobs/{hashlib.sha256(b'x' * most).hexdigest()}")
    assert len(got.body) == most


# ---- events ----

class Events:
    """The events of a client that follows its chats."""
    def __init__(self, server, headers=None):
        self.connection = server.connect()
        self.connection.request("GET", "/internal/chats/events", headers=headers or {})
        self.response = self.connection.getresponse()
        assert self.response.status == 200, self.response.read()
        assert self.response.readline() == b": open\n"

    def next(self):
        while line := self.response.readline():
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        return None

    def close(self):
        self.connection.close()


def test_changes_are_told(house):
    server = house.start(env=BOTH)
    mine, theirs = Events(server, bearer(KEY)), Events(server, bearer(ADMIN))
    chat = new_chat(server, "t", bearer(KEY))
    event = mine.next()
    assert event["type"] == "chat" and event["chat"]["id"] == chat["id"] and event["chat"]["title"] == "t"
    message = say(server, chat["id"], None, "x", headers=bearer(KEY))["id"]
    assert mine.next() == {"type": "message", "chat": chat["id"], "message": message, "state": "done"}
    assert mine.next()["chat"]["messages"] == 1
    server.request("DELETE", f"/internal/messages/{message}", headers=bearer(KEY))
    assert mine.next()["chat"]["messages"] == 0
    assert mine.next() == {"type": "gone", "chat": chat["id"], "message": message}
    server.request("DELETE", f"/internal/chats/{chat['id']}", headers=bearer(KEY))
    assert mine.next() == {"type": "gone", "chat": chat["id"]}
    new_chat(server, "other", bearer(ADMIN))
    assert theirs.next()["chat"]["title"] == "other"  # and nothing before it
    server.process.terminate()
    assert mine.next() is None and theirs.next() is None
    assert server.process.wait(PATIENCE_S) == 0


@pytest.mark.heavy
def test_a_slow_follower_is_told_to_read_anew(server):
    slow = server.connect()
    slow.request("GET", "/internal/chats/events")
    chat = new_chat(server)["id"]
    active = server.get("/health").status
    assert active == 200

    def name_it():
        for i in range(400):
            assert patch(server, f"/internal/chats/{chat}", {"title": f"{i} " + "x" * 500,
                                                             "folder": "y" * 500}).status == 200
    threads = [threading.Thread(target=name_it) for _ in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with contextlib.closing(slow):
        text = slow.getresponse().read()  # it ends
    assert text.endswith(b'data: {"type":"resync"}\n\n')
    assert len(text) < 12 * 1024 * 1024


# ---- the database ----

def test_kill_keeps(house):
    server = house.start()
    chat = new_chat(server, "kept")["id"]
    last = None
    for i in range(20):
        last = say(server, chat, last, f"message {i}")["id"]
    server.kill()
    server = again(house, server)
    whole = tree(server, chat)
    assert [m["text"] for m in whole["messages"]] == [f"message {i}" for i in range(20)]
    assert whole["chat"]["head"] == last


def test_a_damaged_database_is_reported(house):
    server = house.start()
    new_chat(server)
    server.stop()
    path = server.data_dir / "chats.db"
    path.write_bytes(b"not a database" * 1000)
    house.servers.append(Server(server.data_dir, house.backend_dir, house.models_dir, env=BOTH))
    server = house.servers[-1]
    for key, sees_path in ((KEY, False), (ADMIN, True)):
        reply = server.get("/internal/chats", headers=bearer(key))
        assert reply.status == 500 and "chats.db is damaged" in reply.json["error"]["message"]
        assert (str(house.tmp_path) in reply.body.decode()) == sees_path
    assert server.get("/live").status == 200 and server.get("/v1/models", headers=bearer(KEY)).status == 200
    assert path.read_bytes() == b"not a database" * 1000


def test_nothing_is_opened_before_use(server):
    assert server.get("/v1/models").status == 200
    assert not (server.data_dir / "chats.db").exists()
    server.get("/internal/chats")
    assert (server.data_dir / "chats.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.heavy
@pytest.mark.release
def test_many_messages(house):
    """A chat of 10,000 messages among 5,000 chats."""
    server = house.start()
    chats = [{"id": f"c{i}", "title": f"chat {i}", "messages": [
        {"id": "1", "role": "user", "text": f"hello {i}"}]} for i in range(5000)]
    chats.append({"id": "long", "title": "long", "messages": [
        {"id": str(i), "parent": str(i - 1) if i else None, "role": ("user", "assistant")[i % 2],
         "text": f"message number {i} " + "with some words " * 20} for i in range(10000)]})
    reply = server.post("/internal/chats/import", {"format": "quince-chats", "chats": chats})
    assert reply.status == 200 and reply.json == {"chats": 5001, "messages": 15000, "skipped": []}, reply.body[:300]
    long = next(h["chat"] for h in search(server, "long") if h["message"] is None)
    page = server.get("/internal/chats?limit=200").json
    whole = tree(server, long)
    found = server.get("/internal/chats/search?q=message%20number").json
    assert len(page["chats"]) == 200 and len(whole["messages"]) == 10000
    # A search may take 300 ms: it takes 5, and under the address sanitizer about 400.
    assert len(found["hits"]) == 30 and not found["incomplete"] or SANITIZED and found["incomplete"]
