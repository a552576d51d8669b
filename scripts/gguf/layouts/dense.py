"""Dense decoders."""
from .layout import Layout, preset


class Llama(Layout):
    pass


class Qwen2(Layout):
    pre, qkv_bias = "qwen2", True


class Qwen3(Layout):
    pre, qk_norm = "qwen2", True


LAYOUTS = {"llama": Llama(), "qwen2": Qwen2(), "qwen3": Qwen3()}

PRESETS = {
    "qwen3-0.6b": preset("qwen3", 1024, 28, 3072, 16, 8, 128, 151936, 1e-6, 1e6, 40960),
    "qwen3-1.7b": preset("qwen3", 2048, 28, 6144, 16, 8, 128, 151936, 1e-6, 1e6, 40960),
    "llama-3.2-1b": preset("llama", 2048, 16, 8192, 32, 8, 64, 128256, 1e-5, 5e5, 131072),
    "qwen2.5-0.5b": preset("qwen2", 896, 24, 4864, 14, 2, 64, 151936, 1e-6, 1e6, 32768),
    # for comparing logits; rows of 256 and more, so that every type applies
    "small-llama": preset("llama", 256, 2, 512, 4, 2, 64, 2048, 1e-5, 5e5, 2048),
    "small-qwen2": preset("qwen2", 256, 2, 512, 4, 2, 64, 2048, 1e-6, 1e6, 2048),
    "small-qwen3": preset("qwen3", 256, 2, 512, 4, 2, 128, 2048, 1e-6, 1e6, 2048),
    # as little as a test of anything but arithmetic needs
    "tiny-llama": preset("llama", 64, 2, 128, 4, 2, 16, 512, 1e-5, 1e4, 512),
    "tiny-qwen2": preset("qwen2", 64, 2, 128, 4, 2, 16, 512, 1e-6, 1e6, 512),
    "tiny-qwen3": preset("qwen3", 64, 2, 128, 4, 2, 32, 512, 1e-6, 1e6, 512),
}
