/* Multi-head latent attention: keys and values of all heads are computed from one short vector per
 * token, and the cache stores only that vector. Private to backends/nets. */
#ifndef QN_NETS_DECODER_BLOCK_MLA_H
#define QN_NETS_DECODER_BLOCK_MLA_H

#include "nets/decoder/block.h"

/* Tensors that the file does not have stay at ndim 0. */
struct qn_mla {
    int32_t heads;
    /* of a head's query and key: the part without rotation, and the rotated part */
    int32_t plain_dim, rope_dim;
    int32_t value_dim; /* of a head */
    /* width of the latent vector of keys and values, and of queries; q_latent 0: queries are
     * computed directly from the stream */
    int32_t latent, q_latent;
    float scale; /* of the scores */

    struct qn_tensor q_a;      /* [q_latent, dim] */
    struct qn_tensor q_a_norm; /* [q_latent] */
    struct qn_tensor q;        /* [heads·(plain_dim + rope_dim), q_latent or dim] */
    /* [latent + rope_dim, dim]: gives the latent vector, and a rotated key that all heads share */
    struct qn_tensor kv_a;
    struct qn_tensor kv_a_norm; /* [latent] */
    struct qn_tensor k_b;       /* [heads, latent, plain_dim]: maps a query to the latent space */
    struct qn_tensor v_b;       /* [heads, value_dim, latent] */
    struct qn_tensor o;         /* [dim, heads·value_dim] */
};

extern const struct qn_block qn_block_mla;

/* For `configure`: gives every layer this block, with the widths in the metadata. */
qn_err qn_mla_configure(struct qn_loader *l, struct qn_net *net);

#endif
