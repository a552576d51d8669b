/* One row per network architecture: its properties. Rows are defined in arch_<family>.c and listed
 * in nets.c; docs/adding.md says how to add one. Private to backends/nets. */
#ifndef QN_NETS_DECODER_ARCH_H
#define QN_NETS_DECODER_ARCH_H

#include "base/error.h"
#include "engine/ops.h"

#include <stdbool.h>
#include <stdint.h>

struct qn_loader;
struct qn_net;
struct qn_moe_style;

/* Whether queries and keys are normalised before the rotation. */
enum qn_qk_norm {
    QN_QK_NORM_NONE,
    QN_QK_NORM_HEAD,         /* each head separately, all with the same weights [head_dim] */
    QN_QK_NORM_HEAD_OR_NONE, /* likewise, if the file has the weights */
    QN_QK_NORM_HEAD_LATE,    /* likewise, but after the rotation */
    /* if the file has the weights: each head separately with its own weights [heads, head_dim]; the
     * mean is subtracted first */
    QN_QK_NORM_EACH_OR_NONE,
    QN_QK_NORM_WIDTH /* over all heads together, weights [heads·head_dim] */
};

enum qn_norm_kind {
    QN_NORM_RMS,
    QN_NORM_LAYER /* LayerNorm: with the mean subtracted; biases if the file has them */
};

enum qn_act { QN_ACT_SILU, QN_ACT_GELU, QN_ACT_RELU_SQUARED /* without a gate */ };

/* The file's names of a layer's norms; NULL: no such norm. */
struct qn_norm_names {
    const char *mixer;      /* before attention or the mixer in its place */
    const char *mixer_post; /* after it, before the residual sum */
    const char *ffn;        /* before the feed-forward block */
    const char *ffn_post;   /* after it, before the residual sum */
    const char *output;     /* before the output matrix; NULL: "output_norm" */
};

struct qn_decoder_arch {
    const char *name; /* the value of general.architecture, and the prefix of its metadata keys */
    enum qn_rope_pairs pairs;
    bool needs_qkv_bias; /* required; otherwise biases are used if the file has them */
    enum qn_qk_norm qk_norm;
    enum qn_norm_kind norm; /* of every norm except those of queries and keys */
    struct qn_norm_names norms;
    /* both blocks read the same normalised input; their outputs are added together */
    bool parallel;
    enum qn_act act;  /* activation of the dense feed-forward blocks */
    bool merged_gate; /* the file stores gate and up as one matrix, named up */
    bool recurrent;   /* some layers have a recurrent mixer: their head counts are 0 in the file */
    const struct qn_moe_style *moe; /* see block_moe.h; NULL: dense feed-forward blocks only */

    /* MAY be NULL. Called after the metadata common to all decoders have been read into net->shape
     * and every layer has the values derived from them: reads the architecture's own metadata and
     * changes net and its layers. No tensor has been taken yet. */
    qn_err (*configure)(struct qn_loader *l, struct qn_net *net);
};

/* For `configure`: alternates layers with a sliding window and layers without. Of every `period`
 * layers the last attends to all tokens, the others to the last `window`; the file may have its own
 * window and period, or a list with a flag per layer. window 0: no windows. */
qn_err qn_arch_windows(struct qn_loader *l, struct qn_net *net, int32_t window, int32_t period);

/* For `configure`: a second rotation, for the layers with a window. Its base is the file's
 * rope.freq_base_swa, or else `base`; `plain`: without the first rotation's scaling. */
qn_err qn_arch_window_rope(struct qn_loader *l, struct qn_net *net, float base, bool plain);

/* For `configure`: Granite's four multipliers, and whether it uses rotary positions. */
qn_err qn_arch_granite(struct qn_loader *l, struct qn_net *net);

/* Norm names of the pre-norm block of llama and most others, and of blocks with norms on both
 * sides. */
#define QN_PRE_NORMS                                                                               \
    {                                                                                              \
        .mixer = "attn_norm", .ffn = "ffn_norm"                                                    \
    }
#define QN_BOTH_NORMS                                                                              \
    {                                                                                              \
        .mixer = "attn_norm", .mixer_post = "post_attention_norm", .ffn = "ffn_norm",              \
        .ffn_post = "post_ffw_norm"                                                                \
    }

extern const struct qn_decoder_arch qn_llama, qn_mistral3, qn_smollm3, qn_granite, qn_ernie4_5;
extern const struct qn_decoder_arch qn_qwen2, qn_qwen3, qn_qwen2moe, qn_qwen3moe, qn_seed_oss;
extern const struct qn_decoder_arch qn_qwen2vl, qn_qwen3vl, qn_qwen3vlmoe;
extern const struct qn_decoder_arch qn_gemma, qn_gemma2, qn_gemma3, qn_gemma3n, qn_gemma4;
extern const struct qn_decoder_arch qn_phi3, qn_phimoe;
extern const struct qn_decoder_arch qn_olmo2, qn_exaone4;
extern const struct qn_decoder_arch qn_glm4;
extern const struct qn_decoder_arch qn_command_r, qn_cohere2;
extern const struct qn_decoder_arch qn_deepseek, qn_deepseek2;
extern const struct qn_decoder_arch qn_gpt_oss, qn_llama4, qn_granitemoe;
extern const struct qn_decoder_arch qn_olmoe, qn_glm4moe, qn_ernie4_5_moe, qn_dots1;
extern const struct qn_decoder_arch qn_bailingmoe2, qn_hunyuan_moe, qn_minimax_m2;
extern const struct qn_decoder_arch qn_lfm2, qn_lfm2moe;
extern const struct qn_decoder_arch qn_mamba2_arch, qn_falcon_h1, qn_granitehybrid, qn_nemotron_h;
extern const struct qn_decoder_arch qn_nemotron_h_moe;
extern const struct qn_decoder_arch qn_qwen3next, qn_qwen35, qn_qwen35moe;

#endif
