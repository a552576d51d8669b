"""The table "Who may read and change what" of docs/apis.md, route by route, and what it says beside."""
import contextlib
import json
import os
import pathlib
import re
import tempfile

import pytest
from conftest import ROOT, fake_model, is_endless
from test_doors import ADMIN, BOTH, KEY, bearer, routes
from users import all_as_other_user, as_other_user, needs_another_user

PREFIX = re.compile(r"^/(api/)?v[01](?=/)")
CELLS = {"anonymous": {"yes", "no", "no keys", "own"}, "key": {"yes", "no", "own"}, "owner": {"", "yes"},
         "admin": {"yes", "own"}}


def table():
    """(method, pattern): the row's cells by their heading."""
    text = (ROOT / "docs" / "apis.md").read_text()
    text = text[text.index("### Who may read and change what"):]
    rows = {}
    for line in text[text.index("| what |"):].split("\n\n")[0].splitlines()[2:]:
        what, patterns, *cells = [c.strip() for c in line.strip("|").split("|")]
        row = dict(zip(CELLS, cells))
        assert len(cells) == 4 and all(row[k] in CELLS[k] for k in CELLS), line
        for method, pattern in re.findall(r"`(\w+) (/[^`]*)`", patterns):
            assert (method, pattern) not in rows, f"{method} {pattern} is in two rows"
            rows[method, pattern] = row
    return rows


def served():
    """(method, path) of every route, under one of its prefixes, with the pattern as the table has it."""
    seen = {}
    for method, path, _ in routes():
        seen.setdefault((method, PREFIX.sub("", path).replace("some-id", "{id}")), path)
    return seen


def refused(answer):
    return answer.status in (401, 403) and b"key" in answer.body


def probe(server, method, path, headers):
    """Status and body, of an endless answer the status alone."""
    with contextlib.closing(server.connect()) as c:
        body = None if method == "GET" else "{}"
        c.request(method, path, body, {"Content-Type": "application/json", **headers})
        r = c.getresponse()
        r.body = b"" if r.status == 200 and is_endless(path) else r.read()
        return r


def test_every_route_has_its_row():
    rows = table()
    assert set(served()) == set(rows), "the table has other routes than router/routes.c"


def test_the_table_holds_for_keys(house):
    server, rows = house.start(env=BOTH), table()
    for (method, pattern), path in served().items():
        row = rows[method, pattern]
        if pattern == "/internal/shutdown":
            continue
        for headers, may in (({}, row["anonymous"] == "yes"), (bearer(KEY), row["key"] != "no"), (bearer(ADMIN), True)):
            answer = probe(server, method, path, headers)
            assert refused(answer) != may, (method, path, headers, answer.status, answer.body[:200])
    assert refused(probe(server, "POST", "/internal/shutdown", bearer(KEY)))


@needs_another_user
def test_the_table_holds_for_other_users(house):
    server, rows = house.start(), table()
    asked = [(method, path, None if method == "GET" else {}, {}) for (method, _), path in served().items()]
    for (method, pattern), answer in zip(served(), all_as_other_user(server, asked)):
        may = rows[method, pattern]["anonymous"] != "no"
        assert refused(answer) != may, (method, pattern, answer.status, answer.body[:200])
    assert server.get("/live").status == 200


# ---- paths ----

def register(server, path, headers=None, name="user.m", **more):
    return server.post("/v1/models/register", {"model_name": name, "recipe": "llamacpp", "checkpoint": str(path), **more},
                       headers=headers)


READS = [("GET", "/v1/models", None), ("GET", "/v1/models?show_all=true", None), ("GET", "/v1/models/user.m", None),
         ("GET", "/v1/models/user.m/files?include_paths=true", None), ("POST", "/api/show", {"model": "user.m"}),
         ("POST", "/api/show", {"model": "user.m", "verbose": True}), ("GET", "/api/tags", None), ("GET", "/api/ps", None),
         ("GET", "/engines", None), ("GET", "/engines/m/status", None), ("GET", "/v1/health", None), ("GET", "/status", None),
         ("GET", "/running", None), ("GET", "/v1/models/user.m/options", None), ("GET", "/metrics", None),
         ("GET", "/upstream/user.m/v1/models", None), ("GET", "/logs", None), ("GET", "/downloads?all=true", None),
         ("POST", "/v1/load", {"model_name": "user.m"})]


