/* The gated delta net's mixer. Private to backends/nets. */
#ifndef QN_NETS_DECODER_BLOCK_DELTA_H
#define QN_NETS_DECODER_BLOCK_DELTA_H

#include "nets/decoder/block_conv.h"

struct qn_delta_net {
    int32_t kernel, k_heads, v_heads, k_dim, v_dim;
    bool tiled; /* true: value head h uses key head h % k_heads; false: h / (v_heads / k_heads) */

    /* Two matrices: q, k and v, each head after head; and the gate z. Older files have one matrix
     * instead, `in`, with the rows q, k, v, z of one key head after another; the other two have
     * ndim 0 then. */
    struct qn_tensor qkv, z, in;
    /* The write strength and the decay of each value head: two matrices, or one, `ba`, with the
     * rows of one key head after another. */
    struct qn_tensor beta, alpha, ba;
    struct qn_conv conv;         /* over q, k and v */
    struct qn_tensor dt_bias, a; /* [v_heads] */
    struct qn_tensor norm;       /* [v_dim] */
    struct qn_tensor out;        /* [dim, v_heads·v_dim] */
};

/* Reads "ssm.…" of the metadata, the same for all layers. */
qn_err qn_delta_configure(struct qn_loader *l, struct qn_delta_net *d);

extern const struct qn_block qn_block_delta;

#endif
