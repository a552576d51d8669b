#!/usr/bin/env python3
"""A long random load on the language model's process: chats that share beginnings, raw prompts, several choices,
stop strings, log-probabilities, prompts that do not fit, nonsense, clients that leave at any moment. Three
processes one after another in turn: the starter model; the same with a cache of 8 bits, contexts that are shifted
and itself as draft model; a small random hybrid with recurrent states. What must hold: every answer is well
formed, a greedy question is answered as at the beginning, and memory and descriptors stay what they were.

    soak_llm.py [SECONDS [SEED]]      (scripts/dev soak llm SECONDS; default 60)

QUINCE_TEST_BUILD names the build folder. A failure prints the seed; the order of what several threads did is not
repeated by it, their choices are.
"""
import collections
import contextlib
import os
import pathlib
import random
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "contract"), str(ROOT / "scripts" / "gguf")]
import child  # noqa: E402
import make_random_gguf  # noqa: E402
from child import Child, chat, complete, of, text  # noqa: E402

STARTER = ROOT / "registry" / "starter" / "quince-starter.gguf"
child.PATIENCE = 300     # seconds: other programs may hold the machine for minutes
CLIENTS = 6
TURN_S = 60              # one process's share before the next one has its turn
WARM_UP = 0.25           # share of the time after which memory is first measured
MEMORY_KIB = 16 * 1024   # growth allowed of the highest sample after it, beside the highest before
PROBE = "What is the capital of France?"
WORDS = ("the model file server answer quick brown port memory of a is and list question tell me about "
         "Paris 13305 load run pull unload 42 why how \u00e9t\u00e9 \u4f60\u597d \U0001f600").split()
SYSTEMS = ["You are a helpful assistant. " * n for n in (1, 4, 8)]


def random_text(rng, most):
    return " ".join(rng.choices(WORDS, k=rng.randrange(1, most)))


class Client(threading.Thread):
    """Sends one job after the other until its turn is over; counts what it saw."""

    def __init__(self, patient, seed, over):
        super().__init__(daemon=True)
        self.patient, self.rng, self.over = patient, random.Random(seed), over
        self.did, self.problems = collections.Counter(), []

    def run(self):
        acts = [(self.chat, 30), (self.complete, 30), (self.leave, 20), (self.too_long, 3), (self.nonsense, 5), (self.probe, 5)]
        while not self.over.is_set():
            act = self.rng.choices([a for a, _ in acts], [w for _, w in acts])[0]
            try:
                act()
            except Exception as e:  # noqa: BLE001: whatever it is, it is a finding
                self.problems.append(f"{self.patient.name}: {act.__name__}: {e!r}")
            self.did[act.__name__] += 1

    def sampling(self):
        rng = self.rng
        s = {"max_tokens": rng.choice([0, 1, 5, 20, 60]), "temperature": rng.choice([0, 0.7, 2]), "seed": rng.randrange(1000)}
        if rng.random() < 0.2:
            s["n"] = rng.randrange(2, 5)
        if rng.random() < 0.2:
            s["stop"] = [rng.choice(WORDS), "."]
        if rng.random() < 0.2:
            s["logprobs"] = rng.randrange(6)
        if rng.random() < 0.2:
            s["repeat_penalty"] = 1.2
        if rng.random() < 0.1:
            s["logit_bias"] = [[rng.randrange(100), rng.choice([-100, 5])]]
        s["ignore_eos"] = rng.random() < 0.3
        return s

    def job(self):
        if self.rng.random() < 0.5:
            return complete(random_text(self.rng, 120), echo=self.rng.random() < 0.1, **self.sampling())
        turns = [{"role": "system", "content": self.rng.choice(SYSTEMS)}]
        for _ in range(self.rng.randrange(3)):
            turns += [{"role": "user", "content": random_text(self.rng, 12)},
                      {"role": "assistant", "content": random_text(self.rng, 12)}]
        return chat([*turns, {"role": "user", "content": random_text(self.rng, 20)}], **self.sampling())

    def check(self, job, events, allowed=()):
        kinds = [e["ev"] for e in events]
        if kinds and kinds[-1] == "error":
            if events[-1]["error"]["code"] not in allowed:
                self.problems.append(f"{self.patient.name}: {events[-1]['error']}")
            return
        n = job["sampling"].get("n", 1)
        if kinds[-2:] != ["usage", "end"] or kinds.count("done") != n:
            self.problems.append(f"{self.patient.name}: events {kinds[-5:]}")
        if of(events, "usage")[0]["output"] > n * job["sampling"]["max_tokens"]:
            self.problems.append(f"{self.patient.name}: more tokens than asked for")

    def chat(self):
        job = self.job()
        self.check(job, self.patient.child.run(job), {"context", "busy"})

    complete = chat

    def leave(self):
        job = self.job()
        job["sampling"]["max_tokens"] = 200
        reply = self.patient.child.post(job)
        with contextlib.closing(reply):
            for n, _ in enumerate(reply):
                if n >= self.rng.randrange(8):
                    break

    def too_long(self):
        job = complete("word " * (self.patient.child.ready["context"] * 3), max_tokens=5)
        events = self.patient.child.run(job)
        if events[-1]["ev"] != "error" or events[-1]["error"]["code"] != "context":
            self.problems.append(f"{self.patient.name}: a prompt far too long: {events[-1]}")

    def nonsense(self):
        job = self.rng.choice([{}, {"task": "chat", "id": "x"}, {"task": "sing", "id": "x"},
                               chat("hi", temperature=-1), complete([-1, 10**9], max_tokens=3)])
        events = self.patient.child.run(job)
        if events[-1]["ev"] != "error":
            self.problems.append(f"{self.patient.name}: nonsense was answered: {events[-1]}")

    def probe(self):
        said = self.patient.ask()
        if said != self.patient.said:
            self.problems.append(f"{self.patient.name}: answered {said!r}, at first {self.patient.said!r}")


