/* Gated delta net: project, convolve, normalise queries and keys, recur, normalise, gate, project.
 * Source: arXiv:2412.06464, section 3.4, as Qwen3-Next's published definition has it. */
#include "nets/decoder/block_delta.h"

#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#include <math.h>

/* a constant of the model's definition; files do not contain it */
static const float l2_eps = 1e-6f;

static int64_t key_width(const struct qn_delta_net *d)
{
    return (int64_t)d->k_heads * d->k_dim;
}

static int64_t value_width(const struct qn_delta_net *d)
{
    return (int64_t)d->v_heads * d->v_dim;
}

static int64_t conv_channels(const struct qn_delta_net *d)
{
    return 2 * key_width(d) + value_width(d);
}

qn_err qn_delta_configure(struct qn_loader *l, struct qn_delta_net *d)
{
    int32_t width;
    qn_err err;
    const int32_t must = QN_LOADER_MUST, heads = QN_NET_HEADS_MAX;
    if ((err = qn_loader_count(l, "ssm.conv_kernel", 2, QN_NET_CONV_MAX, must, &d->kernel)) !=
            QN_OK ||
        (err = qn_loader_count(l, "ssm.group_count", 1, heads, must, &d->k_heads)) != QN_OK ||
        (err = qn_loader_count(l, "ssm.time_step_rank", 1, heads, must, &d->v_heads)) != QN_OK ||
        (err = qn_loader_count(l, "ssm.state_size", 1, QN_NET_STATE_MAX, must, &d->k_dim)) !=
            QN_OK ||
        (err = qn_loader_count(l, "ssm.inner_size", 1, QN_NET_CHANNELS_MAX, must, &width)) != QN_OK)
        return err;
    d->v_dim = width / d->v_heads;
    if (width % d->v_heads || d->v_dim % 16 || d->v_dim > QN_NET_STATE_MAX)
        return qn_fail(l->e, QN_EUNSUPPORTED,
                       "%d channels of linear attention in %d heads: this version takes heads of a "
                       "multiple of 16 channels, at most %d",
                       width, d->v_heads, QN_NET_STATE_MAX);
    if (d->v_heads % d->k_heads)
        return qn_fail(l->e, QN_EFORMAT,
                       "%d value heads of linear attention cannot share %d key heads evenly",
                       d->v_heads, d->k_heads);
    return QN_OK;
}

static qn_err load_inputs(struct qn_loader *l, struct qn_delta_net *d, int64_t dim, int i)
{
    const int64_t heads = d->v_heads, v = value_width(d), all = conv_channels(d) + v;
    const enum qn_need must = QN_REQUIRED;
    qn_err err;
    if (qn_loader_has(l, "blk.%d.ssm_in.weight", i))
        err = qn_loader_matrix(l, &d->in, must, all, dim, "blk.%d.ssm_in.weight", i);
    else if ((err = qn_loader_matrix(l, &d->qkv, must, conv_channels(d), dim,
                                     "blk.%d.attn_qkv.weight", i)) == QN_OK)
        err = qn_loader_matrix(l, &d->z, must, v, dim, "blk.%d.attn_gate.weight", i);
    if (err != QN_OK)
        return err;
    if (qn_loader_has(l, "blk.%d.ssm_ba.weight", i))
        return qn_loader_matrix(l, &d->ba, must, 2 * heads, dim, "blk.%d.ssm_ba.weight", i);
    err = qn_loader_matrix(l, &d->beta, must, heads, dim, "blk.%d.ssm_beta.weight", i);
    if (err != QN_OK)
        return err;
    return qn_loader_matrix(l, &d->alpha, must, heads, dim, "blk.%d.ssm_alpha.weight", i);
}

static qn_err load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    struct qn_delta_net *d = &layer->delta;
    const int64_t dim = net->shape.dim;
    const enum qn_need must = QN_REQUIRED;
    const int i = layer->index;
    qn_err err;
    layer->state.matrices[0] = d->v_heads;
    layer->state.matrices[1] = d->k_dim;
    layer->state.matrices[2] = d->v_dim;
    if ((err = load_inputs(l, d, dim, i)) != QN_OK ||
        (err = qn_conv_load(l, &d->conv, layer, d->kernel, conv_channels(d), "ssm_conv1d")) !=
            QN_OK ||
        (err = qn_loader_vector(l, &d->dt_bias, must, d->v_heads, "blk.%d.ssm_dt.bias", i)) !=
            QN_OK ||
        (err = qn_loader_vector(l, &d->a, must, d->v_heads, "blk.%d.ssm_a", i)) != QN_OK ||
        (err = qn_loader_vector(l, &d->norm, must, d->v_dim, "blk.%d.ssm_norm.weight", i)) != QN_OK)
        return err;
    return qn_loader_matrix(l, &d->out, must, dim, value_width(d), "blk.%d.ssm_out.weight", i);
}

static size_t scratch_bytes(const struct qn_net *net, const struct qn_decoder_layer *layer,
                            int64_t rows)
{
    const struct qn_delta_net *d = &layer->delta;
    const int64_t channels = conv_channels(d), v = value_width(d), heads = d->v_heads;
    size_t bytes = 2 * qn_block_f32_bytes(rows, channels) + 2 * qn_block_f32_bytes(rows, v) +
                   3 * qn_block_f32_bytes(rows, heads);
    (void)net;
    if (d->in.ndim)
        bytes += qn_block_f32_bytes(rows, channels + v);
    return bytes + (d->ba.ndim ? qn_block_f32_bytes(rows, 2 * heads) : 0);
}

/* Copies columns first .. first + n of each key head's group in `from` [rows, k_heads, wide] to the
 * columns of `to` from `at` on, head after head. */
