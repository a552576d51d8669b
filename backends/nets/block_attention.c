/* Attention of grouped queries: project, normalise, rotate, remember, attend, project.
 * Sources: arXiv:1706.03762; grouped queries arXiv:2305.13245; rotation arXiv:2104.09864. */
#include "nets/decoder.h"
#include "nets/loader.h"

#include <string.h>

static qn_err load_biases(struct qn_loader *l, const struct qn_net *net,
                          struct qn_decoder_layer *layer)
{
    struct qn_attention *a = &layer->attention;
    const int64_t q = (int64_t)a->heads * a->head_dim, kv = (int64_t)a->kv_heads * a->head_dim;
    const enum qn_need need = net->arch->needs_qkv_bias ? QN_REQUIRED : QN_OPTIONAL;
    const int i = layer->index;
    qn_err err;
    if ((err = qn_loader_vector(l, &a->q_b, need, q, "blk.%d.attn_q.bias", i)) != QN_OK ||
        (err = qn_loader_vector(l, &a->k_b, need, kv, "blk.%d.attn_k.bias", i)) != QN_OK ||
        (err = qn_loader_vector(l, &a->v_b, need, kv, "blk.%d.attn_v.bias", i)) != QN_OK)
        return err;
    return qn_loader_vector(l, &a->o_b, QN_OPTIONAL, net->shape.dim, "blk.%d.attn_output.bias", i);
}

static qn_err load_qk_norm(struct qn_loader *l, const struct qn_net *net,
                           struct qn_decoder_layer *layer)
{
    struct qn_attention *a = &layer->attention;
    const int i = layer->index;
    qn_err err;
    if (net->arch->qk_norm == QN_QK_NORM_NONE)
        return QN_OK;
    if ((err = qn_loader_vector(l, &a->q_norm, QN_REQUIRED, a->head_dim,
                                "blk.%d.attn_q_norm.weight", i)) != QN_OK)
        return err;
    return qn_loader_vector(l, &a->k_norm, QN_REQUIRED, a->head_dim, "blk.%d.attn_k_norm.weight",
                            i);
}

static qn_err load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    struct qn_attention *a = &layer->attention;
    const int64_t dim = net->shape.dim, q = (int64_t)a->heads * a->head_dim;
    const int64_t kv = (int64_t)a->kv_heads * a->head_dim;
    const enum qn_need must = QN_REQUIRED;
    const int i = layer->index;
    qn_err err;
    if (a->kv_heads < 1 || a->heads % a->kv_heads)
        return qn_fail(l->e, QN_EFORMAT,
                       "%d attention heads cannot share %d key-value heads evenly", a->heads,
                       a->kv_heads);
    layer->cache =
        (struct qn_kv_shape){.kv_heads = a->kv_heads, .k_dim = a->head_dim, .v_dim = a->head_dim};
    if ((err = qn_loader_matrix(l, &a->q, must, q, dim, "blk.%d.attn_q.weight", i)) != QN_OK ||
        (err = qn_loader_matrix(l, &a->k, must, kv, dim, "blk.%d.attn_k.weight", i)) != QN_OK ||
        (err = qn_loader_matrix(l, &a->v, must, kv, dim, "blk.%d.attn_v.weight", i)) != QN_OK ||
        (err = qn_loader_matrix(l, &a->o, must, dim, q, "blk.%d.attn_output.weight", i)) != QN_OK)
        return err;
    /* the rotary angles once more, in files of early converters: nothing a network needs */
    qn_loader_ignore(l, "blk.%d.attn_rot_embd.weight", i);
    qn_loader_ignore(l, "blk.%d.attn.rotary_emb.inv_freq", i);
    err = load_biases(l, net, layer);
    return err == QN_OK ? load_qk_norm(l, net, layer) : err;
}

static size_t scratch_bytes(const struct qn_net *net, const struct qn_decoder_layer *layer,
                            int64_t rows)
{
    (void)net;
    const struct qn_attention *a = &layer->attention;
    const int64_t q = (int64_t)a->heads * a->head_dim, kv = (int64_t)a->kv_heads * a->head_dim;
    return 2 * qn_block_f32_bytes(rows, q) + 2 * qn_block_f32_bytes(rows, kv);
}

static void reserve(const struct qn_decoder_layer *layer, struct qn_reserve *need)
{
    const struct qn_attention *a = &layer->attention;
    need->heads = a->heads > need->heads ? a->heads : need->heads;
    need->head_dim = a->head_dim > need->head_dim ? a->head_dim : need->head_dim;
}

/* out = W_o · attention(rope(norm(W_q·in)), rope(norm(W_k·in)), W_v·in). */
static void forward(struct qn_net *net, const struct qn_decoder_layer *layer,
                    const struct qn_batch *b, struct qn_tensor *out, const struct qn_tensor *in)
{
    const struct qn_attention *a = &layer->attention;
    const struct qn_kv_layer *cache = qn_kv_layer_at(net->kv, layer->index);
    const struct qn_span *spans = net->spans[qn_kv_group_of(net->kv, layer->index)];
    const struct qn_attend_params params = {.scale = a->scale};
    struct qn_device *dev = net->dev;
    size_t mark = qn_scratch_mark(net->scratch);

    struct qn_tensor q = qn_block_f32(net, b->rows, (int64_t)a->heads * a->head_dim);
    struct qn_tensor k = qn_block_f32(net, b->rows, (int64_t)a->kv_heads * a->head_dim);
    struct qn_tensor v = qn_block_f32(net, b->rows, (int64_t)a->kv_heads * a->head_dim);
    struct qn_tensor mixed = qn_block_f32(net, b->rows, (int64_t)a->heads * a->head_dim);
    struct qn_tensor qh = qn_block_heads(&q, a->heads, a->head_dim);
    struct qn_tensor kh = qn_block_heads(&k, a->kv_heads, a->head_dim);
    struct qn_tensor vh = qn_block_heads(&v, a->kv_heads, a->head_dim);
    struct qn_tensor mixed_h = qn_block_heads(&mixed, a->heads, a->head_dim);

    const struct qn_linear qkv[] = {{&q, &a->q, qn_block_or_null(&a->q_b)},
                                    {&k, &a->k, qn_block_or_null(&a->k_b)},
                                    {&v, &a->v, qn_block_or_null(&a->v_b)}};
    qn_matmul_many(dev, in, qkv, 3);
    if (a->q_norm.ndim) {
        qn_rms_norm(dev, &qh, &qh, &a->q_norm, net->shape.eps);
        qn_rms_norm(dev, &kh, &kh, &a->k_norm, net->shape.eps);
    }
    if (a->rope >= 0) {
        qn_rope(dev, &qh, &b->angles[a->rope], net->arch->pairs);
        qn_rope(dev, &kh, &b->angles[a->rope], net->arch->pairs);
    }
    qn_kv_store(dev, cache, spans, b->spans, &kh, &vh);
    qn_attention(dev, &mixed_h, &qh, cache, spans, b->spans, &params);

    struct qn_tensor wanted = qn_batch_wanted(net, b, &mixed);
    const struct qn_linear o = {out, &a->o, qn_block_or_null(&a->o_b)};
    qn_matmul_many(dev, &wanted, &o, 1);
    qn_scratch_reset(net->scratch, mark);
}

const struct qn_block qn_block_attention = {
    .load = load, .scratch_bytes = scratch_bytes, .reserve = reserve, .forward = forward};
