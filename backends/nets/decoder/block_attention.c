/* Grouped-query attention: project, normalise, rotate, store in the cache, attend, project.
 * Sources: arXiv:1706.03762; grouped queries arXiv:2305.13245; rotation arXiv:2104.09864. */
#include "nets/decoder/decoder.h"
#include "nets/decoder/loader.h"

#include <math.h>

static int64_t q_width(const struct qn_attention *a)
{
    return (int64_t)a->heads * a->head_dim;
}

/* The output width of q. */
static int64_t q_rows(const struct qn_attention *a)
{
    return a->gated ? 2 * q_width(a) : q_width(a);
}

static int64_t kv_width(const struct qn_attention *a)
{
    return (int64_t)a->kv_heads * a->head_dim;
}

static bool has_cache(const struct qn_decoder_layer *layer)
{
    return layer->attention.cache_of == layer->index;
}

/* ---- loading ---- */

/* Loads one matrix with the rows of queries, keys and values stacked, and a bias stacked likewise.
 */
static qn_err load_merged(struct qn_loader *l, const struct qn_net *net,
                          struct qn_decoder_layer *layer)
{
    struct qn_attention *a = &layer->attention;
    const int64_t q = q_rows(a), kv = kv_width(a);
    struct qn_tensor bias = {0};
    qn_err err = qn_loader_stacked(l, (struct qn_tensor *const[]){&a->q, &a->k, &a->v},
                                   (const int64_t[]){q, kv, kv}, 3, net->shape.dim,
                                   "blk.%d.attn_qkv.weight", layer->index);
    if (err == QN_OK)
        err = qn_loader_vector(l, &bias, QN_OPTIONAL, q + 2 * kv, "blk.%d.attn_qkv.bias",
                               layer->index);
    if (err != QN_OK || !bias.ndim)
        return err;
    a->q_b = qn_tensor_slice(&bias, 0, 0, q);
    a->k_b = qn_tensor_slice(&bias, 0, q, kv);
    a->v_b = qn_tensor_slice(&bias, 0, q + kv, kv);
    return QN_OK;
}

static qn_err load_separate(struct qn_loader *l, const struct qn_net *net,
                            struct qn_decoder_layer *layer)
{
    struct qn_attention *a = &layer->attention;
    const int64_t dim = net->shape.dim, q = q_rows(a), kv = kv_width(a);
    const enum qn_need must = QN_REQUIRED, bias = net->arch->needs_qkv_bias ? must : QN_OPTIONAL;
    const int i = layer->index;
    qn_err err;
    if ((err = qn_loader_matrix(l, &a->q, must, q, dim, "blk.%d.attn_q.weight", i)) != QN_OK ||
        (err = qn_loader_vector(l, &a->q_b, bias, q, "blk.%d.attn_q.bias", i)) != QN_OK)
        return err;
    if (!has_cache(layer)) { /* some files have unused keys and values */
        qn_loader_unused(l, "blk.%d.attn_k.weight", i);
        qn_loader_unused(l, "blk.%d.attn_v.weight", i);
        return QN_OK;
    }
    const enum qn_need v = a->v_norm ? QN_OPTIONAL : must;
    if ((err = qn_loader_matrix(l, &a->k, must, kv, dim, "blk.%d.attn_k.weight", i)) != QN_OK ||
        (err = qn_loader_matrix(l, &a->v, v, kv, dim, "blk.%d.attn_v.weight", i)) != QN_OK ||
        (err = qn_loader_vector(l, &a->k_b, bias, kv, "blk.%d.attn_k.bias", i)) != QN_OK)
        return err;
    return qn_loader_vector(l, &a->v_b, bias, kv, "blk.%d.attn_v.bias", i);
}

/* Loads the norm attn_<name>_norm of this many heads' queries or keys. */
static qn_err load_norm(struct qn_loader *l, const struct qn_net *net, struct qn_tensor *w,
                        const char *name, int32_t heads, int32_t head_dim, int i)
{
    const int64_t wide = (int64_t)heads * head_dim;
    if (net->arch->qk_norm == QN_QK_NORM_EACH_OR_NONE)
        return qn_loader_grid(l, w, QN_REQUIRED, heads, head_dim, "blk.%d.attn_%s_norm.weight", i,
                              name);
    return qn_loader_vector(l, w, QN_REQUIRED,
                            net->arch->qk_norm == QN_QK_NORM_WIDTH ? wide : head_dim,
                            "blk.%d.attn_%s_norm.weight", i, name);
}

