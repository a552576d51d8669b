#!/usr/bin/python3
"""Write a decoder model with random weights as GGUF, with real shapes or tiny ones.

  make_random_gguf.py --preset qwen3-0.6b --type q4_k_m OUT.gguf
  make_random_gguf.py --preset small-llama --type q8_0 --set layers=3 --separate-output OUT.gguf

To an engine's arithmetic such a file is like the real model, so speed, memory and agreement with
other engines can be measured without any download. Types: all of quants.py, and mixes as people
publish them (q4_k_m: Q4_K, but Q6_K for the output matrix and for part of attn_v and ffn_down).
Files above 100 million parameters repeat blocks of random weights, which makes them in seconds.
Needs python3-numpy.
"""
import argparse
import os
import sys
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import quants
from container import ARR, BOOL, I32, STR, U32, Writer
from layouts import LAYOUTS, PRESETS
from vocabulary import byte_level_bpe

# general.file_type of a pure file or a mix
FILE_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q8_0": 7, "q5_0": 8, "q5_1": 9, "q2_k": 10, "q3_k": 11,
              "q3_k_m": 12, "q4_k": 14, "q4_k_m": 15, "q5_k": 16, "q5_k_m": 17, "q6_k": 18, "iq2_xxs": 19,
              "iq2_xs": 20, "q2_k_s": 21, "iq3_xxs": 23, "iq1_s": 24, "iq4_nl": 25, "iq3_s": 26, "iq2_s": 28,
              "iq4_xs": 30, "iq4_xs_m": 30, "iq1_m": 31, "bf16": 32, "tq1_0": 36, "tq2_0": 37, "mxfp4": 38,
              "mxfp4_moe": 38, "nvfp4": 39}
# A mix: most matrices, those that want more bits, the vocabulary's matrices, experts' matrices.
MIXES = {"q2_k_s": ("q2_k", "q4_k", "q6_k", "q2_k"),
         "q3_k_m": ("q3_k", "q5_k", "q6_k", "q3_k"),
         "q4_k_m": ("q4_k", "q6_k", "q6_k", "q4_k"),
         "q5_k_m": ("q5_k", "q6_k", "q6_k", "q5_k"),
         "iq4_xs_m": ("iq4_xs", "q5_k", "q6_k", "iq4_xs"),
         "mxfp4_moe": ("q8_0", "q8_0", "q8_0", "mxfp4")}
EXACT_LIMIT = 100e6                        # parameters; above it random blocks repeat
POOL_VALUES = 1 << 22
CHATML = ("{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + "
          "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}"
          "{{'<|im_start|>assistant\n'}}{% endif %}")