class Patient:
    """One process under load."""

    def __init__(self, name, model, **options):
        self.name, self.child = name, Child("quince-llm", [model], name, options=options)
        assert self.child.ready["msg"] == "ready", self.child.ready
        self.said = self.ask()
        self.memory = []  # (seconds of load so far, KiB, descriptors)
        self.loaded_s = 0

    def ask(self):
        return text(self.child.run(chat(PROBE, max_tokens=16, temperature=0)))

    def look(self):
        with open(f"/proc/{self.child.process.pid}/status") as f:
            kib = sum(int(line.split()[1]) for line in f if line.startswith(("RssAnon:", "RssShmem:")))
        self.memory.append((self.loaded_s, kib, len(os.listdir(f"/proc/{self.child.process.pid}/fd"))))

    def turn(self, seconds, seed):
        over = threading.Event()
        clients = [Client(self, seed * 1000 + n, over) for n in range(CLIENTS)]
        for c in clients:
            c.start()
        time.sleep(seconds)
        over.set()
        for c in clients:
            c.join(2 * child.PATIENCE)
        self.loaded_s += seconds
        time.sleep(0.2)
        self.look()
        problems = [p for c in clients for p in c.problems]
        if any(c.is_alive() for c in clients):
            problems.append(f"{self.name}: a request never ended")
        if self.child.ping()["jobs"] != 0:
            problems.append(f"{self.name}: jobs are left")
        return sum((c.did for c in clients), collections.Counter()), problems

    def verdict(self):
        """What grew after the warm-up, if something did."""
        warm = max(1, int(len(self.memory) * WARM_UP))
        before, after = self.memory[:warm], self.memory[warm:] or self.memory[-1:]
        kib = [max(m[1] for m in part) for part in (before, after)]
        files = [max(m[2] for m in part) for part in (before, after)]
        print(f"{self.name}: {self.loaded_s:.0f} s, memory at most {kib[0]} KiB while warming up, {kib[1]} after, "
              f"{self.memory[-1][1]} at the end; descriptors {files[0]} -> {files[1]}")
        found = []
        if kib[1] > kib[0] + MEMORY_KIB:
            found.append(f"{self.name}: memory has grown")
        if files[1] > files[0] + 2:
            found.append(f"{self.name}: descriptors have leaked")
        return found


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    print(f"soak: {seconds:.0f} s, seed {seed}", flush=True)
    did, problems = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        hybrid = os.path.join(folder, "hybrid.gguf")
        made = make_random_gguf.options(["--preset", "small-qwen35", "--type", "q8_0", "--embedding-std", "1",
                                         "--separate-output", "unwritten"])
        make_random_gguf.build(made).writer.write(hybrid)
        patients = [Patient("starter", STARTER, prefix_cache=os.path.join(folder, "starter.prefix")),
                    Patient("starter-q8", STARTER, cache_type="q8_0", context_shift=True, draft_model=str(STARTER)),
                    Patient("hybrid", hybrid)]
        share = min(TURN_S, seconds / len(patients) / 4)  # at least four looks at each
        end, turns = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            patient = patients[turns % len(patients)]
            more, found = patient.turn(share, seed + turns)
            did, problems, turns = did + more, problems + found, turns + 1
            if turns % 30 == 0:
                print(f"after {turns} turns: {len(problems)} problems, " +
                      ", ".join(f"{p.name} {p.memory[-1][1]} KiB" for p in patients), flush=True)
        for p in patients:
            problems += p.verdict()
            if p.child.stop() != 0:
                problems.append(f"{p.name}: ended badly")
    print("did:", ", ".join(f"{k} {v}" for k, v in sorted(did.items())))
    for p, n in collections.Counter(problems).most_common(20):
        print(f"PROBLEM ({n} times): {p}", file=sys.stderr)
    if problems:
        print(f"soak: failed, seed {seed}", file=sys.stderr)
        return 1
    print("soak: nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
