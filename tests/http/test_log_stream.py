"""logs/stream: over WebSockets as the Lemonade seed's document shows it, and over plain HTTP; what
hostile clients send; readers that are too slow; who may come."""
import base64
import contextlib
import http.client
import json
import socket
import struct
import threading

import pytest

from conftest import PATIENCE_S, events, free_port, raw_connection, wait_until
from shapes import check
from ws_client import BINARY, CLOSE, PING, PONG, TEXT, Closed, Refused, WebSocket, frame, head

# The seed's examples (document 002, "Log Streaming API").
SNAPSHOT = {"type": "logs.snapshot", "entries": [{
    "seq": 1, "timestamp": "2025-03-30 14:22:01.123", "severity": "Info", "tag": "Server",
    "line": "2025-03-30 14:22:01.123 [Info] (Server) Starting Lemonade Server..."}]}
ENTRY = {"type": "logs.entry", "entry": {
    "seq": 1043, "timestamp": "2025-03-30 14:22:05.456", "severity": "Info", "tag": "Router",
    "line": "2025-03-30 14:22:05.456 [Info] (Router) Model loaded successfully"}}
SEVERITIES = {"Trace", "Debug", "Info", "Warning", "Error", "Fatal"}


def subscribe(ws, **wish):
    ws.send({"type": "logs.subscribe", **wish})
    return ws.json()


def beside_entries(receive):
    """The next message that is no new line of the log: while there is a subscription, these come at any time."""
    while True:
        message = receive()
        if not (isinstance(message, str) and json.loads(message)["type"] == "logs.entry"):
            return message


def renew(ws, **wish):
    """subscribe, where there is a subscription already."""
    ws.send({"type": "logs.subscribe", **wish})
    return json.loads(beside_entries(ws.receive))


def stream_of(server, query="", headers=None):
    connection = server.connect()
    connection.request("GET", "/logs/stream" + query, headers=headers or {})
    return connection, connection.getresponse()


def closing(ws):
    """The code and reason the server closes with."""
    with pytest.raises(Closed) as e:
        while True:
            ws.receive()
    return e.value.code, e.value.reason


# ---- the seed's examples, and today's Lemonade ----

@pytest.mark.parametrize("path", ["/logs/stream", "/api/v1/logs/stream", "/v1/logs/stream"])
def test_subscribe_snapshot_and_entries(server, path):
    port = server.get("/api/v1/health").json["websocket_port"]
    assert port != server.port
    for at in (port, server.port):
        with WebSocket(at, path, protocols=["lemonade-realtime"]) as ws:
            assert ws.protocol == "lemonade-realtime"
            snapshot = subscribe(ws, after_seq=None)
            check(snapshot, SNAPSHOT)
            seqs = [e["seq"] for e in snapshot["entries"]]
            assert seqs == list(range(1, len(seqs) + 1)) and len(seqs) <= 5000
            assert {e["severity"] for e in snapshot["entries"]} <= SEVERITIES
            assert all(e["line"].startswith(e["timestamp"]) for e in snapshot["entries"])
            server.post("/internal/cleanup-cache", {"dry_run": True})
            server.post("/v1/unload", {"model_name": "nobody"})
            server.post("/v1/models/register", {"model_name": "user.x", "checkpoint": "/none", "recipe": "llamacpp"})
            server.post("/v1/log-level", {"level": "info"})
            server.request("GET", "/v1/chat/completions")
            assert server.chat("nobody").status == 404
            entry = ws.json()
            check(entry, ENTRY)
            assert entry["entry"]["seq"] == seqs[-1] + 1
            assert ws.close() == 1000


def test_resume_after_a_number(house):
    server = house.start("--log-level", "debug")
    for _ in range(5):
        server.get("/live")
    with WebSocket(server.port, "/logs/stream") as ws:
        assert ws.protocol is None  # none was offered
        whole = subscribe(ws)
    last = whole["entries"][-1]["seq"]
    assert whole["first_seq"] == 1 and whole["last_seq"] == last and whole["lost"] == 0
    with WebSocket(server.port, "/logs/stream") as ws:
        rest = subscribe(ws, after_seq=3)["entries"]
        assert [e["seq"] for e in rest[:last - 3]] == list(range(4, last + 1))
        assert rest[:last - 3] == whole["entries"][3:]
        again = renew(ws, after_seq=1, lines=2)  # a second subscription begins anew
        assert len(again["entries"]) == 2
    with WebSocket(server.port, "/logs/stream") as ws:
        # A number that does not exist yet, and one of another log: the server was started anew.
        assert subscribe(ws, after_seq=10 ** 9)["entries"][0]["seq"] == 1
        assert subscribe(ws, after_seq=2, log_id="0123456789abcdef")["entries"][0]["seq"] == 1
        assert subscribe(ws, after_seq=2, log_id=whole["log_id"])["entries"][0]["seq"] == 3


