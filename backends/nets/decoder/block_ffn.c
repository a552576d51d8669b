/* The dense feed-forward block: down(act(gate·x) · up·x). Source: arXiv:2002.05202. Or without a
 * gate: down(relu²(up·x)). Source: arXiv:2109.08668. */
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

static qn_err load_gate_and_up(struct qn_loader *l, const struct qn_net *net, struct qn_ffn *f,
                               int i)
{
    const int64_t dim = net->shape.dim, ff = f->width;
    if (net->arch->act == QN_ACT_RELU_SQUARED) {
        qn_err err = qn_loader_matrix(l, &f->up, QN_REQUIRED, ff, dim, "blk.%d.ffn_up.weight", i);
        if (err == QN_OK)
            err = qn_loader_vector(l, &f->up_b, QN_OPTIONAL, ff, "blk.%d.ffn_up.bias", i);
        return err;
    }
    if (net->arch->merged_gate)
        return qn_loader_stacked(l, (struct qn_tensor *const[]){&f->gate, &f->up},
                                 (const int64_t[]){ff, ff}, 2, dim, "blk.%d.ffn_up.weight", i);
    qn_err err = qn_loader_matrix(l, &f->gate, QN_REQUIRED, ff, dim, "blk.%d.ffn_gate.weight", i);
    if (err == QN_OK)
        err = qn_loader_matrix(l, &f->up, QN_REQUIRED, ff, dim, "blk.%d.ffn_up.weight", i);
    if (err == QN_OK)
        err = qn_loader_vector(l, &f->gate_b, QN_OPTIONAL, ff, "blk.%d.ffn_gate.bias", i);
    if (err == QN_OK)
        err = qn_loader_vector(l, &f->up_b, QN_OPTIONAL, ff, "blk.%d.ffn_up.bias", i);
    return err;
}

static qn_err load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    struct qn_ffn *f = &layer->dense;
    const int64_t dim = net->shape.dim;
    const int i = layer->index;
    qn_err err = load_gate_and_up(l, net, f, i);
    if (err == QN_OK)
        err =
            qn_loader_matrix(l, &f->down, QN_REQUIRED, dim, f->width, "blk.%d.ffn_down.weight", i);
    if (err == QN_OK)
        err = qn_loader_vector(l, &f->down_b, QN_OPTIONAL, dim, "blk.%d.ffn_down.bias", i);
    return err;
}

static size_t scratch_bytes(const struct qn_net *net, const struct qn_decoder_layer *layer,
                            int64_t rows)
{
    (void)net;
    return 2 * qn_block_f32_bytes(rows, layer->dense.width);
}

/* hidden = relu²(up·in + b). */
static void without_gate(struct qn_net *net, const struct qn_ffn *f, const struct qn_step_rows *b,
                         struct qn_tensor *hidden, const struct qn_tensor *in)
{
    const struct qn_linear up = {hidden, &f->up, qn_block_or_null(&f->up_b)};
    qn_block_matmul_many(net, b, in, &up, 1);
    qn_relu_squared(net->dev, hidden, hidden);
}

/* gate = act(gate·in + b) · (up·in + b'). */
static void with_gate(struct qn_net *net, const struct qn_ffn *f, const struct qn_step_rows *b,
                      struct qn_tensor *gate, const struct qn_tensor *in)
{
    struct qn_tensor up = qn_block_f32(net, in->shape[0], f->width);
    const struct qn_linear both[] = {{gate, &f->gate, qn_block_or_null(&f->gate_b)},
                                     {&up, &f->up, qn_block_or_null(&f->up_b)}};
    qn_block_matmul_many(net, b, in, both, 2);
    if (f->cut > 0)
        qn_cut_below(net->dev, gate, gate, f->cut);
    if (net->arch->act == QN_ACT_GELU)
        qn_gelu_mul(net->dev, gate, gate, &up);
    else
        qn_silu_mul(net->dev, gate, gate, &up);
}

static void forward(struct qn_net *net, const struct qn_decoder_layer *layer,
                    const struct qn_step_rows *b, struct qn_tensor *out, const struct qn_tensor *in)
{
    const struct qn_ffn *f = &layer->dense;
    size_t mark = qn_scratch_mark(net->scratch);
    struct qn_tensor hidden = qn_block_f32(net, b->rows, f->width);
    if (net->arch->act == QN_ACT_RELU_SQUARED)
        without_gate(net, f, b, &hidden, in);
    else
        with_gate(net, f, b, &hidden, in);
    const struct qn_linear down = {out, &f->down, qn_block_or_null(&f->down_b)};
    qn_block_matmul_many(net, b, &hidden, &down, 1);
    qn_scratch_reset(net->scratch, mark);
}

const struct qn_block qn_block_ffn = {
    .load = load, .scratch_bytes = scratch_bytes, .forward = forward};

/* Computes only the wanted rows, for a block that is the last layer's mixer. */
static void forward_alone(struct qn_net *net, const struct qn_decoder_layer *layer,
                          const struct qn_step_rows *b, struct qn_tensor *out,
                          const struct qn_tensor *in)
{
    qn_block_wanted(forward, net, layer, b, out, in);
}

const struct qn_block qn_block_ffn_alone = {
    .load = load, .scratch_bytes = scratch_bytes, .forward = forward_alone};
