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
which later ones attend to. So the reference follows the engine's choices, and each that is not the reference's own must be
a tie, as far as such logits can tell: no expert chosen has a score further below the reference's choice than the logits
may be off. With the same choices the logits are judged as all others are. QUINCE_TEST_ALL=1 takes more large matrices,
and generic kernels with them."""
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

# Matrices of more than 2^20 weights, and numbers of heads that are no powers of two.
LARGE = [*STEADY, *numbers(dim=1280, ff=1536, heads=6, kv_heads=3, head_dim=128, layers=2, vocab=512, context=1024)]

LARGE_MIXTURE = [*STEADY, *numbers(dim=512, heads=6, kv_heads=3, head_dim=128, layers=2, vocab=512, context=1024)]

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
    ("small-qwen3moe", "q4_0", LARGE_MIXTURE, 650),
)
MORE_CASES = (
    ("small-qwen3", "q4_0", LARGE, 650),
    ("small-llama", "q8_0", LARGE, 900),
    ("small-llama", "f16", LARGE, 700),
    ("small-qwen3", "bf16", LARGE, 650),
)


def judge(away, spread, kind):
    """Whether all is well, and the figures it is judged by."""
    limit = LIMITS.get(kind, ROUNDED_LIMIT)
    if limit:
        rms = float(np.sqrt(np.mean(away * away))) / spread
        return rms <= limit, "rms %.2f %%" % (100 * rms)
    most = float(np.abs(away).max()) / max(1, spread)
    return most <= FLOAT_LIMIT, "max %.2e" % most


def read_choices(path, network, tokens):
    """net_probe's choices: {layer: [tokens, used]} of the layers that are mixtures."""
    raw, calls, at = np.fromfile(path, np.int32), [], 0
    while at < len(raw):
        rows, used = raw[at:at + 2]
        calls.append(raw[at + 2:at + 2 + rows * used].reshape(rows, used))
        at += 2 + rows * used
    layers = [i for i in range(network.layers) if network.has("blk.%d.ffn_gate_inp.weight" % i)]
    return {layer: np.concatenate(calls[k::len(layers)]) for k, layer in enumerate(layers)}


def ours(a, isa, path, text, folder):
    """The engine's logits [tokens, vocab] or None, and the reference network, which follows its choices of experts."""
    raw, chosen = os.path.join(folder, "logits.f32"), os.path.join(folder, "choices.i32")
    done = probe(a.tool, isa, "choices", path, ",".join(map(str, text)), SINGLE, raw, chosen)
    if done is None:
        return None, None
    network = Network(path)
    if os.path.getsize(chosen):
        network.follow(read_choices(chosen, network, len(text)))
    return np.fromfile(raw, np.float32).reshape(len(text), -1).astype(np.float64), network


def check_flips(flips, chosen):
    """Whether all choices that are not the reference's are ties, and what to print."""
    worst = max(flips, default=0)
    return worst <= FLOAT_LIMIT, ", %d of %d choices others, by %.1e at most" % (len(flips), chosen, worst)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("tool", metavar="NET_PROBE")
    p.add_argument("--only", default="")
    a = p.parse_args()
    bad, all_cases = 0, bool(os.environ.get("QUINCE_TEST_ALL"))
    with tempfile.TemporaryDirectory(prefix="quince-golden-") as folder:
        path = os.path.join(folder, "model.gguf")
        for preset, kind, extra, tokens in CASES + (MORE_CASES if all_cases else ()):
            if a.only not in "%s %s" % (preset, kind):
                continue
            made = make_random_gguf.options(["--preset", preset, "--type", kind, *extra, path])
            make_random_gguf.build(made).writer.write(path)
            text = [int(t) for t in np.random.default_rng(11).integers(0, made.vocab, tokens)]
            theirs = None
            for isa in ISAS if all_cases or extra not in (LARGE, LARGE_MIXTURE) else ISAS[1:]:
                logits, network = ours(a, isa, path, text, folder)
                if logits is None:
                    continue
                choices = getattr(network, "choices", None)
                if theirs is None or choices is not None:
                    theirs = network.feed(text)
                good, figures = judge(logits - theirs, theirs.std(), kind)
                if choices is not None:
                    tied, more = check_flips(network.flips, sum(len(c) for c in choices.values()))
                    good, figures = good and tied, figures + more
                good = good and np.isfinite(logits).all()
                bad += not good
                print("%s %-16s %-6s %-8s %s" % ("ok  " if good else "FAIL", preset, kind, isa, figures), flush=True)
    if bad:
        sys.exit("%d cases failed" % bad)


if __name__ == "__main__":
    main()
