#!/usr/bin/python3
"""Write a decoder model with random weights as GGUF, with real shapes or tiny ones.

  make_random_gguf.py --preset qwen3-0.6b --type q4_k_m OUT.gguf
  make_random_gguf.py --preset small-llama --type q8_0 --set layers=3 --separate-output OUT.gguf

To an engine's arithmetic such a file is like the real model, so speed, memory and agreement with
other engines can be measured without any download. Types: f32 f16 bf16 q8_0 q4_0 q4_k q5_k q6_k,
and the mixes q4_k_m, q5_k_m (Q6_K for the output matrix and for part of attn_v and ffn_down).
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
from container import ARR, BOOL, F32, I32, STR, U32, Writer
from vocabulary import byte_level_bpe

KEYS = ("dim", "layers", "ff", "heads", "kv_heads", "head_dim", "vocab", "eps", "rope_base", "context")
PRESETS = {
    "qwen3-0.6b": ("qwen3", 1024, 28, 3072, 16, 8, 128, 151936, 1e-6, 1e6, 40960),
    "qwen3-1.7b": ("qwen3", 2048, 28, 6144, 16, 8, 128, 151936, 1e-6, 1e6, 40960),
    "llama-3.2-1b": ("llama", 2048, 16, 8192, 32, 8, 64, 128256, 1e-5, 5e5, 131072),
    "qwen2.5-0.5b": ("qwen2", 896, 24, 4864, 14, 2, 64, 151936, 1e-6, 1e6, 32768),
    # for comparing logits; rows of 256 and more, so that every type applies
    "small-llama": ("llama", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 5e5, 2048),
    "small-qwen2": ("qwen2", 256, 2, 512, 4, 2, 64, 2048, 1e-6, 1e6, 2048),
    "small-qwen3": ("qwen3", 256, 2, 512, 4, 2, 128, 2048, 1e-6, 1e6, 2048),
    # as little as a test of anything but arithmetic needs
    "tiny-llama": ("llama", 64, 2, 128, 4, 2, 16, 512, 1e-5, 1e4, 512),
    "tiny-qwen2": ("qwen2", 64, 2, 128, 4, 2, 16, 512, 1e-6, 1e6, 512),
    "tiny-qwen3": ("qwen3", 64, 2, 128, 4, 2, 32, 512, 1e-6, 1e6, 512),
}
# general.file_type of a pure file or a mix
FILE_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 7, "q4_k": 14, "q4_k_m": 15,
              "q5_k": 16, "q5_k_m": 17, "q6_k": 18, "bf16": 32}
MIXES = {"q4_k_m": "q4_k", "q5_k_m": "q5_k"}
EXACT_LIMIT = 100e6                        # parameters; above it random blocks repeat
POOL_VALUES = 1 << 22
CHATML = ("{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + "
          "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}"
          "{{'<|im_start|>assistant\n'}}{% endif %}")


def llama3_rope_divisors(head_dim, base, factor=32.0, low=1.0, high=4.0, original=8192):
    """Llama 3's context extension: what each rotary frequency is divided by."""
    wave = 2 * np.pi * base ** (np.arange(0, head_dim, 2) / head_dim)
    blend = (original / wave - low) / (high - low)
    smooth = 1.0 / ((1 - blend) / factor + blend)
    return np.where(wave < original / high, 1.0, np.where(wave > original / low, factor, smooth))


def wants_more_bits(layer, layers):
    """Which layers a mix gives Q6_K: the first and last eighth and every third between."""
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


