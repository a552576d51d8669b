#!/usr/bin/env python3
"""Hostile clients of every kind beside 20 honest streams, on one server over the fake backend: heads and bodies that
drip, chunks whose extensions and zeros cost more than they carry, floods of connections, large schemas, loads that
fail, readers that do not read, requests with others' ids.

    soak_attack.py [SECONDS [SEED]]      (scripts/dev soak attack; default 60)

What must hold: no honest request is refused, no honest stream stands still for longer than GAP_S, /live answers on kept
and on new connections within LIVE_P99_S of what it takes on a server that is not attacked, and descriptors and memory are
at rest as they were. A gap counts less what
explains it: the fake model's own pace, how late a process beside it woke up that does nothing but sleep at the same
pace, how late the same model was on a second server that is not attacked, because then the machine was busy, and how
late the reading process itself was. Of the worst gap it is said how long the router and the model's process ran in it
and how long they waited for a processor.

Every role is a process of its own, so that none waits for another's interpreter. Only loopback is used. QUINCE_TEST_BUILD
names the build folder.
"""
import asyncio
import bisect
import collections
import contextlib
import json
import multiprocessing
import pathlib
import random
import shutil
import socket
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
import verdict  # noqa: E402
from conftest import BUILD, House, wait_until  # noqa: E402

STREAMS = 20
TOKEN_S, TOKENS = 0.02, 150  # of the honest model
GAP_S = 0.3
LIVE_P99_S = 0.02
LIVE_PAUSE_S = 0.01
LATE_S = 0.002           # a process that wakes up later than this was delayed by the machine
ATTACKERS = 2            # processes, each with all kinds of attack
WARM_UP = 0.25           # share of the time after which memory and descriptors are first measured
MEMORY_KIB = 16 * 1024   # growth allowed between the two measurements
PATIENCE_S = 60
HONEST_ID = "honest"     # the X-Client-Id of the honest streams, which attackers use as well


def request(method, path, body=None, headers=()):
    body = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}",
            "Content-Type: application/json", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def chat(model, **fields):
    return {"model": model, "stream": True, "messages": [{"role": "user", "content": "hello"}], **fields}


# ---- what is measured ----

async def read_stream(port, model, first, gaps):
    """One honest request; appends (from, to) of the wait for its first piece to `first`, of each later one to `gaps`.
    Returns what was wrong, or None."""
    last, waits = time.monotonic(), first
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request("POST", "/v1/chat/completions", chat(model),
                             [f"X-Client-Id: {HONEST_ID}", "Connection: close"]))
        status = (await asyncio.wait_for(reader.readline(), PATIENCE_S)).decode(errors="replace").strip()
        if " 200 " not in status + " ":
            return f"refused: {status}"
        tail = b""
        while piece := await asyncio.wait_for(reader.read(65536), PATIENCE_S):
            now = time.monotonic()
            if b"data: " in piece:
                waits.append((last, now))
                last, waits = now, gaps
            tail = (tail + piece)[-64:]
        return None if b"[DONE]" in tail else "broke off"
    finally:
        writer.close()


def honest(port, over, out, how):
    models, streams = how

    async def one(first, gaps, problems):
        while not over.is_set():
            try:
                problem = await read_stream(port, models["honest"], first, gaps)
            except (OSError, asyncio.TimeoutError) as e:
                problem = repr(e)
            if problem:
                problems.append(f"an honest request: {problem}")

    async def lateness(late):
        """Records when this process woke up late: pieces that arrived in that time were read late."""
        while not over.is_set():
            due = time.monotonic() + TOKEN_S
            await asyncio.sleep(TOKEN_S)
            now = time.monotonic()
            if now - due > LATE_S:
                late.append((due, now))

    async def all_of_them():
        results, late = [([], [], []) for _ in range(streams)], []
        await asyncio.gather(lateness(late), *(one(*r) for r in results))
        return results, late
    out.send(asyncio.run(all_of_them()))


def processor_times(pid):
    """Returns (seconds of running, seconds of waiting for a processor) of the first thread of a process."""
    try:
        ran, waited, _ = pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()
    except (OSError, ValueError):
        return (0.0, 0.0)
    return (int(ran) / 1e9, int(waited) / 1e9)


def sleeper(_, over, out, pids):
    """Sleeps again and again for the time in which the honest model makes a token. Sends two lists: (due, actual) of
    each wake-up that was late, and (time, [(ran, waited) of each process in pids]) at each wake-up."""
    late, had = [], []
    while not over.is_set():
        due = time.monotonic() + TOKEN_S
        time.sleep(TOKEN_S)
        now = time.monotonic()
        if now - due > LATE_S:
            late.append((due, now))
        had.append((now, [processor_times(pid) for pid in pids]))
    out.send((late, had))


