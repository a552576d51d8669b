"""Mixtures of experts (arXiv:2101.03961, arXiv:2401.04088), each as far as it differs."""
import numpy as np

from . import rope
from .decoder import Decoder
from .dense import Granite, Llama, LongRope, Merged, Qwen2, Qwen3
from .maths import layer_norm, rms_norm, sigmoid, silu, softmax


class Mixture:
    """What a mixture does in place of the dense block; mixed into a network."""
    normalise = True
    choices = None

    def setup(self):
        super().setup()
        self.used = self.get("expert_used_count")
        self.weights_scale = self.get("expert_weights_scale", 1.0)

    def scores(self, logits):
        return softmax(logits)

    def ranking(self, i, scores):
        """What the experts of one token are chosen by."""
        if self.has("blk.%d.exp_probs_b.bias" % i):
            scores = scores + self.weight("blk.%d.exp_probs_b.bias" % i)
        groups = self.get("expert_group_count", 1)
        if groups > 1:                     # DeepSeek V3: arXiv:2412.19437, section 2.1.2
            best_two = np.sort(scores.reshape(groups, -1), axis=1)[:, -2:].sum(axis=1)
            kept = np.argsort(-best_two, kind="stable")[:self.get("expert_group_used_count")]
            group = np.arange(len(scores)) // (len(scores) // groups)
            scores = np.where(np.isin(group, kept), scores, -np.inf)
        return scores

    def follow(self, choices):
        """From now on tokens go to the experts that another engine chose, choices[i] [n, used] in layer i."""
        self.choices, self.flips = choices, []

    def choose(self, i, t, scores):
        """Numbers of the chosen experts of token t of those being fed, best first. When another engine's choices are
        followed, `flips` gets of each that is not ours by how much its worst expert is worse than our worst."""
        ranking = self.ranking(i, scores)
        own = np.argsort(-ranking, kind="stable")[:self.used]
        if self.choices is None:
            return own
        given = self.choices[i][t]
        if len(set(given)) != self.used:
            raise ValueError("layer %d, token %d: an expert was chosen twice" % (i, t))
        if set(given) != set(own):
            self.flips.append(ranking[own].min() - ranking[given].min())
        return given

    def weights(self, chosen):
        """From the chosen experts' scores to what their results are multiplied by."""
        if self.get("expert_weights_norm", self.normalise):
            chosen = chosen / chosen.sum()
        return chosen * self.weights_scale

    def gate(self, gate, up):
        return silu(gate) * up

    def stack(self, name, e):
        """x -> x · W_e^T + b_e of expert e."""
        bias = self.weight(name + ".bias")[e] if self.has(name + ".bias") else 0
        return lambda x: x @ self.weight(name + ".weight")[e].T + bias

    def expert(self, b, e, x):
        if self.has(b + "gate_up_exps.weight"):
            gate, up = np.split(self.stack(b + "gate_up_exps", e)(x), 2)
        else:
            gate, up = self.stack(b + "gate_exps", e)(x), self.stack(b + "up_exps", e)(x)
        return self.stack(b + "down_exps", e)(self.gate(gate, up))

    def weighed(self, b, e, weight, x):
        return weight * self.expert(b, e, x)

    def mixture(self, i, h):
        b = "blk.%d.ffn_" % i
        logits = self.project(h, b + "gate_inp")
        out = np.zeros_like(h)
        for t, x in enumerate(h):
            scores = self.scores(logits[t])
            chosen = self.choose(i, t, scores)
            for e, weight in zip(chosen, self.weights(scores[chosen])):
                out[t] += self.weighed(b, e, weight, x)
        return out

    def shared(self, i, h):
        b = "blk.%d.ffn_" % i
        gated = silu(self.project(h, b + "gate_shexp")) * self.project(h, b + "up_shexp")
        out = self.project(gated, b + "down_shexp")
        if self.has(b + "gate_inp_shexp.weight"):
            out = out * sigmoid(h @ self.weight(b + "gate_inp_shexp.weight"))[:, None]
        return out

    def ffn(self, i, h):
        if not self.has("blk.%d.ffn_gate_inp.weight" % i):
            return super().ffn(i, h)
        out = self.mixture(i, h)
        return out + self.shared(i, h) if self.has("blk.%d.ffn_down_shexp.weight" % i) else out


class Mixtral(Mixture, Llama):             # arXiv:2401.04088
    def stack(self, name, e):
        """In files of 2023 each expert has a tensor of its own."""
        single = name.replace("_exps", ".%d" % e)
        return (lambda x: self.project(x, single)) if self.has(single + ".weight") else super().stack(name, e)


class Qwen2Moe(Mixture, Qwen2):            # the chosen weights stay as they are
    normalise = False


class Qwen3Moe(Mixture, Qwen3):
    pass


class GraniteMoe(Mixture, Granite):
    pass


class Sigmoid(Mixture):
    """Scores are each expert's own."""
    normalise = False

    def scores(self, logits):
        return sigmoid(logits) if self.get("expert_gating_func", 2) == 2 else softmax(logits)


