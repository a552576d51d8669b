"""The plain decoder: pre-norm layers of attention with grouped queries (arXiv:2305.13245) and SwiGLU
(arXiv:2002.05202). Other architectures override the steps in which they differ."""
import numpy as np

from . import rope
from .maths import rms_norm, silu, softcap, softmax


class Decoder:
    """One model; feed() takes a sequence's next tokens and gives their logits [n, vocab]."""
    pairs = "halves"

    def __init__(self, f, half_cache):
        self.file, self.half_cache, self.loaded = f, half_cache, {}
        self.arch = f.meta["general.architecture"].decode()
        self.layers, self.dim = self.get("block_count"), self.get("embedding_length")
        self.heads = self.get("attention.head_count")
        self.kv_heads = self.get("attention.head_count_kv", self.heads)
        self.head_dim = self.get("attention.key_length", self.dim // max(1, self.heads))
        self.eps = self.get("attention.layer_norm_rms_epsilon", 1e-5)
        self.scale = self.head_dim ** -0.5
        self.rope_dim = self.get("rope.dimension_count", self.head_dim)
        self.setup()
        self.clear()

    def setup(self):
        """What else the file says of this architecture; comes before the first token."""

    def clear(self):
        """Forgets all tokens: state[i] is what layer i keeps of them."""
        self.length, self.state = 0, [None] * self.layers

    # ---- the file ----

    def get(self, key, default=None):
        return self.file.meta.get(self.arch + "." + key, default)

    def has(self, name):
        return self.file.has(name)

    def weight(self, name):
        if name not in self.loaded:
            self.loaded[name] = self.file.tensor(name).astype(np.float64)
        return self.loaded[name]

    def project(self, x, name):
        """x · W^T + b, where the file has a b."""
        y = x @ self.weight(name + ".weight").T
        return y + self.weight(name + ".bias") if self.has(name + ".bias") else y

    # ---- steps ----

    def norm(self, x, name):
        return rms_norm(x, self.weight(name + ".weight"), self.eps)

    def rotation(self, i):
        """Layer i's frequencies and scale, or None for a layer that does not know positions."""
        if "rotation" not in self.loaded:
            divisors = self.weight("rope_freqs.weight") if self.has("rope_freqs.weight") else None
            self.loaded["rotation"] = rope.frequencies(
                self.get, self.rope_dim, self.get("rope.freq_base", 10000.0), divisors)
        return self.loaded["rotation"]

    def window(self, i):
        """How many tokens layer i sees, its own included; None: all."""
        return None

    def chunk(self, i):
        """Into pieces of how many tokens, that do not see each other, layer i cuts the text; None: it does not."""
        return None

    def qkv(self, i, h):
        return [self.project(h, "blk.%d.attn_%s" % (i, part)) for part in "qkv"]

    def normed_heads(self, i, q, k):
        """Queries and keys [n, heads, head_dim] before they are rotated."""
        if self.has("blk.%d.attn_q_norm.weight" % i):
            q = self.norm(q, "blk.%d.attn_q_norm" % i)
            k = self.norm(k, "blk.%d.attn_k_norm" % i)
        return q, k

    def turned_heads(self, i, q, k):
        """The same after the rotation."""
        return q, k

    def remember(self, i, k, v):
        """Appends to layer i's keys and values; gives all of them."""
        if self.half_cache:
            k, v = (t.astype(np.float16).astype(np.float64) for t in (k, v))
        if self.state[i] is not None:
            k, v = (np.concatenate(pair) for pair in zip(self.state[i], (k, v)))
        self.state[i] = (k, v)
        return k, v

    def look(self, i, q, k, v):
        """q [n, heads, d]; k, v [total, kv_heads, d]; query j sees keys 0 .. length + j."""
        group, position = q.shape[1] // k.shape[1], self.length + np.arange(q.shape[0])[:, None]
        key, window = np.arange(k.shape[0])[None, :], self.window(i)
        hidden = key > position
        if window:
            hidden |= key <= position - window
        if self.chunk(i):
            hidden |= key < position // self.chunk(i) * self.chunk(i)
        out = np.empty(q.shape[:2] + v.shape[2:])
        for h in range(q.shape[1]):
            scores = softcap(q[:, h] @ k[:, h // group].T * self.scale, self.score_cap())
            scores[hidden] = -np.inf
            out[:, h] = self.weigh(i, h, scores) @ v[:, h // group]
        return out

    def places(self, n):
        """Positions of the next n tokens."""
        return np.arange(self.length, self.length + n, dtype=np.float64)

    def warm(self, i, q):
        return q

    def score_cap(self):
        return None

    def weigh(self, i, head, scores):
        return softmax(scores)

    def attention(self, i, h):
        n = h.shape[0]
        q, k, v = (t.reshape(n, -1, self.head_dim) for t in self.qkv(i, h))
        q, k = self.normed_heads(i, q, k)
        turn = self.rotation(i)
        if turn is not None:
            at = self.places(n)
            q, k = (rope.rotate(t, at, *turn, self.pairs) for t in (q, k))
        q, k = self.turned_heads(i, q, k)
        k, v = self.remember(i, k, v)
        q = self.warm(i, q)
        return self.project(self.look(i, q, k, v).reshape(n, -1), "blk.%d.attn_output" % i)

    def mixer(self, i, h):
        return self.attention(i, h)

    def act(self, x):
        return silu(x)

    def ffn(self, i, h):
        b = "blk.%d.ffn_" % i
        gated = self.act(self.project(h, b + "gate")) * self.project(h, b + "up")
        return self.project(gated, b + "down")

    def layer(self, i, x):
        x = x + self.mixer(i, self.norm(x, "blk.%d.attn_norm" % i))
        return x + self.ffn(i, self.norm(x, "blk.%d.ffn_norm" % i))

    def embed(self, tokens):
        return self.weight("token_embd.weight")[tokens]

    def head(self, x):
        name = "output" if self.has("output.weight") else "token_embd"
        return self.project(self.norm(x, "output_norm"), name)

    # ---- the whole ----

    def feed(self, tokens):
        x = self.embed(np.asarray(tokens))
        for i in range(self.layers):
            x = self.layer(i, x)
        self.length += len(tokens)
        return self.head(x)

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
