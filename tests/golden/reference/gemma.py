"""Gemma 3n and 4: values normalised, too; inputs of every layer's own; caches that layers share. Written
from the published model definitions; alternating updates arXiv:2301.13310, laurel arXiv:2411.07501,
sparse gates arXiv:2506.06644."""
import numpy as np

from . import rope
from .decoder import Decoder
from .dense import Gemma3
from .maths import gelu_tanh, rms_norm, softcap


class LayerInputs(Gemma3):
    def setup(self):
        self.scale = 1.0
        self.own = self.layers - self.get("attention.shared_kv_layers", 0)
        self.width = self.get("embedding_length_per_layer_input")

    def window(self, i):
        return self.get("attention.sliding_window") if self.get("attention.sliding_window_pattern")[i] else None

    def source(self, i):
        """The layer whose keys and values layer i reads."""
        if i < self.own:
            return i
        return max(j for j in range(self.own) if self.window(j) == self.window(i))

    def width_of_head(self, i):
        return self.head_dim

    def attention(self, i, h):
        n, b, d = h.shape[0], "blk.%d." % i, self.width_of_head(i)
        at = np.arange(self.length, self.length + n, dtype=np.float64)
        turn = lambda x: rope.rotate(x, at, *self.rotation(i), self.pairs)
        q = self.norm(self.project(h, b + "attn_q").reshape(n, -1, d), b + "attn_q_norm")
        if i < self.own:
            k = self.project(h, b + "attn_k").reshape(n, -1, d)
            v = self.project(h, b + "attn_v").reshape(n, -1, d) if self.has(b + "attn_v.weight") else k
            k, v = turn(self.norm(k, b + "attn_k_norm")), rms_norm(v, 1.0, self.eps)
            k, v = self.remember(i, k, v)
        else:
            k, v = self.state[self.source(i)]
        return self.project(self.look(i, turn(q), k, v).reshape(n, -1), b + "attn_output")

    def inputs(self, tokens, x):
        """[n, layers, width] from the second table and from the embedding x."""
        shape = (len(tokens), self.layers, self.width)
        table = self.weight("per_layer_token_embd.weight")[tokens].reshape(shape) * np.sqrt(self.width)
        mine = self.project(x, "per_layer_model_proj").reshape(shape) / np.sqrt(self.dim)
        return (self.norm(mine, "per_layer_proj_norm") + table) / np.sqrt(2)

    def own_input(self, i, x):
        b = "blk.%d." % i
        gated = gelu_tanh(self.project(x, b + "inp_gate")) * self.given[:, i]
        return self.norm(self.project(gated, b + "proj"), b + "post_norm")

    def embed(self, tokens):
        x = super().embed(tokens)
        self.given = self.inputs(tokens, x) if self.width else None
        return x


class Gemma4(LayerInputs):
    def width_of_head(self, i):
        return self.get("attention.key_length_swa") if self.window(i) else self.head_dim

    def rotation(self, i):
        if self.window(i):
            n = self.get("rope.dimension_count_swa")
            return self.get("rope.freq_base_swa") ** (-np.arange(0, n, 2) / n), 1.0
        return Decoder.rotation(self, i)

    def layer(self, i, x):
        x = super().layer(i, x)
        if self.width:
            x = x + self.own_input(i, x)
        name = "blk.%d.layer_output_scale.weight" % i
        return x * self.weight(name) if self.has(name) else x

    def head(self, x):
        return softcap(super().head(x), self.get("final_logit_softcapping"))


class Gemma3n(LayerInputs):
    streams, active = 4, 0

    def modes(self, i, x):
        b = "blk.%d.altup_router" % i
        return np.tanh(self.project(self.norm(x, b + "_norm") / self.dim, b))

    def match(self, x, like):
        size = lambda t: np.sqrt(np.mean(t * t, axis=-1, keepdims=True))
        return x * size(like) / np.maximum(size(x), np.sqrt(1e-5))

    def ffn(self, i, h):
        b = "blk.%d.ffn_" % i
        gate, times = self.project(h, b + "gate"), self.get("activation_sparsity_scale")[i]
        if times:
            edge = gate.mean(axis=-1, keepdims=True) + times * gate.std(axis=-1, keepdims=True)
            gate = np.maximum(gate - edge, 0)
        return self.project(gelu_tanh(gate) * self.project(h, b + "up"), b + "down")

    def layer(self, i, x):
        """x [streams, n, dim]."""
        b, s, a = "blk.%d." % i, self.streams, self.active
        coefs = self.project(self.modes(i, x[a]), b + "altup_predict_coef").reshape(-1, s, s)
        predicted = x + np.einsum("nij,jnd->ind", coefs, x)
        h = self.norm(predicted[a], b + "attn_norm")
        narrow = self.project(self.project(h, b + "laurel_l"), b + "laurel_r")
        laurel = h + self.norm(narrow, b + "laurel_post_norm")
        mixed = predicted[a] + self.norm(self.attention(i, h), b + "post_attention_norm")
        y = (mixed + laurel) / np.sqrt(2)
        y = y + self.norm(self.ffn(i, self.norm(y, b + "ffn_norm")), b + "post_ffw_norm")
        coefs = self.project(self.modes(i, y), b + "altup_correct_coef") + 1
        x = predicted + coefs.T[:, :, None] * (y - predicted[a])
        x[1:] += self.own_input(i, x[a] * self.weight(b + "altup_correct_scale.weight"))
        return x

    def embed(self, tokens):
        x = super().embed(tokens)
        return np.stack([x] + [self.match(x @ w.T, x) for w in self.weight("altup_proj.weight")])

    def head(self, x):
        merge = self.weight("altup_unembd_proj.weight")
        x = (x[0] + sum(self.match(t @ w.T, x[0]) for t, w in zip(x[1:], merge))) / self.streams
        return softcap(super().head(x), self.get("final_logit_softcapping"))


NETWORKS = {"gemma3n": Gemma3n, "gemma4": Gemma4}
