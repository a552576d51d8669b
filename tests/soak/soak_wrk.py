#!/usr/bin/env python3
"""200 connections of wrk over mixed routes (mix.lua) while models load, leave, are killed and crash by themselves.
What must hold: every answer is a success or an intended 4xx, 429 or 503, no connection breaks, memory and
descriptors stay as they were.

    soak_wrk.py [SECONDS [SEED]]      (scripts/dev soak wrk; default 60)

QUINCE_TEST_BUILD names the build folder; wrk is a Debian package.
"""
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
import verdict  # noqa: E402
from conftest import BUILD, House, wait_until  # noqa: E402

CONNECTIONS = 200
TROUBLES = 4            # threads that load, unload and kill
REST_S = 8              # between two kills of a model
WARM_UP = 0.25          # share of the time after which memory and descriptors are first measured
MEMORY_KIB = 8 * 1024   # growth allowed between two measurements at rest
PEAK_KIB = 64 * 1024    # and at work, over what was there at rest
INTENDED = {"200", "400", "403", "404", "405", "415", "429", "503"}
CRASHED = {500, 502, 503}  # what a model that always dies may answer


class Trouble(threading.Thread):
    """Loads, unloads, kills, and asks the model that cannot live."""

    def __init__(self, soak, seed):
        super().__init__(daemon=True)
        self.soak, self.rng = soak, random.Random(seed)
        self.over, self.did, self.problems, self.peak = threading.Event(), collections.Counter(), [], 0

    def run(self):
        acts = [(self.load, 4), (self.unload, 4), (self.kill, 2), (self.crash, 2)]
        while not self.over.wait(self.rng.random() * 0.6):
            act = self.rng.choices([a for a, _ in acts], [w for _, w in acts])[0]
            self.did[act.__name__] += 1
            try:
                act()
            except Exception as e:  # noqa: BLE001: whatever it is, it is a finding
                self.problems.append(f"{act.__name__}: {e!r}")
            self.peak = max(self.peak, self.soak.server.rss_kib())

    def expect(self, what, reply, allowed):
        if reply.status not in allowed:
            self.problems.append(f"{what}: status {reply.status}: {reply.body[:300]!r}")

    def load(self):
        self.expect("load", self.soak.server.post("/v1/load", {"model_name": self.rng.choice(self.soak.models)}),
                    {200, 429, 503})

    def unload(self):
        self.expect("unload", self.soak.server.post("/v1/unload", {"model_name": self.rng.choice(self.soak.models)}),
                    {200, 404})

    def kill(self):
        """One that is at work, and none twice in a row: a request is asked again once, and then it is to end well."""
        ready = {m["model_name"]: m["pid"] for m in self.soak.server.get("/v1/health").json["all_models_loaded"]
                 if m["loaded"]}
        with self.soak.lock:
            well = [name for name in ready if time.monotonic() - self.soak.killed.get(name, 0) > REST_S]
            if well:
                name = self.rng.choice(well)
                self.soak.killed[name] = time.monotonic()
                with contextlib.suppress(ProcessLookupError):  # it has been unloaded since
                    os.kill(ready[name], signal.SIGKILL)

    def crash(self):
        self.expect("crash", self.soak.server.chat(self.soak.crasher), CRASHED)


class Soak:
    def __init__(self, folder):
        backends = folder / "backends"
        backends.mkdir()
        shutil.copy(BUILD / "tests" / "fake_backend", backends / "quince-llm")
        shutil.copy(BUILD / "bin" / "quince-inspect", backends)
        shutil.copy(BUILD / "bin" / "quince-probe", backends)
        self.lock, self.killed = threading.Lock(), {}
        self.house = House(folder, backends)
        self.server = self.house.start("--max-loaded-models", "3", "--queue-limit", "190", "--log-level", "warn")
        kinds = [dict(tokens=5), dict(tokens=20, token_ms=2), dict(load_ms=200, tokens=5), dict(tokens=50, prefill_ms=30),
                 dict(tokens=100, word="w" * 500 + " ")]
        self.models = [self.house.model(self.server, f"m{n}", slots=16, **o) for n, o in enumerate(kinds)]
        self.crasher = self.house.model(self.server, "crasher", crash_after=0, last_words="I cannot live\n")

    def rest(self):
        """Nothing loaded, nothing asked: what is left then is what the server keeps."""
        def unloaded():
            self.server.post("/v1/unload", None)
            return not self.server.children()
        wait_until(unloaded, timeout=40, what="the end of all children")
        time.sleep(1)
        return self.server.descriptors(), self.server.rss_kib()

    def measure(self, seconds, seed):
        troubles = [Trouble(self, seed * TROUBLES + n) for n in range(TROUBLES)]
        for t in troubles:
            t.start()
        script = pathlib.Path(__file__).with_name("mix.lua")
        done = subprocess.run(
            ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{seconds:.0f}s", "--timeout", "60s", "-s", str(script),
             f"http://127.0.0.1:{self.server.port}", "--", str(seed), *self.models],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for t in troubles:
            t.over.set()
        for t in troubles:
            t.join(60)
        lines = done.stdout.splitlines()
        at = next((i for i, line in enumerate(lines) if line.startswith("RESULT ")), None)
        if at is None:
            raise RuntimeError(f"wrk failed:\n{done.stdout}")
        return json.loads(lines[at][7:]), lines[at + 1:], troubles


def check(result, samples, troubles):
    problems = [p for t in troubles for p in t.problems]
    if any(t.is_alive() for t in troubles):
        problems.append("a request never ended")
    for kind in ("connect", "read", "write", "timeout"):
        if result[kind]:
            problems.append(f"{result[kind]} errors of kind {kind}")
    for status, n in result["statuses"].items():
        if status not in INTENDED:
            problems.append(f"{n} answers with status {status}")
    return problems + samples


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    if not shutil.which("wrk"):
        print("soak wrk: needs wrk (Debian package wrk)", file=sys.stderr)
        return 1
    print(f"soak wrk: {seconds:.0f} s, seed {seed}", flush=True)
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(pathlib.Path(folder))
        server = soak.server
        try:
            at_rest = []
            for share, n in ((WARM_UP, 0), (1 - WARM_UP, 1)):
                result, samples, troubles = soak.measure(max(2, seconds * share), seed + n)
                problems += check(result, samples, troubles)
                at_rest.append(soak.rest())
                did, peak = sum((t.did for t in troubles), collections.Counter()), max(t.peak for t in troubles)
                print(f"{result['requests']} requests, statuses {dict(sorted(result['statuses'].items()))}, "
                      f"{result['cut']} streams cut by a kill; did {dict(sorted(did.items()))}; "
                      f"peak {peak} KiB", flush=True)
            status = server.stop()
        finally:
            server.kill()
        log = server.logs()
    (descriptors, memory), (descriptors_after, memory_after) = at_rest
    print(f"at rest: descriptors {descriptors} -> {descriptors_after}, memory {memory} -> {memory_after} KiB; "
          f"callbacks over 20 ms: {log.count('a callback blocked the loop')}")
    problems += verdict.common_problems(status, (descriptors, memory), (descriptors_after, memory_after), MEMORY_KIB)
    if not verdict.SANITIZED and peak > memory + PEAK_KIB:
        problems.append("memory was not flat at work")
    for line in log.splitlines():
        if " error " in line[20:40]:
            problems.append(f"an error in the log: {line[25:]}")
    return verdict.tell("soak wrk", seed, problems, log)


if __name__ == "__main__":
    sys.exit(main())
