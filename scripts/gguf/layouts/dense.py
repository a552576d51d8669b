"""Dense decoders."""
import numpy as np

from container import ARR, F32, I32, STR, U32

from .layout import Layout, preset

BOTH = ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm")
POST = ("post_attention_norm", "post_ffw_norm")


class Llama(Layout):
    pass


class Qwen2(Layout):
    pre, qkv_bias = "qwen2", True


class Qwen3(Layout):
    pre, qk_norm = "qwen2", "head"


class Qwen2Vl(Qwen2):
    def metadata(self, a):
        return dict(super().metadata(a), **{"rope.dimension_sections": (ARR, (I32, a.sections))})


class Qwen3Vl(Qwen3):
    def metadata(self, a):
        return dict(super().metadata(a), **{
            "rope.dimension_sections": (ARR, (I32, a.sections)), "n_deepstack_layers": (U32, a.deepstack)})


class SeedOss(Layout):
    qkv_bias, norms = True, ("attn_norm", "post_attention_norm")


class Mistral3(Layout):
    def metadata(self, a):
        return dict(super().metadata(a), **{
            "attention.temperature_scale": (F32, 0.1), "rope.scaling.type": (STR, "yarn"),
            "rope.scaling.factor": (F32, 16.0), "rope.scaling.original_context_length": (U32, 32),
            "rope.scaling.yarn_log_multiplier": (F32, 1.0)})


class Granite(Layout):
    """Multipliers that keep the stream as it would be without them."""
    def metadata(self, a):
        return dict(super().metadata(a), **{
            "embedding_scale": (F32, 12.0), "residual_scale": (F32, 0.22),
            "attention.scale": (F32, 0.0625), "logit_scale": (F32, 0.5)})


class Gemma(Layout):
    """Norms keep their 1 added, so nothing differs here."""


class Gemma2(Layout):
    norms = BOTH

    def metadata(self, a):
        return dict(super().metadata(a), **{
            "attn_logit_softcapping": (F32, 5.0), "final_logit_softcapping": (F32, 3.0)})


class Gemma3(Layout):
    norms, qk_norm = BOTH, "head"