def test_of_one_model(house):
    server = house.start()
    a = house.model(server, "chatty", flood_log=20)
    b = house.model(server, "other", flood_log=20)
    server.post("/internal/aliases", {"alias": "nick", "model": a})
    sockets = [WebSocket(server.port, f"/logs/stream{q}") for q in (f"/{a}", f"?model={a}", "?model=chatty", "?model=nick")]
    for ws in sockets:
        subscribe(ws)
    assert server.post("/v1/load", {"model_name": b}).status == 200
    assert server.post("/v1/load", {"model_name": a}).status == 200

    def lines_of(ws):
        lines = []
        while not any("state=ready" in x["line"] for x in lines):
            lines.append(ws.json()["entry"])
        return lines
    for ws in sockets:
        lines = lines_of(ws)
        assert sum(x["tag"] == f"llm/{a}" for x in lines) >= 20
        assert all(x["tag"] == f"llm/{a}" or f"model={a}" in x["line"] or "model=chatty" in x["line"] for x in lines), lines
        ws.socket.close()
    only = server.get(f"/v1/logs?model={b}").json["entries"]
    assert only and all(b in x["tag"] or b in x["line"] for x in only)
    assert server.get("/v1/logs?model=none-such").status == 404
    with WebSocket(server.port, "/logs/stream") as ws:
        error = subscribe(ws, model="none-such")
        assert error["type"] == "error" and "none-such" in error["error"]["message"]
        assert subscribe(ws, model=b)["entries"]  # it can be put right


def test_a_subscription_may_be_renewed_often(house):
    """What the address asks for holds each time."""
    server = house.start()
    quiet = house.model(server, "quiet")
    with WebSocket(server.port, f"/logs/stream?{'a=1&' * 2000}model={quiet}") as ws:
        assert all(quiet in entry["line"] for _ in range(10) for entry in renew(ws)["entries"])


def test_by_severity(house):
    server = house.start()
    house.model(server, "bad", load_fail="no such luck")
    server.post("/v1/load", {"model_name": "bad"})
    for get in (lambda: server.get("/v1/logs?level=warn").json["entries"],
                lambda: subscribe(WebSocket(server.port, "/logs/stream?level=warning"))["entries"]):
        assert {e["severity"] for e in get()} <= {"Warning", "Error"}
        assert any("no such luck" in e["line"] for e in get())
    assert server.get("/v1/logs?level=loud").status == 400
    for query in ("after=-1", "after_seq=x", "lines=-2", "lines=99999999999"):
        assert server.get("/v1/logs?" + query).status == 400
        assert server.get("/logs/stream?" + query).status == 400


# ---- plain HTTP ----

