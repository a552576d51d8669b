"""Who may come in: seen from a web page in the user's browser, from another machine of the network, and
from another user of this machine."""
import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys

import pytest
from conftest import BUILD, PATIENCE_S, ROOT, fake_model, free_port, raw_connection, wait_until

KEY = "an-api-key-of-the-environment-1"
ADMIN = "an-admin-key-of-the-environment-2"
BOTH = {"QUINCE_API_KEY": KEY, "QUINCE_ADMIN_API_KEY": ADMIN}


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def routes():
    """(method, path, class) of every row of the table of routes, under each of its prefixes."""
    text = (ROOT / "router" / "routes.c").read_text()
    table = text[text.index("static const struct qn_route table[]"):]
    table = table[:table.index("\n};")]
    rows = re.findall(r'\{"(\w+)",\s*"(/[^"]*)",\s*(QN_AT_\w+),(.*?)\}', table.replace("{id}", "<id>"), re.S)
    assert len(rows) == len(re.findall(r'\{"[A-Z]+"', table)) > 70
    for method, pattern, places, rest in rows:
        kind = (re.search(r"QN_(OPEN|ADMIN|METRICS)", rest) or [None, "KEY"])[1]
        path = pattern.replace("<id>", "some-id")
        if places in ("QN_AT_ROOT", "QN_AT_BOTH"):
            yield method, path, kind
        if places in ("QN_AT_PREFIXES", "QN_AT_BOTH"):
            for prefix in ("/api/v0", "/api/v1", "/v0", "/v1"):
                yield method, prefix + path, kind


@pytest.fixture
def locked(house):
    return house.start(env=BOTH)


def test_every_route_has_its_door(locked):
    """Without a key nothing but what says that the server lives; with an API key nothing that changes it."""
    for method, path, kind in routes():
        body = {} if method != "GET" else None
        reply = locked.request(method, path, body)
        if kind in ("OPEN", "METRICS"):
            assert reply.status not in (401, 403), (method, path)
            continue
        assert reply.status == 401, (method, path, reply.status)
        assert reply.headers["WWW-Authenticate"] == "Bearer"
        assert "key" in json.dumps(reply.json["error"]), (path, reply.body)
        assert locked.request(method, path, body, bearer("wrong")).status == 401
        if kind == "ADMIN":
            assert locked.request(method, path, body, bearer(KEY)).status == 403, (method, path)
    assert locked.request("HEAD", "/v1/models").status == 401
    assert locked.get("/v1/models", headers=bearer(KEY)).status == 200
    assert locked.get("/v1/models", headers=bearer(ADMIN)).status == 200
    assert locked.get("/internal/config", headers=bearer(ADMIN)).status == 200


def test_where_a_key_may_stand(locked):
    good = [bearer(KEY), {"Authorization": f"bearer  {KEY}"}, {"x-api-key": KEY}, {"X-Api-Key": ADMIN},
            {"X-Admin-Token": ADMIN}, {"Authorization": "Bearer not-needed", "x-api-key": KEY}]
    bad = [{"Authorization": KEY}, {"Authorization": f"Basic {KEY}"}, {"Authorization": f"Bearer{KEY}"},
           {"Authorization": "Bearer "}, {"x-api-key": ""}, {"Cookie": f"api_key={KEY}"}, bearer(KEY[:-1]),
           bearer(KEY + "x"), bearer(KEY.upper()), bearer("x" * 8000), bearer(KEY + "\t, " + KEY)]
    for headers in good:
        assert locked.get("/v1/models", headers=headers).status == 200, headers
    for headers in bad:
        assert locked.get("/v1/models", headers=headers).status == 401, headers
    # In an address it would end up in logs and histories.
    assert locked.get(f"/v1/models?api_key={KEY}").status == 401


def test_the_refusal_speaks_each_dialect(locked):
    chat = {"model": "m", "messages": []}
    assert locked.post("/v1/chat/completions", chat).json["error"]["code"] == "invalid_api_key"
    assert locked.post("/v1/messages", chat).json["error"]["type"] == "authentication_error"
    assert isinstance(locked.post("/api/chat", chat).json["error"], str)
    assert locked.post("/v1/load", {}).json["status"] == "error"
    reply = locked.post("/v1/messages", chat, headers={"x-api-key": KEY})
    assert reply.status in (400, 404)


def test_the_api_key_is_the_admin_key_when_there_is_no_other(house):
    for env in ({"QUINCE_API_KEY": KEY}, {"LEMONADE_API_KEY": KEY}):
        server = house.start(env=env)
        assert server.get("/internal/config").status == 401
        assert server.get("/internal/config", headers=bearer(KEY)).status == 200
        assert server.get("/v1/models").status == 401
    server = house.start(env={"LEMONADE_API_KEY": KEY, "LEMONADE_ADMIN_API_KEY": ADMIN})
    assert server.get("/internal/config", headers=bearer(KEY)).status == 403
    assert server.get("/internal/config", headers=bearer(ADMIN)).status == 200


