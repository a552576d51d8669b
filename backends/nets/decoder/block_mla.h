/* Multi-head latent attention: keys and values of all heads come from one short vector per token,
 * and that vector is all the cache keeps. Private to this room. */
#ifndef QN_NETS_DECODER_BLOCK_MLA_H
#define QN_NETS_DECODER_BLOCK_MLA_H

#include "nets/decoder/block.h"

/* What the file does not have keeps ndim 0. */
struct qn_mla {
    int32_t heads;
    int32_t plain_dim, rope_dim; /* of a head's query and key: not rotated, rotated */
    int32_t value_dim;           /* of a head */
    int32_t latent, q_latent;    /* what keys and values, and queries, are made of; q_latent 0:
                                  * queries come straight from the stream */
    float scale;                 /* of the scores */

    struct qn_tensor q_a;       /* [q_latent, dim] */
    struct qn_tensor q_a_norm;  /* [q_latent] */
    struct qn_tensor q;         /* [heads·(plain_dim + rope_dim), q_latent or dim] */
    struct qn_tensor kv_a;      /* [latent + rope_dim, dim]: the latent vector, and a rotated key
                                 * that all heads share */
    struct qn_tensor kv_a_norm; /* [latent] */
    struct qn_tensor k_b;       /* [heads, latent, plain_dim]: from a query to the latent space */
    struct qn_tensor v_b;       /* [heads, value_dim, latent] */
    struct qn_tensor o;         /* [dim, heads·value_dim] */
};

extern const struct qn_block qn_block_mla;

/* For `configure`: gives every layer this block, with the widths that the metadata say. */
qn_err qn_mla_configure(struct qn_loader *l, struct qn_net *net);

#endif