static qn_err load_qk_norm(struct qn_loader *l, const struct qn_net *net,
                           struct qn_decoder_layer *layer)
{
    struct qn_attention *a = &layer->attention;
    const enum qn_qk_norm kind = net->arch->qk_norm;
    const int i = layer->index;
    if (kind == QN_QK_NORM_NONE ||
        ((kind == QN_QK_NORM_HEAD_OR_NONE || kind == QN_QK_NORM_EACH_OR_NONE) &&
         !qn_loader_has(l, "blk.%d.attn_q_norm.weight", i)))
        return QN_OK;
    qn_err err = load_norm(l, net, &a->q_norm, "q", a->heads, a->head_dim, i);
    if (err != QN_OK)
        return err;
    if (!has_cache(layer)) {
        qn_loader_ignore(l, "blk.%d.attn_k_norm.weight", i);
        return QN_OK;
    }
    return load_norm(l, net, &a->k_norm, "k", a->kv_heads, a->head_dim, i);
}

static qn_err load(struct qn_loader *l, struct qn_net *net, struct qn_decoder_layer *layer)
{
    struct qn_attention *a = &layer->attention;
    const int64_t dim = net->shape.dim;
    const int i = layer->index;
    if (net->shape.value_dim != net->shape.head_dim)
        return qn_fail(l->e, QN_EUNSUPPORTED,
                       "values %d wide beside keys %d wide are not supported", net->shape.value_dim,
                       net->shape.head_dim);
    if (a->kv_heads < 1 || a->heads % a->kv_heads)
        return qn_fail(l->e, QN_EFORMAT,
                       "%d attention heads cannot share %d key-value heads evenly", a->heads,
                       a->kv_heads);
    if (has_cache(layer))
        layer->cache = (struct qn_kv_shape){.kv_heads = a->kv_heads,
                                            .k_dim = a->head_dim,
                                            .v_dim = a->head_dim,
                                            .window = a->window ? a->window : a->chunk};
    qn_err err = qn_loader_has(l, "blk.%d.attn_qkv.weight", i) ? load_merged(l, net, layer)
                                                               : load_separate(l, net, layer);
    if (err != QN_OK || (err = load_qk_norm(l, net, layer)) != QN_OK ||
        (err = qn_loader_matrix(l, &a->o, QN_REQUIRED, dim, q_width(a), "blk.%d.attn_output.weight",
                                i)) != QN_OK ||
        (err = qn_loader_vector(l, &a->o_b, QN_OPTIONAL, dim, "blk.%d.attn_output.bias", i)) !=
            QN_OK ||
        (err = qn_loader_vector(l, &a->sinks, QN_OPTIONAL, a->heads, "blk.%d.attn_sinks.weight",
                                i)) != QN_OK)
        return err;
    /* rotary angles, written by early converters; they are computed from the metadata */
    qn_loader_ignore(l, "blk.%d.attn_rot_embd.weight", i);
    qn_loader_ignore(l, "blk.%d.attn.rotary_emb.inv_freq", i);
    return QN_OK;
}

/* ---- running ---- */

static size_t scratch_bytes(const struct qn_net *net, const struct qn_decoder_layer *layer,
                            int64_t rows)
{
    (void)net;
    const struct qn_attention *a = &layer->attention;
    return qn_block_f32_bytes(rows, q_rows(a)) + qn_block_f32_bytes(rows, q_width(a)) +
           2 * qn_block_f32_bytes(rows, kv_width(a));
}

static void reserve(const struct qn_decoder_layer *layer, struct qn_reserve *need)
{
    const struct qn_attention *a = &layer->attention;
    need->heads = a->heads > need->heads ? a->heads : need->heads;
    need->head_dim = a->head_dim > need->head_dim ? a->head_dim : need->head_dim;
}

/* Normalises x [rows, heads·head_dim]; xh is the same memory as [rows, heads, head_dim]. */
static void normalise(struct qn_net *net, struct qn_tensor *x, struct qn_tensor *xh,
                      const struct qn_tensor *w)
{
    if (net->arch->qk_norm == QN_QK_NORM_WIDTH)
        qn_rms_norm(net->dev, x, x, w, net->shape.eps);
    else if (net->arch->qk_norm == QN_QK_NORM_EACH_OR_NONE)
        qn_layer_norm(net->dev, xh, xh, w, NULL, net->shape.eps);
    else
        qn_rms_norm(net->dev, xh, xh, w, net->shape.eps);
}

/* Gives each head of x the length sqrt(head_dim), like an RMS norm without weights. */
static void level(struct qn_net *net, const struct qn_attention *a, struct qn_tensor *xh)
{
    qn_l2_norm(net->dev, xh, xh, net->shape.eps * (float)a->head_dim, sqrtf((float)a->head_dim));
}

/* Normalises and rotates queries or keys: x and xh as above; w: the norm's weights, ndim 0 for
 * none. */
