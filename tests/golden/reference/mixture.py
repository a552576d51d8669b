"""Mixtures of experts (arXiv:2101.03961, arXiv:2401.04088), each as far as it differs."""
import numpy as np

from .decoder import Decoder
from .dense import Llama, Qwen2, Qwen3
from .maths import sigmoid, silu, softmax


class Mixture:
    """What a mixture does in place of the dense block; mixed into a network."""
    normalise = True

    def setup(self):
        super().setup()
        self.used = self.get("expert_used_count")
        self.weights_scale = self.get("expert_weights_scale", 1.0)

    def scores(self, logits):
        return softmax(logits)

    def choose(self, i, scores, logits):
        """Numbers of the chosen experts of one token, best first."""
        if self.has("blk.%d.exp_probs_b.bias" % i):
            scores = scores + self.weight("blk.%d.exp_probs_b.bias" % i)
        groups = self.get("expert_group_count", 1)
        if groups > 1:                     # DeepSeek V3: arXiv:2412.19437, section 2.1.2
            best_two = np.sort(scores.reshape(groups, -1), axis=1)[:, -2:].sum(axis=1)
            kept = np.argsort(-best_two, kind="stable")[:self.get("expert_group_used_count")]
            group = np.arange(len(scores)) // (len(scores) // groups)
            scores = np.where(np.isin(group, kept), scores, -np.inf)
        return np.argsort(-scores, kind="stable")[:self.used]

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

    def mixture(self, i, h):
        b = "blk.%d.ffn_" % i
        logits = self.project(h, b + "gate_inp")
        out = np.zeros_like(h)
        for t, x in enumerate(h):
            scores = self.scores(logits[t])
            chosen = self.choose(i, scores, logits[t])
            for e, weight in zip(chosen, self.weights(scores[chosen])):
                out[t] += weight * self.expert(b, e, x)
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
    pass


class Qwen2Moe(Mixture, Qwen2):            # the chosen weights stay as they are
    normalise = False


class Qwen3Moe(Mixture, Qwen3):
    pass


NETWORKS = {"llama": Mixtral, "qwen2moe": Qwen2Moe, "qwen3moe": Qwen3Moe}
