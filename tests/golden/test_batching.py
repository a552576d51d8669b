#!/usr/bin/python3
"""Batching changes nothing: random mixes of requests on small real networks, each answer alone and
in a crowd.

  test_batching.py BATCH_PROBE [--short]

The probe lets requests join, leave, fork into choices, pause and take each other's pages, with and
without speculation; then every answer is made again alone. The tokens must be the same, greedy and
sampled, their log-probabilities within the limit of the case: 1e-4 for f32 weights and cache, 0.01
for rounded ones. Greedy answers may part where the two likeliest tokens lie within that limit, and
one sampled answer in a hundred where a draw falls on a border. All pages must come back."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "gguf")]
import make_random_gguf

# preset, type of the weights, type of the cache, limit, mixes, mixes when short
CASES = (
    ("tiny-qwen3", "f32", "f32", 1e-4, 200, 15),
    ("small-qwen3", "q4_k", "q8_0", 0.01, 12, 1),
    ("small-gemma3", "q8_0", "f16", 0.01, 8, 1),     # sliding windows
    ("small-deepseek2", "f32", "f32", 1e-4, 8, 1),   # latent attention, experts
    ("small-mamba2", "f32", "f32", 1e-4, 8, 1),      # no cache at all, states instead
    ("small-falcon-h1", "q8_0", "f16", 0.01, 6, 1),  # both
)
SKIP = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("probe")
    parser.add_argument("--short", action="store_true")
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for preset, kind, cache, limit, mixes, few in CASES:
            path = os.path.join(folder, "model.gguf")
            made = make_random_gguf.options(["--preset", preset, "--type", kind, "unwritten"])
            make_random_gguf.build(made).writer.write(path)
            done = subprocess.run([args.probe, path, str(few if args.short else mixes), "1", cache, str(limit)],
                                  stdout=subprocess.PIPE, universal_newlines=True)
            if done.returncode == SKIP:
                sys.exit(SKIP)
            what = "exit status %d" % done.returncode
            if done.returncode == 0:
                figures = json.loads(done.stdout)
                good = (figures["moved"] <= limit and figures["answers"] > 0 and
                        figures["parted_greedy"] + figures["parted_sampled"] <= figures["answers"] * 0.01)
                what = "ok" if good else "TOO FAR"
                what += " " + done.stdout.strip()
            failed += not what.startswith("ok")
            print("%-16s %-5s %-5s %s" % (preset, kind, cache, what), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
