#!/usr/bin/env python3
"""A long mixed load on one server over the fake backend: answers, streams, clients that leave, loads,
unloads, killed children, nonsense, all at random and side by side. What must hold at the end: every
answer was one that the API allows, /live stayed quick, and no process, descriptor or memory is left.

    soak.py [SECONDS [SEED]]      (scripts/dev soak SECONDS; default 60)

QUINCE_TEST_BUILD names the build folder. A failure prints the seed; the order of what several threads
did is not repeated by it, their choices are.
"""
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
import verdict  # noqa: E402
from conftest import BUILD, House, events, raw_connection, wait_until  # noqa: E402

CLIENTS = 8
WARM_UP = 0.25          # share of the time after which memory and descriptors are first measured
LIVE_P99_S = 0.1
MEMORY_KIB = 16 * 1024  # growth allowed between the two measurements
# Whole answers: done, loading or job failed because the child was killed, unloaded meanwhile.
ALLOWED = {200, 500, 502, 503}


class Client(threading.Thread):
    """Does one thing after the other until it is told to stop; counts what it saw."""

    def __init__(self, soak, seed):
        super().__init__(daemon=True)
        self.soak, self.server, self.rng = soak, soak.server, random.Random(seed)
        self.did, self.problems = collections.Counter(), []

    def run(self):
        acts = [(self.chat, 30), (self.stream, 20), (self.leave_stream, 15), (self.leave_early, 10),
                (self.load, 5), (self.unload, 4), (self.unload_all, 1), (self.kill_child, 0.5),
                (self.many, 10), (self.warm, 2),
                (self.look, 10), (self.nonsense, 5), (self.register, 1)]
        while not self.soak.over.is_set():
            act = self.rng.choices([a for a, _ in acts], [w for _, w in acts])[0]
            try:
                act()
            except Exception as e:  # noqa: BLE001: whatever it is, it is a finding
                self.problems.append(f"{act.__name__}: {e!r}")
            self.did[act.__name__] += 1
            time.sleep(self.rng.random() * 0.05)

    def model(self):
        """Any; the one that crashes less often, since its back-off would fill the time with waiting."""
        *sound, crashing = self.soak.models
        return crashing if self.rng.random() < 0.03 else self.rng.choice(sound)

    def expect(self, what, reply, allowed):
        if reply.status not in allowed:
            self.problems.append(f"{what}: status {reply.status}: {reply.body[:300]!r}")
        elif reply.status != 200 and not reply.json["error"]["message"]:
            self.problems.append(f"{what}: an error without words")

    def chat(self):
        self.expect("chat", self.server.chat(self.model(), n=self.rng.choice([1, 1, 3])), ALLOWED)

    def many(self):
        """Several prompts of one of several clients, who sometimes has little time."""
        headers = {"X-Client-Id": self.rng.choice("abc")}
        if self.rng.random() < 0.3:
            headers["X-Request-Timeout"] = self.rng.choice(["0.01", "0.1", "1"])
        body = {"model": self.model(), "prompt": ["x"] * self.rng.randint(1, 6)}
        self.expect("many", self.server.post("/v1/completions", body, headers=headers), ALLOWED | {504})

    def warm(self):
        reply = self.server.request("POST", f"/health/warm?model={self.model()}")
        if reply.status not in (200, 503):
            self.problems.append(f"warm: status {reply.status}: {reply.body[:300]!r}")

    def stream(self):
        connection, response = self.server.stream(self.model())
        with contextlib.closing(connection):
            if response.status != 200:
                if response.status not in ALLOWED:
                    self.problems.append(f"stream: status {response.status}")
                return
            last = None
            for last in events(response):
                pass
            if last != "[DONE]" and "error" not in (last or {}):
                self.problems.append(f"stream: ended with {last!r}")

    def leave_stream(self):
        connection, response = self.server.stream(self.model())
        for n, _ in enumerate(events(response)):
            if n >= self.rng.randrange(5):
                break
        response.close()
        connection.close()

    def leave_early(self):
        body = json.dumps({"model": self.model(), "stream": self.rng.random() < 0.5,
                           "messages": [{"role": "user", "content": "x" * self.rng.choice([1, 100000])}]}).encode()
        head = (b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n" % len(body))
        with raw_connection(self.server) as s:
            whole = head + body
            s.sendall(whole[:self.rng.choice([10, len(head), len(whole) - 1, len(whole), len(whole)])])
            time.sleep(self.rng.choice([0, 0, 0.01, 0.2]))

    def load(self):
        options = {"ctx_size": self.rng.choice([100, 200])} if self.rng.random() < 0.3 else {}
        self.expect("load", self.server.post("/v1/load", {"model_name": self.model(), **options}), ALLOWED)

    def unload(self):
        self.expect("unload", self.server.post("/v1/unload", {"model_name": self.model()}), {200, 404})

    def unload_all(self):
        self.expect("unload all", self.server.post("/v1/unload", None), {200})

    def kill_child(self):
        children = self.server.children()
        if children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.rng.choice(children), signal.SIGKILL)

    def look(self):
        path = self.rng.choice(["/v1/health", "/v1/models", "/v1/stats", "/logs?lines=20", f"/v1/models/{self.model()}"])
        self.expect(path, self.server.get(path), {200})

    def nonsense(self):
        body, headers, allowed = self.rng.choice([
            ("{", {}, {400}), ("[]", {}, {400}), ('{"model":"nobody","messages":[{"role":"user","content":"x"}]}', {}, {404}),
            ("{}", {"Content-Type": "multipart/form-data; boundary=x"}, {415}), ("{}", {"Origin": "http://example.com"}, {403}),
            ("{}", {"Host": "example.com"}, {403})])
        self.expect("nonsense", self.server.post("/v1/chat/completions", body, headers=headers), allowed)

    def register(self):
        self.server.register(self.soak.models[0], self.soak.first_file)


