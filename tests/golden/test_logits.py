#!/usr/bin/python3
"""Logits of small random models, our engine against the numpy reference.

  test_logits.py NET_PROBE [--only TEXT] [--isa NAME]

Every architecture times every type, then variants of each; the vector instructions that the
machine has are forced, one or two a case, with QUINCE_TEST_ALL=1 one after another. What must hold:
  F32, F16, BF16   no logit further than 3e-3 from the reference, and wherever the reference's
                   likeliest token leads clearly, it is ours too over 64 greedy tokens, fed singly
  quantised        RMS of the difference below 2 % of the logits' spread: the engine rounds
                   activations, which the reference does not
  every way of feeding a text (chunks, company, truncated, copied caches) gives the same logits to the bit
"""
import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the cases run side by side
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "scripts", "gguf")]
import make_random_gguf
from cases import FLOATS, cases
from reference import Network

ISAS = ("generic", "avx2", "avxvnni", "avx512", "amx")
FLOAT_LIMIT, ROUNDED_LIMIT = 3e-3, 0.02
PROMPT, GREEDY, SKIP = 40, 64, 77

def probe(tool, isa, *arguments):
    done = subprocess.run([tool, *map(str, arguments)], env=dict(os.environ, QUINCE_ISA=isa),
                          stdout=subprocess.PIPE, universal_newlines=True)
    if done.returncode == SKIP:
        return None
    if done.returncode:
        sys.exit("%s %s: exit status %d" % (tool, " ".join(map(str, arguments)), done.returncode))
    return done.stdout


def compare(ours, theirs, kind, leads):
    """None when all is well, else what is not; and the figure that was judged."""
    away = ours.astype(np.float64) - theirs
    if not np.isfinite(away).all():
        return "not finite", np.inf
    if kind not in FLOATS:
        rms = np.sqrt(np.mean(away * away)) / theirs.std()
        return (None if rms <= ROUNDED_LIMIT else "too far"), rms
    most = np.abs(away).max()
    if most > FLOAT_LIMIT:
        return "too far", most
    clear = np.asarray(leads) > 2 * FLOAT_LIMIT
    rows = np.s_[PROMPT - 1:PROMPT - 1 + GREEDY]
    if (ours[rows].argmax(axis=1) != theirs[rows].argmax(axis=1))[clear].any():
        return "another token", most
    return None, most


def run(tool, isas, folder, arch, kind, extra, all_ways):
    path, raw = os.path.join(folder, "model.gguf"), os.path.join(folder, "logits.f32")
    a = make_random_gguf.options(["--preset", "small-" + arch, "--type", kind, *extra, path])
    writer = make_random_gguf.build(a).writer
    writer.write(path)
    network = Network(path)
    if a.parts:
        path = writer.write_parts(path, a.parts)
    text, leads = [int(t) for t in np.random.default_rng(7).integers(0, a.vocab, PROMPT + GREEDY)], []
    if kind in FLOATS:
        tokens, leads = network.greedy(text[:PROMPT], GREEDY)
        text[PROMPT:] = tokens
        network.clear()
    theirs = network.feed(text)
    ids, bad = ",".join(map(str, text)), 0
    for isa in isas:
        if probe(tool, isa, "logits", path, ids, GREEDY, raw) is None:
            print("     %-8s skipped: this machine has no %s" % (kind, isa))
            continue
        wrong, figure = compare(np.fromfile(raw, np.float32).reshape(theirs.shape), theirs, kind, leads)
        ways = json.loads(probe(tool, isa, "sequences", path)) if isa != "generic" or all_ways else {}
        for name, moved in ways.items():
            if moved != 0:
                wrong = "%s moves the logits by %.3g" % (name, moved)
        unit = "max %.2e" % figure if kind in FLOATS else "rms %.2f %%" % (100 * figure)
        print("%s %-5s %-6s %-8s %-12s %s %s" % ("FAIL" if wrong else "ok  ", arch, kind, isa, unit,
              " ".join(extra).replace("--set ", ""), "<- " + wrong if wrong else ""), flush=True)
        bad += wrong is not None
    return bad


def supported(tool):
    """Returns the instruction sets that this machine supports."""
    with tempfile.TemporaryDirectory(prefix="quince-golden-") as folder:
        path, raw = os.path.join(folder, "model.gguf"), os.path.join(folder, "logits.f32")
        a = make_random_gguf.options(["--preset", "small-llama", "--type", "f32", path])
        make_random_gguf.build(a).writer.write(path)
        return [isa for isa in ISAS if probe(tool, isa, "logits", path, "1,2", 1, raw) is not None]


def isas_of_case(number, here):
    """Returns the instruction sets that a case is tested with: with QUINCE_TEST_ALL=1 all that are here, otherwise
    one, or two if there are more than three. They rotate with the number of the case, so that one run tests each type
    and each architecture with most instruction sets."""
    if os.environ.get("QUINCE_TEST_ALL") == "1":
        return here
    return [here[(number + 2 * i) % len(here)] for i in range(1 + (len(here) > 3))]


def all_ways_of_case(number):
    """Returns true if the portable kernels are tested with all ways of feeding, which take most of a run's time. Builds
    with sanitizers (QUINCE_TEST_QUICK=1) try all ways with vectors only."""
    if os.environ.get("QUINCE_TEST_QUICK") == "1":
        return False
    return os.environ.get("QUINCE_TEST_ALL") == "1" or number % 5 == 0


def run_alone(tool, isas, all_ways, arch, kind, extra):
    """One case in a folder of its own, so that several run side by side."""
    with tempfile.TemporaryDirectory(prefix="quince-golden-") as folder:
        return run(tool, isas, folder, arch, kind, extra, all_ways)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("tool", metavar="NET_PROBE")
    p.add_argument("--only", default="", help="cases whose name contains this, as \"qwen3 q4_k\"")
    p.add_argument("--isa", action="append", choices=ISAS, help="only these instructions")
    a = p.parse_args()
    wanted = [case for case in cases() if a.only in " ".join([case[0], case[1], *case[2]])]
    here = a.isa or supported(a.tool)
    with multiprocessing.Pool() as pool:
        bad = sum(pool.starmap(run_alone, [(a.tool, isas_of_case(i, here), all_ways_of_case(i), *case)
                                           for i, case in enumerate(wanted)], chunksize=1))
    if bad:
        sys.exit("%d cases failed" % bad)


if __name__ == "__main__":
    main()
