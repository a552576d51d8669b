/* One row per network architecture: what tells it from the others. Rows live in arch_<family>.c and
 * are listed in nets.c; docs/adding.md says how to add one. Private to this room. */
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
    QN_QK_NORM_HEAD,         /* each head by itself, all with the same weights [head_dim] */
    QN_QK_NORM_HEAD_OR_NONE, /* so where the file has the weights */
    QN_QK_NORM_HEAD_LATE,    /* so, but after the rotation */
    QN_QK_NORM_EACH_OR_NONE, /* each head by itself with weights of its own [heads, head_dim], the
                              * mean taken off, where the file has them */
    QN_QK_NORM_WIDTH         /* all heads together, weights [heads·head_dim] */
};

enum qn_norm_kind {
    QN_NORM_RMS,
    QN_NORM_LAYER /* with the mean taken off; biases where the file has them */
};

enum qn_act { QN_ACT_SILU, QN_ACT_GELU, QN_ACT_RELU_SQUARED /* without a gate */ };

/* What the file calls the norms of a layer; NULL: it has none there. */
struct qn_norm_names {
    const char *mixer;      /* before attention or what stands in its place */
    const char *mixer_post; /* after it, before the sum */
    const char *ffn;        /* before the feed-forward block */
    const char *ffn_post;   /* after it, before the sum */
    const char *output;     /* before the output matrix; NULL: "output_norm" */
};

struct qn_decoder_arch {
    const char *name; /* as general.architecture says it, and the prefix of its metadata keys */
    enum qn_rope_pairs pairs;
    bool needs_qkv_bias; /* else biases are used where the file has them */
    enum qn_qk_norm qk_norm;
    enum qn_norm_kind norm; /* of every norm but those of queries and keys */
    struct qn_norm_names norms;
    bool parallel;    /* both blocks read the same normalised input; outputs are added at once */
    enum qn_act act;  /* of the dense feed-forward blocks */
    bool merged_gate; /* the file keeps gate and up as one matrix, named up */
    bool recurrent;   /* some layers mix otherwise: their heads are 0 in the file */
    const struct qn_moe_style *moe; /* see block_moe.h; NULL: dense feed-forward blocks only */

    /* MAY be NULL. Called when the metadata that all decoders share are read into net->shape and
     * every layer has the values that follow from them: reads what only this architecture has and
     * changes net and its layers. No tensor is taken yet. */
    qn_err (*configure)(struct qn_loader *l, struct qn_net *net);
};

/* For `configure`: layers with a sliding window and layers without, by turns. In every `period`
 * layers the last sees all tokens, the others the last `window` of them; the file may have a window
 * of its own and another period, or a list with a flag for each layer. A window of 0 means none. */
qn_err qn_arch_windows(struct qn_loader *l, struct qn_net *net, int32_t window, int32_t period);

/* For `configure`: a second rotation, for the layers with a window. Its base is the file's
 * rope.freq_base_swa, or else `base`; `plain`: it takes no part in the scaling of the first. */
qn_err qn_arch_window_rope(struct qn_loader *l, struct qn_net *net, float base, bool plain);

/* For `configure`: Granite's four multipliers, and whether it rotates. */
qn_err qn_arch_granite(struct qn_loader *l, struct qn_net *net);

/* The pre-norm block of llama and most others, and norms on both sides of each block. */
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
