"""Random steps on one server, and an oracle that says after each what must be in memory.

The oracle knows the rules and nothing of the program: a limit for each type of model, a limit of memory for all,
the least recently used goes first, who is busy or pinned stays, a model that crashed is gone. While no request has
to wait, it says exactly which models are loaded after a step, and that those which had no reason to go are still the
same processes. While requests wait, what must hold is checked, and that all of them get an answer in the end.
"""
import contextlib
import http.client
import json
import multiprocessing
import os
import random
import signal
import socket
import threading
import time

from conftest import events, wait_until

PATIENCE_S = 150          # for a server that shares a slow machine, under a sanitizer
WORDS = 5                 # of a short answer
MIB = {"llm": 96, "image": 256}  # what the router reckons with before a load, and what the process says after it
MEMORY_LIMITS = [100000, 530]
PLACES = {"llm": 3, "image": 2}


class Wrong(AssertionError):
    """The server did not do what the oracle said."""


class Model:
    def __init__(self, name, kind, word=None):
        self.name, self.kind, self.word = name, kind, word
        self.type = "image" if kind == "image" else "llm"
        self.mib = MIB[self.type]
        self.loaded, self.pinned, self.crashed, self.pid, self.used = False, False, False, None, 0
        self.brief = False  # is to leave as soon as it may
        self.streams = []

    @property
    def busy(self):
        return bool(self.streams)

    def __repr__(self):
        marks = "".join(m for m, on in (("L", self.loaded), ("P", self.pinned), ("B", self.busy)) if on)
        return f"{self.name}[{marks} {self.used}]"


class Oracle:
    """What is loaded, and what loading one more means."""

    def __init__(self, models):
        self.models, self.places, self.memory_mib, self.clock = models, dict(PLACES), MEMORY_LIMITS[0], 0

    def use(self, m):
        self.clock += 1
        m.used = self.clock

    def loaded(self):
        return [m for m in self.models if m.loaded]

    def to_leave(self, m):
        """The models that leave so that m can be loaded; None: it has to wait."""
        if m.loaded:
            return []
        stay, leave = self.loaded(), []

        def short():
            same = sum(o.type == m.type for o in stay) + 1 > self.places[m.type]
            return same, sum(o.mib for o in stay) + m.mib > self.memory_mib
        while any(short()):
            same, _ = short()
            may = [o for o in stay if not o.busy and not o.pinned and (o.type == m.type or not same)]
            if not may:
                return None
            oldest = min(may, key=lambda o: o.used)
            stay.remove(oldest)
            leave.append(oldest)
        return leave

    def hopeless(self, m):
        """True when it cannot be loaded even if everybody who is not pinned left."""
        if m.loaded:
            return False
        pinned = [o for o in self.loaded() if o.pinned]
        return (sum(o.type == m.type for o in pinned) + 1 > self.places[m.type]
                or sum(o.mib for o in pinned) + m.mib > self.memory_mib)


