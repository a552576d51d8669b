/* Alternating updates: a network whose stream is several streams, of which each layer computes one
 * and predicts the others (Gemma 3n). Private to this room. */
#ifndef QN_NETS_DECODER_ALTUP_H
#define QN_NETS_DECODER_ALTUP_H

#include "nets/decoder/block.h"

enum { QN_ALTUP_STREAMS_MAX = 8, QN_ALTUP_RANK_MAX = 4096 };

/* Of the net. */
struct qn_altup {
    int32_t streams, active;                          /* streams 0: the network has one only */
    struct qn_tensor widen[QN_ALTUP_STREAMS_MAX - 1]; /* [dim, dim]: a stream from the active one */
    struct qn_tensor merge[QN_ALTUP_STREAMS_MAX - 1]; /* and back */
};

/* Of a layer. */
struct qn_altup_layer {
    struct qn_tensor router;        /* [streams, dim] */
    struct qn_tensor router_norm;   /* [dim] */
    struct qn_tensor predict;       /* [streams², streams] */
    struct qn_tensor correct;       /* [streams, streams] */
    struct qn_tensor correct_scale; /* [dim] */
    int32_t rank;
    struct qn_tensor laurel_down; /* [rank, dim]: a second, narrow way past attention */
    struct qn_tensor laurel_up;   /* [dim, rank] */
    struct qn_tensor laurel_norm; /* [dim] */
};

qn_err qn_altup_configure(struct qn_loader *l, struct qn_net *net);
qn_err qn_altup_load(struct qn_loader *l, struct qn_net *net);
qn_err qn_altup_layer_load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer);
/* Bytes of scratch that qn_altup_run uses, those of its blocks aside. */
size_t qn_altup_bytes(const struct qn_net *net, int64_t rows);

/* All layers: x [rows, dim] is the embedding and becomes what the output's norm reads, of the
 * wanted rows alone; h and out are of the same shape and are spent. */
void qn_altup_run(struct qn_net *net, struct qn_step_rows *b, struct qn_tensor *x,
                  struct qn_tensor *h, struct qn_tensor *out);

#endif
