/* Multi-head latent attention, in the absorbed form: a head's score q·(W_k·c) equals (W_kᵀ·q)·c, so
 * queries are mapped to the latent space and compared there with the latent vectors c, which all
 * heads share; the result of attention is a weighted mean of latent vectors, which W_v maps to
 * values. The cache stores c and the rotated key and nothing per head. Sources: arXiv:2405.04434,
 * section 2.1; arXiv:2412.19437. */
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#include <math.h>

/* ---- metadata ---- */

/* Files before 2025 state the head widths as in uncompressed attention; later ones state those of
 * the cache, and the heads' widths under separate keys. */
static qn_err read_widths(struct qn_loader *l, const struct qn_decoder_shape *s, struct qn_mla *m)
{
    const int32_t most = QN_NET_HEAD_DIM_MAX, must = QN_LOADER_MUST;
    const bool split = qn_loader_has_key(l, "attention.key_length_mla");
    const char *key = split ? "attention.key_length_mla" : "attention.key_length";
    const char *value = split ? "attention.value_length_mla" : "attention.value_length";
    int32_t key_dim;
    qn_err err;
    if ((err = qn_loader_count(l, "rope.dimension_count", 2, most, must, &m->rope_dim)) != QN_OK ||
        (err = qn_loader_count(l, key, m->rope_dim + 1, most, must, &key_dim)) != QN_OK ||
        (err = qn_loader_count(l, value, 1, most, must, &m->value_dim)) != QN_OK ||
        (err = qn_loader_count(l, "attention.q_lora_rank", 0, QN_NET_DIM_MAX, 0, &m->q_latent)) !=
            QN_OK)
        return err;
    m->heads = s->heads;
    m->plain_dim = key_dim - m->rope_dim;
    m->scale = 1.0f / sqrtf((float)key_dim);
    return qn_loader_count(l, "attention.kv_lora_rank", 1, most - m->rope_dim, must, &m->latent);
}

qn_err qn_mla_configure(struct qn_loader *l, struct qn_net *net)
{
    struct qn_mla m = {0};
    qn_err err = read_widths(l, &net->shape, &m);
    for (int32_t i = 0; i < net->shape.layers && err == QN_OK; i++) {
        net->layer[i].mixer = &qn_block_mla;
        net->layer[i].mla = m;
    }
    return err;
}

/* ---- tensors ---- */

static qn_err load_queries(struct qn_loader *l, const struct qn_net *net, struct qn_mla *m, int i)
{
    const int64_t dim = net->shape.dim, q = (int64_t)m->heads * (m->plain_dim + m->rope_dim);
    const enum qn_need must = QN_REQUIRED;
    qn_err err;
    if (!m->q_latent || qn_loader_has(l, "blk.%d.attn_q.weight", i)) {
        m->q_latent = 0;
        return qn_loader_matrix(l, &m->q, must, q, dim, "blk.%d.attn_q.weight", i);
    }
    if ((err = qn_loader_matrix(l, &m->q_a, must, m->q_latent, dim, "blk.%d.attn_q_a.weight", i)) !=
            QN_OK ||
        (err = qn_loader_vector(l, &m->q_a_norm, must, m->q_latent, "blk.%d.attn_q_a_norm.weight",
                                i)) != QN_OK)
        return err;
    return qn_loader_matrix(l, &m->q, must, q, m->q_latent, "blk.%d.attn_q_b.weight", i);
}

/* Loads the heads' matrices: newer files have them as separate tensors, ready for use; older ones
 * have each head's rows for its key and for its value in one tensor. */
