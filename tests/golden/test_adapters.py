#!/usr/bin/python3
"""Logits of small random models through random low-rank adapters, our engine against the numpy
reference, in which the adapters are merged into the matrices.

  test_adapters.py ADAPTER_PROBE [--only TEXT]

Sequences without an adapter, with one, and with two at different scales run in the same batches, prompts
beside single tokens. The limits are those of test_logits.py: no logit further than 3e-3 in F32, F16 and
BF16, RMS 2 % of the spread where weights are quantised. Asking for few rows' logits must not move them.
And adapters that do not fit are refused with a message that names what is wrong."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "scripts", "gguf")]
import make_random_adapter
import make_random_gguf
from cases import FLOATS, STEADY, numbers
from container import ARR, F32, STR, U32, Reader
from reference import Network
from reference.adapter import adapt

FLOAT_LIMIT, ROUNDED_LIMIT, FEW_LIMIT = 3e-3, 0.02, 2e-4
PROMPT, SINGLE, SKIP = 24, 8, 77
MIXES = ((), ((0, 1.0),), ((1, 0.5),), ((0, 1.0),), ((0, 0.7), (1, -1.3)))

# preset, its type, options, the adapters' type and what they leave alone
CASES = (
    ("llama", "f32", [], "f32", ""),
    ("llama", "q8_0", STEADY, "q8_0", ""),
    ("llama", "q4_k", STEADY, "f16", ""),
    ("qwen2", "f16", ["--separate-output"], "f16", ""),
    ("qwen3", "f32", [], "bf16", ""),                    # the output matrix is the embedding
    ("qwen3", "f32", [], "f32", "attn_[kv]|token_embd|blk.1"),
    ("phi3", "f32", [], "f32", ""),                      # several matrices in one tensor
    ("gemma3", "f32", [], "f16", ""),                    # a scaled embedding
    ("gemma3n", "f32", [], "f32", ""),                   # alternating updates, inputs of each layer
    ("cohere2", "f32", [], "f32", ""),
    ("lfm2", "f32", [], "f32", ""),
    ("falcon-h1", "f32", [], "f32", ""),
    ("nemotron_h_moe", "f32", STEADY, "f32", ""),        # a mixture without gates in a mixer's place
    ("qwen35", "f32", [], "f32", ""),
    ("qwen3next-older", "f16", STEADY, "f32", ""),
    ("mixtral", "f32", STEADY, "f32", ""),
    ("qwen2moe", "q8_0", STEADY, "q8_0", "ffn_gate_inp"),
    ("qwen3moe-merged", "f16", STEADY, "f16", ""),
    ("gpt-oss", "f32", STEADY, "f32", ""),
    ("llama4", "f32", STEADY, "f32", ""),
    ("deepseek3", "f32", STEADY, "f32", ""),             # matrices of each head
)


def probe(tool, model, adapters, ids, out, mixes, isa=None):
    words = [",".join("%d:%r" % part for part in mix) for mix in mixes]
    return subprocess.run([tool, model, ",".join(adapters), ",".join(map(str, ids)), str(SINGLE), out, *words],
                          env=dict(os.environ, **({"QUINCE_ISA": isa} if isa else {})),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


def run(tool, folder, preset, kind, extra, adapter_kind, but, isa):
    path, out = os.path.join(folder, "model.gguf"), os.path.join(folder, "logits.f32")
    a = make_random_gguf.options(["--preset", "small-" + preset, "--type", kind, *extra, path])
    make_random_gguf.build(a).writer.write(path)
    adapters = [os.path.join(folder, "adapter%d.gguf" % i) for i in range(2)]
    rank = 32 if adapter_kind == "q8_0" else 4
    make_random_adapter.build(path, rank, adapter_kind, 2.0 * rank, 1, but=but).write(adapters[0])
    make_random_adapter.build(path, rank + 1 if rank < 32 else 64, adapter_kind, 0, 2, only="attn|ffn|ssm|conv",
                              but=but).write(adapters[1])
    ids = [int(t) for t in np.random.default_rng(3).integers(0, a.vocab, PROMPT + SINGLE)]
    done = probe(tool, path, adapters, ids, out, MIXES, isa)
    if done.returncode == SKIP:
        return True, "skipped"
    if done.returncode:
        return False, "exit status %d: %s" % (done.returncode, done.stderr.strip())
    ours = np.fromfile(out, np.float32).astype(np.float64).reshape(len(MIXES), len(ids), -1)
    files, plain, figures, good = [Reader(f) for f in adapters], None, [], True
    for mix, row in zip(MIXES, ours):
        theirs = adapt(Network(path), [(files[i], scale) for i, scale in mix]).feed(ids)
        plain = theirs if plain is None else plain
        away, spread = row - theirs, theirs.std()
        figure = np.abs(away).max() if kind in FLOATS else np.sqrt(np.mean(away * away)) / spread
        good = good and figure <= (FLOAT_LIMIT if kind in FLOATS else ROUNDED_LIMIT)
        if mix:                            # or else the adapter would prove nothing
            good = good and np.sqrt(np.mean((theirs - plain) ** 2)) > 0.1 * spread
        figures.append("%.2g" % figure)
    few = json.loads(done.stdout)["few"]
    good = good and few <= (FEW_LIMIT if kind in FLOATS else 0.02) * max(1, ours.std())
    return good, " ".join(figures) + ", few rows %.2g" % few


def without(name):
    return lambda w: w.tensors.__setitem__(slice(None), [t for t in w.tensors if t[0] != name])


def shaped(name, *shape):
    return lambda w: w.tensors.__setitem__(
        slice(None), [(name, shape, "f32", np.zeros(shape, np.float32)) if t[0] == name else t for t in w.tensors])


def added(name, *shape):
    return lambda w: w.add(name, shape, "f32", np.zeros(shape, np.float32))


def meta(key, kind, value):
    return lambda w: w.meta.__setitem__(key, (kind, value))


Q = "blk.0.attn_q.weight"
# preset, what is done to its adapter, what the message says
REFUSALS = (
    ("llama", meta("general.type", STR, "model"), 'general.type is "model", not "adapter"'),
    ("llama", meta("adapter.type", STR, "control_vector"), 'adapter.type is "control_vector", not "lora"'),
    ("llama", meta("general.architecture", STR, "qwen3"), 'made for the architecture "qwen3", not for llama'),
    ("llama", meta("adapter.lora.alpha", F32, float("nan")), "adapter.lora.alpha is nan"),
    ("llama", meta("adapter.alora.invocation_tokens", ARR, (U32, [1, 2])), "adapter.alora.invocation_tokens"),
    ("llama", without(Q + ".lora_b"), "tensor %s.lora_a has no tensor %s.lora_b beside it" % (Q, Q)),
    ("llama", without(Q + ".lora_a"), "tensor %s.lora_b has no tensor %s.lora_a beside it" % (Q, Q)),
    ("llama", added("blk.0.attn_norm.weight", 8), "tensor blk.0.attn_norm.weight is no part of a pair"),
    ("llama", shaped(Q + ".lora_a", 4, 33), "tensor %s.lora_a is [4, 33] F32, but the model's tensor asks for" % Q),
    ("llama", shaped(Q + ".lora_b", 33, 4), "tensor %s.lora_b is [33, 4] F32, but the model's tensor asks for" % Q),
    ("llama", shaped(Q + ".lora_b", 4), "tensor %s.lora_b is [4] F32" % Q),
    ("llama", shaped("token_embd.weight.lora_a", 4, 1024), "tensor token_embd.weight.lora_a is [4, 1024] F32"),
    ("llama", lambda w: (added("blk.9.attn_q.weight.lora_a", 4, 64)(w), added("blk.9.attn_q.weight.lora_b", 64, 4)(w)),
     "this model has no matrix blk.9.attn_q.weight"),
    ("llama", lambda w: w.tensors.clear(), "it has no tensors"),
    ("mixtral", shaped("blk.0.ffn_up_exps.weight.lora_a", 1, 4, 256), "tensor blk.0.ffn_up_exps.weight.lora_a is [1, 4"),
)


def refused(tool, folder, preset, change, says):
    path, adapter = os.path.join(folder, "model.gguf"), os.path.join(folder, "adapter.gguf")
    make_random_gguf.build(make_random_gguf.options(["--preset", "small-" + preset, path])).writer.write(path)
    w = make_random_adapter.build(path, but="token_embd.*" if preset == "mixtral" else "")
    change(w)
    w.write(adapter)
    done = probe(tool, path, [adapter], [1, 2, 3], os.path.join(folder, "out"), [()])
    return done.returncode == 1 and says in done.stderr, done.stderr.strip()


def wide_rank(tool, folder):
    """A rank beyond the limit."""
    return refused(tool, folder, "llama", lambda w: (shaped(Q + ".lora_a", 1025, 256)(w),
                                                     shaped(Q + ".lora_b", 256, 1025)(w)), "has rank 1025, at most 1024")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("tool", metavar="ADAPTER_PROBE")
    p.add_argument("--only", default="", help="cases whose name contains this, as \"qwen3 f32\"")
    p.add_argument("--isa", default=None)
    args, bad = p.parse_args(), 0
    with tempfile.TemporaryDirectory(prefix="quince-adapters-") as folder:
        for case in CASES:
            if args.only in "%s %s" % case[:2]:
                good, what = run(args.tool, folder, *case, args.isa)
                bad += not good
                print("%s %-16s %-5s %-5s %s" % ("ok  " if good else "FAIL", *case[:2], case[3], what), flush=True)
        for preset, change, says in REFUSALS if not args.only else ():
            good, what = refused(args.tool, folder, preset, change, says)
            bad += not good
            if not good:
                print("FAIL %s: %r does not say %r" % (preset, what, says), flush=True)
        if not args.only:
            good, what = wide_rank(args.tool, folder)
            bad += not good
            if not good:
                print("FAIL", what)
    if bad:
        sys.exit("%d cases failed" % bad)


if __name__ == "__main__":
    main()
