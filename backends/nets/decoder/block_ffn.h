/* The dense feed-forward block. Private to this room. */
#ifndef QN_NETS_DECODER_BLOCK_FFN_H
#define QN_NETS_DECODER_BLOCK_FFN_H

#include "nets/decoder/block.h"

struct qn_ffn {
    int32_t width; /* ff */
    float
        cut; /* gates below mean + cut·(standard deviation) of their row do not count; 0: all do */
    struct qn_tensor gate, up;     /* [ff, dim] */
    struct qn_tensor down;         /* [dim, ff] */
    struct qn_tensor gate_b, up_b; /* [ff]; what the file does not have keeps ndim 0 */
    struct qn_tensor down_b;       /* [dim] */
};

extern const struct qn_block qn_block_ffn;
/* The same in the place of a layer's mixer (Nemotron H). */
extern const struct qn_block qn_block_ffn_alone;

#endif