def test_server_sent_events(server):
    connection, response = stream_of(server, "?after_seq=1")
    assert response.status == 200 and response.getheader("Content-Type") == "text/event-stream"
    stream = events(response)
    place = next(stream)
    assert place["first_seq"] == 1 and place["lost"] == 0
    server.chat("nobody")
    first = next(stream)
    check(first, ENTRY["entry"])
    assert first["seq"] == 2
    connection.close()
    # As a browser's EventSource goes on.
    raw = raw_connection(server)
    raw.sendall(b"GET /v1/logs/stream HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                b"Last-Event-ID: %s-1\r\n\r\n" % place["log_id"].encode())
    text = b""
    while b"logs.entry" not in text or not text.endswith(b"\n\n\r\n"):
        piece = raw.recv(65536)
        assert piece
        text += piece
    assert f"id: {place['log_id']}-2\nevent: logs.entry\ndata: ".encode() in text
    raw.close()
    head_only = server.request("HEAD", "/logs/stream")
    assert head_only.status == 200 and head_only.body == b""


def test_lines_of_text(server):
    before = len(server.logs().splitlines())
    connection, response = stream_of(server, "?lines=1", {"Accept": "text/plain"})
    assert response.getheader("Content-Type").startswith("text/plain")
    line = response.readline().decode().rstrip()
    assert line in server.logs().splitlines()[before - 1:]  # there may be more by now
    connection.close()


def test_readers_leave_nothing_behind(server):
    server.get("/live")
    before = server.descriptors()
    sockets = [WebSocket(server.port, "/logs/stream") for _ in range(20)]
    streams = [stream_of(server) for _ in range(20)]
    for ws in sockets:
        subscribe(ws)
    for ws in sockets[::2]:
        ws.close()
    for ws in sockets[1::2]:
        ws.socket.close()  # without a word
    for connection, _ in streams:
        connection.close()
    server.chat("nobody")
    wait_until(lambda: server.descriptors() <= before + 1, what="closing")


def test_a_server_that_stops_says_so(house):
    server = house.start("--drain", "600")
    ws = WebSocket(server.port, "/logs/stream")
    subscribe(ws)
    quiet = WebSocket(server.port, "/logs/stream")
    connection, response = stream_of(server)
    stopped = threading.Thread(target=server.stop)
    stopped.start()
    assert closing(ws) == (1001, "the server stops")
    assert closing(quiet) == (1001, "the server stops")
    assert b"signal=15" in response.read()  # to its end
    stopped.join()
    assert server.process.returncode == 0  # it has not waited for the end of these: that would take ten minutes
    connection.close()


# ---- hostile clients ----

BAD_FRAMES = [
    (frame(TEXT, b"{}", masked=False), 1002), (frame(TEXT, b"{}", reserved=4), 1002),
    (frame(TEXT, b"{}", reserved=1), 1002), (frame(3), 1002), (frame(11), 1002),
    (frame(PING, b"x" * 126), 1002), (frame(PING, b"x", fin=False), 1002), (frame(0, b"x"), 1002),
    (frame(TEXT, b"{", fin=False) + frame(TEXT, b"}"), 1002), (frame(CLOSE, b"\x03"), 1002),
    (frame(CLOSE, struct.pack(">H", 1005)), 1002), (frame(CLOSE, struct.pack(">H", 1000) + b"\xff"), 1007),
    (frame(TEXT, b'{"\xff"}'), 1007), (frame(TEXT, b"\xed\xa0\x80"), 1007),
    (frame(TEXT, length=65537), 1009), (frame(BINARY, length=1 << 62), 1009),
    (frame(TEXT, b"a" * 60000, fin=False) + frame(0, b"a" * 60000), 1009),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 1002),
]


def test_broken_frames(server):
    good = WebSocket(server.port, "/logs/stream")
    seen = subscribe(good)["last_seq"]
    for i, (data, code) in enumerate(BAD_FRAMES):
        for pipelined in (True, False):
            ws = WebSocket(server.port, "/logs/stream", behind=data if pipelined else b"")
            if not pipelined:
                ws.send_raw(data)
            got, reason = closing(ws)
            assert got == code and reason, (i, got, reason)
    server.chat("nobody")
    assert good.json()["entry"]["seq"] == seen + 1  # nothing of others is lost
    assert good.close() == 1000


def test_fragments_pings_and_bytes_one_by_one(server):
    ws = WebSocket(server.port, "/logs/stream")
    message = json.dumps({"type": "logs.subscribe", "after_seq": None, "note": "é"}, ensure_ascii=False).encode()
    data = b"".join([frame(TEXT, message[:10], fin=False), frame(PING, b"one"), frame(0, message[10:-4], fin=False),
                     frame(0, b"", fin=False), frame(0, message[-4:])])
    for i in range(len(data)):
        ws.send_raw(data[i:i + 1])
    assert ws.receive() == (PONG, b"one")
    assert ws.json()["type"] == "logs.snapshot"
    ws.send_raw(frame(PONG, b"unsolicited"))
    ws.send_raw(frame(PING, b"x" * 125))
    assert beside_entries(ws.receive) == (PONG, b"x" * 125)
    # The code comes back, whatever it is; and without one, none.
    for code in (1000, 1001, 3000, 4999):
        with WebSocket(server.port, "/logs/stream") as other:
            assert other.close(code) == code
    ws.send_raw(frame(CLOSE))
    assert closing(ws)[0] == 1005


def test_pings_that_come_together_are_answered_once(server):
    with WebSocket(server.port, "/logs/stream") as ws:
        ws.send_raw(frame(PING, b"a") + frame(PING, b"b") + frame(PING, b"c"))
        assert ws.receive() == (PONG, b"c")  # RFC 6455, 5.5.3
        ws.send_raw(frame(PING, b"d"))
        assert ws.receive() == (PONG, b"d")


