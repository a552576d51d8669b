#!/usr/bin/python3
"""Speed of our networks on random models of real shapes, beside what the machine can do, or beside
another engine.

  llm.py BENCH_LLM [--model PRESET:TYPE]... [--threads 1,2] [--test TEST]... [--json FILE]
  llm.py BENCH_LLM --vs PROGRAM ...        the same tests by PROGRAM, in turn with ours

For each model: a file is made, measured and removed. The tests are BENCH_LLM's: pp512 (a prompt),
tg32 (generation), tg32@2048 (the same at depth 2048), tg32x4 (four sequences together). The table:
  load      seconds from opening the file to the first token
  peak      most memory the process ever had, as a multiple of the file and the deepest cache
  %arith    share of the machine's arithmetic peak in prompts (bytes for quantised types, f32 for the
            others);  %read: share of its memory bandwidth while generating
  others    processors kept busy by other programs, at worst: above 0.2 the figures mean little

With --vs each line is one test: medians over the pairs, and the ratio of the medians (ours through
the peer's; for load and peak below 1 is better). PROGRAM is called as

  PROGRAM MODEL THREADS TEST...

and prints JSON, a line each: {"load_s": .., "first_token_s": ..}, both seconds since it began to open
the file, then {"test": "pp512", "tokens_s": ..} for every test in turn, measured once after a warm-up.
Its memory is what the system says. --busy keeps one processor busy with another process meanwhile.
A pair runs when the machine is calm and is thrown away when it was not; --crowded takes all.

--processor compares processor time of one thread, which other programs on a busy machine disturb
least: both programs add "processor_s", what the measured part took of it, and the figures are tokens
a second of that. The first column then says how many processors others kept busy, at worst.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MAKE = os.path.join(HERE, "..", "..", "scripts", "gguf", "make_random_gguf.py")
MODELS = ["qwen3-0.6b:q4_k_m", "qwen3-0.6b:q8_0", "qwen3-0.6b:f16", "llama-3.2-1b:q4_k_m",
          "llama-3.2-1b:q8_0", "llama-3.2-1b:f16"]
TESTS = ["pp128", "pp512", "tg32", "tg32@2048", "tg32x4"]
CALM = 0.2                                 # processors that others may use
PATIENCE_S = 600                           # of waiting for that, per pair


def busy_seconds():
    """Processor seconds the machine has worked so far."""
    with open("/proc/stat") as f:
        v = [int(x) for x in f.readline().split()[1:9]]
    return (sum(v) - v[3] - v[4]) / os.sysconf("SC_CLK_TCK")


def others_now(seconds=0.3):
    start = busy_seconds()
    time.sleep(seconds)
    return (busy_seconds() - start) / seconds


class Failed(Exception):
    pass


def run(command):
    """Runs one program and returns its JSON lines, its peak memory and what others did meanwhile."""
    started, before = time.monotonic(), busy_seconds()
    p = subprocess.Popen(command, stdout=subprocess.PIPE, universal_newlines=True)
    out = p.stdout.read()
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = status
    if status:
        raise Failed("%s: wait status %d" % (" ".join(command), status))
    wall = time.monotonic() - started
    others = (busy_seconds() - before - usage.ru_utime - usage.ru_stime) / wall
    return [json.loads(line) for line in out.splitlines()], usage.ru_maxrss / 1024, max(others, 0)


def tokens(test):
    """Tokens that a test measures."""
    n, _, together = test[2:].partition("x")
    return int(n.partition("@")[0]) * int(together or 1)


class Busy:
    """Another process that uses one processor all the time, where asked for."""

    def __init__(self, wanted):
        self.wanted = wanted

    def __enter__(self):
        self.child = subprocess.Popen(["sh", "-c", "while :; do :; done"]) if self.wanted else None

    def __exit__(self, *_):
        if self.child:
            self.child.kill()
            self.child.wait()


def figures(lines, peak, processor):
    """One run's figures by name."""
    if processor:
        return {r["test"]: tokens(r["test"]) / r["processor_s"] for r in lines[1:]}
    f = {"load s": lines[0]["load_s"], "first s": lines[0]["first_token_s"], "peak MiB": peak}
    f.update((r["test"], r["tokens_s"]) for r in lines[1:])
    return f


def pairs(a, path, threads, tests):
    """Runs both programs in turn until there are enough pairs of calm moments."""
    ours = [a.tool, path, str(threads)] + tests
    peer = [a.vs, path, str(threads)] + tests
    allowed = CALM + (1 if a.busy else 0)
    kept, waited = [], time.monotonic()
    while len(kept) < a.pairs:
        while not a.crowded and others_now() > CALM:
            if time.monotonic() - waited > PATIENCE_S:
                raise Failed("the machine has not been calm for %d s (--crowded measures anyway)" % PATIENCE_S)
        with Busy(a.busy):
            order = [ours, peer] if len(kept) % 2 == 0 else [peer, ours]
            done = [run(c) for c in order]
        if not a.crowded and max(d[2] for d in done) > allowed:
            if time.monotonic() - waited > PATIENCE_S:
                raise Failed("the machine has not been calm for %d s (--crowded measures anyway)" % PATIENCE_S)
            continue
        if order[0] is peer:
            done.reverse()
        kept.append([figures(lines, peak, a.processor) for lines, peak, _ in done])
        a.most_others = max(a.most_others, *(d[2] for d in done))
        waited = time.monotonic()
    return kept


