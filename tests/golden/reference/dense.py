"""Dense decoders, each as far as it differs from the plain one."""
import numpy as np

from . import rope
from .decoder import Decoder
from .maths import gelu_tanh, layer_norm, softcap


class Llama(Decoder):                      # arXiv:2302.13971, arXiv:2407.21783
    pairs = "neighbours"


class Qwen2(Decoder):                      # arXiv:2407.10671: biases, found where the file has them
    pass


class Qwen3(Decoder):                      # arXiv:2505.09388: queries and keys normalised per head
    pass


class Picture(Decoder):
    """Tokens may be embeddings with places [n, 4] (arXiv:2409.12191): each pair of a head turns by its
    section's axis. The embeddings may have parts for the first layers (arXiv:2406.04334)."""
    given = at = None

    def axes(self):
        return np.repeat(np.arange(4), self.get("rope.dimension_sections"))

    def places(self, n):
        return self.at[:, self.axes()] if self.at is not None else super().places(n)

    def embed(self, tokens):
        return super().embed(tokens) if self.given is None else self.given[:, :self.dim]

    def layer(self, i, x):
        x = super().layer(i, x)
        if self.given is not None and i < self.get("n_deepstack_layers", 0):
            x = x + self.given[:, (i + 1) * self.dim:(i + 2) * self.dim]
        return x

    def feed_at(self, tokens, at, given=None):
        self.at, self.given = np.asarray(at, np.float64), given
        logits = self.feed(tokens)
        self.at = self.given = None
        return logits


