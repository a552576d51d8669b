/* Grouped-query attention over a sequence's own cache. Private to backends/nets. */
#ifndef QN_NETS_DECODER_BLOCK_ATTENTION_H
#define QN_NETS_DECODER_BLOCK_ATTENTION_H

#include "nets/decoder/block.h"

/* Tensors that the file does not have stay at ndim 0. */
struct qn_attention {
    int32_t heads, kv_heads, head_dim;
    int32_t rope;   /* index of the net's rotation; -1: none */
    int32_t window; /* most tokens that a query attends to, including its own; 0: all */
    /* if not 0, a token attends to nothing before the last multiple of this number that is not
     * above its position */
    int32_t chunk;
    int32_t cache_of; /* index of the layer whose cache it reads: its own, or an earlier one */
    float scale;      /* of the scores */
    float softcap;    /* of the scores; 0: none */
    bool gated;       /* see q; the head's output is multiplied by the gate's sigmoid */
    bool v_norm;      /* values are also normalised per head, without weights */
    bool bare_norm;   /* queries and keys are normalised after the rotation, without weights */
    /* Queries at position p are multiplied by 1 + warmth·ln(1 + floor((p + warm_from) /
     * warm_every)); warm_every 0: not applied */
    float warmth;
    int32_t warm_every, warm_from;

    /* q [heads·head_dim, dim]; k and v [kv_heads·head_dim, dim]. If gated, the rows of each head in
     * q are followed by as many rows for the head's gate */
    struct qn_tensor q, k, v;
    struct qn_tensor q_b, k_b, v_b;  /* biases: one element per row of q, k or v */
    struct qn_tensor q_norm, k_norm; /* [head_dim], [width of q or k], or [heads, head_dim] */
    struct qn_tensor sinks;          /* [heads] */
    struct qn_tensor o;              /* [dim, heads·head_dim] */
    struct qn_tensor o_b;            /* [dim] */
};

extern const struct qn_block qn_block_attention;

#endif
