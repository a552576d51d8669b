"""Decoders with recurrent layers, alone or between layers of attention."""
import numpy as np

from container import ARR, BOOL, F32, I32, U32

from .dense import Granite
from .layout import Layout, preset
from .mixture import Mixture


class Lfm2(Layout):
    pre, qk_norm, output_norm = "lfm2", "head", "token_embd_norm"

    def recurrent(self, a, i):
        return i % a.interval != a.interval - 1

    def metadata(self, a):
        kv = [0 if self.recurrent(a, i) else a.kv_heads for i in range(a.layers)]
        return {**super().metadata(a), "attention.head_count_kv": (ARR, (I32, kv)),
                "shortconv.l_cache": (U32, a.kernel)}

    def mixer(self, w, a, i, b):
        if not self.recurrent(a, i):
            return self.attention(w, a, i, b)
        w.matrix(b + "shortconv.in_proj.weight", 3 * a.dim, a.dim, 1 / np.sqrt(a.dim))
        w.grid(b + "shortconv.conv.weight", a.dim, a.kernel, 1 / np.sqrt(a.kernel))
        w.matrix(b + "shortconv.out_proj.weight", a.dim, a.dim, self.deep(a) / np.sqrt(a.dim))


class Lfm2Moe(Mixture, Lfm2):
    choice_bias = True

    def metadata(self, a):
        return {**super().metadata(a), "expert_gating_func": (U32, 2), "leading_dense_block_count": (U32, a.dense)}

    def is_dense(self, a, i):
        return i < a.dense


class Mamba2(Layout):
    pre, norms = "gpt-2", ("attn_norm",)

    def metadata(self, a):
        keep = ("vocab_size", "context_length", "embedding_length", "block_count",
                "attention.layer_norm_rms_epsilon")
        meta = {key: value for key, value in super().metadata(a).items() if key in keep}
        return {**meta, "feed_forward_length": (U32, 0), "attention.head_count": (U32, 0), **self.ssm(a)}

    @staticmethod
    def ssm(a):
        return {"ssm.conv_kernel": (U32, a.kernel), "ssm.inner_size": (U32, a.inner),
                "ssm.state_size": (U32, a.states), "ssm.time_step_rank": (U32, a.ssm_heads),
                "ssm.group_count": (U32, a.groups)}

    def mixer(self, w, a, i, b):
        mamba2(w, a, b, self.deep(a))

    def ffn(self, w, a, i, b):
        pass


