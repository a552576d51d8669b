"""Clients that want the server for themselves: that send drop by drop, hold connections, or knock at a model's port."""
import contextlib
import json
import re
import resource
import socket
import subprocess
import threading

import pytest
from conftest import PATIENCE_S, SANITIZED, wait_until
from users import OTHER_UID, needs_another_user

CROWD = 1100  # more connections than the server has places for
HALF_A_HEAD = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
HALF_A_BODY = (b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               b"Content-Length: 100000\r\n\r\n{")

# Opens connections as another user, says so, and stays until its input ends.
HOLDER = """
import json, resource, socket, sys
port, n, text = json.loads(sys.stdin.readline())
held = []
for _ in range(n):
    s = socket.create_connection(("127.0.0.1", port))
    try:
        s.sendall(text.encode())
    except OSError:
        pass
    held.append(s)
answered = 0
for s in held[:1]:
    s.settimeout(120)
    try:
        answered = len(s.recv(100))
    except OSError:
        pass
print(json.dumps({"held": len(held), "first_answer": answered}) if sys.argv[1] == "look" else "ready", flush=True)
sys.stdin.read()
""".replace("for s in held[:1]:", "for s in held[:1] if sys.argv[1] == 'look' else []:")


@pytest.fixture(autouse=True)
def descriptors():
    wanted, (soft, hard) = 2 * CROWD, resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip("this process may not have as many connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextlib.contextmanager
def drippers(server, text):
    """CROWD connections that have sent the beginning of a request, and go on a byte at a time."""
    stop, held = threading.Event(), []
    with contextlib.ExitStack() as stack:
        for _ in range(CROWD):
            s = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S))
            with contextlib.suppress(OSError):
                s.sendall(text)
            held.append(s)

        def drip():
            while not stop.wait(0.2):
                for s in held:
                    with contextlib.suppress(OSError):
                        s.send(b" ", socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        thread = threading.Thread(target=drip)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


@contextlib.contextmanager
def strangers(port, n, text, mode="hold"):
    """n connections of another user that have sent this; gives what their program says."""
    p = subprocess.Popen(["setpriv", f"--reuid={OTHER_UID}", f"--regid={OTHER_UID}", "--clear-groups",
                          "/usr/bin/python3", "-c", HOLDER, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         text=True, cwd="/")
    try:
        p.stdin.write(json.dumps([port, n, text]) + "\n")
        p.stdin.flush()
        yield p.stdout.readline()
    finally:
        p.stdin.close()
        p.wait()
        p.stdout.close()


def status(server, path):
    try:
        return server.get(path).status
    except OSError:
        return None  # closed to make room, before its request was read


@pytest.mark.parametrize("text", [HALF_A_HEAD, HALF_A_BODY], ids=["heads", "bodies"])
def test_drippers_take_no_place_from_others(server, text):
    with drippers(server, text):
        assert server.get("/live").status == 200  # vital: it is answered however full the server is
        for _ in range(20):
            wait_until(lambda: status(server, "/v1/models") == 200, what="a place among the drippers")


@needs_another_user
def test_another_user_cannot_take_all_connections(server):
    with strangers(server.port, CROWD, HALF_A_BODY.decode()) as said:
        assert said == "ready\n"
        for _ in range(20):
            assert server.get("/v1/models").status == 200
            assert server.get("/live").status == 200


def test_administrators_are_served_by_a_full_server(server):
    with drippers(server, HALF_A_BODY):
        assert server.get("/internal/config").status == 200


def port_of_child(server):
    (model,) = server.get("/v1/health").json["all_models_loaded"]
    return int(model["backend_url"].split(":")[2].split("/")[0])


@needs_another_user
def test_a_models_port_is_for_the_router_alone(house):
    server = house.start()
    name = house.model(server, "own")
    assert server.post("/v1/load", {"model_name": name}).status == 200
    port = port_of_child(server)
    with contextlib.closing(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)) as s:
        s.sendall(b"GET /run HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 401 " in s.recv(100)  # its own user may knock, and needs the secret
    with strangers(port, CROWD, "GET /run HTTP/1.1\r\nHost: x\r\n\r\n", "look") as said:
        assert json.loads(said) == {"held": CROWD, "first_answer": 0}
        assert server.chat(name).status == 200


def test_thousands_of_query_arguments_get_an_answer(server):
    query = "&".join(f"a{i}" for i in range(2500))
    assert server.get(f"/v1/models?{query}").status == 200
    assert server.get(f"/v1/models?{query}&{query}").status == 414


LARGE = 20 * 1024 * 1024


def test_large_bodies_are_read_aside(house):
    server = house.start()
    name = house.model(server, "large", tokens=2)
    message = {"role": "user", "content": "hello"}
    chat = json.dumps({"model": name, "messages": [message], "unheard_of": ["x" * 1000] * (LARGE // 1000)})
    path, json_type = "/v1/chat/completions", {"Content-Type": "application/json"}
    assert server.post(path, chat, headers=json_type).status == 200
    broken = server.post(path, chat[:-1], headers=json_type)
    assert broken.status == 400 and "not valid JSON" in broken.json["error"]["message"]
    listed = server.post(path, f"[{chat}]", headers=json_type)
    assert listed.status == 400 and "JSON object" in listed.json["error"]["message"]
    head = (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(chat)}\r\n\r\n").encode()
    for _ in range(5):  # clients that leave as soon as all is sent
        with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)) as s:
            s.sendall(head + chat.encode())
    assert server.chat(name).status == 200
    with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)) as s:
        s.sendall(head + chat.encode())
        assert server.stop() == 0  # and one whose body may be read when the server ends


BLOCKED = re.compile(r"warn loop a callback blocked the loop kind=\w+ ms=(\d+)")
HELD_UP_MS = 100  # far above what a busy machine makes of a turn of the loop, far below what these requests would cost


def quiet(server, ask, tries=5):
    """What ask() gives, once it has been answered without holding up the loop; a busy machine may need tries."""
    for _ in range(tries):
        before = len(server.logs())
        reply = ask()
        assert server.get("/live").status == 200  # by the loop, when it is done with the answer
        turns = [int(ms) for ms in BLOCKED.findall(server.logs()[before:])]
        if max(turns, default=0) < HELD_UP_MS:
            return reply
    raise AssertionError(f"turns of the loop took {turns} ms")


def tool(name, **members):
    return {**members, "type": "function", "name": name}


REQUESTS = {
    "messages": ("/v1/chat/completions", 200, {"messages": [{"role": "user", "content": "\x01" * 400}] * 9_000}),
    "arguments": ("/v1/chat/completions", 200, {"messages": [
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": json.dumps(
            {"a": list(range(300_000))})}}]}, {"role": "user", "content": "go on"}]}),
    "allowed_tools": ("/v1/responses", 200, {"input": "hello", "tools": [tool(f"f{i}") for i in range(1000)],
                      "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [
                          tool(f"f{i}", **{f"m{k}": 0 for k in range(800)}) for i in range(1000)]}}),
    "references": ("/v1/responses", 400, {"input": [{"type": "item_reference", "id": f"msg_{i:032x}00"}
                                                    for i in range(200_000)]}),
    "blocks": ("/v1/messages", 200, {"max_tokens": 5, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "\x01" * 400}] * 9_000}]}),
    "inputs": ("/v1/embeddings", 400, {"input": [list(range(450))] * 2_000}),
}


