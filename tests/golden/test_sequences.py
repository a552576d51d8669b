#!/usr/bin/python3
"""Sequences that forget their middle, and sequences that come back from disk, on small real networks.

  test_sequences.py SEQ_PROBE

A shift is judged on networks of one layer: there the keys of a token depend on the token and its
place alone, so what is left must equal a sequence that never had the rest: to 1e-5 of the logits'
spread in f32, to 0.01 where keys are rounded again. A stored sequence must go on exactly as the one
that was saved."""
import json
import os
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "gguf")]
import make_random_gguf

# what, preset, changed numbers, type of the weights, type of the cache, limit
CASES = (
    ("shift", "tiny-qwen3", ["layers=1"], "f32", "f32", 1e-5),   # pairs half a head apart
    ("shift", "tiny-llama", ["layers=1"], "f32", "f32", 1e-5),   # neighbours
    ("shift", "tiny-llama", ["layers=1"], "f32", "f16", 0.01),
    ("shift", "small-qwen3", ["layers=1"], "f32", "q8_0", 0.01),
    ("stored", "tiny-qwen3", [], "f32", "f16", 0),
    ("stored", "small-gemma3", [], "q8_0", "q8_0", 0),           # windows
    ("stored", "small-deepseek2", [], "q8_0", "f16", 0),         # latent attention
    ("stored", "small-falcon-h1", [], "q8_0", "f16", 0),         # recurrent states beside a cache
)


def main():
    probe, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        for what, preset, numbers, kind, cache, limit in CASES:
            path = os.path.join(folder, "model.gguf")
            sets = [word for n in numbers for word in ("--set", n)]
            made = make_random_gguf.options(["--preset", preset, "--type", kind, *sets, "unwritten"])
            make_random_gguf.build(made).writer.write(path)
            arguments = [probe, what, path, cache]
            if what == "stored":
                arguments.append(os.path.join(folder, "cache", "model.prefix"))
            done = subprocess.run(arguments, stdout=subprocess.PIPE, universal_newlines=True)
            figures = json.loads(done.stdout) if done.returncode == 0 else {}
            good = done.returncode == 0 and all(v <= limit for k, v in figures.items() if k != "tokens")
            failed += not good
            print("%-6s %-16s %-5s %-5s %s %s" % (what, preset, kind, cache, "ok" if good else "FAILED",
                                                  done.stdout.strip()), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