def test_secrets_are_nowhere(house):
    """Not in the log, not in the catalog, not in the environment of a model's process."""
    server = house.start("--log-level", "debug", env=BOTH)
    made = server.post("/internal/keys", {"name": "phone"}, headers=bearer(ADMIN)).json["key"]
    server.get("/v1/models", headers=bearer("a-wrong-secret-typed-by-mistake"))
    model = server.post("/v1/models/register", {
        "model_name": "user.m", "recipe": "llamacpp",
        "checkpoint": str(fake_model(house.tmp_path))}, headers=bearer(ADMIN))
    assert model.status == 200
    assert server.post("/v1/load", {"model_name": "user.m"}, headers=bearer(made)).status == 200
    for pid in server.children():
        environment = open(f"/proc/{pid}/environ", "rb").read()
        assert b"API_KEY" not in environment
    places = [p for p in server.data_dir.rglob("*") if p.is_file()]
    assert any(p.name == "catalog.db" for p in places)
    server.stop()
    for path in places:
        text = path.read_bytes() if path.exists() else b""
        for secret in (KEY, ADMIN, made, "a-wrong-secret-typed-by-mistake"):
            assert secret.encode() not in text, (path, secret)


def test_strangers_do_not_look_inside(house):
    """Open routes say that the server lives; what models are is for keys, processes and their logs for admins."""
    server = house.start(env=BOTH)
    assert server.post("/v1/models/register", {"model_name": "user.m", "recipe": "llamacpp", "checkpoint": str(
        fake_model(house.tmp_path))}, headers=bearer(ADMIN)).status == 200
    assert server.post("/v1/load", {"model_name": "user.m"}, headers=bearer(KEY)).status == 200
    for path in ("/health", "/v1/health", "/api/v1/health", "/status"):
        (model,) = server.get(path).json["all_models_loaded"]
        assert model["model_name"] == "user.m" and model["loaded"] is True
        assert not {"backend_url", "pid", "checkpoint", "recipe_options", "reason"} & set(model)
        assert "failed_models" not in server.get(path).json
        assert str(house.tmp_path) not in server.get(path).body.decode()
        (model,) = server.get(path, headers=bearer(KEY)).json["all_models_loaded"]
        assert {"checkpoint", "recipe_options"} <= set(model) and not {"backend_url", "pid"} & set(model)
        assert "failed_models" not in server.get(path, headers=bearer(KEY)).json
        (model,) = server.get(path, headers=bearer(ADMIN)).json["all_models_loaded"]
        assert {"backend_url", "pid", "checkpoint", "recipe_options"} <= set(model)
        assert server.get(path, headers=bearer(ADMIN)).json["failed_models"] == []