@pytest.mark.release
@pytest.mark.skipif(SANITIZED, reason="slow by itself")
@pytest.mark.parametrize("kind", REQUESTS)
def test_large_requests_do_not_hold_up_others(house, kind):
    server = house.start()
    name = house.model(server, "large", tokens=2, context=100_000_000)
    assert server.chat(name).status == 200
    path, status, fields = REQUESTS[kind]
    body = json.dumps({"model": name, **fields})
    reply = quiet(server, lambda: server.post(path, body, headers={"Content-Type": "application/json"}))
    assert reply.status == status, reply.body[:500]


@pytest.mark.release
@pytest.mark.skipif(SANITIZED, reason="slow by itself")
def test_a_long_answer_does_not_hold_up_others(house):
    server = house.start()
    name = house.model(server, "long", tokens=2000, word="\x01" * 5000, context=100_000_000)
    reply = quiet(server, lambda: server.chat(name, max_tokens=2000))
    assert len(reply.json["choices"][0]["message"]["content"]) == 2000 * 5000


@pytest.mark.release
@pytest.mark.skipif(SANITIZED, reason="slow by itself")
def test_a_path_of_thousands_of_parts_is_no_search(house):
    """Behind /upstream/ the model's name has to be found among the path's beginnings."""
    server = house.start()
    name = house.model(server, "m")
    for i in range(60):
        assert server.post("/api/copy", {"source": name, "destination": f"a/copy-{i}"}).status == 200
    reply = quiet(server, lambda: server.get("/upstream/" + "a/" * 7_900))
    assert reply.status == 404
    assert server.get("/upstream/a/copy-7/v1/models").json["data"][0]["id"] == "a/copy-7"


def talk(server, n):
    """Makes n long lines of the log."""
    with contextlib.closing(server.connect()) as c:
        for _ in range(n):
            c.request("POST", "/v1/completions", "{}", {"Content-Type": "application/json", "X-Request-Id": '\\"' * 900})
            c.getresponse().read()