def mamba2(w, a, b, deep):
    """Decays are between 0.7 and 0.99 a token, as in trained models."""
    wide = a.inner + 2 * a.groups * a.states
    w.matrix(b + "ssm_in.weight", a.inner + wide + a.ssm_heads, a.dim, 1 / np.sqrt(a.dim))
    w.grid(b + "ssm_conv1d.weight", wide, a.kernel, 1 / np.sqrt(a.kernel))
    w.vector(b + "ssm_conv1d.bias", wide, 0.1, 0.0)
    w.vector(b + "ssm_dt.bias", a.ssm_heads, 0.5, -2.0)
    w.grid(b + "ssm_a", a.ssm_heads, 1, 0.2, -1.0)
    w.grid(b + "ssm_d", a.ssm_heads, 1, 0.2, 1.0)
    if a.ssm_norm:
        w.grid(b + "ssm_norm.weight", a.groups, a.inner // a.groups, 0.1, 1.0)
    w.matrix(b + "ssm_out.weight", a.dim, a.inner, deep / np.sqrt(a.inner))


class FalconH1(Layout):
    pre = "falcon-h1"

    def metadata(self, a):
        return {**super().metadata(a), **Mamba2.ssm(a)}

    def layer(self, w, a, i):              # one name has no ".weight" in these files
        b = "blk.%d." % i
        w.vector(b + "attn_norm.weight", a.dim, 0.1, 1.0)
        w.vector(b + "ffn_norm", a.dim, 0.1, 1.0)
        self.attention(w, a, i, b)
        mamba2(w, a, b, self.deep(a))
        self.ffn(w, a, i, b)


class GraniteHybrid(Granite):
    def recurrent(self, a, i):
        return i % a.interval != a.interval - 1

    def metadata(self, a):
        kv = [0 if self.recurrent(a, i) else a.kv_heads for i in range(a.layers)]
        return {**super().metadata(a), **Mamba2.ssm(a), "attention.head_count_kv": (ARR, (I32, kv)),
                "rope.scaling.finetuned": (BOOL, a.rotates == 1)}

    def mixer(self, w, a, i, b):
        if not self.recurrent(a, i):
            return self.attention(w, a, i, b)
        mamba2(w, a, b, self.deep(a))


class GraniteMixture(Mixture, GraniteHybrid):
    def metadata(self, a):
        return {**super().metadata(a), "expert_shared_feed_forward_length": (U32, a.shared_ff)}


class NemotronH(Layout):
    """Layers by turns: Mamba 2, feed-forward, attention, feed-forward."""
    pre, norms = "pixtral", ("attn_norm",)

    def metadata(self, a):
        turn = [i % 4 for i in range(a.layers)]
        meta = {**super().metadata(a), **Mamba2.ssm(a), "attention.layer_norm_epsilon": (F32, a.eps),
                "feed_forward_length": (ARR, (I32, [a.ff if t % 2 else 0 for t in turn])),
                "attention.head_count_kv": (ARR, (I32, [a.kv_heads if t == 2 else 0 for t in turn]))}
        del meta["rope.freq_base"]
        return meta

    def mixer(self, w, a, i, b):
        if i % 4 == 0:
            mamba2(w, a, b, self.deep(a))
        elif i % 4 == 2:
            self.attention(w, a, i, b)

    def ffn(self, w, a, i, b):
        if i % 2:
            w.matrix(b + "ffn_up.weight", a.ff, a.dim, 1 / np.sqrt(a.dim))
            w.matrix(b + "ffn_down.weight", a.dim, a.ff, self.deep(a) / np.sqrt(a.ff))


class NemotronHMoe(Mixture, NemotronH):
    """Mixtures in place of the feed-forward blocks; nothing has a gate."""
    choice_bias = True

    def metadata(self, a):
        return {**super().metadata(a), "expert_shared_feed_forward_length": (U32, a.shared_ff),
                "expert_weights_norm": (BOOL, True), "expert_group_count": (U32, 1)}

    def ffn(self, w, a, i, b):
        if i % 2:
            super().ffn(w, a, i, b)

    def experts(self, w, a, i, b):
        w.experts(b + "ffn_up_exps.weight", a.experts, a.expert_ff, a.dim, 1 / np.sqrt(a.dim))
        w.experts(b + "ffn_down_exps.weight", a.experts, a.dim, a.expert_ff, self.deep(a) / np.sqrt(a.expert_ff))

    def shared(self, w, a, b):
        w.matrix(b + "ffn_up_shexp.weight", a.shared_ff, a.dim, 1 / np.sqrt(a.dim))
        w.matrix(b + "ffn_down_shexp.weight", a.dim, a.shared_ff, self.deep(a) / np.sqrt(a.shared_ff))


class Qwen35(Layout):
    pre, qk_norm, norms = "qwen35", "head", ("attn_norm", "post_attention_norm")
    merged_inputs = False                  # one matrix for q, k, v and z
    merged_gates = False                   # one matrix for write strengths and decays

    def metadata(self, a):
        third = a.rope_dim // 6
        sections = [third, third, a.rope_dim // 2 - 2 * third, 0]
        return {**super().metadata(a), "rope.dimension_count": (U32, a.rope_dim),
                "block_count": (U32, a.layers + a.guesses), "nextn_predict_layers": (U32, a.guesses),
                "rope.dimension_sections": (ARR, (I32, sections)),
                "full_attention_interval": (U32, a.interval),
                "ssm.conv_kernel": (U32, a.kernel), "ssm.inner_size": (U32, a.inner),
                "ssm.state_size": (U32, a.states), "ssm.time_step_rank": (U32, a.ssm_heads),
                "ssm.group_count": (U32, a.groups)}

    def mixer(self, w, a, i, b):
        if (i + 1) % a.interval == 0:
            return self.gated_attention(w, a, i, b)
        key, heads, std = a.groups * a.states, a.ssm_heads, 1 / np.sqrt(a.dim)
        if self.merged_inputs:
            w.matrix(b + "ssm_in.weight", 2 * key + 2 * a.inner, a.dim, std)
        else:
            w.matrix(b + "attn_qkv.weight", 2 * key + a.inner, a.dim, std)
            w.matrix(b + "attn_gate.weight", a.inner, a.dim, std)
        if self.merged_gates:
            w.matrix(b + "ssm_ba.weight", 2 * heads, a.dim, std)
        else:
            w.matrix(b + "ssm_beta.weight", heads, a.dim, std)
            w.matrix(b + "ssm_alpha.weight", heads, a.dim, std)
        w.grid(b + "ssm_conv1d.weight", 2 * key + a.inner, a.kernel, 1 / np.sqrt(a.kernel))
        w.vector(b + "ssm_dt.bias", heads, 0.5, -2.0)
        w.vector(b + "ssm_a", heads, 0.2, -1.0)
        w.vector(b + "ssm_norm.weight", a.inner // heads, 0.1, 1.0)
        w.matrix(b + "ssm_out.weight", a.dim, a.inner, 2 * self.deep(a) / np.sqrt(a.inner))

    def tensors(self, w, a):
        super().tensors(w, a)
        for i in range(a.layers, a.layers + a.guesses):        # nothing that plain decoding uses
            b = "blk.%d." % i
            self.gated_attention(w, a, i, b)
            w.vector(b + "nextn.enorm.weight", a.dim, 0.1, 1.0)
            w.matrix(b + "nextn.eh_proj.weight", a.dim, 2 * a.dim, 1 / np.sqrt(2 * a.dim))

    def gated_attention(self, w, a, i, b):
        qd, kd, std = a.heads * a.head_dim, a.kv_heads * a.head_dim, 1 / np.sqrt(a.dim)
        for part, rows in (("q", 2 * qd), ("k", kd), ("v", kd)):
            w.matrix(b + "attn_%s.weight" % part, rows, a.dim, std)
        w.vector(b + "attn_q_norm.weight", a.head_dim, 0.1, 1.0)
        w.vector(b + "attn_k_norm.weight", a.head_dim, 0.1, 1.0)
        w.matrix(b + "attn_output.weight", a.dim, qd, 2 * self.deep(a) / np.sqrt(qd))


class Qwen35Moe(Mixture, Qwen35):
    shared_router = True

    def metadata(self, a):
        return {**super().metadata(a), "expert_shared_feed_forward_length": (U32, a.shared_ff)}


class Qwen3Next(Qwen35Moe):
    pre, merged_gates = "qwen2", True

    def metadata(self, a):
        meta = super().metadata(a)
        del meta["rope.dimension_sections"]
        return meta


class Qwen3NextOlder(Qwen3Next):
    merged_inputs = True


LAYOUTS = {"lfm2": Lfm2(), "lfm2moe": Lfm2Moe(), "mamba2": Mamba2(), "falcon-h1": FalconH1(),
           "granitehybrid": GraniteHybrid(), "nemotron_h": NemotronH(), "nemotron_h_moe": NemotronHMoe(),
           "granite-mixture": GraniteMixture(), "qwen35": Qwen35(),
           "qwen35moe": Qwen35Moe(), "qwen3next": Qwen3Next(), "qwen3next-older": Qwen3NextOlder()}

PRESETS = {
    "lfm2-1.2b": preset("lfm2", 2048, 16, 8192, 32, 8, 64, 65536, 1e-5, 1e6, 128000, kernel=3, interval=3),
    "lfm2-350m": preset("lfm2", 1024, 16, 4608, 16, 8, 64, 65536, 1e-5, 1e6, 128000, kernel=3, interval=3),
    "mamba2-780m": preset("mamba2", 1536, 48, 0, 0, 0, 0, 50288, 1e-5, 0.0, 1048576, kernel=4, inner=3072,
                          states=128, ssm_heads=48, groups=1, ssm_norm=1),
    "small-mamba2": preset("mamba2", 256, 2, 0, 0, 0, 0, 2048, 1e-5, 0.0, 2048, kernel=4, inner=512,
                           states=32, ssm_heads=8, groups=1, ssm_norm=1),
    "falcon-h1-0.5b": preset("falcon-h1", 1024, 36, 2048, 8, 2, 64, 32784, 1e-5, 1e11, 16384, kernel=4,
                             inner=1536, states=128, ssm_heads=24, groups=1, ssm_norm=0),
    "small-falcon-h1": preset("falcon-h1", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 1e6, 2048, kernel=4, inner=512,
                              states=32, ssm_heads=8, groups=2, ssm_norm=1),
    "granite-4.0-h-350m": preset("granitehybrid", 768, 32, 2048, 12, 4, 64, 100352, 1e-5, 1e4, 131072, kernel=4,
                                 inner=1536, states=128, ssm_heads=48, groups=1, ssm_norm=1, interval=10, rotates=0),
    "small-granitehybrid": preset("granitehybrid", 256, 3, 512, 4, 2, 64, 2048, 1e-5, 1e4, 2048, kernel=4, inner=512,
                                  states=32, ssm_heads=8, groups=1, ssm_norm=1, interval=3, rotates=0),
    "small-nemotron_h": preset("nemotron_h", 256, 4, 512, 4, 2, 64, 2048, 1e-5, 1e4, 2048, kernel=4, inner=640,
                               states=32, ssm_heads=8, groups=2, ssm_norm=1),
    "small-nemotron_h_moe": preset("nemotron_h_moe", 256, 4, 256, 4, 2, 64, 2048, 1e-5, 1e4, 2048, kernel=4,
                                   inner=640, states=32, ssm_heads=8, groups=2, ssm_norm=1, experts=8, used=3,
                                   expert_ff=256, shared_ff=512, scale=2.5),
    "small-granite-mixture": preset("granitehybrid", 256, 3, 256, 4, 2, 64, 2048, 1e-5, 1e4, 2048,
                                    layout="granite-mixture", kernel=4, inner=512, states=32, ssm_heads=8, groups=1,
                                    ssm_norm=1, interval=3, rotates=1, experts=8, used=3, expert_ff=256,
                                    shared_ff=256),
    "qwen3.5-0.8b": preset("qwen35", 1024, 24, 3584, 8, 2, 256, 248320, 1e-6, 1e7, 262144, interval=4, guesses=0,
                           rope_dim=64, kernel=4, inner=2048, states=128, ssm_heads=16, groups=16),
    "small-qwen35": preset("qwen35", 256, 4, 512, 4, 2, 64, 2048, 1e-6, 1e7, 2048, interval=4, guesses=0,
                           rope_dim=32, kernel=4, inner=512, states=64, ssm_heads=8, groups=4),
    "small-qwen35moe": preset("qwen35moe", 256, 4, 512, 4, 2, 64, 2048, 1e-6, 1e7, 2048, interval=4, guesses=0,
                              rope_dim=32, kernel=4, inner=512, states=64, ssm_heads=8, groups=4, experts=8, used=3,
                              expert_ff=256, shared_ff=256),
    "small-qwen3next": preset("qwen3next", 256, 4, 512, 4, 2, 64, 2048, 1e-6, 1e7, 2048, interval=4, guesses=0,
                              rope_dim=16, kernel=4, inner=512, states=64, ssm_heads=8, groups=4, experts=8, used=3,
                              expert_ff=256, shared_ff=256),
    "small-qwen3next-older": preset("qwen3next", 256, 4, 512, 4, 2, 64, 2048, 1e-6, 1e7, 2048,
                                    layout="qwen3next-older", interval=4, guesses=0, rope_dim=16, kernel=4, inner=512,
                                    states=64, ssm_heads=8, groups=4, experts=8, used=3, expert_ff=256,
                                    shared_ff=256),
    "small-lfm2moe": preset("lfm2moe", 256, 4, 512, 4, 2, 64, 2048, 1e-5, 1e6, 2048, kernel=3, interval=3, dense=1,
                            experts=8, used=3, expert_ff=256),
    "small-lfm2": preset("lfm2", 256, 4, 512, 4, 2, 64, 2048, 1e-5, 1e6, 2048, kernel=3, interval=3),
}