def spools(server):
    """Descriptors of files in which bodies are kept."""
    found = []
    for fd in os.listdir(f"/proc/{server.process.pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            name = os.readlink(f"/proc/{server.process.pid}/fd/{fd}")
            if "quince-" in name or "/tmp/#" in name:
                found.append(name)
    return found


@pytest.mark.parametrize("request_line, answer", [
    ("POST /v1/chat/completions", 401), ("GET /live", 200), ("HEAD /health", 200), ("GET /", 200),
    ("OPTIONS /v1/load", 204), ("POST /live", 405), ("GET /v1/models", 401)])
def test_who_has_no_key_fills_no_disk(locked, request_line, answer):
    """A body is looked at when its sender may come in, and where one says anything."""
    spool = spools(locked)
    with contextlib.closing(raw_connection(locked)) as s:
        s.sendall(request_line.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  b"Content-Length: 8000000\r\n\r\n" + b" " * 7_999_999)
        assert locked.get("/live").status == 200  # the bytes have been seen to
        assert spools(locked) == spool
        s.sendall(b" ")
        assert s.recv(20).startswith(f"HTTP/1.1 {answer} ".encode())


# ---- keys of the catalog ----

def test_keys_come_and_go(house):
    server = house.start(env={"QUINCE_ADMIN_API_KEY": ADMIN})
    admin = bearer(ADMIN)
    reply = server.post("/internal/keys", {"name": "phone"}, headers=admin)
    assert reply.status == 200 and reply.headers["Cache-Control"] == "no-store"
    phone = reply.json["key"]
    assert re.fullmatch(r"qk-[0-9a-f]{48}", phone)
    boss = server.post("/internal/keys", {"name": "boss", "admin": True}, headers=admin).json["key"]
    assert server.get("/v1/models", headers=bearer(phone)).status == 200
    assert server.get("/internal/keys", headers=bearer(phone)).status == 403
    listed = server.get("/internal/keys", headers=bearer(boss)).json["keys"]
    assert [(k["name"], k["admin"], k["from"]) for k in listed] == [
        ("environment-admin", True, "environment"), ("phone", False, "catalog"), ("boss", True, "catalog")]
    assert phone not in json.dumps(listed) and "sha256" not in json.dumps(listed)
    server.stop()
    server = type(server)(server.data_dir, house.backend_dir, house.models_dir)
    house.servers.append(server)
    assert server.get("/v1/models").status == 401
    assert server.get("/v1/models", headers=bearer(phone)).status == 200
    assert server.request("DELETE", "/internal/keys/phone", headers=bearer(phone)).status == 403
    assert server.request("DELETE", "/internal/keys/phone", headers=bearer(boss)).status == 200
    assert server.get("/v1/models", headers=bearer(phone)).status == 401
    assert server.request("DELETE", "/internal/keys/phone", headers=bearer(boss)).status == 404
    assert server.request("DELETE", "/internal/keys/boss", headers=bearer(boss)).status == 200
    assert server.get("/v1/models").status == 200  # none is left: open on this machine


def test_wrong_keys_are_refused(locked):
    admin = bearer(ADMIN)
    for name in ("", "a b", "../x", "a/b", "é", "x" * 65, "environment", 5, None):
        reply = locked.post("/internal/keys", {"name": name}, headers=admin)
        assert reply.status in (400, 409), name
    assert locked.post("/internal/keys", {"name": "a", "admin": "yes"}, headers=admin).status == 400
    assert locked.post("/internal/keys", {"name": "a"}, headers=admin).status == 200
    assert locked.post("/internal/keys", {"name": "a"}, headers=admin).status == 409
    assert locked.request("DELETE", "/internal/keys/environment", headers=admin).status == 409
    assert locked.request("DELETE", "/internal/keys/..%2fa", headers=admin).status == 404
    assert len(locked.get("/internal/keys", headers=admin).json["keys"]) == 3


def test_a_damaged_key_is_refused(house):
    server = house.start()
    server.post("/internal/keys", {"name": "phone"})
    server.stop()
    with contextlib.closing(sqlite3.connect(server.data_dir / "catalog.db")) as db:
        db.execute("UPDATE api_key SET sha256 = x'00'")
        db.commit()
    with pytest.raises(RuntimeError, match="has an invalid key"):
        type(server)(server.data_dir, house.backend_dir, house.models_dir)


# ---- a web page in the user's browser ----

def test_rebinding_is_refused(server):
    """A foreign name that is made to point here: the browser believes that the page is ours."""
    for host in ("evil.example", "evil.example:13305", "localhost.evil.example", "127.0.0.1.evil.example",
                 "192.168.1.5", "[::2]", "localhost:1x", "a@localhost", "", "0.0.0.0", "2130706433"):
        for path in ("/v1/models", "/live", "/internal/config", "/"):
            reply = server.get(path, headers={"Host": host})
            assert reply.status in (400, 403), (host, path, reply.status)
            assert not reply.headers["Access-Control-Allow-Origin"]
    for host in ("localhost", "LOCALHOST:5", "127.0.0.1", "[::1]:80", "quince.localhost"):
        assert server.get("/live", headers={"Host": host}).status == 200, host


def ask_raw(server, text):
    with contextlib.closing(raw_connection(server)) as s:
        s.sendall(text.encode())
        s.shutdown(socket.SHUT_WR)
        data = b""
        while True:
            piece = s.recv(65536)
            if not piece:
                break
            data += piece
    return int(data.split()[1]) if data else 0


def test_unclear_hosts_are_refused(server):
    good = ask_raw(server, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert good == 200
    for head in ("GET /v1/models HTTP/1.1\r\n", "GET /v1/models HTTP/1.0\r\n",
                 "GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n",
                 "GET http://evil.example/v1/models HTTP/1.1\r\nHost: evil.example\r\n",
                 "GET /v1/models HTTP/1.1\r\nX-Forwarded-Host: localhost\r\nHost: evil.example\r\n"):
        assert ask_raw(server, head + "Connection: close\r\n\r\n") in (0, 400, 403, 404), head


def test_foreign_pages_are_refused(server):
    for origin in ("https://evil.example", "null", "http://localhost.evil.example", "file://", "",
                   "http://localhost@evil.example", "chrome-extension://abc", "https://127.0.0.1.evil.example"):
        for method, path in (("POST", "/v1/unload"), ("GET", "/v1/models"), ("OPTIONS", "/v1/load"),
                             ("POST", "/api/pull"), ("POST", "/internal/shutdown")):
            reply = server.request(method, path, headers={"Origin": origin})
            assert reply.status == 403, (origin, path)
            assert not reply.headers["Access-Control-Allow-Origin"]
    assert server.process.poll() is None


def test_pages_without_an_origin_are_refused(server):
    """Pictures, scripts and forms of other sites; going to a page is not asking."""
    foreign = {"Sec-Fetch-Site": "cross-site"}
    for path in ("/v1/models", "/v1/pull/variants?checkpoint=a/b", "/"):
        assert server.get(path, headers={**foreign, "Sec-Fetch-Mode": "no-cors"}).status == 403
    assert server.get("/", headers={**foreign, "Sec-Fetch-Mode": "navigate"}).status == 200
    assert server.request("POST", "/v1/unload", headers={**foreign, "Sec-Fetch-Mode": "navigate"}).status == 403
    for site in ("same-origin", "same-site", "none"):
        assert server.get("/v1/models", headers={"Sec-Fetch-Site": site}).status == 200


def test_forms_change_nothing(house):
    """What a page can send without asking first: no type that is JSON."""
    server = house.start()
    model = house.model(server, "m")
    assert server.post("/v1/load", {"model_name": model}).status == 200
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        for path in ("/v1/unload", "/v1/delete", "/internal/set", "/internal/keys", "/v1/params"):
            for page in ({"Origin": f"http://127.0.0.1:{server.port}"}, {"Sec-Fetch-Site": "same-origin"}):
                reply = server.request("POST", path, json.dumps({"model_name": model, "name": "x", "idle": 1}),
                                       {"Content-Type": kind, **page})
                assert reply.status == 415, (kind, path, reply.status)
    assert server.get("/v1/health").json["model_loaded"] == model
    assert server.get("/internal/keys").json["keys"] == []


def test_broken_json_never_has_effects(house):
    server = house.start()
    model = house.model(server, "m")
    assert server.post("/v1/load", {"model_name": model}).status == 200
    for path in ("/v1/unload", "/api/v1/unload", "/v1/delete", "/v1/pull", "/v1/load", "/internal/set",
                 "/internal/keys", "/internal/cleanup-cache", "/v1/downloads/control", "/internal/shutdown"):
        for body in ("{", "[1", '{"model_name": ', "null", "[]", '"x"', "\xff{}"):
            if path == "/internal/shutdown":
                continue
            reply = server.request("POST", path, body.encode("latin-1"), {"Content-Type": "application/json"})
            assert reply.status == 400, (path, body, reply.status)
    assert server.get("/v1/health").json["model_loaded"] == model
    assert server.get("/v1/models/" + model).status == 200


def test_pages_of_this_machine(server):
    """May use models, as they always could, but not change the server: another user may serve them."""
    other = {"Origin": "http://localhost:3000"}
    own = {"Origin": f"http://localhost:{server.port}", "Host": f"localhost:{server.port}"}
    for headers in (other, own, {"Origin": "vscode-webview://x"}):
        reply = server.get("/v1/models", headers=headers)
        assert reply.status == 200
        assert reply.headers["Access-Control-Allow-Origin"] == headers["Origin"]
        assert "Origin" in reply.headers["Vary"]
    assert server.post("/internal/set", {"idle": 9}, headers=other).status == 403
    assert server.post("/internal/keys", {"name": "x"}, headers={"Origin": "vscode-webview://x"}).status == 403
    assert server.post("/internal/set", {"idle": 9}, headers=own).status == 200
    # Who asks beforehand is told which headers may come; that needs no key.
    reply = server.request("OPTIONS", "/v1/chat/completions", headers={
        **other, "Access-Control-Request-Method": "POST", "Access-Control-Request-Private-Network": "true"})
    assert reply.status == 204 and "POST" in reply.headers["Access-Control-Allow-Methods"]
    assert "X-Api-Key" in reply.headers["Access-Control-Allow-Headers"]
    assert reply.headers["Access-Control-Allow-Private-Network"] == "true"
    assert not reply.headers["Access-Control-Allow-Credentials"]


def test_who_asks_through_a_proxy_may_be_anybody(server):
    """A tunnel runs as the owner, or as root, and lets the world in."""
    for header in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host", "CF-Connecting-IP"):
        assert server.post("/internal/set", {"idle": 9}, headers={header: "127.0.0.1"}).status == 403, header
        assert server.get("/v1/models", headers={header: "127.0.0.1"}).status == 200
    key = server.post("/internal/keys", {"name": "boss", "admin": True}).json["key"]
    assert server.post("/internal/set", {"idle": 9}, headers={"Via": "1.1 x", **bearer(key)}).status == 200


def test_allowed_names_and_pages(server):
    page, name = {"Origin": "https://chat.example.org"}, {"Host": "box.lan:13305"}
    assert server.get("/v1/models", headers=page).status == 403
    assert server.get("/v1/models", headers=name).status == 403
    assert server.post("/internal/set", {"allow_origins": "https://chat.example.org",
                                         "allow_hosts": "box.lan"}).status == 200
    reply = server.get("/v1/models", headers=page)
    assert reply.status == 200 and reply.headers["Access-Control-Allow-Origin"] == "https://chat.example.org"
    assert server.get("/v1/models", headers={"Origin": "http://chat.example.org"}).status == 403
    assert server.get("/v1/models", headers=name).status == 200
    # Its own page under that name, also behind a proxy that speaks https.
    for scheme in ("http", "https"):
        assert server.get("/v1/models", headers={**name, "Origin": f"{scheme}://box.lan:13305"}).status == 200
    assert server.post("/internal/set", {"allow_origins": "", "allow_hosts": None}).status == 200
    assert server.get("/v1/models", headers=page).status == 403
    assert server.get("/v1/models", headers=name).status == 403


NO_SOCK_DIAG = """
import ctypes, os, platform, socket, struct, sys
number = {"x86_64": 41, "aarch64": 198}[platform.machine()]  # of socket(2)
def op(code, k, jt=0, jf=0):
    return struct.pack("HBBI", code, jt, jf, k)
# socket(AF_NETLINK, any, NETLINK_SOCK_DIAG) fails with EPROTONOSUPPORT, as where the kernel has none; offsets are
# those of struct seccomp_data.
filter = b"".join([op(0x20, 0), op(0x15, number, 0, 5), op(0x20, 16), op(0x15, 16, 0, 3), op(0x20, 32),
                   op(0x15, 4, 0, 1), op(0x06, 0x00050000 | 93), op(0x06, 0x7fff0000)])
kept = ctypes.create_string_buffer(filter)
program = struct.pack("HxxxxxxP", len(filter) // 8, ctypes.addressof(kept))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit(77)
try:
    socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 4)
    sys.exit(78)
except OSError as e:
    assert e.errno == 93, e
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="the number of a system call")
def test_the_owner_is_known_where_the_kernel_has_no_sock_diag(house):
    server = house.start(launcher=(sys.executable, "-c", NO_SOCK_DIAG))
    assert server.get("/internal/config").status == 200
    assert server.get("/internal/config", headers={"X-Forwarded-For": "192.0.2.1"}).status == 403


# ---- another user of this machine ----

def as_user_nobody(server, request, close_at_once=False):
    """What a program of user 65534 gets; "" when it does not wait for the answer."""
    code = ("import os,socket,sys\n"
            "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            f"s = socket.create_connection(('127.0.0.1', {server.port}))\n"
            f"s.sendall({request.encode()!r})\n"
            f"if {close_at_once}: s.close(); sys.exit()\n"
            "print(s.recv(65536).decode())\n")
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S,
                          check=True).stdout


REMOTE = {"model_name": "user.far", "recipe": "remote", "base_url": "http://127.0.0.1:9/v1", "key_env": "HF_TOKEN"}


def test_no_page_sends_the_environment_away(server):
    """A page of another port, maybe another user's, would have a secret of the owner sent to it."""
    reply = server.post("/v1/models/register", REMOTE, headers={"Origin": "http://localhost:3000"})
    assert reply.status == 403
    # As an exported definition has it.
    exported = {"model_name": "user.far", "recipe": "remote",
                "remote": {"upstreams": [{"url": "http://127.0.0.1:9/v1"}], "key_env": "HF_TOKEN"}}
    reply = server.post("/v1/models/register", exported, headers={"Origin": "http://localhost:3000"})
    assert reply.status == 403
    assert server.post("/v1/models/register", REMOTE).status == 200


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_other_users_may_not_change_the_server(server):
    def post(path, body):
        text = json.dumps(body)
        return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(text)}\r\n\r\n{text}")
    assert " 200 " in as_user_nobody(server, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n").split("\n")[0]
    for path, body in (("/internal/set", {"idle": 7}), ("/internal/shutdown", {}), ("/internal/keys", {"name": "x"}),
                       ("/v1/params", {"idle": 7}), ("/v1/log-level", {"level": "debug"}),
                       ("/v1/models/register", REMOTE)):
        head = as_user_nobody(server, post(path, body)).split("\n")[0]
        assert " 403 " in head, (path, head)
    # The kernel no longer knows whose a closed socket was.
    for _ in range(5):
        as_user_nobody(server, post("/internal/shutdown", {}), close_at_once=True)
    assert server.get("/live").status == 200
    assert server.get("/internal/config").json["idle"] == 0
    assert server.post("/internal/set", {"idle": 7}).status == 200


# ---- another machine ----

def outer_address():
    """An address of this machine that is not loopback, or None. Nothing is sent."""
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as s:
        try:
            s.connect(("192.0.2.1", 9))
            address = s.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith("127.") else address


def started(house, tmp_path, *args, env=None):
    """A server whose address is not localhost: its port and its process."""
    port = free_port()
    process = subprocess.Popen(
        [str(BUILD / "bin" / "quinced"), "--port", str(port), "--data-dir", str(tmp_path / f"open-{port}"),
         "--backend-dir", str(house.backend_dir), "--builtin-dir", str(house.models_dir), "--ollama-port", "off",
         "--no-discovery", *args],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **(env or {})})
    process.lines = lines = []
    for line in process.stdout:
        lines.append(line)
        if "ready at" in line:
            return port, process
    return "".join(lines), process


def test_a_port_that_is_taken_is_named_by_its_setting(house, tmp_path):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as other:
        taken = other.getsockname()[1]
        for flag, value in (("--websocket-port", str(taken)), ("--listen", f"127.0.0.1:{taken}=auto"),
                            ("--ollama-port", str(taken))):
            text, process = started(house, tmp_path, flag, value)
            process.wait()
            assert f"port {taken} on 127.0.0.1 is taken" in text and f"choose another with {flag} " in text, text


def ask(address, port, method, path, body=None, headers=None):
    with contextlib.closing(http.client.HTTPConnection(address, port, timeout=PATIENCE_S)) as c:
        headers = dict(headers or {})
        if body is not None:
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        c.request(method, path, body, headers)
        reply = c.getresponse()
        return reply.status, reply.read()


def test_no_open_address_without_a_key(house, tmp_path):
    for args in (("--host", "0.0.0.0"), ("--host", "::"), ("--listen", "0.0.0.0:0=ollama")):
        text, process = started(house, tmp_path, *args)
        assert process.wait(PATIENCE_S) == 1
        assert "no key protects it" in text and "quince keys add" in text


@pytest.mark.skipif(not outer_address(), reason="this machine has no address of its own")
def test_other_machines_need_the_key(house, tmp_path):
    port, process = started(house, tmp_path, "--host", "0.0.0.0", env={"QUINCE_API_KEY": KEY})
    address = outer_address()
    try:
        assert ask(address, port, "GET", "/live")[0] == 200
        assert ask(address, port, "GET", "/v1/models")[0] == 401
        assert ask(address, port, "GET", "/v1/models", headers=bearer(KEY))[0] == 200
        assert ask(address, port, "GET", "/internal/config")[0] == 401
        # Its own page, by its address.
        own = {**bearer(KEY), "Origin": f"http://{address}:{port}"}
        assert ask(address, port, "GET", "/v1/models", headers=own)[0] == 200
        rebound = {**bearer(KEY), "Host": "evil.example"}
        assert ask(address, port, "GET", "/v1/models", headers=rebound)[0] == 403
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


@pytest.mark.skipif(not outer_address(), reason="this machine has no address of its own")
def test_insecure_is_for_models_only(house, tmp_path):
    """Who opens the server to everybody has not let everybody change it."""
    port, process = started(house, tmp_path, "--host", "0.0.0.0", "--insecure")
    address = outer_address()
    try:
        assert ask(address, port, "GET", "/v1/models")[0] == 200
        assert ask(address, port, "GET", "/internal/config")[0] == 403
        assert ask(address, port, "POST", "/internal/shutdown", {})[0] == 403
        assert ask("127.0.0.1", port, "GET", "/internal/config")[0] == 200
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


def test_what_stands_open_is_told(house, tmp_path):
    server = house.start("--allow-origins", "*")
    assert "any web page" in server.logs()
    server.post("/internal/keys", {"name": "a"})
    server.post("/v1/params", {"idle": 3})
    assert server.logs().count("any web page") == 1
    for key, said in (("short", True), (KEY, False)):
        _, process = started(house, tmp_path, "--host", "0.0.0.0", env={"QUINCE_API_KEY": key})
        process.terminate()
        assert process.wait(PATIENCE_S) == 0
        assert any("cannot be guessed" in line for line in process.lines) is said


def test_the_last_key_stays_while_others_can_come(house, tmp_path):
    home = tmp_path / "kept"
    server = house.start()
    key = server.post("/internal/keys", {"name": "boss", "admin": True}).json["key"]
    server.stop()
    shutil.copytree(server.data_dir, home)
    port, process = started(house, tmp_path, "--host", "0.0.0.0", "--data-dir", str(home))
    try:
        status, body = ask("127.0.0.1", port, "DELETE", "/internal/keys/boss", headers=bearer(key))
        assert status == 409 and b"last key" in body
        assert ask("127.0.0.1", port, "POST", "/internal/keys", {"name": "b"}, bearer(key))[0] == 200
        assert ask("127.0.0.1", port, "DELETE", "/internal/keys/boss", headers=bearer(key))[0] == 200
        assert ask("127.0.0.1", port, "GET", "/v1/models")[0] == 401
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


# ---- paths ----

UP = ("../", "..%2f", "%2e%2e/", "%2e%2e%2f", "..\\", "..%5c", "..%c0%af", "..;/", "....//", "%252e%252e%252f")


def test_no_way_round_the_doors(locked):
    """Spellings of one path that a lax server would take for another."""
    admin = ["/%69nternal/config", "/internal%2fconfig", "/v1/../internal/config", "/./internal/config",
             "//internal/config", "/internal//config", "/INTERNAL/config", "/internal/config/",
             "/internal/config;x", "/internal/config%00", "/internal/config%2500", "/v1/%2e%2e/internal/config",
             "/live/../internal/config", "/internal/./config", "/internal/config%20", "/internal/config?x=/live",
             "/health/../internal/config", "/%2e/internal/config", "/live%00/../internal/config"]
    models = ["/v1/%6dodels", "/v1//models", "/V1/models", "/live/../v1/models", "/v1/models/", "/v1/models;x",
              "/v1/models%00.html", "/health/%2e%2e/v1/models", "/v1/models%2f"]
    for path in admin + models:
        reply = locked.get(path)
        assert reply.status in (400, 401, 404), (path, reply.status)
        assert b"log_level" not in reply.body and b'"data"' not in reply.body
    for method in ("HEAD", "TRACE", "CONNECT", "PATCH", "get", "PROPFIND"):
        with contextlib.suppress(http.client.HTTPException, ConnectionError):
            assert locked.request(method, "/internal/config").status >= 400, method
    for headers in ({"X-Original-URL": "/live"}, {"X-Rewrite-URL": "/live"}, {"X-HTTP-Method-Override": "OPTIONS"},
                    {"X-Forwarded-For": "127.0.0.1"}, {"X-Real-IP": "::1"}, {"Forwarded": "for=127.0.0.1"}):
        assert locked.get("/internal/config", headers=headers).status == 401


def test_no_path_leaves_the_folders(house):
    server = house.start("--offline")
    secret = server.data_dir.parent / "secret.gguf"
    secret.write_bytes(b"the-owner's-secret")
    before = sorted(p for p in server.data_dir.parent.rglob("*") if p.is_file() and p.parent != server.data_dir)
    for up in UP:
        way = up * 6
        for path in (f"/{way}etc/passwd", f"/v1/models/{way}etc/passwd", f"/v1/models/{way}secret.gguf/files",
                     f"/v1/models/x/{way}files?include_paths=true", f"/v1/responses/{way}etc/passwd",
                     f"/api/blobs/sha256:{way}secret.gguf", f"/api/blobs/{way}etc/passwd", f"/engines/{way}x/status",
                     f"/v1/models/{way}x/options", f"/v1/logs?model={way}etc/passwd", f"/v1/models?show_all={way}",
                     f"/app/{way}etc/passwd", f"/static/{way}etc/passwd", f"/v1/pull/variants?checkpoint={way}x"):
            reply = server.get(path)
            assert b"root:" not in reply.body and b"owner's-secret" not in reply.body, path
            assert reply.status < 500 or reply.status == 501, (path, reply.status)
        for path, body in (
                ("/v1/pull", {"model_name": f"user.{way}x", "checkpoint": "a/b", "recipe": "llamacpp"}),
                ("/v1/pull", {"model_name": "user.x", "checkpoint": f"{way}etc:passwd", "recipe": "llamacpp"}),
                ("/v1/pull", {"model_name": "user.x", "checkpoint": f"a/b:{way}x.gguf", "recipe": "llamacpp"}),
                ("/v1/models/register", {"model_name": f"user.{way}x", "checkpoint": str(secret), "recipe": "llamacpp"}),
                ("/v1/models/register", {"model_name": "user.x", "checkpoint": f"{way}etc/passwd", "recipe": "llamacpp"}),
                ("/v1/delete", {"model_name": f"{way}secret.gguf"}), ("/v1/load", {"model_name": f"{way}x"}),
                ("/internal/aliases", {"alias": f"{way}x", "model_name": "y"}),
                ("/internal/keys", {"name": f"{way}x"}), ("/api/copy", {"source": f"{way}x", "destination": "y"}),
                ("/api/create", {"model": f"{way}x", "from": "y"}), ("/api/show", {"model": f"{way}etc/passwd"}),
                ("/engines", {"engine_id": "e", "model_path": f"{way}etc/passwd"}),
                ("/engines", {"engine_id": "e", "model_path": "/etc/passwd"}),
                ("/v1/install", {"recipe": f"{way}x", "backend": "y"})):
            reply = server.post(path, body)
            assert 400 <= reply.status < 500, (path, body, reply.status, reply.body)
            assert b"root:" not in reply.body
        reply = server.request("POST", f"/api/blobs/sha256:{way}x", b"data")
        assert 400 <= reply.status < 500
    after = sorted(p for p in server.data_dir.parent.rglob("*") if p.is_file() and p.parent != server.data_dir)
    assert [p for p in after if p not in before and "home" not in p.parts] == []
    assert secret.read_bytes() == b"the-owner's-secret"
    assert wait_until(lambda: server.get("/live").status == 200)


# ---- how often ----

def test_limit_per_client(house):
    server = house.start("--rate-limit", "1", "--rate-burst", "2")
    model = house.model(server, "m", tokens=1)

    def chat(client, **headers):
        return server.post("/v1/chat/completions", {"model": model, "messages": [{"role": "user", "content": "x"}]},
                           headers={"X-Client-Id": client, **headers})
    assert [chat("a").status for _ in range(2)] == [200, 200]
    reply = chat("a")
    assert reply.status == 429
    assert 1 <= int(reply.headers["Retry-After"]) <= 60
    assert reply.headers["X-RateLimit-Client"] == "a"
    assert reply.json["error"]["code"] == "rate_limit_exceeded"
    assert chat("b").status == 200  # others have buckets of their own
    assert server.get("/v1/models", headers={"X-Client-Id": "a"}).status == 200  # this is no work
    for path in (f"/upstream/{model}/v1/chat/completions", "/api/embed", "/api/embeddings", "/v1/rerank",
                 f"/health/warm?model={model}", "/v1/slots/0?action=erase", "/v1/load", "/engines",
                 f"/upstream/{model}/slots/0?action=erase"):
        assert server.post(path, {"model": model}, headers={"X-Client-Id": "a"}).status == 429, path
    reply = server.post("/v1/messages", {"model": model}, headers={"X-Client-Id": "a"})
    assert reply.status == 429 and reply.json["error"]["type"] == "rate_limit_error"
    assert server.post("/internal/set", {"rate_limit": 0}).json["overridden"] == ["rate_limit"]
    assert server.post("/v1/params", {"rate_limit": 0}).status == 200
    assert chat("a").status == 200


def test_a_key_cannot_claim_another_owner(house):
    """The limit is the key's, whatever its holder calls himself."""
    server = house.start("--rate-limit", "1", "--rate-burst", "1", env=BOTH)
    statuses = [server.post("/v1/chat/completions", {"model": "none", "messages": []},
                            headers={**bearer(KEY), "X-Client-Id": f"c{i}"}).status for i in range(3)]
    assert statuses[1:] == [429, 429] and statuses[0] != 429
    reply = server.post("/v1/chat/completions", {}, headers=bearer(KEY))
    assert reply.headers["X-RateLimit-Client"] == "environment"


def test_behind_a_proxy_names_do_not_count(house):
    """Who asks through a proxy of this machine may be anybody, and can call himself anything."""
    server = house.start("--rate-limit", "1", "--rate-burst", "1", env={"QUINCE_API_KEY": KEY})
    open_server = house.start("--rate-limit", "1", "--rate-burst", "1")
    for s, headers, bucket in ((server, bearer(KEY), "environment@127.0.0.1"), (open_server, {}, "127.0.0.1")):
        replies = [s.post("/v1/chat/completions", {"model": "none", "messages": []},
                          headers={**headers, "X-Forwarded-For": f"192.0.2.{i}", "X-Client-Id": f"c{i}"})
                   for i in range(3)]
        assert replies[0].status != 429 and [r.status for r in replies[1:]] == [429, 429]
        assert replies[1].headers["X-RateLimit-Client"] == bucket
        # Which leaves the programs of this machine theirs.
        assert s.post("/v1/chat/completions", {"model": "none", "messages": []}, headers=headers).status != 429


def test_every_route_is_known_to_the_limiter():
    """Routes that POST and are free: each was thought about. What makes a model work or loads one is limited."""
    free = {"/models/check-updates", "/models/register", "/models/rescan", "/models/<id>/options", "/delete", "/params",
            "/log-level", "/pull", "/downloads/control", "/install", "/install/dry-run", "/uninstall", "/unload",
            "/responses/<id>/cancel", "/api/me", "/api/show", "/api/create", "/api/copy", "/api/pull", "/api/push",
            "/api/blobs/<id>"}
    text = (ROOT / "router" / "routes.c").read_text()
    table = text[text.index("static const struct qn_route table[]"):]
    rows = re.findall(r'\{"POST",\s*"(/[^"]*)",\s*QN_AT_\w+,\s*(.*?)\},?\n', table[:table.index("\n};")], re.S)
    work = [pattern for pattern, rest in rows if "QN_WORK" in rest]
    assert len(rows) > 40 and len(work) == 6
    for pattern, rest in rows:
        limited = pattern in work or rest.startswith("INFER(")
        pattern = pattern.replace("{id}", "<id>")
        assert limited != (pattern in free or (pattern.startswith("/internal/") and not limited)), pattern
