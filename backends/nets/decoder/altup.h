/* Alternating updates: a network with several residual streams, of which each layer computes one
 * and predicts the others (Gemma 3n). Private to backends/nets. */
#ifndef QN_NETS_DECODER_ALTUP_H
#define QN_NETS_DECODER_ALTUP_H

#include "nets/decoder/block.h"

enum { QN_ALTUP_STREAMS_MAX = 8, QN_ALTUP_RANK_MAX = 4096 };

/* Weights of the net. */
struct qn_altup {
    int32_t streams, active; /* streams 0: the network has only one */
    /* [dim, dim]: initialises a stream from the active one */
    struct qn_tensor widen[QN_ALTUP_STREAMS_MAX - 1];
    /* [dim, dim]: merges a stream back */
    struct qn_tensor merge[QN_ALTUP_STREAMS_MAX - 1];
};

/* Weights of a layer. */
struct qn_altup_layer {
    struct qn_tensor router;        /* [streams, dim] */
    struct qn_tensor router_norm;   /* [dim] */
    struct qn_tensor predict;       /* [streams², streams] */
    struct qn_tensor correct;       /* [streams, streams] */
    struct qn_tensor correct_scale; /* [dim] */
    int32_t rank;
    struct qn_tensor laurel_down; /* [rank, dim]: a low-rank path parallel to attention */
    struct qn_tensor laurel_up;   /* [dim, rank] */
    struct qn_tensor laurel_norm; /* [dim] */
};

qn_err qn_altup_configure(struct qn_loader *l, struct qn_net *net);
qn_err qn_altup_load(struct qn_loader *l, struct qn_net *net);
qn_err qn_altup_layer_load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer);
/* Bytes of scratch memory that qn_altup_run uses, without that of its blocks. */
size_t qn_altup_bytes(const struct qn_net *net, int64_t rows);

/* Runs all layers: x [rows, dim] is the embedding and becomes the output norm's input, with the
 * wanted rows only; h and out have the same shape and are overwritten. */
void qn_altup_run(struct qn_net *net, struct qn_step_rows *b, struct qn_tensor *x,
                  struct qn_tensor *h, struct qn_tensor *out);

#endif
