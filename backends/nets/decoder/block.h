/* A block of a layer: attention, a feed-forward network, or any other mixer of tokens or channels.
 * The decoder applies norms and residual sums around blocks and is independent of their
 * implementation.
 *
 * Each block has files block_<name>.{h,c}: the header declares its weights, which are a member of
 * struct qn_decoder_layer, and its row. Private to backends/nets. */
#ifndef QN_NETS_DECODER_BLOCK_H
#define QN_NETS_DECODER_BLOCK_H

#include "base/error.h"
#include "engine/ops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_loader;
struct qn_net;
struct qn_decoder_layer;

enum { QN_NET_ROPES_MAX = 4 };

/* The tokens of one call, row after row. */
struct qn_step_rows {
    int32_t rows;
    int32_t spans;   /* number of entries of net->spans, which assign rows to sequences */
    int32_t outputs; /* rows whose logits are wanted: length of net->out_row */
    bool last;       /* in the last layer: see qn_batch_wanted */
    struct qn_tensor angles[QN_NET_ROPES_MAX]; /* one per rotation of the net */
    struct qn_tensor inputs;                   /* per-layer inputs: see layer_inputs.h */
    const struct qn_adapting *adapting;        /* see adapter.h; NULL: no row uses an adapter */
};

typedef void (*qn_block_forward)(struct qn_net *net, const struct qn_decoder_layer *layer,
                                 const struct qn_step_rows *b, struct qn_tensor *out,
                                 const struct qn_tensor *in);

struct qn_block {
    /* Takes the layer's tensors (named "blk.<index>.…"), checks the block's requirements of the
     * layer, and fills layer->cache if the block has keys and values. */
    qn_err (*load)(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer);
    /* Bytes of scratch memory that forward uses for a batch of `rows` tokens. */
    size_t (*scratch_bytes)(const struct qn_net *net, const struct qn_decoder_layer *layer,
                            int64_t rows);
    /* MAY be NULL. Raises the limits in *need to what the block's operations other than matrix
     * products require of the device. */
    void (*reserve)(const struct qn_decoder_layer *layer, struct qn_reserve *need);
    /* out = block(in).  in [rows, dim], not modified; out [rows, dim], different memory. A mixer in
     * the last layer returns only the wanted rows: out [outputs, dim]. Frees its scratch memory. */
    qn_block_forward forward;
};

/* After the last layer's mixing, rows are independent. In the last layer this moves the rows whose
 * logits are wanted to the front of t [rows, n] and returns a view of them, [outputs, n]; in other
 * layers it returns t. A mixer calls it before its last product. */
struct qn_tensor qn_batch_wanted(struct qn_net *net, const struct qn_step_rows *b,
                                 const struct qn_tensor *t);

/* Runs `forward`, which computes all rows that it is given, on the wanted rows only. */
void qn_block_wanted(qn_block_forward forward, struct qn_net *net,
                     const struct qn_decoder_layer *layer, const struct qn_step_rows *b,
                     struct qn_tensor *out, const struct qn_tensor *in);

/* Scratch tensors [rows, cols] f32, and the bytes of one. */
struct qn_tensor qn_block_f32(struct qn_net *net, int64_t rows, int64_t cols);
size_t qn_block_f32_bytes(int64_t rows, int64_t cols);
/* t [rows, heads·head_dim] as [rows, heads, head_dim]. */
struct qn_tensor qn_block_heads(const struct qn_tensor *t, int64_t heads, int64_t head_dim);
/* The columns of t [rows, cols] from `first` on, as [rows, heads, head_dim]. */
struct qn_tensor qn_block_part(const struct qn_tensor *t, int64_t first, int64_t heads,
                               int64_t head_dim);
/* Products with the net's matrices like those of ops.h, plus the contributions of adapters for the
 * rows that use some. x has all rows of the batch, or the wanted ones. */
void qn_block_matmul(struct qn_net *net, const struct qn_step_rows *b, struct qn_tensor *y,
                     const struct qn_tensor *x, const struct qn_tensor *w);
void qn_block_matmul_many(struct qn_net *net, const struct qn_step_rows *b,
                          const struct qn_tensor *x, const struct qn_linear *parts, int n_parts);
void qn_block_matmul_experts(struct qn_net *net, const struct qn_step_rows *b,
                             const struct qn_tensor *x, const struct qn_tensor *ids,
                             const struct qn_expert_linear *parts, int n_parts);
void qn_block_sum_experts(struct qn_net *net, const struct qn_step_rows *b,
                          const struct qn_tensor *x, const struct qn_expert_linear *part,
                          const struct qn_tensor *ids, const struct qn_tensor *weights);

/* NULL if the file does not have the tensor. */
const struct qn_tensor *qn_block_or_null(const struct qn_tensor *t);

#endif
