"""What several owners (keys, users of this machine, addresses) share: none of them can take all of it."""
import json
import socket
import threading

import pytest

from conftest import PATIENCE_S
from test_queue import SLOW, Asker, Holder, chat_body, loaded, order, runs, waits_for
from users import as_other_user, needs_another_user
from ws_client import Refused, WebSocket

ADMIN = "the-key-of-the-environment"


class Keys:
    """A server with keys; requests without one are the administrator's."""

    def __init__(self, house, *args, **how):
        self.server = house.start(*args, env={"QUINCE_API_KEY": ADMIN}, **how)
        plain = self.server.request
        self.server.request = lambda method, path, body=None, headers=None, **more: plain(
            method, path, body, {"Authorization": f"Bearer {ADMIN}", **(headers or {})}, **more)

    def add(self, name):
        """A new key's header."""
        reply = self.server.post("/internal/keys", {"name": name})
        assert reply.status == 200, reply.body
        return {"Authorization": f"Bearer {reply.json['key']}"}


def crowd(server, model, headers, n, first=0):
    askers = []
    for i in range(n):
        askers.append(Asker(server, model, f"crowd{first + i}", **headers))
        waits_for(server, model, first + i + 1)
    return askers


@pytest.mark.parametrize("limit", ["--queue-limit", "--max-queue"])
def test_a_full_queue_is_shared_between_keys(house, limit):
    """The newest request of the key with the most gives way, until the shares are equal."""
    keys = Keys(house, limit, "4")
    server, greedy, other = keys.server, keys.add("greedy"), keys.add("other")
    model = house.model(server, "one", slots=1, **SLOW)
    with Holder(server, model, **greedy) as holder:
        many = crowd(server, model, greedy, 4)
        assert server.post("/v1/chat/completions", chat_body(model), headers=greedy).status == 503
        few = [Asker(server, model, "other1", **other)]
        refused = many[3].done()
        few.append(Asker(server, model, "other2", **other))
        many[2].done()
        more = server.post("/v1/chat/completions", chat_body(model), headers=other)
        again = server.post("/v1/chat/completions", chat_body(model), headers=greedy)
        holder.release()
        served = [a.done().status for a in many[:2] + few]
    assert refused.status == many[2].reply.status == 503
    assert refused.json["error"]["code"] == "overloaded" and int(refused.headers["Retry-After"]) >= 1
    assert more.status == again.status == 503  # two each
    assert served == [200] * 4


def test_a_full_queue_of_loads_has_room_for_others(house):
    """Waiting to have models loaded fills the same queue."""
    keys = Keys(house, "--queue-limit", "3")
    server, greedy, other = keys.server, keys.add("greedy"), keys.add("other")
    model = house.model(server, "never", load_ms=1000000)
    loads = []
    for n in range(3):
        loads.append(Asker(server, model, f"load{n}", path="/v1/load", body={"model_name": model}, **greedy))
        waits_for(server, model, n + 1)
    chat = Asker(server, model, "chat", **other)
    loads[2].join(PATIENCE_S)
    assert loads[2].reply.status == 503
    assert loaded(server, model)["requests_waiting"] == 3
    assert server.post("/v1/unload", {"model_name": model}).status == 200
    chat.done()


def test_a_bad_load_takes_nobodys_place_in_a_full_queue(house):
    """Its options are read before anybody gives way."""
    keys = Keys(house, "--queue-limit", "3")
    server, greedy, other = keys.server, keys.add("greedy"), keys.add("other")
    model = house.model(server, "one", slots=1, **SLOW)
    bad = [{option: value} for option, value in (
        ("slots", 1000), ("cache_type", "zz"), ("draft_model", "nobody"), ("rope_scaling", "spiral:2"),
        ("llamacpp_backend", "nobody"), ("llamacpp_args", '"open'), ("prefix_cache", "here"))]
    with Holder(server, model, **greedy) as holder:
        many = crowd(server, model, greedy, 3)
        for options in bad:
            reply = server.post("/v1/load", {"model_name": model, **options}, headers=other)
            assert 400 <= reply.status < 500, reply.body
            assert loaded(server, model)["requests_waiting"] == 3, options
        holder.release()
        assert [a.done().status for a in many] == [200] * 3


