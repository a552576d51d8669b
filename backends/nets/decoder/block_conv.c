/* The gated short convolution of LFM2. Source: the model's published definition (arXiv:2511.23404,
 * section 2). */
#include "nets/decoder/block_conv.h"

#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

/* ---- the convolution, used by several blocks ---- */

qn_err qn_conv_load(struct qn_loader *l, struct qn_conv *c, struct qn_decoder_layer *layer,
                    int32_t kernel, int64_t channels, const char *name)
{
    layer->state.inputs[0] = kernel - 1;
    layer->state.inputs[1] = channels;
    qn_err err = qn_loader_turned(l, &c->w, QN_REQUIRED, channels, kernel, "blk.%d.%s.weight",
                                  layer->index, name);
    if (err != QN_OK)
        return err;
    return qn_loader_vector(l, &c->b, QN_OPTIONAL, channels, "blk.%d.%s.bias", layer->index, name);
}

void qn_conv_forward(struct qn_net *net, const struct qn_decoder_layer *layer,
                     const struct qn_step_rows *b, const struct qn_conv *c, bool silu,
                     struct qn_tensor *y, const struct qn_tensor *x)
{
    struct qn_state_pass p = {.layer = layer, .part = QN_STATE_INPUTS};
    while (qn_state_next(net, b, &p))
        qn_short_conv(net->dev, y, x, &c->w, qn_block_or_null(&c->b), silu, p.spans, p.states, p.n);
}

/* ---- the LFM2 block ---- */

static qn_err load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    struct qn_short_conv_weights *w = &layer->conv;
    const int64_t dim = net->shape.dim;
    const int i = layer->index;
    qn_err err;
    if ((err = qn_loader_matrix(l, &w->in, QN_REQUIRED, 3 * dim, dim,
                                "blk.%d.shortconv.in_proj.weight", i)) != QN_OK ||
        (err = qn_loader_matrix(l, &w->out, QN_REQUIRED, dim, dim,
                                "blk.%d.shortconv.out_proj.weight", i)) != QN_OK)
        return err;
    return qn_conv_load(l, &w->conv, layer, w->kernel, dim, "shortconv.conv");
}

static size_t scratch_bytes(const struct qn_net *net, const struct qn_decoder_layer *layer,
                            int64_t rows)
{
    (void)layer;
    return qn_block_f32_bytes(rows, 3 * (int64_t)net->shape.dim) +
           qn_block_f32_bytes(rows, net->shape.dim);
}

static void forward(struct qn_net *net, const struct qn_decoder_layer *layer,
                    const struct qn_step_rows *batch, struct qn_tensor *out,
                    const struct qn_tensor *in)
{
    const struct qn_short_conv_weights *w = &layer->conv;
    const int64_t dim = net->shape.dim;
    size_t mark = qn_scratch_mark(net->scratch);

    struct qn_tensor all = qn_block_f32(net, batch->rows, 3 * dim);
    struct qn_tensor y = qn_block_f32(net, batch->rows, dim);
    struct qn_tensor b = qn_tensor_slice(&all, 1, 0, dim);
    struct qn_tensor c = qn_tensor_slice(&all, 1, dim, dim);
    struct qn_tensor x = qn_tensor_slice(&all, 1, 2 * dim, dim);

    qn_block_matmul(net, batch, &all, in, &w->in);
    qn_mul(net->dev, &x, &b, &x);
    qn_conv_forward(net, layer, batch, &w->conv, false, &y, &x);
    qn_mul(net->dev, &y, &c, &y);
    struct qn_tensor wanted = qn_batch_wanted(net, batch, &y);
    qn_block_matmul(net, batch, out, &wanted, &w->out);
    qn_scratch_reset(net->scratch, mark);
}

const struct qn_block qn_block_conv = {
    .load = load, .scratch_bytes = scratch_bytes, .forward = forward};
