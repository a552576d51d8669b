"""The files of a plain decoder; other architectures override what they do differently.

`a` is make_random_gguf's options: the preset's numbers and more. `w` collects tensors (Weights)."""
import numpy as np

from container import F32, STR, U32


def preset(arch, dim, layers, ff, heads, kv_heads, head_dim, vocab, eps, rope_base, context, **more):
    """The numbers of one model; `more` are those that only its architecture has."""
    return dict(arch=arch, dim=dim, layers=layers, ff=ff, heads=heads, kv_heads=kv_heads, head_dim=head_dim,
                vocab=vocab, eps=eps, rope_base=rope_base, context=context, **more)


def llama3_rope_divisors(head_dim, base, factor=32.0, low=1.0, high=4.0, original=8192):
    """Llama 3's context extension: what each rotary frequency is divided by."""
    wave = 2 * np.pi * base ** (np.arange(0, head_dim, 2) / head_dim)
    blend = (original / wave - low) / (high - low)
    smooth = 1.0 / ((1 - blend) / factor + blend)
    return np.where(wave < original / high, 1.0, np.where(wave > original / low, factor, smooth))


def wants_more_bits(layer, layers):
    """Which layers a mix gives Q6_K: the first and last eighth and every third between."""
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


class Layout:
    pre = "llama-bpe"                      # the pre-tokenizer's name
    norms = ("attn_norm", "ffn_norm")      # of a layer, each [dim]
    output_norm = "output_norm"
    qkv_bias = False
    qk_norm = False                        # "head": each by itself, "width": all together
    q_level = 1.0                          # about what the norm of queries multiplies them by
    post_level = 1.0                       # and what the norms after blocks leave of their outputs
    merged_qkv = merged_gate = False       # matrices below each other in one

    def metadata(self, a):
        """Keys without the architecture's prefix."""
        meta = {
            "vocab_size": (U32, a.vocab),
            "context_length": (U32, a.context),
            "embedding_length": (U32, a.dim),
            "block_count": (U32, a.layers),
            "feed_forward_length": (U32, a.ff),
            "attention.head_count": (U32, a.heads),
            "attention.head_count_kv": (U32, a.kv_heads),
            "attention.key_length": (U32, a.head_dim),
            "attention.value_length": (U32, a.head_dim),
            "attention.layer_norm_rms_epsilon": (F32, a.eps),
            "rope.freq_base": (F32, a.rope_base),
            "rope.dimension_count": (U32, getattr(a, "rope_dim", a.head_dim)),
        }
        if getattr(a, "window", 0):
            meta["attention.sliding_window"] = (U32, a.window)
        if a.rope_linear:
            meta["rope.scaling.type"] = (STR, "linear")
            meta["rope.scaling.factor"] = (F32, a.rope_linear)
        if a.rope_yarn:
            meta["rope.scaling.type"] = (STR, "yarn")
            meta["rope.scaling.factor"] = (F32, a.rope_yarn)
            meta["rope.scaling.original_context_length"] = (U32, 64)
        return meta

    def parameters(self, a):
        """About how many, for choosing how they are made."""
        attention = 2 * a.dim * (a.heads + a.kv_heads) * a.head_dim
        return a.vocab * a.dim + a.layers * (attention + 3 * a.dim * a.ff)

    def tensors(self, w, a):
        self.ends(w, a)
        for i in range(a.layers):
            self.layer(w, a, i)

    def ends(self, w, a):
        """The matrices spread the logits by a.logit_std."""
        unembedding = a.logit_std / np.sqrt(a.dim)
        embedding = a.embedding_std or unembedding
        # a tied matrix serves both ends: the last norm makes up for its other scale
        level = 1.0 if a.separate_output else unembedding / embedding
        w.matrix("token_embd.weight", a.vocab, a.dim, embedding, more_bits=not a.separate_output)
        w.vector(self.output_norm + ".weight", a.dim, 0.1 * level, level)
        if a.separate_output:
            w.matrix("output.weight", a.vocab, a.dim, unembedding, more_bits=True)
        if a.rope_freqs:
            w.fixed("rope_freqs.weight", llama3_rope_divisors(a.head_dim, a.rope_base))

    def layer(self, w, a, i):
        b = "blk.%d." % i
        for name in self.norms:
            level = self.post_level if name in ("post_attention_norm", "post_ffw_norm") else 1.0
            w.vector(b + name + ".weight", a.dim, 0.1 * level, level)
        self.mixer(w, a, i, b)
        self.ffn(w, a, i, b)

    def mixer(self, w, a, i, b):
        self.attention(w, a, i, b)

    def attention(self, w, a, i, b):
        qd, kd = a.heads * a.head_dim, a.kv_heads * a.head_dim
        if self.merged_qkv:
            w.matrix(b + "attn_qkv.weight", qd + 2 * kd, a.dim, 1 / np.sqrt(a.dim))
        for part, rows in () if self.merged_qkv else (("q", qd), ("k", kd), ("v", kd)):
            w.matrix(b + "attn_%s.weight" % part, rows, a.dim, 1 / np.sqrt(a.dim),
                     part == "v" and wants_more_bits(i, a.layers))
            if self.qkv_bias:
                w.vector(b + "attn_%s.bias" % part, rows, 0.2, 0.0)
        if self.qk_norm:
            wide = self.qk_norm == "width"
            w.vector(b + "attn_q_norm.weight", qd if wide else a.head_dim, 0.1 * self.q_level, self.q_level)
            w.vector(b + "attn_k_norm.weight", kd if wide else a.head_dim, 0.1, 1.0)
        w.matrix(b + "attn_output.weight", a.dim, qd, self.deep(a) / np.sqrt(qd))

    def ffn(self, w, a, i, b):
        if not self.merged_gate:
            w.matrix(b + "ffn_gate.weight", a.ff, a.dim, 1 / np.sqrt(a.dim))
        w.matrix(b + "ffn_up.weight", (2 if self.merged_gate else 1) * a.ff, a.dim, 1 / np.sqrt(a.dim))
        w.matrix(b + "ffn_down.weight", a.dim, a.ff, 2 * self.deep(a) / np.sqrt(a.ff), wants_more_bits(i, a.layers))

    @staticmethod
    def deep(a):
        """What a block's output is scaled by, so that all blocks together double the stream."""
        return 1.0 / np.sqrt(2.0 * a.layers)