static void turn(struct qn_net *net, const struct qn_attention *a, const struct qn_step_rows *b,
                 struct qn_tensor *x, struct qn_tensor *xh, const struct qn_tensor *w)
{
    const bool late = net->arch->qk_norm == QN_QK_NORM_HEAD_LATE;
    if (w->ndim && !late)
        normalise(net, x, xh, w);
    if (a->rope >= 0)
        qn_rope(net->dev, xh, &b->angles[a->rope], net->arch->pairs);
    if (w->ndim && late)
        normalise(net, x, xh, w);
    if (a->bare_norm)
        level(net, a, xh);
}

/* Scales queries at far positions up, because softmax over many keys becomes flat. Source: the
 * published code of Llama 4. */
static void warm(struct qn_net *net, const struct qn_attention *a, struct qn_tensor *q)
{
    for (int64_t r = 0; r < q->shape[0]; r++) {
        int32_t steps = (net->positions[r] + a->warm_from) / a->warm_every;
        struct qn_tensor row = qn_tensor_slice(q, 0, r, 1);
        if (steps > 0)
            qn_scale(net->dev, &row, &row, 1 + a->warmth * log1pf((float)steps));
    }
}

/* Computes the new tokens' keys and values and stores them in the cache. */
static void remember(struct qn_net *net, const struct qn_decoder_layer *layer,
                     const struct qn_step_rows *b, struct qn_tensor *k, struct qn_tensor *v)
{
    const struct qn_attention *a = &layer->attention;
    struct qn_tensor kh = qn_block_heads(k, a->kv_heads, a->head_dim);
    struct qn_tensor vh = qn_block_heads(v, a->kv_heads, a->head_dim);
    if (!a->v.ndim)
        qn_copy(net->dev, v, k);
    turn(net, a, b, k, &kh, &a->k_norm);
    if (a->v_norm)
        level(net, a, &vh);
    qn_kv_store(net->dev, qn_kv_layer_at(net->kv, layer->index),
                net->spans[qn_kv_group_of(net->kv, layer->index)], b->spans, &kh, &vh);
}

/* out = W_o · attention(rope(norm(W_q·in)), rope(norm(W_k·in)), W_v·in). */
static void forward(struct qn_net *net, const struct qn_decoder_layer *layer,
                    const struct qn_step_rows *b, struct qn_tensor *out, const struct qn_tensor *in)
{
    const struct qn_attention *a = &layer->attention;
    const bool own = has_cache(layer);
    size_t mark = qn_scratch_mark(net->scratch);
    struct qn_tensor q = qn_block_f32(net, b->rows, q_rows(a));
    struct qn_tensor k = qn_block_f32(net, b->rows, kv_width(a));
    struct qn_tensor v = qn_block_f32(net, b->rows, kv_width(a));
    struct qn_tensor mixed = qn_block_f32(net, b->rows, q_width(a));
    struct qn_tensor all = qn_block_heads(&q, a->heads, q_rows(a) / a->heads);
    struct qn_tensor qh = qn_tensor_slice(&all, 2, 0, a->head_dim);
    struct qn_tensor mixed_h = qn_block_heads(&mixed, a->heads, a->head_dim);

    const struct qn_linear qkv[] = {{&q, &a->q, qn_block_or_null(&a->q_b)},
                                    {&k, &a->k, qn_block_or_null(&a->k_b)},
                                    {&v, &a->v, qn_block_or_null(&a->v_b)}};
    qn_block_matmul_many(net, b, in, qkv, !own ? 1 : a->v.ndim ? 3 : 2);
    if (own)
        remember(net, layer, b, &k, &v);
    turn(net, a, b, &q, &qh, &a->q_norm);
    if (a->warm_every > 0)
        warm(net, a, &q);

    const struct qn_attend_params params = {.scale = a->scale,
                                            .softcap = a->softcap,
                                            .window = a->window,
                                            .chunk = a->chunk,
                                            .sinks = qn_block_or_null(&a->sinks)};
    qn_attention(net->dev, &mixed_h, &qh, qn_kv_layer_at(net->kv, a->cache_of),
                 net->spans[qn_kv_group_of(net->kv, a->cache_of)], b->spans, &params);
    if (a->gated) {
        struct qn_tensor gate = qn_tensor_slice(&all, 2, a->head_dim, a->head_dim);
        qn_sigmoid_mul(net->dev, &mixed_h, &gate, &mixed_h);
    }

    struct qn_tensor wanted = qn_batch_wanted(net, b, &mixed);
    const struct qn_linear o = {out, &a->o, qn_block_or_null(&a->o_b)};
    qn_block_matmul_many(net, b, &wanted, &o, 1);
    qn_scratch_reset(net->scratch, mark);
}

const struct qn_block qn_block_attention = {
    .load = load, .scratch_bytes = scratch_bytes, .reserve = reserve, .forward = forward};
