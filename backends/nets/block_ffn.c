/* The dense feed-forward block: down(act(gate·x) · up·x). Source: arXiv:2002.05202. */
#include "nets/decoder.h"
#include "nets/loader.h"

static qn_err load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    struct qn_ffn *f = &layer->dense;
    const int64_t dim = net->shape.dim, ff = f->width;
    const enum qn_need must = QN_REQUIRED;
    const int i = layer->index;
    qn_err err;
    if ((err = qn_loader_matrix(l, &f->gate, must, ff, dim, "blk.%d.ffn_gate.weight", i)) !=
            QN_OK ||
        (err = qn_loader_matrix(l, &f->up, must, ff, dim, "blk.%d.ffn_up.weight", i)) != QN_OK)
        return err;
    return qn_loader_matrix(l, &f->down, must, dim, ff, "blk.%d.ffn_down.weight", i);
}

static size_t scratch_bytes(const struct qn_net *net, const struct qn_decoder_layer *layer,
                            int64_t rows)
{
    (void)net;
    return 2 * qn_block_f32_bytes(rows, layer->dense.width);
}

static void forward(struct qn_net *net, const struct qn_decoder_layer *layer,
                    const struct qn_batch *b, struct qn_tensor *out, const struct qn_tensor *in)
{
    const struct qn_ffn *f = &layer->dense;
    size_t mark = qn_scratch_mark(net->scratch);
    struct qn_tensor gate = qn_block_f32(net, b->rows, f->width);
    struct qn_tensor up = qn_block_f32(net, b->rows, f->width);

    const struct qn_linear both[] = {{&gate, &f->gate, NULL}, {&up, &f->up, NULL}};
    qn_matmul_many(net->dev, in, both, 2);
    qn_silu_mul(net->dev, &gate, &gate, &up);
    qn_matmul(net->dev, out, &gate, &f->down);
    qn_scratch_reset(net->scratch, mark);
}

const struct qn_block qn_block_ffn = {
    .load = load, .scratch_bytes = scratch_bytes, .forward = forward};
