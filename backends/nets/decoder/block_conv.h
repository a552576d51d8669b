/* The gated short convolution, the mixer of most layers of LFM2, and the convolution at the
 * beginning of Mamba 2 and gated delta nets. Private to backends/nets. */
#ifndef QN_NETS_DECODER_BLOCK_CONV_H
#define QN_NETS_DECODER_BLOCK_CONV_H

#include "nets/decoder/block.h"

enum { QN_NET_CHANNELS_MAX = 1 << 18 };

/* A causal depthwise convolution. */
struct qn_conv {
    struct qn_tensor w; /* [kernel, channels] f32: transposed from the file */
    struct qn_tensor b; /* [channels], or ndim 0 */
};

/* Takes "blk.<index>.<name>.weight" [channels, kernel] and, if present, ".bias"; reserves state in
 * the layer for the inputs of the last kernel - 1 tokens. */
qn_err qn_conv_load(struct qn_loader *l, struct qn_conv *c, struct qn_decoder_layer *layer,
                    int32_t kernel, int64_t channels, const char *name);

/* y = conv(x), followed by silu if requested, for every sequence of the batch.  x, y [rows,
 * channels], different memory. */
void qn_conv_forward(struct qn_net *net, const struct qn_decoder_layer *layer,
                     const struct qn_step_rows *b, const struct qn_conv *c, bool silu,
                     struct qn_tensor *y, const struct qn_tensor *x);

/* out = W_out · (c ⊙ conv(b ⊙ x)), where b, c and x are three thirds of W_in · in. */
struct qn_short_conv_weights {
    int32_t kernel;
    struct qn_tensor in;  /* [3·dim, dim] */
    struct qn_tensor out; /* [dim, dim] */
    struct qn_conv conv;  /* over dim channels */
};

extern const struct qn_block qn_block_conv;

#endif
