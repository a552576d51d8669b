/* Per-layer inputs: each token has a short vector for each layer, computed from a second table and
 * from the embedding (Gemma 3n and 4). Private to backends/nets. */
#ifndef QN_NETS_DECODER_LAYER_INPUTS_H
#define QN_NETS_DECODER_LAYER_INPUTS_H

#include "nets/decoder/block.h"

enum { QN_LAYER_INPUT_MAX = 8192 };

/* Weights of the net. */
struct qn_layer_inputs {
    int32_t width;          /* of one layer's vector; 0: the network has no per-layer inputs */
    struct qn_tensor table; /* [vocab, layers·width], as in the file */
    struct qn_tensor proj;  /* [layers·width, dim] */
    struct qn_tensor norm;  /* [width] */
};

/* Weights of a layer. */
struct qn_layer_input {
    struct qn_tensor gate; /* [width, dim] */
    struct qn_tensor proj; /* [dim, width] */
    struct qn_tensor norm; /* [dim] */
};

/* For `configure`: reads the width. */
qn_err qn_layer_inputs_configure(struct qn_loader *l, struct qn_net *net);
qn_err qn_layer_inputs_load(struct qn_loader *l, struct qn_net *net);
qn_err qn_layer_input_load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer);

/* Bytes of scratch memory: for all layers' inputs, used during the whole pass; and additionally for
 * adding one layer's input. */
size_t qn_layer_inputs_bytes(const struct qn_net *net, int64_t rows);
size_t qn_layer_input_bytes(const struct qn_net *net, int64_t rows);

/* b->inputs = (norm(proj·x) + the tokens' rows of the table) / sqrt 2. ids [rows] i32, x [rows,
 * dim] the scaled embedding. The tensor remains in scratch memory. */
void qn_layer_inputs_make(struct qn_net *net, struct qn_step_rows *b, const struct qn_tensor *ids,
                          const struct qn_tensor *x);
/* out = norm(proj·(gelu(gate·x) · input)).  x, out [rows, dim], different memory. */
void qn_layer_input_run(struct qn_net *net, const struct qn_decoder_layer *layer,
                        const struct qn_step_rows *b, struct qn_tensor *out,
                        const struct qn_tensor *x);

#endif