static qn_err load_heads(struct qn_loader *l, struct qn_mla *m, int i)
{
    const int64_t heads = m->heads, plain = m->plain_dim, both = plain + m->value_dim;
    const enum qn_need must = QN_REQUIRED;
    qn_err err;
    if (qn_loader_has(l, "blk.%d.attn_kv_b.weight", i) &&
        !qn_loader_has(l, "blk.%d.attn_k_b.weight", i)) {
        if ((err = qn_loader_heads_turned(l, &m->k_b, heads, both, 0, plain, m->latent,
                                          "blk.%d.attn_kv_b.weight", i)) != QN_OK)
            return err;
        return qn_loader_heads(l, &m->v_b, heads, both, plain, m->value_dim, m->latent,
                               "blk.%d.attn_kv_b.weight", i);
    }
    qn_loader_ignore(l, "blk.%d.attn_kv_b.weight", i); /* duplicates k_b and v_b */
    if ((err = qn_loader_experts(l, &m->k_b, must, heads, m->latent, plain,
                                 "blk.%d.attn_k_b.weight", i)) != QN_OK)
        return err;
    return qn_loader_experts(l, &m->v_b, must, heads, m->value_dim, m->latent,
                             "blk.%d.attn_v_b.weight", i);
}

static qn_err load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    struct qn_mla *m = &layer->mla;
    const int64_t dim = net->shape.dim;
    const enum qn_need must = QN_REQUIRED;
    const int i = layer->index;
    qn_err err;
    layer->cache = (struct qn_kv_shape){
        .kv_heads = 1, .k_dim = m->latent + m->rope_dim, .v_dim = m->latent, .v_in_k = true};
    if ((err = load_queries(l, net, m, i)) != QN_OK ||
        (err = qn_loader_matrix(l, &m->kv_a, must, m->latent + m->rope_dim, dim,
                                "blk.%d.attn_kv_a_mqa.weight", i)) != QN_OK ||
        (err = qn_loader_vector(l, &m->kv_a_norm, must, m->latent, "blk.%d.attn_kv_a_norm.weight",
                                i)) != QN_OK ||
        (err = load_heads(l, m, i)) != QN_OK)
        return err;
    return qn_loader_matrix(l, &m->o, must, dim, (int64_t)m->heads * m->value_dim,
                            "blk.%d.attn_output.weight", i);
}

/* ---- the forward pass ---- */

