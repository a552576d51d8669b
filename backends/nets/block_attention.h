/* Attention of grouped queries over a sequence's own cache. Private to this room. */
#ifndef QN_NETS_BLOCK_ATTENTION_H
#define QN_NETS_BLOCK_ATTENTION_H

#include "nets/block.h"

/* What the file does not have keeps ndim 0. */
struct qn_attention {
    int32_t heads, kv_heads, head_dim;
    int32_t rope; /* which of the net's rotations; -1: none */
    float scale;  /* of the scores */

    struct qn_tensor q, k, v;        /* [heads·head_dim, dim], [kv_heads·head_dim, dim] twice */
    struct qn_tensor q_b, k_b, v_b;  /* their rows */
    struct qn_tensor q_norm, k_norm; /* [head_dim] */
    struct qn_tensor o;              /* [dim, heads·head_dim] */
    struct qn_tensor o_b;            /* [dim] */
};

extern const struct qn_block qn_block_attention;

#endif
