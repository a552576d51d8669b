"""Multi-head latent attention (arXiv:2405.04434, section 2.1), uncompressed: every head's keys and
values are made out of the latent vectors and kept, which is not how the engine does it."""
import numpy as np

from . import rope
from .decoder import Decoder
from .maths import sigmoid, softmax
from .mixture import Mixture


class DeepSeek2(Mixture, Decoder):
    pairs, normalise = "neighbours", False

    def setup(self):
        super().setup()
        self.latent = self.get("attention.kv_lora_rank")
        key = self.get("attention.key_length_mla", self.get("attention.key_length"))
        self.value = self.get("attention.value_length_mla", self.get("attention.value_length"))
        self.plain = key - self.rope_dim
        # The scores' temperature under yarn: Hugging Face's modeling_deepseek, softmax_scale.
        grown = 1 + self.get("rope.scaling.yarn_log_multiplier", 0) * np.log(self.get("rope.scaling.factor", 1))
        self.scale = key ** -0.5 * grown ** 2

    def scores(self, logits):
        return sigmoid(logits) if self.get("expert_gating_func") == 2 else softmax(logits)

    def rotation(self, i):
        angular, scale = super().rotation(i)
        # both of the model's mscale numbers are equal, and their quotient scales the sines
        return angular, 1.0 if self.get("rope.scaling.yarn_log_multiplier", 0) else scale

    def heads_of(self, i, c):
        """Keys (their part that does not turn) and values of all heads from latent vectors c [n, latent]."""
        b = "blk.%d.attn_" % i
        if self.has(b + "kv_b.weight"):
            both = self.project(c, b + "kv_b").reshape(len(c), self.heads, -1)
            return np.split(both, [self.plain], axis=-1)
        return (np.einsum("nl,hlk->nhk", c, self.weight(b + "k_b.weight")),
                np.einsum("nl,hvl->nhv", c, self.weight(b + "v_b.weight")))

    def attention(self, i, h):
        b, n = "blk.%d.attn_" % i, h.shape[0]
        if self.has(b + "q.weight"):
            q = self.project(h, b + "q")
        else:
            q = self.project(self.norm(self.project(h, b + "q_a"), b + "q_a_norm"), b + "q_b")
        q = q.reshape(n, self.heads, -1)
        both = self.project(h, b + "kv_a_mqa")
        c, turning = both[:, :self.latent], both[:, None, self.latent:]
        c = self.norm(c, b + "kv_a_norm")
        at = np.arange(self.length, self.length + n, dtype=np.float64)
        turn = lambda t: rope.rotate(t, at, *self.rotation(i), self.pairs)
        q = np.concatenate([q[..., :self.plain], turn(q[..., self.plain:])], axis=-1)
        turning = turn(turning)
        if self.half_cache:                # what the engine's cache rounds
            c, turning = (t.astype(np.float16).astype(np.float64) for t in (c, turning))
        k, v = self.heads_of(i, c)
        k = np.concatenate([k, np.repeat(turning, self.heads, axis=1)], axis=-1)
        if self.state[i] is not None:
            k, v = (np.concatenate(pair) for pair in zip(self.state[i], (k, v)))
        self.state[i] = (k, v)
        return self.project(self.look(i, q, k, v).reshape(n, -1), b + "output")


NETWORKS = {"deepseek2": DeepSeek2}
