"""Streams that follow something and may be idle for ever (events of chats, answers, the log, downloads): how many one
owner may have, how many all may have, and that a client that is refused loses nothing."""
import contextlib
import json
import time

import pytest
from chat_kit import Chat
from conftest import fake_model, model_file, wait_until
from test_doors import ADMIN, BOTH, KEY, bearer
from test_pull import Stream, held
from test_pull import depot  # noqa: F401 (a fixture)

OF_ONE, OF_ALL = 64, 512  # QN_WATCHERS_OWNER_MAX, QN_WATCHERS_MAX
ENDLESS = {"tokens": 1000000, "token_ms": 50, "word": "word "}
LOG, EVENTS = "/logs/stream?lines=0", "/internal/chats/events"


class Open:
    """Streams that stay open."""

    def __init__(self, server):
        self.server, self.streams = server, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        while self.streams:
            self.close_one()

    def ask(self, path, headers=None):
        """The status of a stream, which stays open if it is 200, and what was answered if not."""
        connection = self.server.connect()
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        if response.status == 200:
            self.streams.append((connection, response))
            return 200, ""
        with contextlib.closing(connection):
            return response.status, json.loads(response.read())["error"]["message"]

    def close_one(self):
        connection, response = self.streams.pop()
        response.close()
        connection.close()

    def fill(self, path, n, headers=None):
        for _ in range(n):
            status, message = self.ask(path, headers)
            assert status == 200, message


@pytest.mark.parametrize("accept", ["text/event-stream", "text/plain"])
def test_streams_of_the_log(house, accept):
    server = house.start(env=BOTH)
    mine, theirs = {**bearer(KEY), "Accept": accept}, {**bearer(ADMIN), "Accept": accept}
    with Open(server) as streams:
        streams.fill(LOG, OF_ONE, mine)
        status, message = streams.ask(LOG, mine)
        assert status == 503 and str(OF_ONE) in message and "GET /v1/logs" in message, message
        assert server.request("HEAD", LOG, headers=mine).status == 503
        assert streams.ask(LOG, theirs)[0] == 200
        assert server.get("/v1/logs", headers=mine).status == 200
        streams.close_one()  # theirs
        streams.close_one()
        wait_until(lambda: streams.ask(LOG, mine)[0] == 200, what="room for one more")
        assert server.request("HEAD", LOG, headers=mine).status == 503


def test_answers_and_events(house):
    server = house.start(env=BOTH)
    assert server.post("/v1/models/register", {"model_name": "user.m", "recipe": "llamacpp",
                                               "checkpoint": str(fake_model(house.tmp_path, **ENDLESS))},
                       headers=bearer(ADMIN)).status == 200
    chat = Chat(server, bearer(KEY))
    answer = chat.answer(chat.say("Hi"), "user.m")
    stream = f"/internal/messages/{answer}/stream"
    with Open(server) as streams:
        streams.fill(stream, OF_ONE - 8, bearer(KEY))
        streams.fill(EVENTS, 8, bearer(KEY))
        for path, instead in ((stream, "GET /internal/chats/ID"), (EVENTS, "GET /internal/chats"),
                              (LOG, "GET /v1/logs")):
            status, message = streams.ask(path, bearer(KEY))
            assert status == 503 and str(OF_ONE) in message and instead in message, message
        assert streams.ask(EVENTS, bearer(ADMIN))[0] == 200
        # The answer goes on.
        assert chat.messages()[answer]["state"] == "answering"
        for _ in range(4):
            streams.close_one()
        wait_until(lambda: streams.ask(stream, bearer(KEY))[0] == 200, what="room for one more")
    with chat.watch(answer) as watcher:
        assert watcher.status == 200
        watcher.until_text(10)
    assert chat.stop(answer).status == 200


def test_downloads(depot):  # noqa: F811
    depot.hub.repo("owner/large", {"m-Q4_0.gguf": model_file("large", 600_000)})
    depot.hub.repo("owner/other", {"m-Q4_0.gguf": model_file("other", 300_000)})
    fault = held(depot.hub, "m-Q4_0.gguf", 100_000)
    server = depot.start()
    wanted = {"model_name": "user.m", "checkpoint": "owner/large:Q4_0"}
    other = {"model_name": "user.o", "checkpoint": "owner/other:Q4_0"}
    streams = [Stream(server, **wanted) for _ in range(OF_ONE)]
    assert {s.response.status for s in streams} == {200}
    for fields in ({**other, "stream": True}, other, {**wanted, "stream": True}):
        reply = server.post("/api/v1/pull", fields)
        message = reply.json["error"]["message"]
        assert reply.status == 503 and str(OF_ONE) in message and '"subscribe": false' in message, message
    reply = server.post("/api/pull", {"model": "hf.co/owner/other:Q4_0"})
    assert reply.status == 503 and "GET /v1/downloads" in reply.json["error"], reply.body
    assert [d["id"] for d in server.get("/v1/downloads").json] == ["model:user.m"]  # nothing else has begun
    for fields in (wanted, other):
        assert server.post("/api/v1/pull", {**fields, "subscribe": False}).status == 200
    assert len(server.get("/v1/downloads").json) == 2
    del fault.options["hold"]
    for s in streams:
        assert list(s)[-1][0] == "complete"
    assert server.post("/api/v1/pull", {**other, "stream": True}).status == 200


def test_all_owners_together(house):
    """An owner gets no more than are left for others, so that many owners get some each."""
    server = house.start(env=BOTH)
    names = [f"k{i}" for i in range(10)]
    keys = [server.post("/internal/keys", {"name": n, "admin": False}, headers=bearer(ADMIN)).json["key"]
            for n in names]
    had = []
    with Open(server) as streams:
        for key in keys:
            before = len(streams.streams)
            status = 200
            while status == 200 and len(streams.streams) - before <= OF_ONE:
                status, message = streams.ask(LOG, bearer(key))
            assert status == 503 and "close" in message, message
            had.append(len(streams.streams) - before)
        assert had[:7] == [OF_ONE] * 7 and min(had) > 0 and sum(had) < OF_ALL, had
        assert streams.ask(EVENTS, bearer(ADMIN))[0] == 200
        began = time.monotonic()
        assert server.get("/v1/models", headers=bearer(KEY)).status == 200
        assert time.monotonic() - began < 5