@pytest.mark.release
@pytest.mark.skipif(SANITIZED, reason="slow by itself")
def test_many_readers_of_a_long_log_do_not_hold_up_others(house):
    server = house.start()
    talk(server, 2_500)  # two lines each

    def read_all():
        with contextlib.ExitStack() as stack:
            for _ in range(150):
                s = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S))
                s.sendall(b"GET /logs/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            talk(server, 20)
            return server.get("/logs?lines=5000")
    told = quiet(server, read_all).json
    assert len(told["entries"]) == 5000 and told["entries"][-1]["seq"] == told["last_seq"]
    assert [e["seq"] for e in told["entries"]] == list(range(told["first_seq"], told["last_seq"] + 1))


def test_clients_that_leave_while_their_request_is_read(house):
    server = house.start()
    name = house.model(server, "left", tokens=2, context=100_000_000)
    path, _, fields = REQUESTS["messages"]
    body = json.dumps({"model": name, **fields}).encode()
    head = (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode()
    for i in range(8):  # they leave at different stages of it
        with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)) as s:
            s.sendall(head + body)
            for _ in range(4 * i):
                assert server.get("/live").status == 200
    late = server.post(path, body, headers={"Content-Type": "application/json", "X-Request-Timeout": "0.001"})
    assert late.status == 504, late.body
    assert server.chat(name).status == 200
    # Those that left while a worker read their request are in the list of requests too.
    ends = lambda: {r["end"] for r in server.get("/internal/requests").json["requests"]}  # noqa: E731
    wait_until(lambda: ends() == {"cancelled", "failed", "completed"}, what="the notes of all")


MANAGEMENT = ["/v1/load", "/v1/unload", "/v1/models/register", "/v1/delete", "/v1/pull", "/v1/install", "/v1/params",
              "/v1/downloads/control", "/internal/set", "/internal/keys", "/internal/aliases", "/internal/pin",
              "/api/show", "/api/copy", "/api/pull", "/engines"]


def test_management_requests_are_small(server):
    for path in MANAGEMENT:
        reply = server.post(path, {"model": "x", "model_name": "x", "note": "x" * 300_000})
        assert reply.status == 413, (path, reply.status, reply.body)
        assert "262144" in reply.body.decode(), path


@pytest.mark.release
def test_large_models_are_made_aside(house):
    server = house.start()
    name = house.model(server, "base")
    wide = {"from": name, "template": "{{ if .Messages }}" + "{{ .System }}" * 60_000 + "{{ end }}",
            "system": "\x01" * 20_000, "unheard_of": list(range(500_000))}
    ask = lambda **more: lambda: server.post("/api/create", {"model": "made", **wide, **more})  # noqa: E731
    if not SANITIZED:
        assert quiet(server, ask()).status == 413  # all that has to be kept is more than a preset may be
    made = ask(template="{{ .Prompt }}")()
    assert made.status == 200 and made.body.endswith(b'{"status":"success"}\n')
    assert server.post("/api/show", {"model": "made"}).json["system"] == "\x01" * 20_000
    body = json.dumps({"model": "left", **wide}).encode()
    head = (b"POST /api/create HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body))
    for i in range(4):
        with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)) as s:
            s.sendall(head + body)
            for _ in range(8 * i):
                assert server.get("/live").status == 200
    assert server.post("/api/show", {"model": "made"}).status == 200


@pytest.mark.release
def test_large_inputs_of_an_embedding_are_read_aside(house):
    server = house.start()
    name = house.model(server, "large")
    body = json.dumps({"model": name, "input": ["x"] * 2048, "unheard_of": list(range(900_000))})
    ask = lambda: server.post("/api/embed", body, headers={"Content-Type": "application/json"})  # noqa: E731
    reply = ask() if SANITIZED else quiet(server, ask)
    assert reply.status == 400 and "embeddings" in reply.json["error"]


@pytest.mark.heavy
@pytest.mark.release
def test_kept_answers_are_told_aside(house):
    server = house.start()
    name = house.model(server, "kept", tokens=1000, word="\x01" * 2000, context=100_000_000)
    items = [{"role": "user", "content": "\x01" * 200} for _ in range(9_000)]
    body = json.dumps({"model": name, "input": items, "max_output_tokens": 1000})
    ask = lambda: server.post("/v1/responses", body, headers={"Content-Type": "application/json"})  # noqa: E731
    told = ask() if SANITIZED else quiet(server, ask)
    assert told.status == 200, told.body[:500]
    path = f"/v1/responses/{told.json['id']}"
    for query in ("", "?stream=true", "/input_items?limit=100"):
        reply = server.get(path + query) if SANITIZED else quiet(server, lambda: server.get(path + query))  # noqa: B023
        assert reply.status == 200, (query, reply.body[:500])
        if query.startswith("/"):
            assert len(reply.json["data"]) == 100 and reply.json["has_more"]
    assert server.get(path + "/input_items?limit=0").status == 400
    assert server.get(path + "?stream=true&starting_after=x").status == 400
    for i in range(6):  # clients that leave while it is told
        with contextlib.closing(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)) as s:
            s.sendall(f"GET {path}?stream=true HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            for _ in range(4 * i):
                assert server.get("/live").status == 200
    assert server.get(path).json["status"] == "completed"
