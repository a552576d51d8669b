"""Gemma 3n and 4."""
import numpy as np

from container import ARR, BOOL, F32, U32

from .dense import BOTH
from .layout import Layout, preset


class LayerInputs(Layout):
    norms, qk_norm, q_level = BOTH, "head", 1 / 8  # scores are not scaled
    post_level = 0.4

    def slides(self, a, i):
        return i % a.period < a.period - 1

    def metadata(self, a):
        return dict(super().metadata(a), **{
            "attention.sliding_window_pattern": (ARR, (BOOL, [self.slides(a, i) for i in range(a.layers)])),
            "attention.shared_kv_layers": (U32, a.shared),
            "embedding_length_per_layer_input": (U32, a.input),
            "rope.freq_base_swa": (F32, 1e4),
            "final_logit_softcapping": (F32, a.cap)})

    def ends(self, w, a):
        super().ends(w, a)
        if a.input:
            w.matrix("per_layer_token_embd.weight", a.vocab, a.layers * a.input, 1 / np.sqrt(a.input))
            w.matrix("per_layer_model_proj.weight", a.layers * a.input, a.dim, 1.0)
            w.vector("per_layer_proj_norm.weight", a.input, 0.1, 1.0)

    def layer(self, w, a, i):
        super().layer(w, a, i)
        b = "blk.%d." % i
        if a.input:
            w.matrix(b + "inp_gate.weight", a.input, a.dim, 1 / np.sqrt(a.dim))
            w.matrix(b + "proj.weight", a.dim, a.input, 1 / np.sqrt(a.input))
            w.vector(b + "post_norm.weight", a.dim, 0.1, 0.5)


class Gemma3n(LayerInputs):
    def metadata(self, a):
        sparse = [1.6448536 if i < a.sparse else 0.0 for i in range(a.layers)]
        return dict(super().metadata(a), **{
            "altup.num_inputs": (U32, 4), "altup.active_idx": (U32, 0),
            "activation_sparsity_scale": (ARR, (F32, sparse))})

    def ends(self, w, a):
        super().ends(w, a)
        for name in ("altup_proj.weight", "altup_unembd_proj.weight"):
            w.experts(name, 3, a.dim, a.dim, 1 / np.sqrt(a.dim))

    def layer(self, w, a, i):
        super().layer(w, a, i)
        b = "blk.%d." % i
        w.matrix(b + "altup_router.weight", 4, a.dim, 8.0)
        w.vector(b + "altup_router_norm.weight", a.dim, 0.1, 1.0)
        w.matrix(b + "altup_predict_coef.weight", 16, 4, 0.1)
        w.matrix(b + "altup_correct_coef.weight", 4, 4, 0.3)
        w.vector(b + "altup_correct_scale.weight", a.dim, 0.1, 1.0)
        w.matrix(b + "laurel_l.weight", 64, a.dim, 1 / np.sqrt(a.dim))
        w.matrix(b + "laurel_r.weight", a.dim, 64, 1 / 8)
        w.vector(b + "laurel_post_norm.weight", a.dim, 0.1, 1.0)


class Gemma4(LayerInputs):
    """Full layers have heads twice as wide, fewer of them for keys, and keys in place of values."""
    def metadata(self, a):
        kv = [a.kv_heads if self.slides(a, i) else a.full_kv_heads for i in range(a.layers)]
        return dict(super().metadata(a), **{
            "attention.head_count_kv": (ARR, (U32, kv)),
            "attention.key_length_swa": (U32, a.head_dim // 2), "attention.value_length_swa": (U32, a.head_dim // 2),
            "rope.dimension_count_swa": (U32, a.head_dim // 2),
            "feed_forward_length": (ARR, (U32, [a.ff * (1 + i % 2) for i in range(a.layers)]))})

    def ends(self, w, a):
        super().ends(w, a)
        half = a.head_dim // 2
        w.fixed("rope_freqs.weight", np.where(np.arange(half) < half // 4, 1.0, 1e30))

    def attention(self, w, a, i, b):
        d, kv = (a.head_dim // 2, a.kv_heads) if self.slides(a, i) else (a.head_dim, a.full_kv_heads)
        w.matrix(b + "attn_q.weight", a.heads * d, a.dim, 1 / np.sqrt(a.dim))
        w.matrix(b + "attn_k.weight", kv * d, a.dim, 1 / np.sqrt(a.dim))
        if self.slides(a, i):
            w.matrix(b + "attn_v.weight", kv * d, a.dim, 1 / np.sqrt(a.dim))
        w.vector(b + "attn_q_norm.weight", d, 0.1, 1 / np.sqrt(d))
        w.vector(b + "attn_k_norm.weight", d, 0.1, 1.0)
        w.matrix(b + "attn_output.weight", a.dim, a.heads * d, 1 / np.sqrt(a.heads * d))

    def ffn(self, w, a, i, b):
        ff = a.ff * (1 + i % 2)
        w.matrix(b + "ffn_gate.weight", ff, a.dim, 1 / np.sqrt(a.dim))
        w.matrix(b + "ffn_up.weight", ff, a.dim, 1 / np.sqrt(a.dim))
        w.matrix(b + "ffn_down.weight", a.dim, ff, 1 / np.sqrt(ff))
        w.fixed(b + "layer_output_scale.weight", np.array([0.8 + 0.1 * i]))


LAYOUTS = {"gemma3n": Gemma3n(), "gemma4": Gemma4()}

PRESETS = {
    "small-gemma3n": preset("gemma3n", 256, 6, 512, 4, 2, 64, 2048, 1e-6, 1e6, 2048, window=12, period=3, shared=3, cap=3.0,
                            input=64, sparse=3),
    "small-gemma4": preset("gemma4", 256, 6, 256, 4, 2, 128, 2048, 1e-6, 1e6, 2048, window=12, period=3, shared=3, cap=3.0,
                           input=64, full_kv_heads=1),
}
