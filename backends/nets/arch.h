/* One row per network architecture: what tells it from the others. Rows live in arch_<family>.c and
 * are listed in nets.c; docs/adding.md says how to add one. Private to this room. */
#ifndef QN_NETS_ARCH_H
#define QN_NETS_ARCH_H

#include "base/error.h"
#include "engine/ops.h"

#include <stdbool.h>

struct qn_loader;
struct qn_net;
struct qn_moe_style;

enum qn_qk_norm {
    QN_QK_NORM_NONE,
    QN_QK_NORM_HEAD /* queries and keys are normalised per head before the rotation */
};

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
    bool recurrent; /* some layers mix otherwise: their heads are 0 in the file */
    struct qn_norm_names norms;
    const struct qn_moe_style *moe; /* see block_moe.h; NULL: dense feed-forward blocks only */

    /* MAY be NULL. Called when the metadata that all decoders share are read into net->shape and
     * every layer has the values that follow from them: reads what only this architecture has and
     * changes net and its layers. No tensor is taken yet. */
    qn_err (*configure)(struct qn_loader *l, struct qn_net *net);
};

/* The pre-norm block of llama and most others. */
#define QN_PRE_NORMS                                                                               \
    {                                                                                              \
        .mixer = "attn_norm", .ffn = "ffn_norm"                                                    \
    }

extern const struct qn_decoder_arch qn_llama, qn_qwen2, qn_qwen3, qn_qwen2moe, qn_qwen3moe;
extern const struct qn_decoder_arch qn_lfm2, qn_mamba2_arch, qn_falcon_h1;

#endif
