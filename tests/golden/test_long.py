#!/usr/bin/python3
"""Long texts against the numpy reference in float64: more keys than the shorter golden texts meet, whose sums are brought
together page by page, and large matrices of rounded weights.

  test_long.py NET_PROBE [--only TEXT]

The text is fed in chunks, its last tokens singly; windows, sinks, soft caps and latent heads are among the cases. All
instruction sets are judged alike:
  F32, F16, BF16   no logit further from the reference than 3e-3, in units of the logits' spread where that is larger
  quantised        RMS of the difference over the spread: 1.2 %, which eight bits by 32 columns keep and by 128 would
                   not, Q8_0 0.7 %
Mixtures choose experts by scores that may nearly tie, and a choice that falls the other way makes another token of it,
which later ones attend to: of them the RMS of the median row is judged, and that few rows are far off. QUINCE_TEST_ALL=1 takes more
large matrices, and generic kernels with them."""
import argparse
import os
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "scripts", "gguf")]
import make_random_gguf
from cases import STEADY, numbers
from reference import Network
from test_logits import FLOAT_LIMIT, ISAS, probe

SINGLE = 12
LIMITS = {"f32": 0, "f16": 0, "bf16": 0, "q8_0": 0.007}
ROUNDED_LIMIT = 0.012

MIXTURES = ("small-gpt-oss", "small-deepseek2")
MIXTURE_LIMIT = 0.01                       # RMS over the logits' spread
OTHER_EXPERTS = 0.1                        # share of rows that may be further off than twice the limit

# Matrices of more than 2^20 weights, and numbers of heads that are no powers of two.
LARGE = [*STEADY, *numbers(dim=1280, ff=1536, heads=6, kv_heads=3, head_dim=128, layers=2, vocab=512, context=1024)]

# (preset, type, changed numbers, tokens): heads of 64 and more
CASES = (
    ("small-llama", "f32", numbers(dim=256, heads=4, kv_heads=2, head_dim=64), 420),
    ("small-qwen3", "f32", numbers(heads=4, kv_heads=1, head_dim=128), 420),
    ("small-gemma2", "f32", numbers(heads=4, kv_heads=2, head_dim=64), 420),
    ("small-gemma3", "f32", numbers(heads=4, kv_heads=2, head_dim=64), 420),
    ("small-gpt-oss", "f32", numbers(heads=4, kv_heads=2, head_dim=64), 420),
    ("small-deepseek2", "f32", numbers(context=2048), 420),
    ("small-llama", "q4_k_m", LARGE, 650),
    ("small-qwen3", "q8_0", LARGE, 650),
    ("small-olmo2", "f16", LARGE, 650),
)
MORE_CASES = (
    ("small-qwen3", "q4_0", LARGE, 650),
    ("small-llama", "q8_0", LARGE, 900),
    ("small-llama", "f16", LARGE, 700),
    ("small-qwen3", "bf16", LARGE, 650),
)


def judge(away, spread, preset, kind):
    """Whether all is well, and the figures it is judged by."""
    if preset in MIXTURES:
        rows = np.sqrt(np.mean(away * away, axis=1)) / spread
        far = float(np.mean(rows > 2 * MIXTURE_LIMIT))
        return np.median(rows) <= MIXTURE_LIMIT and far <= OTHER_EXPERTS, \
            "median row %.2e, %.1f %% far off" % (np.median(rows), 100 * far)
    limit = LIMITS.get(kind, ROUNDED_LIMIT)
    if limit:
        rms = float(np.sqrt(np.mean(away * away))) / spread
        return rms <= limit, "rms %.2f %%" % (100 * rms)
    most = float(np.abs(away).max()) / max(1, spread)
    return most <= FLOAT_LIMIT, "max %.2e" % most


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("tool", metavar="NET_PROBE")
    p.add_argument("--only", default="")
    a = p.parse_args()
    bad, all_cases = 0, bool(os.environ.get("QUINCE_TEST_ALL"))
    with tempfile.TemporaryDirectory(prefix="quince-golden-") as folder:
        path, raw = os.path.join(folder, "model.gguf"), os.path.join(folder, "logits.f32")
        for preset, kind, extra, tokens in CASES + (MORE_CASES if all_cases else ()):
            if a.only not in "%s %s" % (preset, kind):
                continue
            made = make_random_gguf.options(["--preset", preset, "--type", kind, *extra, path])
            make_random_gguf.build(made).writer.write(path)
            text = [int(t) for t in np.random.default_rng(11).integers(0, made.vocab, tokens)]
            theirs = Network(path).feed(text)
            for isa in ISAS if all_cases or extra is not LARGE else ISAS[1:]:
                if probe(a.tool, isa, "logits", path, ",".join(map(str, text)), SINGLE, raw) is None:
                    continue
                away = np.fromfile(raw, np.float32).reshape(theirs.shape).astype(np.float64) - theirs
                good, figures = judge(away, theirs.std(), preset, kind)
                good = good and np.isfinite(away).all()
                bad += not good
                print("%s %-16s %-6s %-8s %s" % ("ok  " if good else "FAIL", preset, kind, isa, figures), flush=True)
    if bad:
        sys.exit("%d cases failed" % bad)


if __name__ == "__main__":
    main()