class LongRope(Layout):
    def metadata(self, a):
        meta = super().metadata(a)
        if a.longrope:
            if a.longrope_named:           # real files leave the name to the tensors
                meta["rope.scaling.type"] = (STR, "longrope")
            meta.update({"rope.scaling.attn_factor": (F32, 1.19),
                         "rope.scaling.original_context_length": (U32, a.longrope)})
        return meta

    def ends(self, w, a):
        super().ends(w, a)
        if a.longrope:
            pairs = np.arange(a.rope_dim // 2)
            w.fixed("rope_factors_short.weight", 1 + 0.01 * pairs)
            w.fixed("rope_factors_long.weight", 1 + 0.5 * pairs)


class Phi3(LongRope):
    merged_qkv = merged_gate = True


class Glm4(Layout):
    norms, merged_gate = BOTH, True


class Olmo2(Layout):
    norms, qk_norm = POST, "width"


class Exaone4(Layout):
    norms, qk_norm = POST, "head"


class CommandR(Layout):
    norms = ("attn_norm",)

    def metadata(self, a):
        meta = dict(super().metadata(a), **{
            "attention.layer_norm_epsilon": (F32, a.eps), "logit_scale": (F32, 2.0)})
        del meta["attention.layer_norm_rms_epsilon"]
        return meta


class CommandRPlus(CommandR):
    def attention(self, w, a, i, b):
        super().attention(w, a, i, b)
        w.grid(b + "attn_q_norm.weight", a.heads, a.head_dim, 0.2, 1.0)
        w.grid(b + "attn_k_norm.weight", a.kv_heads, a.head_dim, 0.2, 1.0)


LAYOUTS = {"command-r-plus": CommandRPlus(), "llama": Llama(), "qwen2": Qwen2(), "qwen3": Qwen3(), "seed_oss": SeedOss(),
           "qwen2vl": Qwen2Vl(), "qwen3vl": Qwen3Vl(), "mistral3": Mistral3(),
           "smollm3": Llama(), "granite": Granite(), "ernie4_5": Llama(), "gemma": Gemma(), "gemma2": Gemma2(),
           "gemma3": Gemma3(), "phi3": Phi3(), "glm4": Glm4(), "olmo2": Olmo2(), "exaone4": Exaone4(),
           "command-r": CommandR(), "cohere2": CommandR()}

PRESETS = {
    "qwen3-0.6b": preset("qwen3", 1024, 28, 3072, 16, 8, 128, 151936, 1e-6, 1e6, 40960),
    "qwen3-1.7b": preset("qwen3", 2048, 28, 6144, 16, 8, 128, 151936, 1e-6, 1e6, 40960),
    "qwen3-4b": preset("qwen3", 2560, 36, 9728, 32, 8, 128, 151936, 1e-6, 1e6, 40960),
    "llama-3.2-1b": preset("llama", 2048, 16, 8192, 32, 8, 64, 128256, 1e-5, 5e5, 131072),
    "qwen2.5-0.5b": preset("qwen2", 896, 24, 4864, 14, 2, 64, 151936, 1e-6, 1e6, 32768),
    # for comparing logits; rows of 256 and more, so that every type applies
    "small-llama": preset("llama", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 5e5, 2048),
    "small-qwen2": preset("qwen2", 256, 2, 512, 4, 2, 64, 2048, 1e-6, 1e6, 2048),
    "small-qwen3": preset("qwen3", 256, 2, 512, 4, 2, 128, 2048, 1e-6, 1e6, 2048),
    # windows and periods so short that a test's text crosses them
    "small-mistral3": preset("mistral3", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 1e6, 2048),
    "small-smollm3": preset("smollm3", 256, 5, 512, 4, 2, 64, 2048, 1e-6, 5e6, 2048),
    "small-granite": preset("granite", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 1e7, 2048),
    "small-ernie4_5": preset("ernie4_5", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 5e5, 2048),
    "small-seed_oss": preset("seed_oss", 256, 2, 512, 4, 2, 64, 2048, 1e-6, 1e7, 2048),
    "small-qwen2vl": preset("qwen2vl", 256, 2, 512, 4, 2, 64, 2048, 1e-6, 1e6, 2048, sections=[8, 12, 12, 0]),
    "small-qwen3vl": preset("qwen3vl", 256, 3, 512, 4, 2, 64, 2048, 1e-6, 5e6, 2048, sections=[12, 10, 10, 0],
                            deepstack=2),
    "small-gemma": preset("gemma", 256, 2, 512, 4, 1, 64, 2048, 1e-6, 1e4, 2048),
    "small-gemma2": preset("gemma2", 256, 3, 512, 4, 2, 64, 2048, 1e-6, 1e4, 2048, window=12),
    "small-gemma3": preset("gemma3", 256, 7, 512, 4, 1, 64, 2048, 1e-6, 1e6, 2048, window=12),
    "small-phi3": preset("phi3", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 1e4, 2048, rope_dim=48, window=20, longrope=0,
                         longrope_named=0),
    "small-glm4": preset("glm4", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 1e4, 2048, rope_dim=32),
    "small-olmo2": preset("olmo2", 256, 2, 512, 4, 2, 64, 2048, 1e-6, 5e5, 2048, window=0),
    "small-exaone4": preset("exaone4", 256, 5, 512, 4, 2, 64, 2048, 1e-5, 1e6, 2048, window=12),
    "small-command-r-plus": preset("command-r", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 8e6, 2048, layout="command-r-plus"),
    "small-command-r": preset("command-r", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 8e6, 2048),
    "small-cohere2": preset("cohere2", 256, 5, 512, 4, 2, 64, 2048, 1e-5, 5e4, 2048, window=12),
    # as little as a test of anything but arithmetic needs
    "tiny-llama": preset("llama", 64, 2, 128, 4, 2, 16, 512, 1e-5, 1e4, 512),
    "tiny-qwen2": preset("qwen2", 64, 2, 128, 4, 2, 16, 512, 1e-6, 1e6, 512),
    "tiny-qwen3": preset("qwen3", 64, 2, 128, 4, 2, 32, 512, 1e-6, 1e6, 512),
}