def live(port, over, out, kept):
    """(from, to) of each answer of /live, and how often a kept connection was closed between two requests."""
    ask, took, problems, closed, s = request("GET", "/live"), [], [], 0, None
    while not over.is_set():
        begun = time.monotonic()
        fresh = s is None
        try:
            s = s or socket.create_connection(("127.0.0.1", port), PATIENCE_S)
            s.sendall(ask)
            answer = s.recv(65536)
            if b" 200 " in answer[:16]:
                took.append((begun, time.monotonic()))
            elif answer or fresh:
                problems.append(f"/live: {answer[:80]!r}")
        except OSError as e:
            answer = b""
            if fresh:
                problems.append(f"/live: {e!r}")
        if s and (not kept or not answer):
            closed += kept
            s.close()
            s = None
        time.sleep(LIVE_PAUSE_S)
    out.send((took, problems, closed))


# ---- attacks: each does one thing once ----

async def connect(port):
    return await asyncio.open_connection("127.0.0.1", port)


async def drip(port, rng, models):
    """A head or a body, byte by byte."""
    whole = request("POST", "/v1/chat/completions", chat(models["victim"]))
    _, writer = await connect(port)
    with contextlib.closing(writer):
        for i in range(rng.randrange(20, 200)):
            writer.write(whole[i:i + 1])
            await writer.drain()
            await asyncio.sleep(0.05)


async def spin(port, rng, _):
    """Chunks of one byte with long extensions, or with sizes of many zeros."""
    _, writer = await connect(port)
    with contextlib.closing(writer):
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                     b"Content-Type: application/json\r\n\r\n")
        chunk = b"1;" + b"x" * 3000 + b"\r\n{\r\n" if rng.random() < 0.5 else b"0" * 12 + b"1\r\n{\r\n"
        for _ in range(rng.randrange(50, 500)):
            writer.write(chunk * 4)
            await writer.drain()


async def flood(port, rng, _):
    """Many connections at once that say nothing, half of them reset."""
    made = []
    for _ in range(rng.randrange(10, 60)):
        s = socket.socket()
        s.setblocking(False)
        made.append(s)
        with contextlib.suppress(BlockingIOError):
            s.connect(("127.0.0.1", port))
    await asyncio.sleep(rng.random())
    for s in made:
        if rng.random() < 0.5:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()


async def ask(port, whole, limit_s=10):
    reader, writer = await connect(port)
    with contextlib.closing(writer):
        writer.write(whole)
        await writer.drain()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(reader.read(65536), limit_s)


async def schema(port, rng, models):
    """A large or deep schema for the answer."""
    if rng.random() < 0.5:
        inner = {"type": "object", "properties": {f"p{i}": {"type": "string", "pattern": "^(a|b)*c{1,9}$"}
                                                  for i in range(rng.randrange(100, 3000))}}
    else:
        inner = "DEEP"
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": inner}}
    text, depth = json.dumps(chat(models["victim"], response_format=form)), rng.randrange(10, 1000)
    deep = '{"type":"array","items":{"anyOf":[' * depth + '{"type":"null"}' + "]}}" * depth
    await ask(port, request("POST", "/v1/chat/completions", text.replace('"DEEP"', deep).encode()))


async def bad_load(port, rng, models):
    name = rng.choice([models["broken"], models["crashing"], "no-such-model", "../../etc/passwd"])
    await ask(port, request("POST", "/v1/load", {"model_name": name, "ctx_size": rng.choice([1, 4096, 2**40])}))


async def slow_reader(port, rng, models):
    """Asks for much and reads nothing, then a little, then leaves."""
    reader, writer = await connect(port)
    with contextlib.closing(writer):
        writer.write(request("POST", "/v1/chat/completions", chat(models["loud"])))
        await writer.drain()
        for _ in range(rng.randrange(1, 20)):
            await asyncio.sleep(0.2)
            await asyncio.wait_for(reader.read(10), 10)


async def others(port, rng, models):
    """What belongs to others: stored answers, downloads, the honest client's turn in the queue."""
    path, method = rng.choice([("/v1/responses/resp_1", "GET"), ("/v1/responses/resp_1", "DELETE"),
                               ("/v1/responses/resp_1/cancel", "POST"), ("/slots/0?action=erase", "POST"),
                               ("/internal/keys/1", "DELETE"), ("/api/v1/downloads/control", "POST"),
                               ("/v1/chat/completions", "POST")])
    body = {"id": "1", "action": "remove"} if "downloads" in path else chat(models["victim"])
    await ask(port, request(method, path, body, [f"X-Client-Id: {HONEST_ID}"]))