def test_many_messages_in_one_go_are_all_answered(server):
    with WebSocket(server.port, "/logs/stream") as ws:
        ws.send_raw(b"".join(frame(TEXT, b'{"type":"none-%d"}' % i) for i in range(500)))
        for i in range(500):
            assert f"none-{i}" in ws.json()["error"]["message"]


def test_messages_that_mean_nothing(server):
    with WebSocket(server.port, "/logs/stream") as ws:
        for message in ("", "no JSON", "[]", "{}", '{"type":1}', {"type": "logs.unheard-of"}, b"\0\1",
                        {"type": "logs.subscribe", "after_seq": -1}, {"type": "logs.subscribe", "after_seq": "x"},
                        {"type": "logs.subscribe", "level": 3}, {"type": "logs.subscribe", "level": "loud"},
                        {"type": "logs.subscribe", "model": ["x"]}):
            ws.send(message)
            error = ws.json()
            assert error["type"] == "error" and error["error"]["message"], message
            assert error["error"]["type"] == "invalid_request_error"
        assert subscribe(ws)["type"] == "logs.snapshot"
        for _ in range(3):  # several at once are answered one after another
            ws.send_raw(frame(TEXT, b'{"type":"logs.subscribe","lines":1}') * 3)
        for _ in range(9):
            assert json.loads(beside_entries(ws.receive))["type"] == "logs.snapshot"


def test_handshakes_that_fail(server):
    key = "dGhlIHNhbXBsZSBub25jZQ=="

    def status(raw):
        with contextlib.closing(raw_connection(server)) as s:
            s.sendall(raw)
            answer = b""
            while b"\r\n\r\n" not in answer:
                answer += s.recv(65536)
            return int(answer.split()[1]), answer.lower()
    code, answer = status(head("/logs/stream", key, server.port, version="8"))
    assert code == 426 and b"sec-websocket-version: 13" in answer
    assert status(head("/logs/stream", "short", server.port))[0] == 400
    assert status(head("/logs/nowhere", key, server.port))[0] == 404
    assert status(head("/live", key, server.port))[0] == 200  # an upgrade may be declined (RFC 9110, 7.8)
    assert status(head("/logs/stream", key, server.port, [("Origin", "http://evil.example")]))[0] == 403
    assert status(head("/logs/stream", key, server.port).replace(b"Host: localhost", b"Host: evil.example"))[0] == 403
    assert status(head("/logs/stream", key, server.port).replace(b"GET", b"POST"))[0] == 405
    assert status(head("/logs/stream/none-such", key, server.port))[0] == 101  # asked for in the subscription
    assert status(head("/%ff", key, server.port))[0] == 400
    assert status(head("/logs/stream", key, server.port, [("X", "y" * 16384)]))[0] == 431
    # The second request of a connection may ask for one as well.
    with contextlib.closing(raw_connection(server)) as s:
        s.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        while b'"ok"}' not in answer:
            answer += s.recv(65536)
        s.sendall(head("/logs/stream", key, server.port))
        assert b"101" in s.recv(65536)[:20]


def test_a_head_byte_by_byte_and_many_at_once(server):
    """Nothing of this holds others up."""
    data = head("/logs/stream", "dGhlIHNhbXBsZSBub25jZQ==", server.port)

    def answered():
        with contextlib.ExitStack() as stack, contextlib.suppress(ConnectionError):
            slow = [stack.enter_context(raw_connection(server)) for _ in range(20)]
            for s in slow:
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for i in range(len(data)):
                for s in slow:
                    s.send(data[i:i + 1])
                if i % 40 == 0:
                    assert server.get("/live").status == 200
            return all(b"101 Switching" in s.recv(1000) for s in slow)
    wait_until(answered, what="a head within the ten seconds that it may take")