def test_paths_are_for_admins(house):
    server = house.start(env=BOTH)
    assert register(server, fake_model(house.tmp_path), bearer(ADMIN)).status == 200
    adapter = fake_model(house.tmp_path)
    saved = server.post("/v1/models/user.m/options", {"lora": [{"path": str(adapter), "scale": 1}], "slots": 2},
                        headers=bearer(ADMIN))
    assert saved.status == 200, saved.body
    assert server.post("/v1/load", {"model_name": "user.m"}, headers=bearer(ADMIN)).status == 200
    shown = 0
    for method, path, body in READS:
        for headers in ({}, bearer(KEY)):
            text = server.request(method, path, body, headers).body.decode()
            assert str(house.tmp_path) not in text, (path, headers, text)
        shown += str(house.tmp_path) in server.request(method, path, body, bearer(ADMIN)).body.decode()
    assert shown >= 9
    assert server.get("/v1/models/user.m/options", headers=bearer(KEY)).json["saved"] == {"slots": 2}
    metrics = server.get("/metrics", headers=bearer(ADMIN)).body.decode()
    assert str(house.tmp_path) not in metrics and 'model_name="user.m"' in metrics  # no label, even for an admin


def test_errors_tell_others_no_paths(house):
    """The file is damaged, and the model's process says where it is."""
    server = house.start(env=BOTH)
    model = fake_model(house.tmp_path)
    assert register(server, model, bearer(ADMIN)).status == 200
    model.write_bytes(b"GGUF, but no more")
    messages = [{"role": "user", "content": "x"}]
    asked = [("/v1/chat/completions", {"model": "user.m", "messages": messages}), ("/v1/load", {"model_name": "user.m"}),
             ("/api/chat", {"model": "user.m", "messages": messages}), ("/v1/responses", {"model": "user.m", "input": "x"}),
             ("/v1/messages", {"model": "user.m", "messages": messages, "max_tokens": 5}),
             ("/v1/health/warm?model=user.m", {})]
    for path, body in asked:
        reply = server.post(path, body, headers=bearer(KEY))
        assert reply.status >= 500 and str(house.tmp_path) not in reply.body.decode(), reply.body
        assert model.name in reply.body.decode()  # which file it is, is no secret
        assert str(house.tmp_path) in server.post(path, body, headers=bearer(ADMIN)).body.decode(), path
    lines = server.get("/logs", headers=bearer(KEY)).body.decode()
    assert model.name in lines and str(house.tmp_path) not in lines


def test_clients_names_need_a_key(house):
    server = house.start(env=BOTH)
    server.post("/v1/chat/completions", {"model": "none", "messages": []},
                headers={**bearer(ADMIN), "X-Client-Id": "anna-s-laptop"})
    assert "anna-s-laptop" not in server.get("/metrics").body.decode()
    assert "anna-s-laptop" in server.get("/metrics", headers=bearer(KEY)).body.decode()


def test_what_is_missing_and_what_is_private_sound_the_same(house):
    server = house.start(env=BOTH)
    model = fake_model(house.tmp_path)
    assert register(server, model, bearer(ADMIN)).status == 200
    answers = []
    for path in (model, house.tmp_path / "none.gguf", "/etc/passwd", "/root/none", house.tmp_path):
        body = {"model_name": "user.m", "lora": [{"path": str(path), "scale": 1}]}
        answers.append(server.post("/v1/load", body, headers=bearer(KEY)))
    assert {a.status for a in answers} == {403} and len({a.body for a in answers}) == 1, [a.body for a in answers]


