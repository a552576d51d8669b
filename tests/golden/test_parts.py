#!/usr/bin/python3
"""Networks of which only a part is loaded.

  test_parts.py NET_PROBE

Without its output matrix a network gives the hidden states that the numpy reference has before its
output matrix. Cut into two parts, each loaded by itself, it gives the logits of the whole network, to
the bit. A network whose layers read more than the layer before them gives is refused.
"""
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "scripts", "gguf")]
import make_random_gguf
from reference import Network

# attention, a mixture with windows and sinks, latent attention, recurrent layers, another norm
CUT = ("qwen3", "gemma3", "gpt-oss", "deepseek2", "falcon-h1", "qwen3next", "cohere2")
WHOLE_ONLY = ("gemma3n", "gemma4")
TOKENS, LIMIT = 60, 3e-3


def make(folder, arch, kind):
    path = os.path.join(folder, "%s-%s.gguf" % (arch, kind))
    options = make_random_gguf.options(["--preset", "small-" + arch, "--type", kind, path])
    make_random_gguf.build(options).writer.write(path)
    return path, [int(t) for t in np.random.default_rng(11).integers(0, options.vocab, TOKENS)]


def run(tool, *arguments):
    return subprocess.run([tool, *map(str, arguments)], stderr=subprocess.PIPE, universal_newlines=True)


def output(tool, verb, *arguments):
    done = run(tool, verb, *arguments)
    if done.returncode:
        sys.exit("%s %s: %s" % (verb, arguments[0], done.stderr))
    return np.fromfile(arguments[-1], np.float32)


def main():
    tool, bad = sys.argv[1], 0
    with tempfile.TemporaryDirectory(prefix="quince-parts-") as folder:
        out = os.path.join(folder, "out.f32")
        for arch in CUT:
            path, tokens = make(folder, arch, "f32")
            ids = ",".join(map(str, tokens))
            network = Network(path)
            network.head = lambda x, n=network: n.norm(x, "output_norm")
            wanted = network.feed(tokens)
            away = np.abs(output(tool, "hidden", path, ids, out).reshape(wanted.shape) - wanted).max()
            print("%s %-10s hidden states: %.2e" % ("FAIL" if not away <= LIMIT else "ok  ", arch, away))
            bad += not away <= LIMIT
            path, tokens = make(folder, arch, "q4_0")
            whole = output(tool, "logits", path, ids, 0, out)
            for cut in range(1, network.layers):
                differing = np.count_nonzero(output(tool, "parts", path, ids, cut, out).view("u4") != whole.view("u4"))
                print("%s %-10s cut at %d: %d of %d logits differ"
                      % ("FAIL" if differing else "ok  ", arch, cut, differing, whole.size))
                bad += differing > 0
        for arch in WHOLE_ONLY:
            path, tokens = make(folder, arch, "q8_0")
            done = run(tool, "parts", path, "1,2,3", 1, out)
            refused = done.returncode == 1 and "cannot be cut" in done.stderr
            print("%s %-10s %s" % ("ok  " if refused else "FAIL", arch, done.stderr.strip()))
            bad += not refused
    if bad:
        sys.exit("%d cases failed" % bad)


if __name__ == "__main__":
    main()