def test_a_slow_reader_is_dropped_and_others_lose_nothing(house):
    server = house.start("--max-loaded-models", "-1")
    lazy = WebSocket(server.port, "/logs/stream", buffer=65536)
    subscribe(lazy)
    lazy_stream = socket.socket()
    lazy_stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    lazy_stream.settimeout(PATIENCE_S)
    lazy_stream.connect(("127.0.0.1", server.port))
    lazy_stream.sendall(b"GET /logs/stream?lines=0 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    keen = WebSocket(server.port, "/logs/stream")
    last = subscribe(keen)["last_seq"]
    seen = []

    def read():
        with contextlib.suppress(Closed, OSError):
            while True:
                seen.append(keen.json()["entry"])
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    for i in range(30):  # more than the log keeps and the system takes
        house.model(server, f"loud{i}", flood_log=900)
        server.post("/v1/load", {"model_name": f"loud{i}"})
        server.post("/v1/unload", {"model_name": f"loud{i}"})
        if server.logs().count("reader dropped") == 2:
            break
    assert server.logs().count("reader dropped") == 2
    assert "\nquince_sockets_dropped_total 1\n" in server.get("/metrics").body.decode()
    # What it had been sent before comes yet; then the end, if it takes it in time.
    assert closing(lazy)[0] in (1008, None)
    response = http.client.HTTPResponse(lazy_stream)
    response.begin()
    last_event = response.read().rstrip().split(b"\n\n")[-1]
    assert last_event.startswith(b"event: error\n") and b'"type":"slow_reader"' in last_event
    lazy_stream.close()
    server.chat("the-last-one")
    wait_until(lambda: any("the-last-one" in e["line"] for e in list(seen)), what="the last line")
    seqs = [e["seq"] for e in seen]
    assert seqs == list(range(last + 1, last + 1 + len(seqs)))
    keen.socket.shutdown(socket.SHUT_RDWR)
    reader.join()


# ---- keys ----

def test_keys(house):
    server = house.start(env={"LEMONADE_API_KEY": "a secret/key+1"})
    token = base64.urlsafe_b64encode(b"a secret/key+1").decode().rstrip("=")
    ok = {"headers": [("Authorization", "Bearer a secret/key+1")]}, {"headers": [("x-api-key", "a secret/key+1")]}, \
        {"protocols": ["lemonade-realtime", f"bearer.{token}"]}
    for how in ok:
        with WebSocket(server.port, "/logs/stream", **how) as ws:
            assert subscribe(ws)["type"] == "logs.snapshot"
    with WebSocket(server.port, "/logs/stream?api_key=a%20secret%2Fkey%2B1") as ws:
        assert subscribe(ws)["type"] == "logs.snapshot"
    wrong = base64.urlsafe_b64encode(b"wrong").decode().rstrip("=")
    for how in ({}, {"headers": [("Authorization", "Bearer wrong")]},
                {"protocols": ["lemonade-realtime", f"bearer.{wrong}"]}, {"protocols": ["bearer.***"]}):
        with pytest.raises(Refused) as e:
            WebSocket(server.port, "/logs/stream", **how)
        assert e.value.status == 401
    with pytest.raises(Refused):
        WebSocket(server.port, "/logs/stream?api_key=wrong")
    # A page of another origin, even with the key; programs of this machine may.
    for origin, status in (("http://evil.example", 403), ("null", 403), ("http://tauri.localhost", 101),
                           ("app://.", 101), ("http://localhost:3000", 101)):
        headers = [*ok[0]["headers"], ("Origin", origin)]
        if status == 101:
            WebSocket(server.port, "/logs/stream", headers=headers).socket.close()
        else:
            with pytest.raises(Refused) as e:
                WebSocket(server.port, "/logs/stream", headers=headers)
            assert e.value.status == status
    assert "a secret" not in server.logs() and token not in server.logs()
    assert server.get("/logs/stream").status == 401
    assert server.get("/logs/stream?api_key=a%20secret%2Fkey%2B1").status == 401  # for WebSockets only


@pytest.mark.parametrize("level", ["info", "error"])  # with a line about it, and without
def test_a_key_that_goes_takes_its_readers_along(house, level):
    admin, other = ({"Authorization": f"Bearer the-{name}-key-of-this-test"} for name in ("admin", "other"))
    server = house.start("--log-level", level, env={"QUINCE_ADMIN_API_KEY": admin["Authorization"][7:],
                                                    "QUINCE_API_KEY": other["Authorization"][7:]})
    phone = {"Authorization": "Bearer " + server.post("/internal/keys", {"name": "phone"}, headers=admin).json["key"]}
    sockets = [WebSocket(server.port, "/logs/stream", headers=list(h.items())) for h in (phone, other)]
    stream, lines = (stream_of(server, headers={**phone, "Accept": a}) for a in ("text/event-stream", "text/plain"))
    for ws in sockets:
        assert subscribe(ws)["type"] == "logs.snapshot"
    assert server.request("DELETE", "/internal/keys/phone", headers=admin).status == 200
    code, reason = closing(sockets[0])
    assert code == 1008 and "key" in reason
    assert list(events(stream[1]))[-1]["error"]["type"] == "unauthorized"
    lines[1].read()  # to its end
    assert renew(sockets[1])["type"] == "logs.snapshot"  # the other's goes on


def test_the_first_key_shuts_out_who_needed_none(house):
    server = house.start()
    ws = WebSocket(server.port, "/logs/stream")
    assert subscribe(ws)["type"] == "logs.snapshot"
    key = server.post("/internal/keys", {"name": "phone", "admin": True}).json["key"]
    assert closing(ws)[0] == 1008
    headers = {"Authorization": f"Bearer {key}"}
    with WebSocket(server.port, "/logs/stream", headers=list(headers.items())) as ws:
        assert subscribe(ws)["type"] == "logs.snapshot"
        assert server.request("DELETE", "/internal/keys/phone", headers=headers).status == 200
        assert renew(ws)["type"] == "logs.snapshot"  # there are none again
        assert server.post("/internal/keys", {"name": "phone", "admin": True}).status == 200
        assert closing(ws)[0] == 1008  # of the same name, another key


def test_the_published_port_is_a_setting(house):
    server = house.start("--websocket-port", "off")
    assert server.get("/v1/health").json["websocket_port"] == server.port
    port = free_port()
    (house.tmp_path / "data-1").mkdir()
    (house.tmp_path / "data-1" / "config.json").write_text(json.dumps({"websocket-port": port}))  # as Lemonade's has it
    server = house.start()
    assert server.get("/v1/health").json["websocket_port"] == port
    assert server.get("/internal/config").json["websocket_port"] == port
    subscribe(WebSocket(port, "/logs/stream"))
    for wrong in ("always", -1, 65536):
        reply = server.post("/internal/set", {"websocket_port": wrong})
        assert reply.status == 400 and b"65535" in reply.body, reply.body
    assert server.post("/internal/set", {"websocket_port": "auto"}).status == 200


def lines_of(server, request, level):
    """The log's entries about one request, of this level and those that matter more."""
    return [e for e in server.get(f"/v1/logs?level={level}&lines=5000").json["entries"] if f"id={request}" in e["line"]]


def test_levels_of_a_request(house):
    """Lemonade's document: counts and speeds at debug, every prompt at trace, and neither where it is not asked for."""
    server = house.start()
    model = house.model(server, "m", tokens=3, token_ms=5)
    prompt = "The secret of \u00fcber-" + "long ".join(str(i) for i in range(2000)) + " prompts"

    def ask(level):
        assert server.post("/v1/log-level", {"level": level}).status == 200
        reply = server.post("/v1/chat/completions", {"model": model, "messages": [
            {"role": "system", "content": "Be kind."}, {"role": "user", "content": prompt}]})
        assert reply.status == 200
        return lines_of(server, reply.headers["X-Request-Id"].removeprefix("req_"), "trace")
    for level in ("info", "debug"):
        said = ask(level)
        (done,) = [e["line"] for e in said if " prompt=" in e["line"]]
        figures = dict(word.split("=") for word in done.split() if "=" in word)
        assert (figures["prompt"], figures["cached"], figures["output"]) == ("7", "3", "3")
        assert int(figures["first_ms"]) >= 0 and float(figures["tokens_s"]) > 0
        assert not any("secret" in e["line"] or "Be kind" in e["line"] for e in said)
    said = ask("trace")
    prompts = [e for e in said if e["severity"] == "Trace"]
    text = "".join(e["line"].split(' user="', 1)[1][:-1] for e in prompts if ' user="' in e["line"])
    assert text == prompt
    assert [e["line"].split(' system="', 1)[1] for e in prompts if ' system="' in e["line"]] == ['Be kind."']
    assert lines_of(server, said[0]["line"].split("id=")[1].split()[0], "debug") == [e for e in said if e["severity"] != "Trace"]


def test_a_long_request_is_traced_up_to_a_limit(house):
    server = house.start("--log-level", "trace")
    model = house.model(server, "m", tokens=1)
    reply = server.chat(model, "x" * 600_000)
    assert reply.status == 200
    said = lines_of(server, reply.headers["X-Request-Id"].removeprefix("req_"), "trace")
    logged = sum(len(e["line"].split(' user="', 1)[1]) - 1 for e in said if ' user="' in e["line"])
    assert logged == 256 * 1024 and any("cut=1" in e["line"] for e in said)


def test_critical_is_quieter_than_error(house):
    server = house.start("--log-level", "critical")
    model = house.model(server, "m", load_fail="the file is damaged")
    assert server.chat(model).status == 500
    assert not [e for e in server.get("/v1/logs").json["entries"] if e["severity"] != "Fatal"]
