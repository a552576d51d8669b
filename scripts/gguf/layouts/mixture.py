"""Mixtures of experts."""
import numpy as np

from container import F32, U32

from .dense import Llama, Qwen2, Qwen3
from .layout import Layout, preset, wants_more_bits

ROUTER_STD = 3.0                           # of the router's logits: clear choices, as trained routers make


class Mixture:
    """What a mixture puts in place of the dense block; mixed into a layout."""
    expert_bias = router_bias = choice_bias = shared_router = merged = False

    def metadata(self, a):
        return {
            **super().metadata(a),
            "expert_count": (U32, a.experts),
            "expert_used_count": (U32, a.used),
            "expert_feed_forward_length": (U32, a.expert_ff),
        }

    def parameters(self, a):
        return super().parameters(a) + 3 * a.layers * a.dim * (a.experts * a.expert_ff - a.ff)

    def is_dense(self, a, i):
        return False

    def ffn(self, w, a, i, b):
        if self.is_dense(a, i):
            super().ffn(w, a, i, b)
            return
        self.router(w, a, b)
        self.experts(w, a, i, b)
        if getattr(a, "shared_ff", 0):
            self.shared(w, a, b)

    def router(self, w, a, b):
        w.matrix(b + "ffn_gate_inp.weight", a.experts, a.dim, ROUTER_STD / np.sqrt(a.dim), kind="f32")
        if self.router_bias:
            w.vector(b + "ffn_gate_inp.bias", a.experts, 0.5, 0.0)
        if self.choice_bias:
            w.vector(b + "exp_probs_b.bias", a.experts, 0.2, 0.0)

    def experts(self, w, a, i, b):
        into, n, ff = 1 / np.sqrt(a.dim), a.experts, a.expert_ff
        parts = [("gate_up", 2 * ff)] if self.merged else [("gate", ff), ("up", ff)]
        for part, rows in parts:
            w.experts(b + "ffn_%s_exps.weight" % part, n, rows, a.dim, into)
            if self.expert_bias:
                w.grid(b + "ffn_%s_exps.bias" % part, n, rows, 0.3)
        w.experts(b + "ffn_down_exps.weight", n, a.dim, ff, 2 * self.deep(a) / np.sqrt(ff),
                  wants_more_bits(i, a.layers))
        if self.expert_bias:
            w.grid(b + "ffn_down_exps.bias", n, a.dim, 0.3 * self.deep(a))

    def shared(self, w, a, b):
        into = 1 / np.sqrt(a.dim)
        w.matrix(b + "ffn_gate_shexp.weight", a.shared_ff, a.dim, into)
        w.matrix(b + "ffn_up_shexp.weight", a.shared_ff, a.dim, into)
        w.matrix(b + "ffn_down_shexp.weight", a.dim, a.shared_ff, 2 * self.deep(a) / np.sqrt(a.shared_ff))
        if self.shared_router:
            w.vector(b + "ffn_gate_inp_shexp.weight", a.dim, into, 0.0)


class Mixtral(Mixture, Llama):
    pass


class Qwen2Moe(Mixture, Qwen2):
    shared_router = True

    def metadata(self, a):
        return {**super().metadata(a), "expert_shared_feed_forward_length": (U32, a.shared_ff)}


class Qwen3Moe(Mixture, Qwen3):
    pass


class Qwen3MoeMerged(Qwen3Moe):
    merged = True


LAYOUTS = {"mixtral": Mixtral(), "qwen3moe-merged": Qwen3MoeMerged(), "qwen2moe": Qwen2Moe(), "qwen3moe": Qwen3Moe()}

PRESETS = {
    # qwen3-30b-a3b's proportions in a tenth of its memory
    "qwen3moe-3b": preset("qwen3moe", 1024, 24, 3072, 16, 4, 128, 151936, 1e-6, 1e6, 40960,
                          experts=32, used=4, expert_ff=768),
    "small-mixtral": preset("llama", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 1e6, 2048,
                            layout="mixtral", experts=8, used=2, expert_ff=512),
    "small-qwen2moe": preset("qwen2moe", 256, 2, 512, 4, 4, 64, 2048, 1e-6, 1e6, 2048,
                             experts=12, used=4, expert_ff=256, shared_ff=512),
    "small-qwen3moe": preset("qwen3moe", 256, 2, 512, 4, 2, 128, 2048, 1e-6, 1e6, 2048,
                             experts=16, used=4, expert_ff=256),
    "small-qwen3moe-merged": preset("qwen3moe", 256, 2, 512, 4, 2, 128, 2048, 1e-6, 1e6, 2048,
                                    layout="qwen3moe-merged", experts=16, used=4, expert_ff=256),
}
