#!/usr/bin/python3
"""Speed of our networks on random models of real shapes, beside what the machine can do.

  llm.py BENCH_LLM [--preset NAME]... [--type NAME]... [--threads N] [--json FILE]

For each model: a file is made, measured by BENCH_LLM and removed. The table's columns:
  load      seconds from opening the file to the network being ready; first: to the first token
  pp N      prompt tokens per second; tg @D: generated tokens per second with D tokens before them
  tg x4     four sequences generated together, tokens per second in all
  peak      most memory the process ever had, and its multiple of the file and the deepest cache
  %arith    share of the machine's arithmetic peak at the longest prompt (bytes for quantised
            types, f32 for the others);  %read: share of its memory bandwidth while generating
  others    processors kept busy by other programs, at worst: above 0.2 the figures mean little
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MAKE = os.path.join(HERE, "..", "..", "scripts", "gguf", "make_random_gguf.py")


def measure(a, preset, kind):
    with tempfile.TemporaryDirectory(prefix="quince-bench-", dir=a.folder) as folder:
        path = os.path.join(folder, "%s-%s.gguf" % (preset, kind))
        subprocess.run(["/usr/bin/python3", MAKE, "--preset", preset, "--type", kind, path],
                       check=True, stdout=subprocess.DEVNULL)
        command = [a.tool, path, "--threads", str(a.threads), "--prompt", a.prompt, "--depth", a.depth,
                   "--generate", str(a.generate), "--reps", str(a.reps)]
        done = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True)
        if done.returncode:
            sys.exit("%s: exit status %d" % (" ".join(command), done.returncode))
    r = json.loads(done.stdout)
    r.update(preset=preset, type=kind)
    return r


def columns(r):
    prompts = [t for t in r["tests"] if t["test"] == "prompt"]
    single = [t for t in r["tests"] if t["test"] == "generate" and t["parallel"] == 1]
    together = [t for t in r["tests"] if t["parallel"] > 1]
    arithmetic = "share_of_fma" if r["type"] in ("f16", "f32", "bf16") else "share_of_int8"
    yield "model", "%s %s" % (r["preset"], r["type"])
    yield "load", "%.2f" % r["load_s"]
    yield "first", "%.2f" % r["first_token_s"]
    for t in prompts:
        yield "pp%d" % t["tokens"], "%.1f" % t["tokens_s"]
    for t in single:
        yield "tg@%d" % t["depth"], "%.1f" % t["tokens_s"]
    for t in together:
        yield "tg x%d" % t["parallel"], "%.1f" % t["tokens_s"]
    cached = max((t["depth"] + t["tokens"]) * t["parallel"] for t in r["tests"])
    needed = r["file_mib"] + cached * r["kv_token_bytes"] / 2**20
    yield "peak MiB", "%.0f %.2fx" % (r["peak_rss_mib"], r["peak_rss_mib"] / needed)
    yield "%arith", "%.0f" % (100 * max((t[arithmetic] for t in prompts), default=0))
    yield "%read", "%.0f" % (100 * max((t["share_of_read"] for t in single), default=0))
    yield "others", "%.1f" % max((t["others"] for t in r["tests"]), default=0)


def table(results):
    rows = [list(columns(r)) for r in results]
    lines = [[name for name, _ in rows[0]]] + [[value for _, value in row] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tool", metavar="BENCH_LLM")
    p.add_argument("--preset", action="append", help="qwen3-0.6b and llama-3.2-1b unless given")
    p.add_argument("--type", action="append", help="q4_k_m, q8_0 and f16 unless given")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--prompt", default="128,512")
    p.add_argument("--depth", default="0,1024")
    p.add_argument("--generate", type=int, default=32)
    p.add_argument("--reps", type=int, default=3)
    p.add_argument("--folder", help="where the files (up to 2.5 GB, one at a time) are made")
    p.add_argument("--json", metavar="FILE", help="also write everything that was measured")
    a = p.parse_args()
    results = []
    for preset in a.preset or ("qwen3-0.6b", "llama-3.2-1b"):
        for kind in a.type or ("q4_k_m", "q8_0", "f16"):
            print("measuring %s %s ..." % (preset, kind), file=sys.stderr, flush=True)
            results.append(measure(a, preset, kind))
    limits = results[0]["limits"]
    print("%s, %d threads; at best this machine reads %.1f GB/s and does %.0f GFLOP/s (f32), %.0f GOP/s (bytes)"
          % (results[0]["device"], a.threads, limits["read_gb_s"], limits["fma_gflop_s"], limits["int8_gop_s"]))
    table(results)
    if a.json:
        with open(a.json, "w") as f:
            json.dump(results, f, indent=1)


if __name__ == "__main__":
    main()