class Weights:
    """Random tensors of one file: deterministic by seed and name."""

    def __init__(self, writer, a, repeat):
        self.writer, self.kind, self.seed, self.repeat = writer, a.type, a.seed, repeat
        self.vectors = a.vectors
        self.pools = {}
        self.count = 0

    def _rng(self, name):
        return np.random.Generator(np.random.SFC64([self.seed, zlib.crc32(name.encode())]))

    def vector(self, name, n, std, mean):
        values = mean + std * self._rng(name).standard_normal(n, dtype=np.float32)
        self.writer.add(name, (n,), self.vectors, values)
        self.count += n

    def grid(self, name, rows, cols, std, mean=0.0):
        """A small matrix that files never quantise."""
        values = mean + std * self._rng(name).standard_normal((rows, cols), dtype=np.float32)
        self.writer.add(name, (rows, cols), self.vectors, values)
        self.count += rows * cols

    def fixed(self, name, values):
        self.writer.add(name, (len(values),), "f32", values)

    def matrix(self, name, rows, cols, std, more_bits=False, kind=None):
        """kind: one of its own, as the routers of mixtures have in every file."""
        self._blocks(name, (rows, cols), std, more_bits, kind)

    def experts(self, name, n, rows, cols, std, more_bits=False):
        self._blocks(name, (n, rows, cols), std, more_bits, None)

    def _blocks(self, name, shape, std, more_bits, kind):
        cols = shape[-1]
        if not kind:
            most, more, vocabulary, experts = MIXES.get(self.kind, (self.kind,) * 4)
            kind = experts if "_exps." in name else most
            if more_bits and (kind == most or "_exps." not in name):
                kind = vocabulary if name in ("token_embd.weight", "output.weight") else more
        if cols % quants.TYPES[kind][1]:
            kind = "q8_0" if cols % 32 == 0 else "f16"
        rows = int(np.prod(shape[:-1]))
        self.count += rows * cols
        if kind == "nvfp4" and name.startswith("blk."):   # another factor for each expert
            factors = 0.3 + 0.1 * (np.arange(shape[0] if len(shape) == 3 else 1) % 3)
            self.fixed(name[:-len("weight")] + "scale", factors.astype(np.float32))
            std = std / factors.mean()
        make = self._repeated if self.repeat else self._fresh
        self.writer.add(name, shape, kind, lambda: make(name, rows, cols, kind, std))

    def _fresh(self, name, rows, cols, kind, std):
        rng = self._rng(name)
        step = max(1, POOL_VALUES // cols)
        for r in range(0, rows, step):
            yield quants.random(kind, min(step, rows - r) * cols, std, rng)

    def _repeated(self, name, rows, cols, kind, std):
        """Turns of one pool of packed blocks, starting at a random block each."""
        _, block, size = quants.TYPES[kind]
        key = (kind, float(std))
        if key not in self.pools:
            self.pools[key] = memoryview(quants.random(kind, POOL_VALUES, std, self._rng("pool")))
        pool, left, rng = self.pools[key], quants.nbytes(kind, rows * cols), self._rng(name)
        while left:
            start = int(rng.integers(0, POOL_VALUES // block // 2)) * size
            piece = pool[start:start + left]
            left -= len(piece)
            yield piece


def metadata(a, layout):
    meta = {
        "general.architecture": (STR, a.arch),
        "general.type": (STR, "model"),
        "general.name": (STR, "random %s" % a.preset),
        "general.file_type": (U32, FILE_TYPES[a.type]),
        "general.quantization_version": (U32, 2),
    }
    meta.update({a.arch + "." + key: value for key, value in layout.metadata(a).items()})
    tokens, types, merges, ends = byte_level_bpe(a.vocab)
    meta.update({
        "tokenizer.ggml.model": (STR, "gpt2"),
        "tokenizer.ggml.pre": (STR, layout.pre),
        "tokenizer.ggml.tokens": (ARR, (STR, tokens)),
        "tokenizer.ggml.token_type": (ARR, (I32, types)),
        "tokenizer.ggml.merges": (ARR, (STR, merges)),
        "tokenizer.ggml.bos_token_id": (U32, ends["<|endoftext|>"]),
        "tokenizer.ggml.eos_token_id": (U32, ends["<|im_end|>"]),
        "tokenizer.ggml.padding_token_id": (U32, ends["<|endoftext|>"]),
        "tokenizer.ggml.add_bos_token": (BOOL, False),
        "tokenizer.chat_template": (STR, CHATML),
    })
    return meta


def build(a):
    layout = LAYOUTS[getattr(a, "layout", a.arch)]
    w = Weights(Writer(metadata(a, layout)), a, layout.parameters(a) > EXACT_LIMIT)
    layout.tensors(w, a)
    return w


def options(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", metavar="OUT.gguf")
    p.add_argument("--preset", choices=sorted(PRESETS), default="small-llama")
    p.add_argument("--type", choices=sorted(FILE_TYPES), default="f16")
    p.add_argument("--set", metavar="KEY=VALUE", action="append", default=[],
                   help="another number of the preset")
    p.add_argument("--separate-output", action="store_true", help="an output matrix of its own")
    p.add_argument("--rope-freqs", action="store_true", help="Llama 3's tensor of rotary divisors")
    p.add_argument("--rope-linear", type=float, metavar="FACTOR", help="linear rotary scaling")
    p.add_argument("--rope-yarn", type=float, metavar="FACTOR", help="yarn scaling of a context of 64 tokens")
    p.add_argument("--parts", type=int, metavar="N", help="also N files OUT-00001-of-0000N.gguf")
    p.add_argument("--vectors", choices=("f32", "f16", "bf16"), default="f32", help="the type of norms and biases")
    p.add_argument("--logit-std", type=float, default=1.5)
    p.add_argument("--embedding-std", type=float, help="how much of the stream is the token itself")
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args(argv)
    for key, value in PRESETS[a.preset].items():
        setattr(a, key, value)
    for pair in a.set:
        key, _, value = pair.partition("=")
        if key not in PRESETS[a.preset]:
            p.error("--set %s: unknown key; known are %s" % (pair, " ".join(PRESETS[a.preset])))
        setattr(a, key, type(getattr(a, key))(value))
    a.rope_freqs = a.rope_freqs or a.preset.startswith("llama-3")
    return a


def main():
    a = options()
    w = build(a)
    w.writer.write(a.out)
    if a.parts:
        w.writer.write_parts(a.out, a.parts)
    print("%s: %s %s, %d tensors, %.1f M parameters, %.1f MB"
          % (a.out, a.arch, a.type, len(w.writer.tensors), w.count / 1e6, os.path.getsize(a.out) / 1e6))


if __name__ == "__main__":
    main()
