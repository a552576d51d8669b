#!/usr/bin/python3
"""Long texts against the numpy reference: more keys than the shorter golden texts meet, whose sums are brought together
page by page.

  test_long.py NET_PROBE [--only TEXT]

The text is fed in chunks, its last tokens singly; windows, sinks, soft caps and latent heads are among the cases. No
logit may be further from the reference than in test_logits.py, on any instruction set. Mixtures choose experts by scores
that may nearly tie, and a choice that falls the other way makes another token of it, which later ones attend to: of them
the RMS of the median row is judged, and that few rows are far off."""
import argparse
import os
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "scripts", "gguf")]
import make_random_gguf
from cases import numbers
from reference import Network
from test_logits import FLOAT_LIMIT, ISAS, probe

TEXT, SINGLE = 420, 12

MIXTURES = ("small-gpt-oss", "small-deepseek2")
MIXTURE_LIMIT = 0.01                       # RMS over the logits' spread
OTHER_EXPERTS = 0.1                        # share of rows that may be further off than twice the limit

# (preset, changed numbers): heads of 64 and more
CASES = (
    ("small-llama", numbers(dim=256, heads=4, kv_heads=2, head_dim=64)),
    ("small-qwen3", numbers(heads=4, kv_heads=1, head_dim=128)),
    ("small-gemma2", numbers(heads=4, kv_heads=2, head_dim=64)),
    ("small-gemma3", numbers(heads=4, kv_heads=2, head_dim=64)),
    ("small-gpt-oss", numbers(heads=4, kv_heads=2, head_dim=64)),
    ("small-deepseek2", numbers(context=2048)),
)


def judge(away, spread, preset):
    """Whether all is well, and the figures it is judged by."""
    if preset in MIXTURES:
        rows = np.sqrt(np.mean(away * away, axis=1)) / spread
        far = float(np.mean(rows > 2 * MIXTURE_LIMIT))
        return np.median(rows) <= MIXTURE_LIMIT and far <= OTHER_EXPERTS, \
            "median row %.2e, %.1f %% far off" % (np.median(rows), 100 * far)
    most = float(np.abs(away).max())
    return most <= FLOAT_LIMIT, "max %.2e" % most


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("tool", metavar="NET_PROBE")
    p.add_argument("--only", default="")
    a = p.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="quince-golden-") as folder:
        path, raw = os.path.join(folder, "model.gguf"), os.path.join(folder, "logits.f32")
        for preset, extra in CASES:
            if a.only not in preset:
                continue
            made = make_random_gguf.options(["--preset", preset, "--type", "f32", *extra, path])
            make_random_gguf.build(made).writer.write(path)
            text = [int(t) for t in np.random.default_rng(11).integers(0, made.vocab, TEXT)]
            theirs = Network(path).feed(text)
            for isa in ISAS:
                if probe(a.tool, isa, "logits", path, ",".join(map(str, text)), SINGLE, raw) is None:
                    continue
                away = np.fromfile(raw, np.float32).reshape(theirs.shape).astype(np.float64) - theirs
                good, figures = judge(away, theirs.std(), preset)
                good = good and np.isfinite(away).all()
                bad += not good
                print("%s %-16s %-8s %s" % ("ok  " if good else "FAIL", preset, isa, figures), flush=True)
    if bad:
        sys.exit("%d cases failed" % bad)


if __name__ == "__main__":
    main()
