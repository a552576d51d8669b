"""Mixtures of experts."""
import numpy as np

from container import BOOL, F32, U32

from .dense import Granite, Llama, LongRope, Qwen2, Qwen3
from .layout import Layout, preset, wants_more_bits

ROUTER_STD = 3.0                           # of the router's logits: clear choices, as trained routers make


class Mixture:
    """What a mixture puts in place of the dense block; mixed into a layout."""
    expert_bias = router_bias = choice_bias = shared_router = merged = False

    def metadata(self, a):
        meta = {
            **super().metadata(a),
            "expert_count": (U32, a.experts),
            "expert_used_count": (U32, a.used),
            "expert_feed_forward_length": (U32, a.expert_ff),
        }
        if getattr(a, "shared_ff", 0):
            meta["expert_shared_count"] = (U32, a.shared_ff // a.expert_ff)
        if hasattr(a, "dense"):
            meta["leading_dense_block_count"] = (U32, a.dense)
        if hasattr(a, "scale"):
            meta["expert_weights_scale"] = (F32, a.scale)
        return meta

    def parameters(self, a):
        return super().parameters(a) + 3 * a.layers * a.dim * (a.experts * a.expert_ff - a.ff)

    def is_dense(self, a, i):
        return i < getattr(a, "dense", 0)

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


class MixtralApart(Mixtral):
    """As in files of 2023: a tensor for each expert."""
    def experts(self, w, a, i, b):
        for e in range(a.experts):
            for part in ("gate", "up"):
                w.matrix(b + "ffn_%s.%d.weight" % (part, e), a.expert_ff, a.dim, 1 / np.sqrt(a.dim))
            w.matrix(b + "ffn_down.%d.weight" % e, a.dim, a.expert_ff, 2 * self.deep(a) / np.sqrt(a.expert_ff))


class Qwen2Moe(Mixture, Qwen2):
    shared_router = True

    def metadata(self, a):
        return {**super().metadata(a), "expert_shared_feed_forward_length": (U32, a.shared_ff)}


class Qwen3Moe(Mixture, Qwen3):
    pass


class Qwen3MoeMerged(Qwen3Moe):
    merged = True


class GraniteMoe(Mixture, Granite):
    pass


class Olmoe(Mixture, Layout):
    qk_norm = "width"


class Sigmoid(Mixture):
    choice_bias = True

    def metadata(self, a):
        return {**super().metadata(a), "expert_gating_func": (U32, 2)}


class Normalised(Sigmoid):
    def metadata(self, a):
        return {**super().metadata(a), "expert_weights_norm": (BOOL, True)}


class Glm4Moe(Normalised, Layout):
    """Its last layer guesses the token after the next."""
    qkv_bias, norms = True, ("attn_norm", "post_attention_norm")

    def metadata(self, a):
        return {**super().metadata(a), "nextn_predict_layers": (U32, 1)}

    def layer(self, w, a, i):
        super().layer(w, a, i)
        if i == a.layers - 1:
            b = "blk.%d.nextn." % i
            w.matrix(b + "eh_proj.weight", a.dim, 2 * a.dim, 1)
            w.vector(b + "enorm.weight", a.dim, 0, 1)
            w.vector(b + "hnorm.weight", a.dim, 0, 1)


class Glm4MoeNormed(Glm4Moe):
    qk_norm = "head"


class Ernie45Moe(Mixture, Llama):
    choice_bias = True

    def metadata(self, a):
        return {**super().metadata(a), "interleave_moe_layer_step": (U32, 1),
                "expert_shared_feed_forward_length": (U32, a.shared_ff)}


class Dots1(Normalised, Qwen3):
    pass


class BailingMoe2(Normalised, Layout):
    merged_qkv, qk_norm = True, "head"

    def metadata(self, a):
        return {**super().metadata(a), "expert_group_count": (U32, 4), "expert_group_used_count": (U32, 2)}


class HunyuanMoe(Mixture, Qwen3):
    def metadata(self, a):
        return {**super().metadata(a), "expert_shared_feed_forward_length": (U32, a.shared_ff)}


class MiniMaxM2(Sigmoid, Olmoe):
    pass


class GptOss(Mixture, Layout):
    qkv_bias, norms, expert_bias, router_bias = True, ("attn_norm", "post_attention_norm"), True, True

    def attention(self, w, a, i, b):
        super().attention(w, a, i, b)
        w.vector(b + "attn_output.bias", a.dim, 0.2 * self.deep(a), 0.0)
        w.vector(b + "attn_sinks.weight", a.heads, 1.0, 1.0)


class Llama4(Sigmoid, Llama):
    choice_bias = False

    def metadata(self, a):
        return {**super().metadata(a), "interleave_moe_layer_step": (U32, 2)}

    def is_dense(self, a, i):
        return i % 2 == 0


class PhiMoe(Mixture, LongRope):
    """LayerNorm and a bias on everything but the experts; the norms' epsilon has the other kind's key."""
    qkv_bias = True

    def ends(self, w, a):
        super().ends(w, a)
        w.vector("output_norm.bias", a.dim, 0.2, 0.0)
        w.vector("output.bias", a.vocab, 0.5, 0.0)

    def layer(self, w, a, i):
        super().layer(w, a, i)
        for name in ("attn_norm", "ffn_norm"):
            w.vector("blk.%d.%s.bias" % (i, name), a.dim, 0.2, 0.0)

    def attention(self, w, a, i, b):
        super().attention(w, a, i, b)
        w.vector(b + "attn_output.bias", a.dim, 0.2 * self.deep(a), 0.0)


LAYOUTS = {"phimoe": PhiMoe(), "granitemoe": GraniteMoe(), "olmoe": Olmoe(), "glm4moe": Glm4Moe(), "glm4moe-normed": Glm4MoeNormed(),
           "ernie4_5-moe": Ernie45Moe(), "dots1": Dots1(), "bailingmoe2": BailingMoe2(), "hunyuan-moe": HunyuanMoe(),
           "minimax-m2": MiniMaxM2(), "gpt-oss": GptOss(), "llama4": Llama4(), "deepseek": Mixtral(),
           "mixtral": Mixtral(), "mixtral-apart": MixtralApart(), "qwen3moe-merged": Qwen3MoeMerged(), "qwen2moe": Qwen2Moe(), "qwen3moe": Qwen3Moe()}

PRESETS = {
    # qwen3-30b-a3b's proportions in a tenth of its memory
    "qwen3moe-3b": preset("qwen3moe", 1024, 24, 3072, 16, 4, 128, 151936, 1e-6, 1e6, 40960,
                          experts=32, used=4, expert_ff=768),
    "gpt-oss-20b": preset("gpt-oss", 2880, 24, 2880, 64, 8, 64, 201088, 1e-5, 1.5e5, 131072,
                          window=128, experts=32, used=4, expert_ff=2880),
    "small-granitemoe": preset("granitemoe", 256, 2, 256, 4, 2, 64, 2048, 1e-6, 1e4, 2048,
                               experts=8, used=3, expert_ff=256),
    "small-olmoe": preset("olmoe", 256, 2, 256, 4, 4, 64, 2048, 1e-5, 1e4, 2048, experts=8, used=3, expert_ff=256),
    "small-deepseek": preset("deepseek", 256, 3, 512, 4, 4, 64, 2048, 1e-6, 1e4, 2048,
                             dense=1, experts=8, used=3, expert_ff=256, shared_ff=512),
    "small-glm4moe": preset("glm4moe", 256, 4, 512, 4, 2, 64, 2048, 1e-5, 1e6, 2048, rope_dim=32,
                            dense=1, experts=8, used=3, expert_ff=256, shared_ff=256, scale=1.5),
    "small-glm4moe-normed": preset("glm4moe", 256, 3, 512, 4, 2, 64, 2048, 1e-5, 1e6, 2048, rope_dim=32,
                                   layout="glm4moe-normed", dense=1, experts=8, used=3, expert_ff=256,
                                   shared_ff=256, scale=2.5),
    "small-ernie4_5-moe": preset("ernie4_5-moe", 256, 3, 512, 4, 2, 64, 2048, 1e-5, 5e5, 2048,
                                 dense=1, experts=8, used=3, expert_ff=256, shared_ff=512),
    "small-dots1": preset("dots1", 256, 3, 512, 4, 4, 64, 2048, 1e-5, 1e7, 2048,
                          dense=1, experts=8, used=3, expert_ff=256, shared_ff=512, scale=2.5),
    "small-bailingmoe2": preset("bailingmoe2", 256, 3, 512, 4, 2, 64, 2048, 1e-6, 6e5, 2048, rope_dim=32,
                                dense=1, experts=8, used=3, expert_ff=256, shared_ff=256, scale=2.5),
    "small-hunyuan-moe": preset("hunyuan-moe", 256, 2, 256, 4, 2, 64, 2048, 1e-5, 1e4, 2048,
                                experts=8, used=3, expert_ff=256, shared_ff=256),
    "small-minimax-m2": preset("minimax-m2", 256, 2, 256, 4, 2, 64, 2048, 1e-6, 5e6, 2048, rope_dim=32,
                               experts=8, used=3, expert_ff=256),
    # windows and chunks so short that a test's text crosses them
    "small-gpt-oss": preset("gpt-oss", 256, 3, 256, 4, 2, 64, 2048, 1e-5, 1.5e5, 2048,
                            window=12, experts=8, used=3, expert_ff=256),
    "small-phimoe": preset("phimoe", 256, 2, 256, 4, 2, 64, 2048, 1e-5, 1e4, 2048, window=30,
                           rope_dim=64, longrope=0, longrope_named=0, experts=8, used=2, expert_ff=256),
    "small-llama4": preset("llama4", 256, 4, 512, 4, 2, 64, 2048, 1e-5, 5e5, 2048,
                           window=24, experts=8, used=1, expert_ff=256, shared_ff=256),
    "small-mixtral-apart": preset("llama", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 1e6, 2048,
                                  layout="mixtral-apart", experts=4, used=2, expert_ff=256),
    "small-mixtral": preset("llama", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 1e6, 2048,
                            layout="mixtral", experts=8, used=2, expert_ff=512),
    "small-qwen2moe": preset("qwen2moe", 256, 2, 512, 4, 4, 64, 2048, 1e-6, 1e6, 2048,
                             experts=12, used=4, expert_ff=256, shared_ff=512),
    "small-qwen3moe": preset("qwen3moe", 256, 2, 512, 4, 2, 128, 2048, 1e-6, 1e6, 2048,
                             experts=16, used=4, expert_ff=256),
    "small-qwen3moe-merged": preset("qwen3moe", 256, 2, 512, 4, 2, 128, 2048, 1e-6, 1e6, 2048,
                                    layout="qwen3moe-merged", experts=16, used=4, expert_ff=256),
}