def test_a_phones_queue_is_shared_between_keys(house):
    """The profile's own limit displaces no client of other profiles."""
    keys = Keys(house)
    server, greedy, other, third = keys.server, keys.add("greedy"), keys.add("other"), keys.add("third")
    model = house.model(server, "one", slots=1, **SLOW)
    phone = {"X-API-Profile": "localllm"}
    with Holder(server, model, **greedy) as holder:
        plain = crowd(server, model, greedy, 8)
        # The eight that wait are of another profile, which has no such limit.
        assert server.post("/v1/chat/completions", chat_body(model), headers={**other, **phone}).status == 429
        holder.release()
        assert [a.done().status for a in plain] == [200] * 8
    with Holder(server, model, **greedy) as holder:
        phones = crowd(server, model, {**greedy, **phone}, 8)
        late = Asker(server, model, "late", **third, **phone)
        assert phones[7].done().status == 429 and phones[7].reply.headers["Retry-After"] == "5"
        holder.release()
        assert [a.done().status for a in phones[:7] + [late]] == [200] * 8


@needs_another_user
def test_users_of_this_machine_take_turns(house, server):
    """Without keys the owner of a request is the user whose program asks, as the kernel names it."""
    model = house.model(server, "one", slots=1, **SLOW)

    class Stranger(threading.Thread):
        def run(self):
            as_other_user(server, "POST", "/v1/chat/completions", chat_body(model, max_tokens=1),
                          {"X-Client-Request-Id": "stranger", "X-Client-Id": "z"})

    with Holder(server, model) as holder:
        askers = [Asker(server, model, f"own{i}", client=f"c{i}") for i in range(3)]
        waits_for(server, model, 3)
        stranger = Stranger(daemon=True)
        stranger.start()
        waits_for(server, model, 4)
        holder.release()
        assert [a.done().status for a in askers] == [200] * 3
        stranger.join(PATIENCE_S)
    assert order(server).index("stranger") == 1  # the second turn, not the fourth


class Unread:
    """A streamed chat whose client does not read, until it is told to."""

    def __init__(self, server, model, **fields):
        body = json.dumps(chat_body(model, stream=True, **fields)).encode()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(("127.0.0.1", server.port))
        self.socket.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    def rest(self):
        read = b""
        while piece := self.socket.recv(1 << 20):
            read = (read + piece)[-(1 << 16):]
        self.socket.close()
        return read.decode()


def test_a_stream_that_is_not_read_gives_its_slots_up(house, server):
    """When others wait for them; the rest of the stream says why it ended."""
    model = house.model(server, "talker", slots=2, tokens=1000000, word="x" * 16384)
    unread = Unread(server, model, n=2)
    runs(server, model, 1)
    assert server.chat(model, max_tokens=1).status == 200
    assert '"timeout"' in unread.rest() and "did not read it" in server.logs()


def test_one_key_cannot_open_all_websockets(house):
    keys = Keys(house)
    names = ("greedy", "second", "third", "fourth", "last")
    owners = {name: list(keys.add(name).items()) for name in names}
    sockets, counts = [], {}
    try:
        for name, headers in owners.items():
            counts[name] = 0
            with pytest.raises(Refused) as refused:
                while counts[name] < 200:
                    sockets.append(WebSocket(keys.server.port, "/logs/stream", headers=headers))
                    counts[name] += 1
            assert refused.value.status == 503
    finally:
        for s in sockets:
            s.socket.close()
    # 64 of 256, or as many as are left for all others.
    assert [counts[name] for name in names] == [64, 64, 64, 32, 16]
