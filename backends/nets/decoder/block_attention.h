/* Attention of grouped queries over a sequence's own cache. Private to this room. */
#ifndef QN_NETS_DECODER_BLOCK_ATTENTION_H
#define QN_NETS_DECODER_BLOCK_ATTENTION_H

#include "nets/decoder/block.h"

/* What the file does not have keeps ndim 0. */
struct qn_attention {
    int32_t heads, kv_heads, head_dim;
    int32_t rope;     /* which of the net's rotations; -1: none */
    int32_t window;   /* tokens a query sees at most, its own included; 0: all */
    int32_t chunk;    /* nothing before the last multiple of it; 0: no such limit */
    int32_t cache_of; /* the layer whose keys and values it reads: its own, or one before it */
    float scale;      /* of the scores */
    float softcap;    /* of the scores; 0: none */
    bool gated;       /* see q; the gate's sigmoid multiplies what a head gives */
    bool v_norm;      /* values are normalised per head, too, without weights */
    bool bare_norm;   /* queries and keys are normalised after the rotation, without weights */
    /* Queries at position p are multiplied by 1 + warmth·ln(1 + floor((p + warm_from) /
     * warm_every)); warm_every 0: not */
    float warmth;
    int32_t warm_every, warm_from;

    /* [heads·head_dim, dim], [kv_heads·head_dim, dim] twice. Gated: after each head's rows of q as
     * many of its gate */
    struct qn_tensor q, k, v;
    struct qn_tensor q_b, k_b, v_b;  /* their rows */
    struct qn_tensor q_norm, k_norm; /* [head_dim], as wide as q and k, or [heads, head_dim] */
    struct qn_tensor sinks;          /* [heads] */
    struct qn_tensor o;              /* [dim, heads·head_dim] */
    struct qn_tensor o_b;            /* [dim] */
};

extern const struct qn_block qn_block_attention;

#endif