def look_at_live(port, over, slowest, count):
    """In a process of its own, so that this program's other threads cost it nothing."""
    took = []
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    paths = ["/live", "/v1/health"]
    while not over.is_set():
        begun = time.monotonic()
        connection.request("GET", paths[len(took) % 2])
        connection.getresponse().read()
        took.append(time.monotonic() - begun)
        time.sleep(0.01)
    took.sort()
    count.value = len(took)
    slowest[:] = [took[len(took) // 2], took[int(len(took) * 0.99)], took[-1]] if took else [0, 0, 0]


class Control:
    """How long the control plane took while the steps were made."""

    def __init__(self, server):
        self.over = multiprocessing.Event()
        self.figures, self.count = multiprocessing.Array("d", 3), multiprocessing.Value("l")
        self.process = multiprocessing.Process(target=look_at_live, daemon=True,
                                               args=(server.port, self.over, self.figures, self.count))
        self.process.start()

    def end(self):
        self.over.set()
        self.process.join(PATIENCE_S)
        return self.count.value, list(self.figures)


class Waiting(threading.Thread):
    """A request whose answer is not there yet."""

    def __init__(self, server, model):
        super().__init__(daemon=True)
        self.server, self.model, self.status, self.body = server, model, None, b""

    def run(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            reply = self.server.chat(self.model.name, timeout=4 * PATIENCE_S, max_tokens=WORDS)
            self.status, self.body = reply.status, reply.body


class Steps:
    """The driver: makes a step, asks the oracle, compares."""

    def __init__(self, house, server, seed, rare=False):
        self.server, self.rng = server, random.Random(seed)
        self.kinds = self.STEPS + (self.RARE if rare else [])
        self.models = [Model(house.model(server, f"{kind}{n}", tokens=tokens, token_ms=ms, load_ms=load,
                                         word=f"{kind}{n} ", memory_mib=MIB["llm"]), kind, f"{kind}{n} ")
                       for kind, n, tokens, ms, load in
                       [("quick", 0, WORDS, 0, 0), ("quick", 1, WORDS, 0, 0), ("quick", 2, WORDS, 0, 0),
                        ("slow", 0, WORDS, 0, 150), ("slow", 1, WORDS, 1, 60),
                        ("talk", 0, 10**6, 5, 0), ("talk", 1, 10**6, 20, 0), ("talk", 2, 10**6, 2, 20)]]
        self.models += [Model(house.model(server, f"image{n}", recipe="sd-cpp", memory_mib=MIB["image"]),
                              "image") for n in range(3)]
        self.broken = {name: Model(house.model(server, name, memory_mib=MIB["llm"], **how), name) for name, how in
                       {"fails": dict(load_fail="the numbers are not right"),
                        "dies": dict(tokens=WORDS, crash_after=2),
                        "crashes": dict(load_crash=True, signal=signal.SIGKILL),
                        "hangs": dict(tokens=WORDS, hang_after=2)}.items()}
        self.oracle = Oracle(self.models)
        self.tell_limits()
        self.steps, self.did = 0, {}
        self.history = []

    # -- what the server says

    def health(self):
        reply = self.server.get("/v1/health", timeout=PATIENCE_S)
        if reply.status != 200:
            raise Wrong(f"health: {reply.status} {reply.body[:300]!r}")
        return {m["model_name"]: m for m in reply.json["all_models_loaded"]}

    def by_name(self, name):
        return next((m for m in self.models if m.name == name), None)

    def agree(self):
        """Waits until what is loaded is what the oracle says; processes with no reason to end are the same."""
        want = {m.name for m in self.oracle.loaded()}
        seen = {}

        def same():
            nonlocal seen
            seen = self.health()
            return {n for n in seen if self.by_name(n)} == want and all(
                seen[n]["status"] == "ready" for n in want)
        try:
            wait_until(same, PATIENCE_S)
        except AssertionError:
            raise Wrong(f"loaded: {sorted((n, m['status']) for n, m in seen.items())}, "
                        f"the oracle says {sorted(want)} of {self.models}") from None
        for m in self.oracle.loaded():
            pid = seen[m.name]["pid"]
            if m.pid and m.pid != pid:
                raise Wrong(f"{m} was process {m.pid} and is {pid}, without a reason to end")
            if seen[m.name]["pinned"] != m.pinned:
                raise Wrong(f"{m}: pinned is {seen[m.name]['pinned']}")
            m.pid = pid

    def leave(self, m):
        m.loaded, m.brief, m.pid = False, False, None

    def make_room(self, m):
        """Carries out what the oracle says about loading m."""
        for o in self.oracle.to_leave(m):
            self.leave(o)
        m.loaded, m.crashed = True, False
        self.oracle.use(m)

    # -- steps; each is asked only when nothing waits

    def any(self, *kinds):
        return self.rng.choice([m for m in self.models if not kinds or m.kind in kinds])

    def refused(self, m, reply):
        if reply.status not in (409, 503) or not reply.json["error"]["message"]:
            raise Wrong(f"{m} cannot be loaded beside what is pinned: {reply.status} {reply.body[:300]!r}")

    def infer(self, **fields):
        m = self.any("quick", "slow")
        if self.oracle.hopeless(m):
            self.refused(m, self.server.chat(m.name, **fields))
            return None
        if self.oracle.to_leave(m) is None:
            self.wait_for(m)
            return None
        reply = self.server.chat(m.name, timeout=2 * PATIENCE_S, **fields)
        self.complete(m, reply.status, reply.body)
        self.make_room(m)
        return m

    def infer_and_leave(self):
        """An answer, after which no request needs the model."""
        m = self.infer(keep_alive=0)
        if m and m.pinned:
            m.brief = True
        elif m:
            self.leave(m)

    def infer_together(self):
        """Several ask for the same model at once: it is loaded once."""
        m = self.any("quick", "slow")
        if self.oracle.hopeless(m) or self.oracle.to_leave(m) is None:
            return
        threads = [Waiting(self.server, m) for _ in range(5)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(3 * PATIENCE_S)
            self.complete(m, t.status, t.body)
        self.make_room(m)

    def complete(self, m, status, body):
        if status != 200:
            raise Wrong(f"{m}: {status} {body[:300]!r}")
        text = json.loads(body)["choices"][0]["message"]["content"]
        if text.split() != [m.word.strip()] * WORDS:
            raise Wrong(f"{m} said {text[:80]!r}")

    def load(self):
        m = self.any()
        if self.oracle.hopeless(m):
            self.refused(m, self.server.post("/v1/load", {"model_name": m.name}))
        elif self.oracle.to_leave(m) is not None:
            reply = self.server.post("/v1/load", {"model_name": m.name}, timeout=2 * PATIENCE_S)
            if reply.status != 200:
                raise Wrong(f"loading {m}: {reply.status} {reply.body[:300]!r}")
            self.make_room(m)

    def unload(self):
        m = self.any()
        if m.busy:
            return
        reply = self.server.post("/v1/unload", {"model_name": m.name}, timeout=PATIENCE_S)
        if reply.status != (200 if m.loaded or m.crashed else 404):  # of one that crashed, what is known is forgotten
            raise Wrong(f"unloading {m}: {reply.status} {reply.body[:300]!r}")
        m.crashed = False
        self.leave(m)

    def pin(self):
        m = self.rng.choice([o for o in self.models if o.loaded] or self.models)
        wish = not m.pinned and sum(o.pinned for o in self.models) < 2
        reply = self.server.post("/internal/pin", {"model_name": m.name, "pinned": wish})
        if reply.status != 200:
            raise Wrong(f"pinning {m}: {reply.status} {reply.body[:300]!r}")
        m.pinned = wish
        if m.brief and not wish:
            self.leave(m)

    def settings(self):
        """Limits change while the server runs; what is over a new limit leaves when something has to be loaded."""
        self.oracle.places[self.rng.choice(list(PLACES))] = self.rng.randint(1, 4)
        self.oracle.memory_mib = self.rng.choice(MEMORY_LIMITS)
        self.tell_limits()

    def tell_limits(self):
        limits = ",".join(f"{k}={n}" for k, n in self.oracle.places.items())
        reply = self.server.post("/internal/set", {"max-loaded-models": limits,
                                                   "memory-limit": self.oracle.memory_mib})
        if reply.status != 200 or reply.json["overridden"] or reply.json["restart_required"]:
            raise Wrong(f"settings: {reply.status} {reply.body[:300]!r}")

    def open_stream(self):
        m = self.any("talk")
        if len(m.streams) >= 3 or self.oracle.hopeless(m):
            return
        if self.oracle.to_leave(m) is None:
            self.wait_for(m)
            return
        connection, response = self.server.stream(m.name, timeout=2 * PATIENCE_S)
        if response.status != 200:
            raise Wrong(f"a stream of {m}: {response.status} {response.read()[:300]!r}")
        chunks = events(response)
        first = next(c for c in chunks if c["choices"][0]["delta"].get("content"))
        if m.word.strip() not in first["choices"][0]["delta"]["content"]:
            raise Wrong(f"{m} said {first!r}")
        self.make_room(m)
        m.streams.append((connection, response, chunks))

    def close_stream(self, m=None):
        """The client goes away in the middle of its answer."""
        talking = [o for o in self.models if o.busy]
        if not m and not talking:
            return
        m = m or self.rng.choice(talking)
        connection, response, _ = m.streams.pop(self.rng.randrange(len(m.streams)))
        response.close()
        connection.close()
        wait_until(lambda: self.health().get(m.name, {}).get("requests_running", 0) == len(m.streams),
                   PATIENCE_S, f"the end of a job of {m}")
        self.oracle.use(m)

    def leave_early(self):
        """A client that asks and goes, before or while its model is loaded: nothing, or what the request would have
        done, has happened."""
        m = self.any("slow", "quick")
        leave = self.oracle.to_leave(m)
        if leave is None:
            return
        used = self.health().get(m.name, {}).get("last_use")
        log = self.server.log_path.stat().st_size
        body = json.dumps({"model": m.name, "stream": True, "messages": [{"role": "user", "content": "x"}]}).encode()
        with contextlib.closing(socket.create_connection(("127.0.0.1", self.server.port), PATIENCE_S)) as s:
            s.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      b"Content-Length: %d\r\n\r\n" % len(body) + body)
            time.sleep(self.rng.choice([0, 0.01, 0.05]))
        seen = self.rest_of_load(m, log)
        if any(o.name not in seen for o in leave):
            for o in leave:
                self.leave(o)
        m.loaded = m.name in seen
        m.crashed &= not m.loaded
        if m.loaded and seen[m.name]["last_use"] != used:
            self.oracle.use(m)
        if not m.loaded:
            self.leave(m)

    def rest_of_load(self, m, log):
        """What is loaded once the request that has begun after this place of the log is over, and no model is on its
        way."""
        def over():
            with open(self.server.log_path, "rb") as f:
                f.seek(log)
                return any(b" infer id=" in line and b"retry=" not in line for line in f)
        wait_until(over, PATIENCE_S, "the end of a request whose client has gone")
        wait_until(lambda: all(o["status"] == "ready" for o in self.health().values()), PATIENCE_S, "the end of a load")
        return self.health()

    def kill(self):
        """kill -9 of a child: its streams end with an error, a pinned one comes back."""
        m = self.rng.choice(self.oracle.loaded() or self.models)
        if not m.loaded:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(m.pid, signal.SIGKILL)
        self.crashed(m)

    def crashed(self, m):
        for connection, response, chunks in m.streams:
            last = None
            for last in chunks:
                pass
            if not isinstance(last, dict) or "error" not in last:
                raise Wrong(f"a stream of {m}, whose process was killed, ended with {last!r}")
            connection.close()
        m.streams = []
        pid, m.pid = m.pid, None
        if m.pinned:
            wait_until(lambda: self.health().get(m.name, {}).get("pid") not in (pid, 0, None), PATIENCE_S,
                       f"{m}, which is pinned, to come back")
        else:
            self.leave(m)
            m.crashed = True

    def broken_one(self, m, statuses, words, **fields):
        """A model that gives nothing but errors; to try it, others may have had to leave."""
        if self.oracle.hopeless(m) or self.oracle.to_leave(m) is None:
            return
        reply = self.server.chat(m.name, timeout=4 * PATIENCE_S, **fields)
        if reply.status not in statuses or words not in reply.json["error"]["message"]:
            raise Wrong(f"{m}: {reply.status} {reply.body[:300]!r}")
        self.make_room(m)
        self.leave(m)

    def fails(self):
        """Its process refuses the model. A load that asks for it may make others leave; a request after that is refused
        at once."""
        m = self.broken["fails"]
        if self.oracle.hopeless(m) or self.oracle.to_leave(m) is None:
            return
        refused = [self.server.post("/v1/load", {"model_name": m.name}, timeout=4 * PATIENCE_S),
                   self.server.chat(m.name, timeout=4 * PATIENCE_S)]
        for reply in refused:
            if reply.status != 500 or "the numbers are not right" not in reply.json["error"]["message"]:
                raise Wrong(f"{m}: {reply.status} {reply.body[:300]!r}")
        self.make_room(m)
        self.leave(m)

    def dies(self):
        self.broken_one(self.broken["dies"], {502}, "process")

    def crashes(self):
        """A process that the system kills while it loads: it may have been memory, so everybody who may leaves, and it
        is tried once more. A request after that is refused at once."""
        m = self.broken["crashes"]
        if any(o.busy for o in self.models) or self.oracle.hopeless(m):
            return
        reply = self.server.post("/v1/load", {"model_name": m.name}, timeout=4 * PATIENCE_S)
        if reply.status != 500 or reply.json["error"]["details"]["signal"] != signal.SIGKILL:
            raise Wrong(f"{m}: {reply.status} {reply.body[:300]!r}")
        reply = self.server.chat(m.name, timeout=4 * PATIENCE_S)
        if reply.status != 500:
            raise Wrong(f"{m}: {reply.status} {reply.body[:300]!r}")
        for o in self.oracle.loaded():
            if not o.pinned:
                self.leave(o)

    def hangs(self):
        """A process that makes no step for a minute is killed, and its stream ends with an error."""
        m = self.broken["hangs"]
        if self.oracle.hopeless(m) or self.oracle.to_leave(m) is None:
            return
        connection, response = self.server.stream(m.name, timeout=4 * PATIENCE_S)
        with contextlib.closing(connection):
            last = None
            for last in events(response):
                pass
        if not isinstance(last, dict) or "error" not in last:
            raise Wrong(f"{m} ended with {last!r}")
        self.make_room(m)
        self.leave(m)

    def nonsense(self):
        body, allowed = self.rng.choice([
            ("{", 400), ("[]", 400), ('{"model":"nobody","messages":[{"role":"user","content":"x"}]}', 404)])
        reply = self.server.post("/v1/chat/completions", body)
        if reply.status != allowed or not reply.json["error"]["message"]:
            raise Wrong(f"nonsense: {reply.status} {reply.body[:300]!r}")

    # -- waiting

    def wait_for(self, m):
        """The model cannot be loaded while others are busy: requests wait, are seen to wait, and are answered when
        enough streams have ended. Until then no model is evicted."""
        waiting = [Waiting(self.server, m) for _ in range(self.rng.randint(1, 3))]
        for w in waiting:
            w.start()
        queued = wait_until(lambda: self.health().get(m.name), PATIENCE_S, f"{m} in the list, waiting")
        if queued["status"] != "queued" or not queued.get("reason"):
            raise Wrong(f"{m} waits as {queued}")
        while self.oracle.to_leave(m) is None:
            seen = self.health()
            for o in self.oracle.loaded():
                if seen.get(o.name, {}).get("pid") != o.pid:
                    raise Wrong(f"{o} left for one that waits: {seen.get(o.name)}")
            self.close_stream()
        for w in waiting:
            w.join(4 * PATIENCE_S)
            self.complete(m, w.status, w.body)
        self.make_room(m)

    # -- the run

    STEPS = [("infer", 40), ("infer_and_leave", 4), ("infer_together", 4), ("load", 12), ("unload", 10), ("pin", 4),
             ("settings", 2), ("open_stream", 12), ("close_stream", 12), ("leave_early", 3), ("kill", 0.5),
             ("fails", 0.5), ("dies", 0.1), ("crashes", 0.1), ("nonsense", 3)]
    RARE = [("hangs", 0.01)]  # takes a minute

    def step(self):
        name = self.rng.choices([n for n, _ in self.kinds], [w for _, w in self.kinds])[0]
        self.steps += 1
        self.did[name] = self.did.get(name, 0) + 1
        self.history = self.history[-30:] + [f"{self.steps} {name}: before it {self.models}"]
        try:
            getattr(self, name)()
            self.agree()
            time.sleep(0.002)  # uses in one millisecond have no order
        except Exception as e:
            raise Wrong(f"step {self.steps}, {name}: {e!r}\n" + "\n".join(self.history)) from e
        if self.steps % 50 == 0:
            self.no_strangers()

    def zombies(self):
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                with contextlib.suppress(OSError, IndexError):
                    with open(f"/proc/{entry}/stat") as f:
                        stat = f.read().rsplit(")", 1)[1].split()
                    if int(stat[1]) == self.server.process.pid and stat[0] == "Z":
                        found.append(int(entry))
        return found

    def no_strangers(self):
        """The server's children are the models that are loaded, and none has died without being seen."""
        def same():
            return set(self.server.children()) == {m["pid"] for m in self.health().values() if m["pid"]}
        wait_until(same, PATIENCE_S, "children that are the loaded models")
        wait_until(lambda: not self.zombies(), PATIENCE_S, "no zombie")

    def run(self, steps):
        for _ in range(steps):
            self.step()

    def rest(self):
        """Nothing loaded, nothing asked; descriptors and memory then."""
        for m in self.models:
            while m.streams:
                self.close_stream(m)
            if m.pinned:
                self.server.post("/internal/pin", {"model_name": m.name, "pinned": False})
                m.pinned = False
        self.server.post("/v1/unload", None, timeout=PATIENCE_S)
        for m in self.models:
            self.leave(m)
        wait_until(lambda: not self.server.children(), PATIENCE_S, "the end of all children")
        time.sleep(0.5)
        return self.server.descriptors(), self.server.rss_kib()
