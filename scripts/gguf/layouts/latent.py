"""Multi-head latent attention, with DeepSeek's mixtures."""
import numpy as np

from container import BOOL, F32, STR, U32

from .layout import Layout, preset
from .mixture import Mixture


class DeepSeek2(Mixture, Layout):
    split = True                           # the heads' matrices apart, as files have them since 2025

    def metadata(self, a):
        key, value = a.head_dim, a.value_dim
        meta = {
            **super().metadata(a),
            "attention.kv_lora_rank": (U32, a.latent),
            "attention.key_length": (U32, a.latent + a.rope_dim if self.split else key),
            "attention.value_length": (U32, a.latent if self.split else value),
            "attention.head_count_kv": (U32, 1 if self.split else a.heads),
            "rope.dimension_count": (U32, a.rope_dim),
            "leading_dense_block_count": (U32, a.dense),
            "expert_shared_count": (U32, a.shared_ff // a.expert_ff),
            "expert_weights_scale": (F32, a.scale),
            "expert_weights_norm": (BOOL, bool(a.groups)),
            "expert_gating_func": (U32, 2 if a.groups else 1),
        }
        if a.q_latent:
            meta["attention.q_lora_rank"] = (U32, a.q_latent)
        if self.split:
            meta.update({"attention.key_length_mla": (U32, key), "attention.value_length_mla": (U32, value)})
        if a.groups:
            meta.update({"expert_group_count": (U32, a.groups), "expert_group_used_count": (U32, a.groups // 2)})
        if a.yarn:
            meta.update({
                "rope.scaling.type": (STR, "yarn"),
                "rope.scaling.factor": (F32, a.yarn),
                "rope.scaling.original_context_length": (U32, 64),
                "rope.scaling.yarn_log_multiplier": (F32, 0.0707),
            })
        return meta

    def is_dense(self, a, i):
        return i < a.dense

    @property
    def choice_bias(self):
        return True

    def mixer(self, w, a, i, b):
        key, value = a.head_dim, a.value_dim
        plain, rank = key - a.rope_dim, a.q_latent or a.dim
        if a.q_latent:
            w.matrix(b + "attn_q_a.weight", a.q_latent, a.dim, 1 / np.sqrt(a.dim))
            w.vector(b + "attn_q_a_norm.weight", a.q_latent, 0.1, 1.0)
        w.matrix(b + "attn_%s.weight" % ("q_b" if a.q_latent else "q"), a.heads * key, rank, 1 / np.sqrt(rank))
        w.matrix(b + "attn_kv_a_mqa.weight", a.latent + a.rope_dim, a.dim, 1 / np.sqrt(a.dim))
        w.vector(b + "attn_kv_a_norm.weight", a.latent, 0.1, 1.0)
        into = 1 / np.sqrt(a.latent)
        if self.split:
            w.experts(b + "attn_k_b.weight", a.heads, a.latent, plain, into)
            w.experts(b + "attn_v_b.weight", a.heads, value, a.latent, into)
        else:
            w.matrix(b + "attn_kv_b.weight", a.heads * (plain + value), a.latent, into)
        w.matrix(b + "attn_output.weight", a.dim, a.heads * value, self.deep(a) / np.sqrt(a.heads * value))


class DeepSeek2Old(DeepSeek2):
    split = False


LAYOUTS = {"deepseek2": DeepSeek2(), "deepseek2-old": DeepSeek2Old()}


def small(layout, **more):
    """heads of 64 + 32 for keys and 64 for values, out of 256 + 32 numbers a token"""
    return preset("deepseek2", 256, 2, 512, 4, 4, 96, 2048, 1e-6, 1e4, 2048, layout=layout, rope_dim=32, value_dim=64,
                  latent=256, dense=1, experts=8, used=3, expert_ff=256, shared_ff=512, **more)


PRESETS = {
    "deepseek-v2-lite": preset("deepseek2", 2048, 27, 10944, 16, 16, 192, 102400, 1e-6, 1e4, 163840,
                               rope_dim=64, value_dim=128, latent=512, q_latent=0, dense=1, experts=64, used=6,
                               expert_ff=1408, shared_ff=2816, groups=0, scale=1.0, yarn=40.0),
    "small-deepseek2": small("deepseek2", q_latent=0, groups=0, scale=1.0, yarn=0.0),
    "small-deepseek3": small("deepseek2", q_latent=128, groups=4, scale=2.5, yarn=40.0),
    "small-deepseek2-old": small("deepseek2-old", q_latent=0, groups=0, scale=1.0, yarn=40.0),
}