@pytest.fixture
def open_folder():
    """A folder that every user of the machine may look into."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


@needs_another_user
def test_files_are_looked_at_as_the_user_who_asks(house, open_folder):
    """Another user of this machine who has an admin key registers what they could read themselves."""
    server = house.start(env=BOTH)
    private, shared = open_folder / "private", open_folder / "shared"
    for folder, mode in ((private, 0o700), (shared, 0o755)):
        folder.mkdir()
        (folder / "model.gguf").write_bytes(fake_model(house.tmp_path).read_bytes())
        folder.chmod(mode)
    (shared / "locked.gguf").write_bytes((shared / "model.gguf").read_bytes())
    (shared / "locked.gguf").chmod(0o600)

    def as_them(path, name="user.x"):
        return as_other_user(server, "POST", "/v1/models/register",
                             {"model_name": name, "recipe": "llamacpp", "checkpoint": str(path)}, bearer(ADMIN))
    said = set()
    for path in (private / "model.gguf", private / "none.gguf", shared / "locked.gguf", shared / "none.gguf"):
        answer = as_them(path)
        said.add((answer.status, answer.json["message"].replace(str(path), "PATH")))
    assert len(said) == 1 and said.pop()[0] == 404
    assert as_them(shared / "model.gguf").status == 200
    assert register(server, private / "model.gguf", bearer(ADMIN), "user.own").status == 200  # root, here


# ---- what a key may not do beside its routes ----

def test_a_load_changes_nothing_for_others(house):
    server = house.start(env=BOTH)
    assert register(server, fake_model(house.tmp_path), bearer(ADMIN)).status == 200
    for more in ({"save_options": True, "ctx_size": 512}, {"pinned": True}, {"pinned": False},
                 {"llamacpp_args": "--chat-template-file /etc/hostname"}):
        body = {"model_name": "user.m", **more}
        assert refused(server.post("/v1/load", body, headers=bearer(KEY))), more
    assert server.get("/v1/models/user.m", headers=bearer(ADMIN)).json["recipe_options"] == {}
    assert server.post("/v1/load", {"model_name": "user.m", "ctx_size": 512}, headers=bearer(KEY)).status == 200
    assert server.post("/v1/load", {"model_name": "user.m", "pinned": True}, headers=bearer(ADMIN)).status == 200


def test_the_last_answers_figures_are_its_owners(house):
    server = house.start(env=BOTH)
    assert register(server, fake_model(house.tmp_path, tokens=3), bearer(ADMIN)).status == 200
    body = {"model": "user.m", "messages": [{"role": "user", "content": "x"}]}
    assert server.post("/v1/chat/completions", body, headers=bearer(ADMIN)).status == 200
    theirs = server.get("/v1/stats", headers=bearer(KEY)).json
    assert theirs["output_tokens"] == theirs["prompt_tokens"] == 0 and theirs["decode_token_times"] == []
    assert theirs["output_tokens_total"] == 3
    assert server.post("/v1/chat/completions", body, headers=bearer(KEY)).status == 200
    for key in (KEY, ADMIN):
        assert server.get("/v1/stats", headers=bearer(key)).json["output_tokens"] == 3


def test_errors_of_pulls_tell_others_no_paths(house):
    server = house.start("--offline", env=BOTH)
    body = {"model_name": "user.n", "checkpoint": "owner/none:Q4_0"}
    for stream in (False, True):
        for key, shown in ((KEY, False), (ADMIN, True)):
            reply = server.post("/v1/pull", {**body, "stream": stream}, headers=bearer(key))
            assert reply.status == 400 and (str(house.tmp_path) in reply.body.decode()) == shown, reply.body
    for key, shown in ((KEY, False), (ADMIN, True)):
        listed = server.get("/v1/downloads?all=true", headers=bearer(key))
        assert "owner/none" in listed.body.decode() and (str(house.tmp_path) in listed.body.decode()) == shown


# ---- every route that reads ----

IDS = {"/models/{id}": ["user.m", "user.broken", "Listed-GGUF"], "/models/{id}/files": ["user.m", "user.broken"],
       "/models/{id}/options": ["user.m"], "/engines/{id}/status": ["m", "broken"], "/api/blobs/{id}": ["sha256:" + "0" * 64],
       "/upstream/{id}": ["user.m/v1/models", "user.m/slots", "user.m/props", "user.m/health", "user.broken/props"],
       "/logs/stream/{id}": ["user.m"]}
QUERIES = {"/models": ["", "?show_all=true"], "/models/{id}/files": ["", "?include_paths=true"],
           "/downloads": ["", "?all=true"], "/logs": ["", "?level=debug", "?model=user.m"],
           "/pull/variants": ["?checkpoint=/etc/passwd", "?checkpoint=owner/none"],
           "/registry/search": ["?query=x"], "/internal/chats/search": ["?q=x"]}


def readable(own_ids):
    """(pattern, path) of every GET route, once for each thing that there is to read. own_ids: by pattern, the id of
    what the client has left there."""
    for (method, pattern), path in served().items():
        if method != "GET":
            continue
        ids = [own_ids[pattern]] if pattern in own_ids else IDS.get(pattern, ["some-id"])
        for one in ids if "{id}" in pattern else [""]:
            for query in QUERIES.get(pattern, [""]):
                yield pattern, path.replace("some-id", one) + query


def body_of(server, path, headers):
    """What a GET says; of an endless answer what has come at first."""
    with contextlib.closing(server.connect()) as c:
        c.request("GET", path, headers=headers)
        r = c.getresponse()
        endless = r.status == 200 and is_endless(path)
        return r.status, (r.read1(1 << 20) if endless else r.read()).decode(errors="replace")


def test_no_route_shows_a_key_where_files_are(house):
    """The folder of this test holds the data folder, the models' folder and the models."""
    models, folder = {}, str(house.tmp_path)
    models["Listed-GGUF"] = {"checkpoint": "owner/none:Q4_0", "recipe": "llamacpp", "size": 0.1}
    (house.models_dir / "models.json").write_text(json.dumps(models))
    server = house.start("--offline", env=BOTH)
    server.post("/v1/log-level", {"level": "debug"}, headers=bearer(ADMIN))
    broken = fake_model(house.tmp_path)
    options = {"lora": [{"path": str(fake_model(house.tmp_path)), "scale": 1}], "prefix_cache": True, "weight_cache": 1}
    for path, name in ((fake_model(house.tmp_path, tokens=2), "user.m"), (broken, "user.broken")):
        assert register(server, path, bearer(ADMIN), name).status == 200
    broken.write_bytes(b"GGUF, but no more")
    assert server.post("/v1/models/user.m/options", options, headers=bearer(ADMIN)).status == 200
    assert server.post("/v1/load", {"model_name": "user.m"}, headers=bearer(ADMIN)).status == 200
    missing = server.post("/v1/pull", {"model_name": "user.n", "checkpoint": "owner/none:Q4_0", "stream": True},
                          headers=bearer(KEY))
    assert folder not in missing.body.decode(), missing.body
    for key in (ADMIN, KEY):
        server.post("/v1/load", {"model_name": "user.broken"}, headers=bearer(key))
    answer = server.post("/v1/responses", {"model": "user.m", "input": "x"}, headers=bearer(KEY))
    assert answer.status == 200, answer.body
    chat = server.post("/internal/chats", {"title": "x"}, headers=bearer(KEY)).json["id"]
    message = server.post("/internal/messages", {"chat": chat, "role": "user", "text": "x"}, headers=bearer(KEY)).json
    blob = server.request("POST", "/internal/blobs", b"x", {**bearer(KEY), "Content-Type": "image/png"}).json["id"]
    mcp = server.post("/internal/mcp", {"name": "x", "kind": "http", "url": "http://localhost:1/"},
                      headers=bearer(KEY)).json["id"]
    server.post(f"/internal/mcp/{mcp}/refresh", {}, headers=bearer(KEY))
    own_ids = {"/internal/mcp/{id}": mcp, "/responses/{id}": answer.json["id"], "/responses/{id}/input_items": answer.json["id"],
               "/internal/chats/{id}": chat, "/internal/messages/{id}": message["id"], "/internal/blobs/{id}": blob,
               "/internal/requests/{id}": answer.headers["X-Request-Id"].removeprefix("req_")}
    seen = set()
    for pattern, path in readable(own_ids):
        for headers in ({}, bearer(KEY)):
            status, said = body_of(server, path, headers)
            assert folder not in said, (path, headers, said[:2000])
            if headers and status == 200:
                seen.add(pattern)
    # What a key reads was there to be read.
    rows = table()
    empty = {p for (m, p), row in rows.items() if m == "GET" and row["key"] != "no"} - seen
    assert empty <= {"/api/blobs/{id}", "/pull/variants", "/registry/search", "/logs/stream/{id}", "/ui/{id}",
                     "/sw.js", "/internal/messages/{id}/stream"}, empty
    assert folder in body_of(server, "/v1/models/user.m", bearer(ADMIN))[1]
