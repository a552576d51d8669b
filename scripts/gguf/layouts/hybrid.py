"""Decoders with recurrent layers, alone or between layers of attention."""
import numpy as np

from container import ARR, I32, U32

from .layout import Layout, preset


class Lfm2(Layout):
    pre, qk_norm, output_norm = "lfm2", True, "token_embd_norm"

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


LAYOUTS = {"lfm2": Lfm2()}

PRESETS = {
    "lfm2-1.2b": preset("lfm2", 2048, 16, 8192, 32, 8, 64, 65536, 1e-5, 1e6, 128000, kernel=3, interval=3),
    "lfm2-350m": preset("lfm2", 1024, 16, 4608, 16, 8, 64, 65536, 1e-5, 1e6, 128000, kernel=3, interval=3),
    "small-lfm2": preset("lfm2", 256, 4, 512, 4, 2, 64, 2048, 1e-5, 1e6, 2048, kernel=3, interval=3),
}
