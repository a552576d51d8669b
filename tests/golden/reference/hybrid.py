"""Decoders with recurrent layers. A recurrent layer's state is what the papers' step by step forms keep."""
import numpy as np

from .decoder import Decoder
from .dense import Granite
from .maths import rms_norm, sigmoid, silu
from .mixture import Mixture, Sigmoid


def softplus(x):
    return np.logaddexp(0, x)


class Recurrent(Decoder):
    def convolve(self, i, x, name):
        """Causal depthwise convolution over time: y[t] = b + sum over j of w[j] x[t + 1 - kernel + j]."""
        w = self.weight(name + ".weight")              # [channels, kernel]
        kernel = w.shape[1]
        before = np.zeros((kernel - 1, x.shape[1])) if self.inputs[i] is None else self.inputs[i]
        x = np.concatenate([before, x])
        self.inputs[i] = x[len(x) - kernel + 1:]
        y = sum(x[j:len(x) - kernel + 1 + j] * w[:, j] for j in range(kernel))
        return y + self.weight(name + ".bias") if self.has(name + ".bias") else y

    def clear(self):
        super().clear()
        self.inputs, self.matrix = [None] * self.layers, [None] * self.layers

    def mamba2(self, i, h):                # arXiv:2405.21060, section 7; a matrix [head_dim, states] a head
        b, n = "blk.%d." % i, h.shape[0]
        heads, inner = self.get("ssm.time_step_rank"), self.get("ssm.inner_size")
        groups, states = self.get("ssm.group_count"), self.get("ssm.state_size")
        wide = inner + 2 * groups * states
        z, xbc, dt = np.split(self.project(h, b + "ssm_in"), [inner, inner + wide], axis=-1)
        x, write, read = np.split(silu(self.convolve(i, xbc, b + "ssm_conv1d")), [inner, inner + groups * states],
                                  axis=-1)
        x, write, read = x.reshape(n, heads, -1), write.reshape(n, groups, states), read.reshape(n, groups, states)
        dt = softplus(dt + self.weight(b + "ssm_dt.bias"))
        decay = np.exp(dt * self.weight(b + "ssm_a")[:, 0])
        skip, y = self.weight(b + "ssm_d")[:, 0], np.empty_like(x)
        s = np.zeros((heads, inner // heads, states)) if self.matrix[i] is None else self.matrix[i]
        for t in range(n):
            w, r = (np.repeat(m[t], heads // groups, axis=0) for m in (write, read))
            s = s * decay[t][:, None, None] + dt[t][:, None, None] * x[t][:, :, None] * w[:, None, :]
            y[t] = np.einsum("hps,hs->hp", s, r) + skip[:, None] * x[t]
        self.matrix[i] = s
        y = y.reshape(n, inner) * silu(z)
        if self.has(b + "ssm_norm.weight"):
            y = rms_norm(y.reshape(n, groups, -1), self.weight(b + "ssm_norm.weight"), self.eps).reshape(n, inner)
        return self.project(y, b + "ssm_out")


class Lfm2(Recurrent):                     # arXiv:2511.23404
    def mixer(self, i, h):
        b = "blk.%d.shortconv." % i
        if not self.has(b + "in_proj.weight"):
            return self.attention(i, h)
        b_gate, c_gate, x = np.split(self.project(h, b + "in_proj"), 3, axis=-1)
        return self.project(c_gate * self.convolve(i, b_gate * x, b + "conv"), b + "out_proj")

    def head(self, x):
        name = "output" if self.has("output.weight") else "token_embd"
        return self.project(self.norm(x, "token_embd_norm"), name)


class Lfm2Moe(Mixture, Lfm2):              # the choice, not the weights, adds a bias to the sigmoids
    def scores(self, logits):
        return sigmoid(logits)


class Mamba2(Recurrent):                   # arXiv:2405.21060
    def layer(self, i, x):
        return x + self.mamba2(i, self.norm(x, "blk.%d.attn_norm" % i))


class FalconH1(Recurrent):                 # arXiv:2507.22448; its multipliers are in the file's weights
    def norm(self, x, name):
        return rms_norm(x, self.weight(name if name.endswith("ffn_norm") else name + ".weight"), self.eps)

    def mixer(self, i, h):
        return self.attention(i, h) + self.mamba2(i, h)


class GraniteHybrid(Mixture, Granite, Recurrent):
    def mixer(self, i, h):
        return self.mamba2(i, h) if self.has("blk.%d.ssm_in.weight" % i) else self.attention(i, h)

    def rotation(self, i):
        return super().rotation(i) if self.get("rope.scaling.finetuned", True) else None


class NemotronH(Recurrent):                # arXiv:2504.03624: a layer is one block; nothing rotates
    def rotation(self, i):
        return None

    def layer(self, i, x):
        b, h = "blk.%d." % i, self.norm(x, "blk.%d.attn_norm" % i)
        if self.has(b + "ssm_in.weight"):
            return x + self.mamba2(i, h)
        if self.has(b + "attn_q.weight"):
            return x + self.attention(i, h)
        return x + self.project(np.maximum(self.project(h, b + "ffn_up"), 0) ** 2, b + "ffn_down")


class NemotronHMoe(Sigmoid, NemotronH):    # Nemotron 3's published definition: no gates, squared rectifiers
    def expert(self, b, e, x):
        return self.stack(b + "down_exps", e)(np.maximum(self.stack(b + "up_exps", e)(x), 0) ** 2)

    def shared(self, i, h):
        b = "blk.%d.ffn_" % i
        return self.project(np.maximum(self.project(h, b + "up_shexp"), 0) ** 2, b + "down_shexp")

    def layer(self, i, x):
        if not self.has("blk.%d.ffn_gate_inp.weight" % i):
            return super().layer(i, x)
        return x + self.ffn(i, self.norm(x, "blk.%d.attn_norm" % i))


class GatedDelta(Recurrent):               # arXiv:2412.06464, as Qwen3-Next and Qwen3.5 have it
    def setup(self):
        super().setup()
        self.layers -= self.get("nextn_predict_layers", 0)     # layers that guess tokens further ahead

    def normal(self, x):
        return x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + 1e-6)

    def key_heads(self, value_heads, key_heads):
        """Which key head each value head reads."""
        return np.arange(value_heads) // (value_heads // key_heads)

    def delta_inputs(self, i, h, key_heads, value_heads, wide):
        """q, k and v side by side, z, and what write strengths and decays are made of."""
        b, n = "blk.%d." % i, h.shape[0]
        dim, each = self.get("ssm.state_size"), value_heads // key_heads
        if self.has(b + "ssm_in.weight"):              # as files of 2025: one key head's rows after another's
            all_ = self.project(h, b + "ssm_in").reshape(n, key_heads, -1)
            parts = np.split(all_, [dim, 2 * dim, 2 * dim + each * wide], axis=-1)
            q, k, v, z = (p.reshape(n, -1) for p in parts)
            qkv = np.concatenate([q, k, v], axis=-1)
        else:
            qkv, z = self.project(h, b + "attn_qkv"), self.project(h, b + "attn_gate")
        if self.has(b + "ssm_ba.weight"):
            ba = self.project(h, b + "ssm_ba").reshape(n, key_heads, 2, each)
            beta, alpha = (ba[:, :, j].reshape(n, -1) for j in (0, 1))
        else:
            beta, alpha = self.project(h, b + "ssm_beta"), self.project(h, b + "ssm_alpha")
        return qkv, z, beta, alpha

    def delta_net(self, i, h):
        b, n = "blk.%d." % i, h.shape[0]
        key_heads, value_heads = self.get("ssm.group_count"), self.get("ssm.time_step_rank")
        dim, wide = self.get("ssm.state_size"), self.get("ssm.inner_size") // value_heads
        qkv, z, beta, alpha = self.delta_inputs(i, h, key_heads, value_heads, wide)
        qkv = silu(self.convolve(i, qkv, b + "ssm_conv1d"))
        q, k, v = np.split(qkv, [key_heads * dim, 2 * key_heads * dim], axis=-1)
        q, k = (self.normal(t.reshape(n, key_heads, dim)) for t in (q, k))
        reads = self.key_heads(value_heads, key_heads)
        q, k, v = q[:, reads] / np.sqrt(dim), k[:, reads], v.reshape(n, value_heads, wide)
        beta = sigmoid(beta)
        decay = np.exp(self.weight(b + "ssm_a") * softplus(alpha + self.weight(b + "ssm_dt.bias")))
        s = np.zeros((value_heads, dim, wide)) if self.matrix[i] is None else self.matrix[i]
        y = np.empty_like(v)
        for t in range(n):
            s = s * decay[t][:, None, None]
            error = v[t] - np.einsum("hkv,hk->hv", s, k[t])
            s = s + k[t][:, :, None] * (beta[t][:, None] * error)[:, None, :]
            y[t] = np.einsum("hkv,hk->hv", s, q[t])
        self.matrix[i] = s
        y = self.norm(y, b + "ssm_norm") * silu(z.reshape(n, value_heads, wide))
        return self.project(y.reshape(n, -1), b + "ssm_out")

    def attention(self, i, h):             # half of each head's queries is a gate
        b, n = "blk.%d." % i, h.shape[0]
        both = self.project(h, b + "attn_q").reshape(n, self.heads, 2, self.head_dim)
        self.output_gate = sigmoid(both[:, :, 1]).reshape(n, -1)
        return super().attention(i, h)

    def qkv(self, i, h):
        b, n = "blk.%d." % i, h.shape[0]
        both = self.project(h, b + "attn_q").reshape(n, self.heads, 2, self.head_dim)
        return both[:, :, 0].reshape(n, -1), self.project(h, b + "attn_k"), self.project(h, b + "attn_v")

    def look(self, i, q, k, v):
        seen = super().look(i, q, k, v)
        return seen * self.output_gate.reshape(seen.shape)

    def mixer(self, i, h):
        full = (i + 1) % self.get("full_attention_interval", 4) == 0
        return self.attention(i, h) if full else self.delta_net(i, h)

    def layer(self, i, x):
        x = x + self.mixer(i, self.norm(x, "blk.%d.attn_norm" % i))
        return x + self.ffn(i, self.norm(x, "blk.%d.post_attention_norm" % i))


class Qwen35(GatedDelta):                  # the file has value heads in another order
    def key_heads(self, value_heads, key_heads):
        return np.arange(value_heads) % key_heads


class Qwen3Next(Mixture, GatedDelta):
    pass


class Qwen35Moe(Mixture, Qwen35):
    pass


NETWORKS = {"lfm2": Lfm2, "lfm2moe": Lfm2Moe, "mamba2": Mamba2, "falcon-h1": FalconH1, "granitehybrid": GraniteHybrid,
            "nemotron_h": NemotronH, "nemotron_h_moe": NemotronHMoe,
            "qwen3next": Qwen3Next, "qwen35": Qwen35, "qwen35moe": Qwen35Moe}