class Live(threading.Thread):
    """How long /live takes, asked a hundred times a second on one connection."""

    def __init__(self, soak):
        super().__init__(daemon=True)
        self.soak, self.took = soak, []

    def run(self):
        connection = self.soak.server.connect(30)
        while not self.soak.over.is_set():
            begun = time.monotonic()
            connection.request("GET", "/live")
            connection.getresponse().read()
            self.took.append(time.monotonic() - begun)
            time.sleep(0.01)
        connection.close()

    def percentile(self, p):
        return sorted(self.took)[min(len(self.took) - 1, int(len(self.took) * p))]


class Soak:
    def __init__(self, folder):
        backends = folder / "backends"
        backends.mkdir()
        shutil.copy(BUILD / "tests" / "fake_backend", backends / "quince-llm")
        shutil.copy(BUILD / "bin" / "quince-inspect", backends)
        house = House(folder, backends)
        self.server = house.start("--max-loaded-models", "2", "--idle", "2", "--queue-limit", "64",
                                  "--max-queue", "5", "--max-concurrent", "3", "--batch-wait", "1")
        kinds = [dict(tokens=5), dict(tokens=30, token_ms=3, slots=2), dict(load_ms=300, tokens=5),
                 dict(prefill_ms=300, tokens=3), dict(tokens=200, word="w" * 3000 + " "),
                 dict(tokens=50, crash_after=20, token_ms=1)]
        self.models = [house.model(self.server, f"m{n}", **o) for n, o in enumerate(kinds)]
        self.first_file = sorted(folder.glob("*.gguf"))[0]
        self.over = threading.Event()

    def rest(self):
        """Nothing loaded, nothing asked: what is left then is what the server keeps."""
        def unloaded():
            self.server.post("/v1/unload", None)
            return not self.server.children()
        wait_until(unloaded, timeout=30, what="the end of all children")
        time.sleep(0.5)
        return self.server.descriptors(), self.server.rss_kib()

    def measure(self, seconds, seed):
        self.over.clear()
        live = Live(self)
        clients = [Client(self, seed * 1000 + n) for n in range(CLIENTS)]
        for t in [live, *clients]:
            t.start()
        time.sleep(seconds)
        self.over.set()
        for t in [live, *clients]:
            t.join(90)
        stuck = [t for t in clients if t.is_alive()]
        problems = [p for c in clients for p in c.problems]
        if stuck:
            problems.append(f"{len(stuck)} requests never ended")
        return sum((c.did for c in clients), collections.Counter()), problems, live


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    print(f"soak: {seconds:.0f} s, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(pathlib.Path(folder))
        server = soak.server
        try:
            did, problems, _ = soak.measure(seconds * WARM_UP, seed)
            descriptors, memory = soak.rest()
            more, found, live = soak.measure(seconds * (1 - WARM_UP), seed + 1)
            problems += found
            descriptors_after, memory_after = soak.rest()
            status = server.stop()
        finally:
            server.kill()
        log = server.logs()
    p99, slowest = live.percentile(0.99), max(live.took)
    print("did:", ", ".join(f"{k} {v}" for k, v in sorted((did + more).items())))
    print(f"/live: {len(live.took)} times, p50 {live.percentile(0.5) * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms, "
          f"slowest {slowest * 1e3:.0f} ms")
    print(f"descriptors {descriptors} -> {descriptors_after}, memory {memory} -> {memory_after} KiB, "
          f"callbacks over 20 ms: {log.count('a callback blocked the loop')}")
    problems += verdict.common_problems(status, (descriptors, memory), (descriptors_after, memory_after), MEMORY_KIB)
    if not verdict.SANITIZED and p99 > LIVE_P99_S:
        problems.append("/live was slow")
    return verdict.tell("soak", seed, problems, log)


if __name__ == "__main__":
    sys.exit(main())