class Weights:
    """Random tensors of one file: deterministic by seed and name."""

    def __init__(self, writer, kind, seed, repeat):
        self.writer, self.kind, self.seed, self.repeat = writer, kind, seed, repeat
        self.pools = {}
        self.count = 0

    def _rng(self, name):
        return np.random.Generator(np.random.SFC64([self.seed, zlib.crc32(name.encode())]))

    def vector(self, name, n, std, mean):
        values = mean + std * self._rng(name).standard_normal(n, dtype=np.float32)
        self.writer.add(name, (n,), "f32", values)
        self.count += n

    def fixed(self, name, values):
        self.writer.add(name, (len(values),), "f32", values)

    def matrix(self, name, rows, cols, std, more_bits=False):
        kind = "q6_k" if more_bits and self.kind in MIXES else MIXES.get(self.kind, self.kind)
        if cols % quants.TYPES[kind][1]:
            kind = "q8_0" if cols % 32 == 0 else "f16"
        self.count += rows * cols
        make = self._repeated if self.repeat else self._fresh
        self.writer.add(name, (rows, cols), kind, lambda: make(name, rows, cols, kind, std))

    def _fresh(self, name, rows, cols, kind, std):
        rng = self._rng(name)
        step = max(1, POOL_VALUES // cols)
        for r in range(0, rows, step):
            x = rng.standard_normal((min(step, rows - r), cols), dtype=np.float32)
            yield quants.pack(x * np.float32(std), kind)

    def _repeated(self, name, rows, cols, kind, std):
        """Turns of one pool of packed blocks, starting at a random block each."""
        _, block, size = quants.TYPES[kind]
        key = (kind, float(std))
        if key not in self.pools:
            x = self._rng("pool").standard_normal(POOL_VALUES, dtype=np.float32)
            self.pools[key] = memoryview(quants.pack(x * np.float32(std), kind))
        pool, left, rng = self.pools[key], quants.nbytes(kind, rows * cols), self._rng(name)
        while left:
            start = int(rng.integers(0, POOL_VALUES // block // 2)) * size
            piece = pool[start:start + left]
            left -= len(piece)
            yield piece


def metadata(a):
    arch = a.arch + "."
    meta = {
        "general.architecture": (STR, a.arch),
        "general.type": (STR, "model"),
        "general.name": (STR, "random %s" % a.preset),
        "general.file_type": (U32, FILE_TYPES[a.type]),
        "general.quantization_version": (U32, 2),
        arch + "vocab_size": (U32, a.vocab),
        arch + "context_length": (U32, a.context),
        arch + "embedding_length": (U32, a.dim),
        arch + "block_count": (U32, a.layers),
        arch + "feed_forward_length": (U32, a.ff),
        arch + "attention.head_count": (U32, a.heads),
        arch + "attention.head_count_kv": (U32, a.kv_heads),
        arch + "attention.key_length": (U32, a.head_dim),
        arch + "attention.value_length": (U32, a.head_dim),
        arch + "attention.layer_norm_rms_epsilon": (F32, a.eps),
        arch + "rope.freq_base": (F32, a.rope_base),
        arch + "rope.dimension_count": (U32, a.head_dim),
    }
    if a.rope_linear:
        meta[arch + "rope.scaling.type"] = (STR, "linear")
        meta[arch + "rope.scaling.factor"] = (F32, a.rope_linear)
    tokens, types, merges, ends = byte_level_bpe(a.vocab)
    meta.update({
        "tokenizer.ggml.model": (STR, "gpt2"),
        "tokenizer.ggml.pre": (STR, "qwen2" if a.arch.startswith("qwen") else "llama-bpe"),
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
    """All tensors. Scales keep the residual stream level and spread the logits by a.logit_std."""
    qd, kd = a.heads * a.head_dim, a.kv_heads * a.head_dim
    total = a.vocab * a.dim + a.layers * (2 * a.dim * (qd + kd) + 3 * a.dim * a.ff)
    w = Weights(Writer(metadata(a)), a.type, a.seed, total > EXACT_LIMIT)
    deep = 1.0 / np.sqrt(2.0 * a.layers)
    unembedding = a.logit_std / np.sqrt(a.dim)
    embedding = a.embedding_std or unembedding
    # a tied matrix serves both ends: the last norm makes up for its other scale
    level = 1.0 if a.separate_output else unembedding / embedding
    w.matrix("token_embd.weight", a.vocab, a.dim, embedding, more_bits=not a.separate_output)
    w.vector("output_norm.weight", a.dim, 0.1 * level, level)
    if a.separate_output:
        w.matrix("output.weight", a.vocab, a.dim, unembedding, more_bits=True)
    if a.rope_freqs:
        w.fixed("rope_freqs.weight", llama3_rope_divisors(a.head_dim, a.rope_base))
    for i in range(a.layers):
        b, more = "blk.%d." % i, wants_more_bits(i, a.layers)
        w.vector(b + "attn_norm.weight", a.dim, 0.1, 1.0)
        for part, rows in (("q", qd), ("k", kd), ("v", kd)):
            w.matrix(b + "attn_%s.weight" % part, rows, a.dim, 1 / np.sqrt(a.dim), more and part == "v")
            if a.arch == "qwen2":
                w.vector(b + "attn_%s.bias" % part, rows, 0.2, 0.0)
        if a.arch == "qwen3":
            w.vector(b + "attn_q_norm.weight", a.head_dim, 0.1, 1.0)
            w.vector(b + "attn_k_norm.weight", a.head_dim, 0.1, 1.0)
        w.matrix(b + "attn_output.weight", a.dim, qd, deep / np.sqrt(qd))
        w.vector(b + "ffn_norm.weight", a.dim, 0.1, 1.0)
        w.matrix(b + "ffn_gate.weight", a.ff, a.dim, 1 / np.sqrt(a.dim))
        w.matrix(b + "ffn_up.weight", a.ff, a.dim, 1 / np.sqrt(a.dim))
        w.matrix(b + "ffn_down.weight", a.dim, a.ff, 2 * deep / np.sqrt(a.ff), more)
    return w


def options(argv=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", metavar="OUT.gguf")
    p.add_argument("--preset", choices=sorted(PRESETS), default="small-llama")
    p.add_argument("--type", choices=sorted(FILE_TYPES), default="f16")
    p.add_argument("--set", metavar="KEY=VALUE", action="append", default=[],
                   help="another value of the preset: " + " ".join(KEYS))
    p.add_argument("--separate-output", action="store_true", help="an output matrix of its own")
    p.add_argument("--rope-freqs", action="store_true", help="Llama 3's tensor of rotary divisors")
    p.add_argument("--rope-linear", type=float, metavar="FACTOR", help="linear rotary scaling")
    p.add_argument("--logit-std", type=float, default=1.5)
    p.add_argument("--embedding-std", type=float, help="how much of the stream is the token itself")
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args(argv)
    preset = PRESETS[a.preset]
    a.arch = preset[0]
    for key, value in zip(KEYS, preset[1:]):
        setattr(a, key, value)
    for pair in a.set:
        key, _, value = pair.partition("=")
        if key not in KEYS:
            p.error("--set %s: unknown key; known are %s" % (pair, " ".join(KEYS)))
        setattr(a, key, type(getattr(a, key))(value))
    a.rope_freqs = a.rope_freqs or a.preset.startswith("llama-3")
    return a


def main():
    a = options()
    w = build(a)
    w.writer.write(a.out)
    print("%s: %s %s, %d tensors, %.1f M parameters, %.1f MB"
          % (a.out, a.arch, a.type, len(w.writer.tensors), w.count / 1e6, os.path.getsize(a.out) / 1e6))


if __name__ == "__main__":
    main()
