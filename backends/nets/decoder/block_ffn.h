/* The dense feed-forward block. Private to backends/nets. */
#ifndef QN_NETS_DECODER_BLOCK_FFN_H
#define QN_NETS_DECODER_BLOCK_FFN_H

#include "nets/decoder/block.h"

struct qn_ffn {
    int32_t width; /* ff */
    float
        /* gates below mean + cut·(standard deviation) of their row become 0; 0: all gates count */
        cut;
    struct qn_tensor gate, up;     /* [ff, dim] */
    struct qn_tensor down;         /* [dim, ff] */
    struct qn_tensor gate_b, up_b; /* [ff]; tensors that the file does not have stay at ndim 0 */
    struct qn_tensor down_b;       /* [dim] */
};

extern const struct qn_block qn_block_ffn;
/* The same block used as a layer's mixer (Nemotron H). */
extern const struct qn_block qn_block_ffn_alone;

#endif
