/* Mamba 2's mixer, and the block that runs it in parallel with attention on the same input (Falcon
 * H1). Private to backends/nets. */
#ifndef QN_NETS_DECODER_BLOCK_MAMBA2_H
#define QN_NETS_DECODER_BLOCK_MAMBA2_H

#include "nets/decoder/block_conv.h"

enum {
    QN_NET_CONV_MAX = QN_CONV_MAX,
    QN_NET_GROUPS_MAX = 1024,
    QN_NET_STATE_MAX = 4096 /* rows or columns of one head's state */
};

struct qn_mamba2 {
    int32_t kernel, heads, head_dim, groups, states;
    struct qn_tensor in; /* [rows, dim]; the rows are z (heads·head_dim), x (heads·head_dim), b
                            (groups·states), c (groups·states) and dt (heads) */
    struct qn_conv conv; /* over x, b and c */
    struct qn_tensor dt_bias, a, d; /* [heads] */
    struct qn_tensor norm;          /* [groups, heads·head_dim / groups]; ndim 0: none */
    struct qn_tensor out;           /* [dim, heads·head_dim] */
};

/* Reads "ssm.…" of the metadata, the same for all layers. */
qn_err qn_mamba2_configure(struct qn_loader *l, struct qn_mamba2 *m);

extern const struct qn_block qn_block_mamba2, qn_block_attention_and_mamba2;

#endif
