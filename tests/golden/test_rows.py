#!/usr/bin/python3
"""A row's logits depend on its text alone: not on how many rows share its step, in which pieces the prompt came,
what was cached before or what other sequences do.

  test_rows.py NET_PROBE [--all] [--only TEXT] [--isa NAME]

The same text is fed in one piece, in pieces of 512, 61, 17 and 1, beside up to four others, and after a half from
another sequence's cache. On each instruction set every logit must be the same to the bit.

On every instruction set that runs here. Without --all (or QUINCE_TEST_ALL=1) a few types; with it every type, and
architectures with caches, windows, experts and states of other kinds."""
import argparse
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "scripts", "gguf")]
import make_random_gguf
from cases import FLOATS, QUANTISED, RARER, STEADY, numbers
from test_logits import ISAS, probe

# A text that crosses the 512 keys that attention adds up apart; heads of an odd number of dimensions.
LONG, SHORT = 600, 90
SMALL = STEADY + numbers(layers=1, vocab=512, context=1024)
# Matrices of more than 2^20 weights, which meet activations of eight bits.
LARGE = SMALL + numbers(dim=1024, ff=1024, heads=8, kv_heads=4, head_dim=128)
# Rows that no vector divides.
ODD = SMALL + numbers(dim=72, heads=4, kv_heads=4, head_dim=18, ff=100)


def few():
    yield "small-llama", "q4_k_m", LARGE, SHORT
    yield "small-llama", "f16", SMALL, LONG
    yield "small-qwen3", "q8_0", LARGE, SHORT
    yield "small-qwen3moe", "q4_0", SMALL, SHORT


def all_cases():
    for kind in FLOATS:
        yield "small-llama", kind, ODD, LONG
        yield "small-llama", kind, LARGE, SHORT
    for kind in (*QUANTISED, *RARER):
        yield "small-llama", kind, SMALL, SHORT
        yield "small-llama", kind, LARGE, SHORT
        yield "small-qwen3moe", kind, SMALL, SHORT
    for preset in ("small-gemma2", "small-gemma3", "small-gpt-oss", "small-deepseek2", "small-mamba2", "small-falcon-h1",
                   "small-qwen35", "small-lfm2", "small-cohere2", "small-granite-mixture"):
        yield preset, "f32", STEADY + numbers(context=1024), LONG
        yield preset, "q8_0", STEADY + numbers(context=1024), SHORT


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("tool", metavar="NET_PROBE")
    p.add_argument("--all", action="store_true", default=bool(os.environ.get("QUINCE_TEST_ALL")))
    p.add_argument("--only", default="", help="cases whose name contains this, as \"llama q4_k\"")
    p.add_argument("--isa", action="append", choices=ISAS, help="only these instructions")
    a = p.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="quince-golden-") as folder:
        path = os.path.join(folder, "model.gguf")
        for preset, kind, extra, tokens in (all_cases() if a.all else few()):
            name = " ".join((preset, kind, *extra)).replace("--set ", "")
            if a.only not in name:
                continue
            made = make_random_gguf.options(["--preset", preset, "--type", kind, *extra, path])
            make_random_gguf.build(made).writer.write(path)
            for isa in a.isa or ISAS:
                said = probe(a.tool, isa, "rows", path, tokens)
                if said is None:
                    continue
                ways = json.loads(said)
                count = ways.pop("logits")
                wrong = ", ".join("%s: %d of %d" % (way, n, count) for way, n in ways.items() if n)
                bad += bool(wrong)
                print("%s %-8s %s %s" % ("FAIL" if wrong else "ok  ", isa, name,
                                         "<- logits that differ, " + wrong if wrong else ""), flush=True)
    if bad:
        sys.exit("%d cases failed" % bad)


if __name__ == "__main__":
    main()