static void gather_heads(struct qn_net *net, const struct qn_delta_net *d, struct qn_tensor *to,
                         int64_t at, const struct qn_tensor *from, int64_t first, int64_t n)
{
    struct qn_tensor heads = qn_block_part(from, 0, d->k_heads, from->shape[1] / d->k_heads);
    struct qn_tensor src = qn_tensor_slice(&heads, 2, first, n);
    struct qn_tensor dst = qn_block_part(to, at, d->k_heads, n);
    qn_copy(net->dev, &dst, &src);
}

/* Computes qkv [rows, channels] and z [rows, v_heads·v_dim]. */
static void project(struct qn_net *net, const struct qn_delta_net *d, const struct qn_step_rows *b,
                    const struct qn_tensor *in, struct qn_tensor *qkv, struct qn_tensor *z)
{
    if (!d->in.ndim) {
        const struct qn_linear both[] = {{qkv, &d->qkv, NULL}, {z, &d->z, NULL}};
        qn_block_matmul_many(net, b, in, both, 2);
        return;
    }
    const int64_t k = d->k_dim, v = d->v_heads / d->k_heads * d->v_dim;
    size_t mark = qn_scratch_mark(net->scratch);
    struct qn_tensor all = qn_block_f32(net, in->shape[0], conv_channels(d) + value_width(d));
    qn_block_matmul(net, b, &all, in, &d->in);
    gather_heads(net, d, qkv, 0, &all, 0, k);
    gather_heads(net, d, qkv, key_width(d), &all, k, k);
    gather_heads(net, d, qkv, 2 * key_width(d), &all, 2 * k, v);
    gather_heads(net, d, z, 0, &all, 2 * k + v, v);
    qn_scratch_reset(net->scratch, mark);
}

/* Computes beta and decay [rows, v_heads]; alpha is scratch. */
static void project_gates(struct qn_net *net, const struct qn_delta_net *d,
                          const struct qn_step_rows *b, const struct qn_tensor *in,
                          struct qn_tensor *beta, struct qn_tensor *alpha, struct qn_tensor *decay)
{
    if (d->ba.ndim) {
        const int64_t each = d->v_heads / d->k_heads;
        size_t mark = qn_scratch_mark(net->scratch);
        struct qn_tensor ba = qn_block_f32(net, in->shape[0], 2 * (int64_t)d->v_heads);
        qn_block_matmul(net, b, &ba, in, &d->ba);
        gather_heads(net, d, beta, 0, &ba, 0, each);
        gather_heads(net, d, alpha, 0, &ba, each, each);
        qn_scratch_reset(net->scratch, mark);
    } else {
        const struct qn_linear both[] = {{beta, &d->beta, NULL}, {alpha, &d->alpha, NULL}};
        qn_block_matmul_many(net, b, in, both, 2);
    }
    qn_sigmoid(net->dev, beta, beta);
    qn_time_steps(net->dev, decay, NULL, alpha, &d->dt_bias, &d->a);
}

static void forward(struct qn_net *net, const struct qn_decoder_layer *layer,
                    const struct qn_step_rows *b, struct qn_tensor *out, const struct qn_tensor *in)
{
    const struct qn_delta_net *d = &layer->delta;
    const int64_t rows = b->rows, key = key_width(d);
    struct qn_device *dev = net->dev;
    size_t mark = qn_scratch_mark(net->scratch);

    struct qn_tensor before = qn_block_f32(net, rows, conv_channels(d));
    struct qn_tensor qkv = qn_block_f32(net, rows, conv_channels(d));
    struct qn_tensor z = qn_block_f32(net, rows, value_width(d));
    struct qn_tensor y = qn_block_f32(net, rows, value_width(d));
    struct qn_tensor beta = qn_block_f32(net, rows, d->v_heads);
    struct qn_tensor alpha = qn_block_f32(net, rows, d->v_heads);
    struct qn_tensor decay = qn_block_f32(net, rows, d->v_heads);
    struct qn_tensor q = qn_block_part(&qkv, 0, d->k_heads, d->k_dim);
    struct qn_tensor k = qn_block_part(&qkv, key, d->k_heads, d->k_dim);
    struct qn_tensor v = qn_block_part(&qkv, 2 * key, d->v_heads, d->v_dim);
    struct qn_tensor yh = qn_block_heads(&y, d->v_heads, d->v_dim);

    project(net, d, b, in, &before, &z);
    project_gates(net, d, b, in, &beta, &alpha, &decay);
    qn_conv_forward(net, layer, b, &d->conv, true, &qkv, &before);
    qn_l2_norm(dev, &q, &q, l2_eps, 1.0f / sqrtf((float)d->k_dim));
    qn_l2_norm(dev, &k, &k, l2_eps, 1.0f);
    const struct qn_delta rule = {
        .q = &q, .k = &k, .v = &v, .decay = &decay, .beta = &beta, .tiled = d->tiled};
    struct qn_state_pass p = {.layer = layer, .part = QN_STATE_MATRICES};
    while (qn_state_next(net, b, &p))
        qn_delta_rule(dev, &yh, &rule, p.spans, p.states, p.n);
    qn_rms_norm(dev, &yh, &yh, &d->norm, net->shape.eps);
    qn_silu_mul(dev, &y, &z, &y);

    struct qn_tensor wanted = qn_batch_wanted(net, b, &y);
    qn_block_matmul(net, b, out, &wanted, &d->out);
    qn_scratch_reset(net->scratch, mark);
}

const struct qn_block qn_block_delta = {
    .load = load, .scratch_bytes = scratch_bytes, .forward = forward};
