#!/usr/bin/python3
"""Embeddings in place of tokens, at places of a picture: our engine against the numpy reference.

  test_pictures.py NET_PROBE

A text, embeddings in rows of four, a text again; as net_probe's `picture` feeds them.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "scripts", "gguf")]
import make_random_gguf
from reference import Network

LIMIT, TOKENS, WIDE = 3e-3, 48, 4


def places(n):
    """[n, 4]: time, height and width of each token; the middle third is the picture."""
    third = n // 3
    high = -(-third // WIDE)
    before = [[i, i, i, 0] for i in range(third)]
    picture = [[third, third + i // WIDE, third + i % WIDE, 0] for i in range(third)]
    start = third + max(high, WIDE)
    return np.array(before + picture + [[start + i] * 3 + [0] for i in range(n - 2 * third)])


def run(tool, folder, arch, parts):
    path, raw, floats = (os.path.join(folder, name) for name in ("model.gguf", "out.f32", "in.f32"))
    a = make_random_gguf.options(["--preset", "small-" + arch, "--type", "f32", path])
    make_random_gguf.build(a).writer.write(path)
    random, third = np.random.default_rng(3), TOKENS // 3
    text = [int(t) for t in random.integers(0, a.vocab, TOKENS)]
    given = random.standard_normal((third, a.dim * parts)).astype(np.float32)
    given.tofile(floats)
    network, at = Network(path), places(TOKENS)
    theirs = np.concatenate([network.feed_at(text[:third], at[:third]),
                             network.feed_at(text[third:2 * third], at[third:2 * third], given.astype(np.float64)),
                             network.feed_at(text[2 * third:], at[2 * third:])])
    subprocess.run([tool, "picture", path, ",".join(map(str, text)), floats, raw], check=True)
    most = np.abs(np.fromfile(raw, np.float32).reshape(theirs.shape) - theirs).max()
    print("%s %s max %.2e" % ("ok  " if most <= LIMIT else "FAIL", arch, most))
    return most <= LIMIT


def main():
    with tempfile.TemporaryDirectory(prefix="quince-golden-") as folder:
        good = [run(sys.argv[1], folder, arch, parts) for arch, parts in (("qwen2vl", 1), ("qwen3vl", 3))]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