class Qwen3Vl(Picture):
    def axes(self):
        """By turns, as far as the sections of height and width reach; time has the rest."""
        pair, (_, high, wide, _) = np.arange(self.rope_dim // 2), self.get("rope.dimension_sections")
        return np.where((pair % 3 == 1) & (pair < 3 * high), 1, np.where((pair % 3 == 2) & (pair < 3 * wide), 2, 0))


class SeedOss(Decoder):
    def layer(self, i, x):
        x = x + self.mixer(i, self.norm(x, "blk.%d.attn_norm" % i))
        return x + self.ffn(i, self.norm(x, "blk.%d.post_attention_norm" % i))


class Mistral3(Llama):
    """Ministral 3: yarn, and queries grow with ln of how many original contexts lie before them."""
    def rotation(self, i):
        return rope.frequencies(self.get, self.rope_dim, self.get("rope.freq_base"),
                                log_multiplier=self.get("rope.scaling.yarn_log_multiplier", 0.0))

    def warm(self, i, q):
        at, every = self.length + np.arange(q.shape[0]), self.get("rope.scaling.original_context_length")
        return q * (1 + self.get("attention.temperature_scale") * np.log(1 + at // every))[:, None, None]


class SmolLM3(Llama):
    def rotation(self, i):
        return None if i % 4 == 3 else super().rotation(i)


class Granite(Llama):                      # arXiv:2408.13359
    def setup(self):
        self.scale = self.get("attention.scale")

    def embed(self, tokens):
        return super().embed(tokens) * self.get("embedding_scale")

    def layer(self, i, x):
        r = self.get("residual_scale")
        x = x + r * self.mixer(i, self.norm(x, "blk.%d.attn_norm" % i))
        return x + r * self.ffn(i, self.norm(x, "blk.%d.ffn_norm" % i))

    def head(self, x):
        return super().head(x) / self.get("logit_scale")


class BothNorms(Decoder):
    """Norms before and after each block."""
    def layer(self, i, x):
        b = "blk.%d." % i
        x = x + self.norm(self.mixer(i, self.norm(x, b + "attn_norm")), b + "post_attention_norm")
        return x + self.norm(self.ffn(i, self.norm(x, b + "ffn_norm")), b + "post_ffw_norm")


class PostNorms(Decoder):
    """Norms after each block only."""
    def layer(self, i, x):
        b = "blk.%d." % i
        x = x + self.norm(self.mixer(i, x), b + "post_attention_norm")
        return x + self.norm(self.ffn(i, x), b + "post_ffw_norm")


class Gemma(Decoder):                      # arXiv:2403.08295
    def act(self, x):
        return gelu_tanh(x)

    def embed(self, tokens):
        return super().embed(tokens) * np.sqrt(self.dim)


class Gemma2(BothNorms, Gemma):            # arXiv:2408.00118
    def window(self, i):
        return self.get("attention.sliding_window") if i % 2 == 0 else None

    def score_cap(self):
        return self.get("attn_logit_softcapping")

    def head(self, x):
        return softcap(super().head(x), self.get("final_logit_softcapping"))


class Gemma3(BothNorms, Gemma):            # arXiv:2503.19786
    def window(self, i):
        return self.get("attention.sliding_window") if i % 6 < 5 else None

    def rotation(self, i):
        if self.window(i):
            return 10000.0 ** (-np.arange(0, self.head_dim, 2) / self.head_dim), 1.0
        return super().rotation(i)


class Merged(Decoder):
    """Queries, keys and values as one matrix, gate and up as another."""
    def qkv(self, i, h):
        q, kv = self.heads * self.head_dim, self.kv_heads * self.head_dim
        if not self.has("blk.%d.attn_qkv.weight" % i):
            return super().qkv(i, h)
        return np.split(self.project(h, "blk.%d.attn_qkv" % i), [q, q + kv], axis=1)

    def ffn(self, i, h):
        gate, up = np.split(self.project(h, "blk.%d.ffn_up" % i), 2, axis=1)
        return self.project(self.act(gate) * up, "blk.%d.ffn_down" % i)


class LongRope:                            # arXiv:2402.13753; mixed into a network
    context = 512                          # of the sequences that the tests make

    def rotation(self, i):
        if not self.has("rope_factors_long.weight"):
            return super().rotation(i)
        far = self.context > self.get("rope.scaling.original_context_length")
        return rope.frequencies(self.get, self.rope_dim, self.get("rope.freq_base"),
                                self.weight("rope_factors_%s.weight" % ("long" if far else "short")))


class Phi3(LongRope, Merged):              # arXiv:2404.14219
    def window(self, i):
        return self.get("attention.sliding_window")


class Glm4(BothNorms, Merged):
    pairs = "neighbours"


class Olmo2(PostNorms):                    # arXiv:2501.00656
    def qkv(self, i, h):
        q, k, v = super().qkv(i, h)
        return self.norm(q, "blk.%d.attn_q_norm" % i), self.norm(k, "blk.%d.attn_k_norm" % i), v

    def normed_heads(self, i, q, k):
        return q, k

    def window(self, i):                   # OLMo 3
        return self.get("attention.sliding_window") if i % 4 < 3 else None

    def rotation(self, i):
        if self.window(i):
            return self.get("rope.freq_base") ** (-np.arange(0, self.head_dim, 2) / self.head_dim), 1.0
        return super().rotation(i)


class Exaone4(PostNorms):                  # arXiv:2507.11407
    def window(self, i):
        return self.get("attention.sliding_window") if i % 4 < 3 else None

    def rotation(self, i):
        windows = self.get("attention.sliding_window")
        return super().rotation(i) if self.window(i) or not windows else None


class CommandR(Llama):
    def setup(self):
        self.eps = self.get("attention.layer_norm_epsilon")

    def norm(self, x, name):
        return layer_norm(x, self.weight(name + ".weight"), self.eps)

    def layer(self, i, x):
        h = self.norm(x, "blk.%d.attn_norm" % i)
        return x + self.mixer(i, h) + self.ffn(i, h)

    def head(self, x):
        return super().head(x) * self.get("logit_scale")


class Cohere2(CommandR):
    def window(self, i):
        return self.get("attention.sliding_window") if i % 4 < 3 else None

    def rotation(self, i):
        return super().rotation(i) if self.window(i) else None


NETWORKS = {
    "llama": Llama, "qwen2": Qwen2, "qwen3": Qwen3, "qwen2vl": Picture, "qwen3vl": Qwen3Vl, "seed_oss": SeedOss, "mistral3": Mistral3,
    "smollm3": SmolLM3, "granite": Granite, "ernie4_5": Llama, "gemma": Gemma, "gemma2": Gemma2,
    "gemma3": Gemma3, "phi3": Phi3, "glm4": Glm4, "olmo2": Olmo2, "exaone4": Exaone4,
    "command-r": CommandR, "cohere2": Cohere2,
}