ATTACKS = {drip: 12, spin: 3, flood: 2, schema: 2, bad_load: 2, slow_reader: 6, others: 3}  # how many at a time


def attacker(port, over, out, how):
    models, seed = how
    did, rng = collections.Counter(), random.Random(seed)

    async def keep_at_it(attack):
        while not over.is_set():
            with contextlib.suppress(OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
                await attack(port, rng, models)
            did[attack.__name__] += 1
            await asyncio.sleep(rng.random() * 0.02)

    async def all_of_them():
        await asyncio.gather(*(keep_at_it(a) for a, n in ATTACKS.items() for _ in range(n)))
    asyncio.run(all_of_them())
    out.send(did)


# ---- judging ----

class Late:
    """The times when the machine was busy, because one of these was late: the process that only sleeps, the model
    that is not attacked, or the process that reads the streams."""

    def __init__(self, slept, control, reader=()):
        waits = [*slept, *reader, *((begin + TOKEN_S, end) for begin, end in control if end - begin > TOKEN_S + LATE_S)]
        self.spans = []
        for begin, end in sorted(waits):
            if self.spans and begin <= self.spans[-1][1]:
                before = self.spans.pop()
                begin, end = before[0], max(before[1], end)
            self.spans.append((begin, end))
        self.ends = [end for _, end in self.spans]

    def within(self, begin, end):
        """Seconds of begin to end in which they should have run and did not."""
        total, i = 0.0, bisect.bisect_left(self.ends, begin)
        while i < len(self.spans) and self.spans[i][0] < end:
            total += min(end, self.spans[i][1]) - max(begin, self.spans[i][0])
            i += 1
        return total


def percentile(values, p):
    return sorted(values)[min(len(values) - 1, int(len(values) * p))] if values else float("inf")


def tell_processors(had, names, begin, end):
    """Prints for each process how long it ran, and how long it waited for a processor, from `begin` to `end`."""
    times = [t for t, _ in had]
    first, last = (had[min(len(had) - 1, max(0, bisect.bisect(times, t) - 1 + after))][1]
                   for t, after in ((begin, 0), (end, 1)))
    for name, (ran, waited), (ran_then, waited_then) in zip(names, first, last):
        print(f"    meanwhile {name} ran {(ran_then - ran) * 1e3:.0f} ms and waited {(waited_then - waited) * 1e3:.0f} ms "
              "for a processor")


def judge_streams(results, late, had):
    problems, worst_of_all = [], (0, 0, 0)
    for n, (first, gaps, found) in enumerate(results):
        problems += found
        if not gaps:
            problems.append("an honest stream got nothing")
            continue
        left = lambda g: g[1] - g[0] - TOKEN_S - late.within(*g)  # noqa: E731
        longest, worst = max(gaps, key=lambda g: g[1] - g[0]), max(gaps, key=left)
        print(f"stream {n:2}: {len(gaps)} pieces, longest gap {(longest[1] - longest[0]) * 1e3:4.0f} ms, of which the model "
              f"and the machine explain {(longest[1] - longest[0] - max(0, left(longest))) * 1e3:4.0f}; "
              f"most unexplained {max(0, left(worst)) * 1e3:4.0f} ms; first piece after at most "
              f"{max(b - a for a, b in first) * 1e3:.0f} ms")
        worst_of_all = max(worst_of_all, (left(worst), *worst))
        if left(worst) > GAP_S:
            problems.append(f"an honest stream stood still for {left(worst) * 1e3:.0f} ms that nothing explains")
    print(f"the worst gap: {worst_of_all[0] * 1e3:.0f} ms unexplained")
    tell_processors(had, ("the router", "the model's process"), *worst_of_all[1:])
    return problems


def judge_live(name, result, late, calm):
    """calm: answers of the server that is not attacked, which show what the machine itself takes."""
    took, problems, closed = result
    usual = percentile([max(0, b - a - late.within(a, b)) for a, b in calm[0]], .99)
    raw = [b - a for a, b in took]
    own = [max(0, b - a - late.within(a, b)) for a, b in took]
    print(f"/live on {name}: {len(took)} answers, p50 {percentile(raw, .5) * 1e3:.1f} ms, p99 {percentile(raw, .99) * 1e3:.1f} "
          f"ms, without the machine's delays {percentile(own, .99) * 1e3:.1f} ms (not attacked {usual * 1e3:.1f}), slowest {max(raw, default=0) * 1e3:.0f} ms, "
          f"closed between two requests {closed} times")
    if percentile(own, .99) > LIVE_P99_S + usual:
        problems = [*problems, f"/live on {name} was slow"]
    return problems


class Soak:
    def __init__(self, folder):
        backends = folder / "backends"
        backends.mkdir()
        shutil.copy(BUILD / "tests" / "fake_backend", backends / "quince-llm")
        shutil.copy(BUILD / "bin" / "quince-inspect", backends)
        house = House(folder, backends)
        self.control = house.start("--log-level", "warn", "--drain", "2")
        self.server = house.start("--max-loaded-models", "3", "--queue-limit", "512", "--log-level", "warn",
                                  "--drain", "2")
        options = {"honest": dict(tokens=TOKENS, token_ms=int(TOKEN_S * 1000), slots=STREAMS),
                   "victim": dict(tokens=5, slots=4), "loud": dict(tokens=10000, word="w" * 2000 + " ", slots=8),
                   "broken": dict(load_fail="this file is broken"), "crashing": dict(load_crash=True)}
        self.models = {name: house.model(self.server, name, **o) for name, o in options.items()}
        house.model(self.control, "honest", **options["honest"])

    def rest(self):
        """Nothing loaded, nothing asked: what is left then is what the server keeps."""
        def unloaded():
            self.server.post("/v1/unload", None)
            return not self.server.children()
        wait_until(unloaded, timeout=PATIENCE_S, what="the end of all children")
        time.sleep(1)
        return self.server.descriptors(), self.server.rss_kib()

    def attack(self, seconds, seed):
        """Runs all roles for that time; what each has found, by its name."""
        for server in (self.server, self.control):
            server.post("/v1/load", {"model_name": self.models["honest"], "pinned": True})
        pids = [self.server.process.pid, *self.server.children()]
        roles = {"honest": (honest, (self.models, STREAMS)), "control": (honest, (self.models, 1)),
                 "sleeper": (sleeper, pids), "kept": (live, True), "new": (live, False),
                 "calm": (live, True)}
        roles |= {f"attacker {n}": (attacker, (self.models, seed * ATTACKERS + n)) for n in range(ATTACKERS)}
        over, running = multiprocessing.Event(), {}
        for name, (role, how) in roles.items():
            mine, theirs = multiprocessing.Pipe(False)
            port = self.control.port if name in ("control", "calm") else self.server.port
            process = multiprocessing.Process(target=role, args=(port, over, theirs, how), daemon=True)
            process.start()
            theirs.close()
            running[name] = (process, mine)
        time.sleep(seconds)
        over.set()
        found = {}
        for name, (process, mine) in running.items():
            if mine.poll(2 * PATIENCE_S):
                with contextlib.suppress(EOFError):
                    found[name] = mine.recv()
            process.join(5)
            process.kill()
        return found, [f"{name} did not end" for name in roles if name not in found]


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    print(f"soak attack: {seconds:.0f} s, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(pathlib.Path(folder))
        server = soak.server
        try:
            soak.attack(seconds * WARM_UP, seed)
            before = soak.rest()
            found, problems = soak.attack(seconds * (1 - WARM_UP), seed + 1)
            after = soak.rest()
            status = server.stop()
        finally:
            server.kill()
            soak.control.stop()
        log = server.logs()
    if not problems:
        (streams, reading), (slept, had) = found["honest"], found["sleeper"]
        calm_gaps = found["control"][0][0][1]
        machine, all_of_it = Late(slept, calm_gaps), Late(slept, calm_gaps, reading)
        problems = judge_streams(streams, all_of_it, had)
        for name in ("kept", "new"):
            problems += judge_live(f"{name} connections", found[name], machine, found["calm"])
        did = sum((found[f"attacker {n}"] for n in range(ATTACKERS)), collections.Counter())
        print("attacks:", ", ".join(f"{k} {v}" for k, v in sorted(did.items())))
        for name, spans in (("a process that only sleeps", slept), ("the process that reads the streams", reading),
                            ("these and a model not attacked", all_of_it.spans)):
            print(f"{name}: late {len(spans)} times, at most by {max((b - a for a, b in spans), default=0) * 1e3:.0f} ms")
    print(f"callbacks over 20 ms: {log.count('a callback blocked the loop')}")
    print(f"descriptors {before[0]} -> {after[0]}, memory {before[1]} -> {after[1]} KiB")
    problems += verdict.common_problems(status, before, after, MEMORY_KIB)
    return verdict.tell("soak attack", seed, problems, log)


if __name__ == "__main__":
    sys.exit(main())
