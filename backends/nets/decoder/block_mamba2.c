/* Mamba 2: project, convolve, scan, gate, normalise, project. Source: arXiv:2405.21060, section 7.
 */
#include "nets/decoder/block_mamba2.h"

#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

static int64_t inner(const struct qn_mamba2 *m)
{
    return (int64_t)m->heads * m->head_dim;
}

static int64_t conv_channels(const struct qn_mamba2 *m)
{
    return inner(m) + 2 * (int64_t)m->groups * m->states;
}

qn_err qn_mamba2_configure(struct qn_loader *l, struct qn_mamba2 *m)
{
    int32_t width;
    qn_err err;
    const int32_t must = QN_LOADER_MUST;
    if ((err = qn_loader_count(l, "ssm.conv_kernel", 2, QN_NET_CONV_MAX, must, &m->kernel)) !=
            QN_OK ||
        (err = qn_loader_count(l, "ssm.time_step_rank", 1, QN_NET_HEADS_MAX, must, &m->heads)) !=
            QN_OK ||
        (err = qn_loader_count(l, "ssm.inner_size", 1, QN_NET_CHANNELS_MAX, must, &width)) !=
            QN_OK ||
        (err = qn_loader_count(l, "ssm.group_count", 1, QN_NET_GROUPS_MAX, must, &m->groups)) !=
            QN_OK ||
        (err = qn_loader_count(l, "ssm.state_size", 1, QN_NET_STATE_MAX, must, &m->states)) !=
            QN_OK)
        return err;
    m->head_dim = width / m->heads;
    if (width % m->heads || m->head_dim % 16 || m->head_dim > QN_NET_STATE_MAX)
        return qn_fail(
            l->e, QN_EUNSUPPORTED,
            "%d state-space channels in %d heads: this version takes heads of a multiple "
            "of 16 channels, at most %d",
            width, m->heads, QN_NET_STATE_MAX);
    if (m->heads % m->groups)
        return qn_fail(l->e, QN_EFORMAT, "%d state-space heads cannot share %d groups evenly",
                       m->heads, m->groups);
    return QN_OK;
}

static qn_err load_heads(struct qn_loader *l, struct qn_mamba2 *m, int i)
{
    qn_err err;
    if ((err = qn_loader_vector(l, &m->dt_bias, QN_REQUIRED, m->heads, "blk.%d.ssm_dt.bias", i)) !=
            QN_OK ||
        (err = qn_loader_grid(l, &m->a, QN_REQUIRED, m->heads, 1, "blk.%d.ssm_a", i)) != QN_OK ||
        (err = qn_loader_grid(l, &m->d, QN_REQUIRED, m->heads, 1, "blk.%d.ssm_d", i)) != QN_OK)
        return err;
    m->a = qn_tensor_reshape(&m->a, QN_SHAPE(m->heads));
    m->d = qn_tensor_reshape(&m->d, QN_SHAPE(m->heads));
    return QN_OK;
}

static qn_err load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    struct qn_mamba2 *m = &layer->mamba2;
    const int64_t dim = net->shape.dim, wide = inner(m), all = wide + conv_channels(m) + m->heads;
    const int i = layer->index;
    qn_err err;
    layer->state.matrices[0] = m->heads;
    layer->state.matrices[1] = m->states;
    layer->state.matrices[2] = m->head_dim;
    if ((err = qn_loader_matrix(l, &m->in, QN_REQUIRED, all, dim, "blk.%d.ssm_in.weight", i)) !=
            QN_OK ||
        (err = qn_conv_load(l, &m->conv, layer, m->kernel, conv_channels(m), "ssm_conv1d")) !=
            QN_OK ||
        (err = load_heads(l, m, i)) != QN_OK ||
        (err = qn_loader_grid(l, &m->norm, QN_OPTIONAL, m->groups, wide / m->groups,
                              "blk.%d.ssm_norm.weight", i)) != QN_OK)
        return err;
    return qn_loader_matrix(l, &m->out, QN_REQUIRED, dim, wide, "blk.%d.ssm_out.weight", i);
}

static size_t scratch_bytes(const struct qn_net *net, const struct qn_decoder_layer *layer,
                            int64_t rows)
{
    const struct qn_mamba2 *m = &layer->mamba2;
    (void)net;
    return qn_block_f32_bytes(rows, inner(m) + conv_channels(m) + m->heads) +
           qn_block_f32_bytes(rows, conv_channels(m)) + qn_block_f32_bytes(rows, inner(m)) +
           2 * qn_block_f32_bytes(rows, m->heads);
}

