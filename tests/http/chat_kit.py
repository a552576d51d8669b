"""What tests of stored conversations share: making a chat and its messages, asking for an answer, following it."""
import contextlib
import json

from conftest import PATIENCE_S, wait_until


class Chat:
    """One chat of one client (its headers)."""

    def __init__(self, server, headers=None, **fields):
        self.server, self.headers = server, headers or {}
        reply = server.post("/internal/chats", {"title": "a chat", **fields}, headers=self.headers)
        assert reply.status == 201, reply.body
        self.id = reply.json["id"]

    def say(self, text, parent=None, role="user", **fields):
        """Adds a message; returns its id."""
        reply = self.server.post("/internal/messages", {"chat": self.id, "parent": parent, "role": role, "text": text,
                                                        **fields}, headers=self.headers)
        assert reply.status == 201, reply.body
        return reply.json["id"]

    def ask(self, message, model, **fields):
        """The reply to the request for an answer."""
        return self.server.post(f"/internal/messages/{message}/answer", {"model": model, **fields},
                                headers=self.headers)

    def answer(self, message, model, **fields):
        """Asks for an answer; returns its id."""
        reply = self.ask(message, model, **fields)
        assert reply.status == 202, reply.body
        assert reply.json["state"] == "queued" and reply.json["role"] == "assistant"
        return reply.json["id"]

    def stop(self, answer, **fields):
        return self.server.post(f"/internal/messages/{answer}/stop", fields, headers=self.headers)

    def messages(self):
        """All messages of the chat by their ids."""
        reply = self.server.get(f"/internal/chats/{self.id}", headers=self.headers)
        assert reply.status == 200, reply.body
        return {m["id"]: m for m in reply.json["messages"]}

    def watch(self, answer, place=None):
        return Watcher(self.server, answer, place, self.headers)

    def finished(self, answer):
        """The message when its answer is finished."""
        with self.watch(answer) as watcher:
            watcher.end()
        return self.messages()[answer]


class Watcher:
    """A client that follows an answer. text, reasoning: what it has got; place: the id of its last event."""

    def __init__(self, server, answer, place=None, headers=None):
        self.connection = server.connect()
        query = f"?from={place}" if place else ""
        self.connection.request("GET", f"/internal/messages/{answer}/stream{query}", headers=headers or {})
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.text = self.reasoning = ""
        self.place, self.records = place, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.response.close()
        self.connection.close()

    def next(self):
        """The next record; None at the end of the stream."""
        record = place = None
        for raw in self.response:
            line = raw.decode().rstrip("\n")
            if line.startswith("data: "):
                record = json.loads(line[6:])
            elif line.startswith("id: "):
                place = line[4:]
            elif line == "" and record is not None:
                break
        if record is None:
            return None
        assert place, record
        self.place = place
        self.records.append(record)
        self.text += record["s"] if record["t"] == "text" else ""
        self.reasoning += record["s"] if record["t"] == "think" else ""
        return record

    def until(self, condition):
        """Reads records up to the first one with this property, and returns it."""
        while True:
            record = self.next()
            assert record is not None, self.records[-3:]
            if condition(record):
                return record

    def until_text(self, n=1):
        """Reads until at least n characters of text have come."""
        while len(self.text) < n:
            record = self.next()
            assert record is not None and record["t"] != "end", record
        return self.text

    def end(self):
        """Reads to the end of the stream; returns the last record."""
        while self.next() is not None:
            pass
        assert self.records and self.records[-1]["t"] == "end", self.records[-3:]
        return self.records[-1]

    def kinds(self):
        return [r["t"] for r in self.records]


def health(server, model, headers=None):
    for m in server.get("/v1/health", headers=headers).json["all_models_loaded"]:
        if m["model_name"] == model:
            return m
    return {}


def running(server, model, n):
    wait_until(lambda: health(server, model).get("requests_running", 0) == n, PATIENCE_S, f"{n} running requests")


def waiting(server, model, n):
    wait_until(lambda: health(server, model).get("requests_waiting") == n, PATIENCE_S, f"{n} waiting requests")
