"""Decoder networks a second time, in numpy and double precision, to compare the C engine with.

Written from the papers and the published descriptions of the models, sharing nothing with the
engine: RMSNorm (arXiv:1910.07467), rotary positions (arXiv:2104.09864), grouped queries
(arXiv:2305.13245), SwiGLU (arXiv:2002.05202), Llama 3's rotary divisors (tensor rope_freqs).
Speed does not matter here; every step is one line of the paper. The only concession to the engine
is that keys and values may be rounded to half precision, since that is how its cache keeps them.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "gguf"))
from container import Reader


def rms_norm(x, weight, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


class Network:
    """One model; feed() takes a sequence's next tokens and gives their logits [n, vocab]."""

    def __init__(self, path, half_cache=True):
        f = Reader(path)
        self.arch = f.meta["general.architecture"].decode()
        get = lambda key, default=None: f.meta.get(self.arch + "." + key, default)
        self.layers, self.dim = get("block_count"), get("embedding_length")
        self.heads = get("attention.head_count")
        self.kv_heads = get("attention.head_count_kv", self.heads)
        self.head_dim = get("attention.key_length", self.dim // self.heads)
        self.eps = get("attention.layer_norm_rms_epsilon")
        self.half_cache = half_cache
        weight = lambda name: f.tensor(name).astype(np.float64)
        self.embedding = weight("token_embd.weight")
        self.output = weight("output.weight") if f.has("output.weight") else self.embedding
        self.output_norm = weight("output_norm.weight")
        self.blocks = []
        for i in range(self.layers):
            start = "blk.%d." % i
            self.blocks.append({name[len(start):]: weight(name) for name in f.table if name.startswith(start)})
        angular = get("rope.freq_base", 10000.0) ** (-np.arange(0, self.head_dim, 2) / self.head_dim)
        if f.has("rope_freqs.weight"):
            angular = angular / weight("rope_freqs.weight")
        if get("rope.scaling.type", b"none") == b"linear":
            angular = angular / get("rope.scaling.factor")
        self.angular = angular
        self.clear()

    def clear(self):
        self.cache = [(np.zeros((0, self.kv_heads, self.head_dim)),) * 2 for _ in self.blocks]

    def rotate(self, x, positions):
        """x [n, heads, head_dim]. Llama pairs neighbours (2i, 2i+1); Qwen pairs halves (i, i + d/2)."""
        angle = positions[:, None, None] * self.angular
        cos, sin = np.cos(angle), np.sin(angle)
        out = np.empty_like(x)
        if self.arch == "llama":
            a, b = np.s_[..., 0::2], np.s_[..., 1::2]
        else:
            a, b = np.s_[..., :self.head_dim // 2], np.s_[..., self.head_dim // 2:]
        out[a] = x[a] * cos - x[b] * sin
        out[b] = x[a] * sin + x[b] * cos
        return out

    def attend(self, q, k, v, first):
        """q [n, heads, d]; k, v [total, kv_heads, d]; query i sees keys 0..first+i."""
        group = self.heads // self.kv_heads
        out = np.empty_like(q)
        hidden = np.arange(k.shape[0])[None, :] > first + np.arange(q.shape[0])[:, None]
        for h in range(self.heads):
            scores = q[:, h] @ k[:, h // group].T / np.sqrt(self.head_dim)
            scores[hidden] = -np.inf
            out[:, h] = softmax(scores) @ v[:, h // group]
        return out

    def block(self, i, x):
        w, n = self.blocks[i], x.shape[0]
        old_k, old_v = self.cache[i]
        first = old_k.shape[0]
        h = rms_norm(x, w["attn_norm.weight"], self.eps)
        q, k, v = (h @ w["attn_%s.weight" % p].T + w.get("attn_%s.bias" % p, 0) for p in "qkv")
        q = q.reshape(n, self.heads, self.head_dim)
        k, v = (t.reshape(n, self.kv_heads, self.head_dim) for t in (k, v))
        if "attn_q_norm.weight" in w:
            q = rms_norm(q, w["attn_q_norm.weight"], self.eps)
            k = rms_norm(k, w["attn_k_norm.weight"], self.eps)
        positions = np.arange(first, first + n, dtype=np.float64)
        q, k = self.rotate(q, positions), self.rotate(k, positions)
        if self.half_cache:
            k, v = (t.astype(np.float16).astype(np.float64) for t in (k, v))
        k, v = np.concatenate([old_k, k]), np.concatenate([old_v, v])
        self.cache[i] = (k, v)
        x = x + self.attend(q, k, v, first).reshape(n, -1) @ w["attn_output.weight"].T
        h = rms_norm(x, w["ffn_norm.weight"], self.eps)
        gated = silu(h @ w["ffn_gate.weight"].T) * (h @ w["ffn_up.weight"].T)
        return x + gated @ w["ffn_down.weight"].T

    def feed(self, tokens):
        x = self.embedding[np.asarray(tokens)]
        for i in range(self.layers):
            x = self.block(i, x)
        return rms_norm(x, self.output_norm, self.eps) @ self.output.T

    def greedy(self, prompt, count):
        """The likeliest continuation: tokens [count], and at each the lead over the second."""
        self.clear()
        tokens, leads = [], []
        logits = self.feed(prompt)[-1]
        for _ in range(count):
            second, best = np.sort(logits)[-2:]
            tokens.append(int(np.argmax(logits)))
            leads.append(best - second)
            logits = self.feed(tokens[-1:])[-1]
        return tokens, leads