static void forward(struct qn_net *net, const struct qn_decoder_layer *layer,
                    const struct qn_step_rows *batch, struct qn_tensor *out,
                    const struct qn_tensor *in)
{
    const struct qn_mamba2 *m = &layer->mamba2;
    const int64_t wide = inner(m), channels = conv_channels(m), groups = m->groups;
    struct qn_device *dev = net->dev;
    size_t mark = qn_scratch_mark(net->scratch);

    struct qn_tensor all = qn_block_f32(net, batch->rows, wide + channels + m->heads);
    struct qn_tensor xbc = qn_block_f32(net, batch->rows, channels);
    struct qn_tensor y = qn_block_f32(net, batch->rows, wide);
    struct qn_tensor decay = qn_block_f32(net, batch->rows, m->heads);
    struct qn_tensor dt = qn_block_f32(net, batch->rows, m->heads);
    struct qn_tensor z = qn_tensor_slice(&all, 1, 0, wide);
    struct qn_tensor before = qn_tensor_slice(&all, 1, wide, channels);
    struct qn_tensor raw = qn_tensor_slice(&all, 1, wide + channels, m->heads);
    struct qn_tensor x = qn_block_part(&xbc, 0, m->heads, m->head_dim);
    struct qn_tensor b = qn_block_part(&xbc, wide, groups, m->states);
    struct qn_tensor c = qn_block_part(&xbc, wide + groups * m->states, groups, m->states);
    struct qn_tensor yh = qn_block_heads(&y, m->heads, m->head_dim);
    struct qn_tensor yg = qn_block_heads(&y, groups, wide / groups);

    qn_block_matmul(net, batch, &all, in, &m->in);
    qn_conv_forward(net, layer, batch, &m->conv, true, &xbc, &before);
    qn_time_steps(dev, &decay, &dt, &raw, &m->dt_bias, &m->a);
    const struct qn_scan scan = {.x = &x, .b = &b, .c = &c, .decay = &decay, .dt = &dt, .d = &m->d};
    struct qn_state_pass p = {.layer = layer, .part = QN_STATE_MATRICES};
    while (qn_state_next(net, batch, &p))
        qn_mamba2_scan(dev, &yh, &scan, p.spans, p.states, p.n);
    qn_silu_mul(dev, &y, &z, &y);
    if (m->norm.ndim)
        qn_rms_norm(dev, &yg, &yg, &m->norm, net->shape.eps);

    struct qn_tensor wanted = qn_batch_wanted(net, batch, &y);
    qn_block_matmul(net, batch, out, &wanted, &m->out);
    qn_scratch_reset(net->scratch, mark);
}

const struct qn_block qn_block_mamba2 = {
    .load = load, .scratch_bytes = scratch_bytes, .forward = forward};

/* ---- in parallel with attention: out = attention(in) + mamba2(in). Source: arXiv:2507.22448 ----
 */

static qn_err load_both(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    qn_err err = qn_block_attention.load(l, net, layer);
    return err == QN_OK ? load(l, net, layer) : err;
}

static size_t both_scratch_bytes(const struct qn_net *net, const struct qn_decoder_layer *layer,
                                 int64_t rows)
{
    size_t attention = qn_block_attention.scratch_bytes(net, layer, rows);
    size_t mamba = scratch_bytes(net, layer, rows);
    return qn_block_f32_bytes(rows, net->shape.dim) + (attention > mamba ? attention : mamba);
}

static void forward_both(struct qn_net *net, const struct qn_decoder_layer *layer,
                         const struct qn_step_rows *b, struct qn_tensor *out,
                         const struct qn_tensor *in)
{
    size_t mark = qn_scratch_mark(net->scratch);
    struct qn_tensor other = qn_block_f32(net, out->shape[0], out->shape[1]);
    qn_block_attention.forward(net, layer, b, out, in);
    forward(net, layer, b, &other, in);
    qn_add(net->dev, out, out, &other);
    qn_scratch_reset(net->scratch, mark);
}

static void reserve_both(const struct qn_decoder_layer *layer, struct qn_reserve *need)
{
    qn_block_attention.reserve(layer, need);
}

const struct qn_block qn_block_attention_and_mamba2 = {.load = load_both,
                                                       .scratch_bytes = both_scratch_bytes,
                                                       .reserve = reserve_both,
                                                       .forward = forward_both};