static size_t scratch_bytes(const struct qn_net *net, const struct qn_decoder_layer *layer,
                            int64_t rows)
{
    const struct qn_mla *m = &layer->mla;
    const int64_t wide = m->latent + m->rope_dim, n = rows * m->heads;
    (void)net;
    return qn_block_f32_bytes(rows, m->q_latent) + qn_block_f32_bytes(rows, wide) +
           qn_block_f32_bytes(n, m->plain_dim + m->rope_dim) + qn_block_f32_bytes(n, wide) +
           qn_block_f32_bytes(n, m->latent) + qn_block_f32_bytes(n, m->value_dim);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void reserve(const struct qn_decoder_layer *layer, struct qn_reserve *need)
{
    const struct qn_mla *m = &layer->mla;
    need->heads = larger(m->heads, need->heads);
    need->head_dim = larger(m->latent + m->rope_dim, need->head_dim);
    /* the heads' matrices are packed like experts' */
    need->experts = larger(m->heads, need->experts);
    need->experts_used = larger(m->heads, need->experts_used);
}

/* Elements first .. first + cols of each head of t [rows, heads, n], as a matrix [rows·heads,
 * cols]. */
static struct qn_tensor part_of_heads(const struct qn_tensor *t, int64_t first, int64_t cols)
{
    struct qn_tensor tall = qn_tensor_reshape(t, QN_SHAPE(t->shape[0] * t->shape[1], t->shape[2]));
    return qn_tensor_slice(&tall, 1, first, cols);
}

/* Computes q [rows, heads, plain + rope]: all queries, before the rotation. */
static void make_queries(struct qn_net *net, const struct qn_mla *m, const struct qn_step_rows *b,
                         struct qn_tensor *q, const struct qn_tensor *in, struct qn_tensor *kv)
{
    const int64_t rows = in->shape[0];
    struct qn_tensor flat =
        qn_tensor_reshape(q, QN_SHAPE(rows, (int64_t)m->heads * (m->plain_dim + m->rope_dim)));
    if (!m->q_latent) {
        const struct qn_linear both[] = {{&flat, &m->q, NULL}, {kv, &m->kv_a, NULL}};
        qn_block_matmul_many(net, b, in, both, 2);
        return;
    }
    struct qn_tensor low = qn_block_f32(net, rows, m->q_latent);
    const struct qn_linear both[] = {{&low, &m->q_a, NULL}, {kv, &m->kv_a, NULL}};
    qn_block_matmul_many(net, b, in, both, 2);
    qn_rms_norm(net->dev, &low, &low, &m->q_a_norm, net->shape.eps);
    qn_block_matmul(net, b, &flat, &low, &m->q);
}

static void forward(struct qn_net *net, const struct qn_decoder_layer *layer,
                    const struct qn_step_rows *b, struct qn_tensor *out, const struct qn_tensor *in)
{
    const struct qn_mla *m = &layer->mla;
    const struct qn_kv_layer *cache = qn_kv_layer_at(net->kv, layer->index);
    const struct qn_span *spans = net->spans[qn_kv_group_of(net->kv, layer->index)];
    const struct qn_attend_params params = {.scale = m->scale};
    const int64_t rows = b->rows, heads = m->heads, wide = m->latent + m->rope_dim;
    struct qn_device *dev = net->dev;
    size_t mark = qn_scratch_mark(net->scratch);

    struct qn_tensor q = qn_scratch_tensor(
        net->scratch, QN_F32, QN_SHAPE(rows, heads, (int64_t)m->plain_dim + m->rope_dim));
    struct qn_tensor key = qn_scratch_tensor(net->scratch, QN_F32, QN_SHAPE(rows, 1, wide));
    struct qn_tensor query = qn_scratch_tensor(net->scratch, QN_F32, QN_SHAPE(rows, heads, wide));
    struct qn_tensor mean =
        qn_scratch_tensor(net->scratch, QN_F32, QN_SHAPE(rows, heads, (int64_t)m->latent));
    struct qn_tensor value = qn_block_f32(net, rows, heads * m->value_dim);

    struct qn_tensor flat = qn_tensor_reshape(&key, QN_SHAPE(rows, wide));
    make_queries(net, m, b, &q, in, &flat);
    struct qn_tensor c = qn_tensor_slice(&flat, 1, 0, m->latent);
    qn_rms_norm(dev, &c, &c, &m->kv_a_norm, net->shape.eps);
    struct qn_tensor turning = qn_tensor_slice(&key, 2, m->latent, m->rope_dim);
    qn_rope(dev, &turning, &b->angles[0], net->arch->pairs);

    struct qn_tensor from = part_of_heads(&q, 0, m->plain_dim);
    struct qn_tensor to = part_of_heads(&query, 0, m->latent);
    const struct qn_expert_linear absorb = {&to, &m->k_b, NULL};
    qn_block_matmul_experts(net, b, &from, NULL, &absorb, 1);
    from = qn_tensor_slice(&q, 2, m->plain_dim, m->rope_dim);
    turning = qn_tensor_slice(&query, 2, m->latent, m->rope_dim);
    qn_copy(dev, &turning, &from);
    qn_rope(dev, &turning, &b->angles[0], net->arch->pairs);

    qn_kv_store(dev, cache, spans, b->spans, &key, NULL);
    qn_attention(dev, &mean, &query, cache, spans, b->spans, &params);

    from = part_of_heads(&mean, 0, m->latent);
    to = qn_tensor_reshape(&value, QN_SHAPE(rows * heads, (int64_t)m->value_dim));
    const struct qn_expert_linear unfold = {&to, &m->v_b, NULL};
    qn_block_matmul_experts(net, b, &from, NULL, &unfold, 1);
    struct qn_tensor wanted = qn_batch_wanted(net, b, &value);
    qn_block_matmul(net, b, out, &wanted, &m->o);
    qn_scratch_reset(net->scratch, mark);
}

const struct qn_block qn_block_mla = {
    .load = load, .scratch_bytes = scratch_bytes, .reserve = reserve, .forward = forward};