class DeepSeek(Mixture, Llama):            # arXiv:2401.06066
    normalise = False


class Olmoe(Mixture, Decoder):             # arXiv:2409.02060
    normalise = False

    def qkv(self, i, h):
        q, k, v = super().qkv(i, h)
        return self.norm(q, "blk.%d.attn_q_norm" % i), self.norm(k, "blk.%d.attn_k_norm" % i), v

    def normed_heads(self, i, q, k):
        return q, k


class MiniMaxM2(Sigmoid, Olmoe):
    normalise = True


class Glm4Moe(Sigmoid, Decoder):           # arXiv:2508.06471
    def setup(self):
        super().setup()
        self.layers -= self.get("nextn_predict_layers", 0)

    def layer(self, i, x):
        x = x + self.mixer(i, self.norm(x, "blk.%d.attn_norm" % i))
        return x + self.ffn(i, self.norm(x, "blk.%d.post_attention_norm" % i))


class Dots1(Sigmoid, Qwen3):               # arXiv:2506.05767
    pass


class BailingMoe2(Sigmoid, Merged):
    def ffn(self, i, h):                   # only its attention is merged
        return Sigmoid.ffn(self, i, h) if self.has("blk.%d.ffn_gate_inp.weight" % i) else Decoder.ffn(self, i, h)


class HunyuanMoe(Mixture, Decoder):
    """Queries and keys are normalised after they are rotated."""
    def normed_heads(self, i, q, k):
        return q, k

    def turned_heads(self, i, q, k):
        return super().normed_heads(i, q, k)


class GptOss(Mixture, Decoder):            # arXiv:2508.10925
    def layer(self, i, x):
        x = x + self.mixer(i, self.norm(x, "blk.%d.attn_norm" % i))
        return x + self.ffn(i, self.norm(x, "blk.%d.post_attention_norm" % i))

    def window(self, i):
        return self.get("attention.sliding_window") if i % 2 == 0 else None

    def rotation(self, i):
        return rope.frequencies(self.get, self.rope_dim, self.get("rope.freq_base"), exact=True)

    def weigh(self, i, head, scores):
        """The sink takes its part of the attention and gives nothing."""
        sink = np.full((len(scores), 1), self.weight("blk.%d.attn_sinks.weight" % i)[head])
        return softmax(np.concatenate([scores, sink], axis=1))[:, :-1]

    def scores(self, logits):
        return logits

    def weights(self, chosen):
        return softmax(chosen)

    def gate(self, gate, up):
        gate, up = np.minimum(gate, 7), np.clip(up, -7, 7)
        return gate * sigmoid(1.702 * gate) * (up + 1)


class PhiMoe(Mixture, LongRope, Decoder):
    """Hugging Face's modeling_phimoe: LayerNorm, and the router of arXiv:2409.12136."""
    def norm(self, x, name):
        return layer_norm(x, self.weight(name + ".weight"), self.eps) + self.weight(name + ".bias")

    def window(self, i):
        return self.get("attention.sliding_window")

    def mixture(self, i, h):
        b, out = "blk.%d.ffn_" % i, np.zeros_like(h)
        for t, logits in enumerate(self.project(h, b + "gate_inp")):
            left = logits.copy()
            for _ in range(self.used):
                e, most = int(np.argmax(left)), left.max()
                far = (most - logits) / np.maximum(np.abs(logits), most) > 2 * 0.01
                out[t] += softmax(np.where(far, -np.inf, left))[e] * self.expert(b, e, h[t])
                left[e] = -np.inf
        return out


class Llama4(Sigmoid, Llama):
    """Hugging Face's modeling_llama4."""
    def chunk(self, i):
        return self.get("attention.sliding_window", 8192) if i % 4 < 3 else None

    def rotation(self, i):
        return super().rotation(i) if i % 4 < 3 else None

    def turned_heads(self, i, q, k):
        return (q, k) if i % 4 == 3 else (rms_norm(q, 1, self.eps), rms_norm(k, 1, self.eps))

    def warm(self, i, q):
        at = self.length + np.arange(q.shape[0])
        warmth = 1 + 0.1 * np.log(1 + np.floor((at + 1) / 8192))
        return q if i % 4 < 3 else q * warmth[:, None, None]

    def weighed(self, b, e, weight, x):
        return self.expert(b, e, weight * x)


NETWORKS = {"phimoe": PhiMoe, "granitemoe": GraniteMoe, "deepseek": DeepSeek, "olmoe": Olmoe, "minimax-m2": MiniMaxM2,
            "glm4moe": Glm4Moe, "dots1": Dots1, "bailingmoe2": BailingMoe2, "hunyuan-moe": HunyuanMoe,
            "ernie4_5-moe": Mixtral, "gpt-oss": GptOss, "llama4": Llama4, "llama": Mixtral,
             "qwen2moe": Qwen2Moe, "qwen3moe": Qwen3Moe}