def compare(a, preset, kind, path):
    rows = []
    for threads in a.threads:
        a.most_others = 0
        kept = pairs(a, path, threads, a.test)
        for name in kept[0][0]:
            ours, peer = ([p[side][name] for p in kept] for side in (0, 1))
            row = {"model": preset, "type": kind, "threads": threads, "figure": name, "ours": ours, "peer": peer,
                   "ratio": statistics.median(ours) / statistics.median(peer)}
            rows.append(row)
            others = "%4.1f  " % a.most_others if a.processor else ""
            print("%s%-14s %-7s %d  %-10s %9.2f %9.2f  %5.2f   %s" % (
                others, preset, kind, threads, name, statistics.median(ours), statistics.median(peer), row["ratio"],
                " ".join("%.2f" % (o / p) for o, p in zip(ours, peer))), flush=True)
    return rows


def alone(a, preset, kind, path):
    rows = []
    for threads in a.threads:
        lines, peak, _ = run([a.tool, "--limits", "--reps", str(a.pairs), path, str(threads)] + a.test)
        rows.append({"model": preset, "type": kind, "threads": threads, "peak_mib": peak, "load": lines[0],
                     "tests": lines[1:]})
    return rows


def cached(test):
    """Tokens in the cache at the end of a test."""
    n, _, together = test[2:].partition("x")
    return sum(int(v) for v in n.split("@")) * int(together or 1)


def columns(r):
    load, tests = r["load"], r["tests"]
    plain = r["type"] in ("f16", "f32", "bf16")
    prompts = [t["share_of_fma" if plain else "share_of_int8"] for t in tests if t["test"].startswith("pp")]
    single = [t["share_of_read"] for t in tests if t["test"].startswith("tg") and "x" not in t["test"]]
    needed = load["file_mib"] + max((cached(t["test"]) for t in tests), default=0) * load["kv_token_bytes"] / 2**20
    yield "model", "%s %s" % (r["model"], r["type"])
    yield "threads", "%d" % r["threads"]
    yield "load", "%.2f" % load["first_token_s"]
    for t in tests:
        yield t["test"], "%.1f" % t["tokens_s"]
    yield "peak MiB", "%.0f %.2fx" % (r["peak_mib"], r["peak_mib"] / needed)
    yield "%arith", "%.0f" % (100 * max(prompts, default=0))
    yield "%read", "%.0f" % (100 * max(single, default=0))
    yield "others", "%.1f" % max((t["others"] for t in tests), default=0)


def table(results):
    rows = [list(columns(r)) for r in results]
    lines = [[name for name, _ in rows[0]]] + [[value for _, value in row] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))))


def models(a):
    """Makes each model's file, lends its path, removes it."""
    for model in a.model or MODELS:
        preset, _, kind = model.partition(":")
        if os.path.sep in model:           # a file that is there
            yield os.path.basename(model).rpartition(".")[0].rpartition("-")[::2] + (model,)
            continue
        with tempfile.TemporaryDirectory(prefix="quince-bench-", dir=a.folder) as folder:
            path = os.path.join(folder, "%s-%s.gguf" % (preset, kind))
            subprocess.run(["/usr/bin/python3", MAKE, "--preset", preset, "--type", kind, path],
                           check=True, stdout=subprocess.DEVNULL)
            yield preset, kind, path


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tool", metavar="BENCH_LLM")
    p.add_argument("--vs", metavar="PROGRAM", help="another engine's benchmark")
    p.add_argument("--model", action="append", metavar="PRESET:TYPE", help="or the path of a file; %s unless given" % " ".join(MODELS))
    p.add_argument("--test", action="append", help="%s unless given" % " ".join(TESTS))
    p.add_argument("--threads", type=lambda s: [int(v) for v in s.split(",")], default=[os.cpu_count()])
    p.add_argument("--pairs", type=int, default=3, help="runs of each program; without --vs, of each test")
    p.add_argument("--busy", action="store_true", help="with one processor kept busy by another process")
    p.add_argument("--crowded", action="store_true", help="do not wait for calm moments")
    p.add_argument("--processor", action="store_true",
                   help="with --vs: one thread, by processor time, whatever else runs")
    p.add_argument("--folder", help="where the files (up to 2.5 GB, one at a time) are made")
    p.add_argument("--json", metavar="FILE", help="also write everything that was measured")
    a = p.parse_args()
    a.test = a.test or TESTS
    if a.processor:
        a.threads, a.crowded = [1], True
    results = []
    try:
        if a.vs:
            print("%s%-14s %-7s %s  %-10s %9s %9s  %5s   %s" % ("others" if a.processor else "", "model", "type", "t", "figure", "ours", "peer", "ratio", "pair by pair"))
        for preset, kind, path in models(a):
            results += (compare if a.vs else alone)(a, preset, kind, path)
    except Failed as e:
        sys.exit("llm.py: %s" % e)
    if not a.vs:
        load = results[0]["load"]
        print("%s; at best this machine reads %.1f GB/s and does %.0f GFLOP/s (f32), %.0f GOP/s (bytes)"
              % (load["device"], load["read_gb_s"], load["fma_gflop_s"], load["int8_gop_s"]))
        table(results)
    if a.json:
        with open(a.json, "w") as f:
            json.dump(results, f, indent=1)


if __name__ == "__main__":
    main()
