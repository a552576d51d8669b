/* Shape-checking wrappers over struct qn_ops. A failed check is a bug of ours: it prints the shapes
 * and aborts, in Release builds too, because the operation would write out of bounds. */
#include "engine/ops.h"

#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void wrong(const char *op, const char *rule, const struct qn_tensor *a,
                            const struct qn_tensor *b, const struct qn_tensor *c)
{
    const struct qn_tensor *all[] = {a, b, c};
    fprintf(stderr, "%s: %s does not hold:", op, rule);
    for (int i = 0; i < 3; i++) {
        char text[128];
        if (!all[i])
            continue;
        qn_tensor_describe(all[i], text, sizeof text);
        fprintf(stderr, " %s", text);
    }
    fputc('\n', stderr);
    abort();
}

#define CHECK(rule, a, b, c) ((rule) ? (void)0 : wrong(__func__, #rule, a, b, c))

static bool f32_rows(const struct qn_tensor *t)
{
    return t->dtype == QN_F32 && t->stride[t->ndim - 1] == 4;
}

/* onto 0: each y is overwritten; else onto times the product is added to y. */
static void products(struct qn_device *dev, const struct qn_tensor *x,
                     const struct qn_linear *parts, int n_parts, float onto)
{
    CHECK(n_parts >= 1 && n_parts <= QN_LINEAR_MAX, x, NULL, NULL);
    CHECK(x->ndim == 2 && f32_rows(x), x, NULL, NULL);
    for (int i = 0; i < n_parts; i++) {
        const struct qn_tensor *y = parts[i].y, *w = parts[i].w, *b = parts[i].bias;
        CHECK(y->ndim == 2 && f32_rows(y) && w->ndim == 2 && w->dtype != QN_I32, y, x, w);
        CHECK(y->shape[0] == x->shape[0] && y->shape[1] == w->shape[0], y, x, w);
        CHECK(x->shape[1] == w->shape[1], y, x, w);
        if (b)
            CHECK(b->ndim == 1 && b->shape[0] == y->shape[1] && f32_rows(b), y, b, w);
    }
    if (x->shape[0] > 0)
        dev->ops->matmul_many(dev, x, parts, n_parts, onto);
}

void qn_matmul_many(struct qn_device *dev, const struct qn_tensor *x, const struct qn_linear *parts,
                    int n_parts)
{
    products(dev, x, parts, n_parts, 0);
}

void qn_matmul_onto(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *w, float factor)
{
    const struct qn_linear part = {.y = y, .w = w};
    if (factor != 0)
        products(dev, x, &part, 1, factor);
}

void qn_matmul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
               const struct qn_tensor *w)
{
    struct qn_linear part = {.y = y, .w = w};
    qn_matmul_many(dev, x, &part, 1);
}

static bool choices(const struct qn_tensor *ids)
{
    return ids->ndim == 2 && ids->dtype == QN_I32 && qn_tensor_contiguous(ids) &&
           ids->shape[1] >= 1 && ids->shape[1] <= QN_EXPERTS_USED_MAX;
}

void qn_choose_experts(struct qn_device *dev, struct qn_tensor *ids, struct qn_tensor *weights,
                       const struct qn_tensor *logits, const struct qn_expert_route *route)
{
    const struct qn_tensor *b = route->bias;
    int64_t experts = logits->shape[1];
    CHECK(logits->ndim == 2 && f32_rows(logits) && experts <= QN_EXPERTS_MAX, logits, ids, b);
    CHECK(choices(ids) && ids->shape[0] == logits->shape[0], ids, logits, b);
    CHECK(qn_tensor_same_shape(weights, ids) && f32_rows(weights), weights, ids, logits);
    CHECK(qn_tensor_contiguous(weights), weights, ids, logits);
    if (route->groups > 1) {
        CHECK(experts % route->groups == 0 && route->groups_used >= 1, logits, ids, b);
        CHECK(route->groups_used <= route->groups, logits, ids, b);
        CHECK(experts / route->groups * route->groups_used >= ids->shape[1], logits, ids, b);
    } else {
        CHECK(ids->shape[1] <= experts, ids, logits, b);
    }
    if (b)
        CHECK(b->ndim == 1 && b->shape[0] == experts && f32_rows(b), b, ids, logits);
    if (ids->shape[0] > 0)
        dev->ops->choose_experts(dev, ids, weights, logits, route);
}

/* Checks for a product of rows of x with experts' prepared matrices w into rows of y. */
static void check_experts(const struct qn_tensor *y, const struct qn_tensor *x,
                          const struct qn_tensor *w, const struct qn_tensor *bias)
{
    CHECK(w->ndim == 3 && w->shape[0] <= QN_EXPERTS_MAX, y, x, w);
    CHECK(w->mem->layout != 0 || qn_dtype(w->dtype)->block == 1, y, x, w);
    CHECK(x->ndim == 2 && f32_rows(x) && x->shape[1] == w->shape[2], y, x, w);
    CHECK(y->ndim == 2 && f32_rows(y) && y->shape[1] == w->shape[1], y, x, w);
    if (bias)
        CHECK(bias->ndim == 2 && f32_rows(bias) && bias->shape[0] == w->shape[0] &&
                  bias->shape[1] == w->shape[1],
              y, bias, w);
}

void qn_matmul_experts(struct qn_device *dev, const struct qn_tensor *x,
                       const struct qn_tensor *ids, const struct qn_expert_linear *parts,
                       int n_parts)
{
    int64_t n = ids ? qn_tensor_elements(ids) : x->shape[0];
    CHECK(n_parts >= 1 && n_parts <= QN_LINEAR_MAX, x, ids, NULL);
    if (ids)
        CHECK(choices(ids) && (x->shape[0] == n || x->shape[0] == ids->shape[0]), x, ids, NULL);
    else
        CHECK(n % parts[0].w->shape[0] == 0, x, parts[0].w, NULL);
    for (int i = 0; i < n_parts; i++) {
        check_experts(parts[i].y, x, parts[i].w, parts[i].bias);
        CHECK(parts[i].y->shape[0] == n, parts[i].y, ids, parts[i].w);
        CHECK(parts[i].w->shape[0] == parts[0].w->shape[0], parts[i].w, parts[0].w, NULL);
    }
    if (n > 0)
        dev->ops->matmul_experts(dev, x, ids, parts, n_parts);
}

void qn_sum_experts(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                    const struct qn_tensor *w, const struct qn_tensor *bias,
                    const struct qn_tensor *ids, const struct qn_tensor *weights)
{
    CHECK(choices(ids) && y->shape[0] == ids->shape[0], y, x, ids);
    CHECK(x->shape[0] == qn_tensor_elements(ids), y, x, ids);
    if (weights) {
        CHECK(qn_tensor_same_shape(weights, ids) && f32_rows(weights), weights, x, ids);
        CHECK(qn_tensor_contiguous(weights), weights, x, ids);
    }
    check_experts(y, x, w, bias);
    if (ids->shape[0] > 0)
        dev->ops->sum_experts(dev, y, x, w, bias, ids, weights);
}

void qn_get_rows(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *table,
                 const struct qn_tensor *ids)
{
    CHECK(y->ndim == 2 && f32_rows(y) && table->ndim == 2, y, table, ids);
    CHECK(ids->ndim == 1 && ids->dtype == QN_I32 && ids->stride[0] == 4, y, table, ids);
    CHECK(y->shape[0] == ids->shape[0] && y->shape[1] == table->shape[1], y, table, ids);
    dev->ops->get_rows(dev, y, table, ids);
}

void qn_rms_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                 const struct qn_tensor *w, float eps)
{
    CHECK(qn_tensor_same_shape(y, x) && y->ndim <= 3 && f32_rows(x) && f32_rows(y), y, x, w);
    CHECK(f32_rows(w) && w->shape[w->ndim - 1] == x->shape[x->ndim - 1], y, x, w);
    CHECK(w->ndim == 1 || (w->ndim == 2 && x->ndim == 3 && w->shape[0] == x->shape[1]), y, x, w);
    dev->ops->rms_norm(dev, y, x, w, eps);
}

void qn_layer_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_tensor *w, const struct qn_tensor *b, float eps)
{
    CHECK(qn_tensor_same_shape(y, x) && y->ndim <= 3 && f32_rows(x) && f32_rows(y), y, x, w);
    CHECK(f32_rows(w) && w->shape[w->ndim - 1] == x->shape[x->ndim - 1], y, x, w);
    CHECK(w->ndim == 1 || (w->ndim == 2 && x->ndim == 3 && w->shape[0] == x->shape[1]), y, x, w);
    if (b)
        CHECK(b->ndim == 1 && b->shape[0] == x->shape[x->ndim - 1] && f32_rows(b), y, x, b);
    dev->ops->layer_norm(dev, y, x, w, b, eps);
}

void qn_rope_table(struct qn_device *dev, struct qn_tensor *table, const struct qn_tensor *pos,
                   const struct qn_tensor *freq, float scale)
{
    CHECK(table->ndim == 3 && f32_rows(table) && qn_tensor_contiguous(table), table, pos, freq);
    CHECK(pos->ndim == 1 && pos->dtype == QN_I32 && pos->stride[0] == 4, table, pos, freq);
    CHECK(freq->ndim == 1 && f32_rows(freq), table, pos, freq);
    CHECK(table->shape[0] == pos->shape[0] && table->shape[1] == 2, table, pos, freq);
    CHECK(table->shape[2] == freq->shape[0], table, pos, freq);
    dev->ops->rope_table(dev, table, pos, freq, scale);
}

void qn_rope_table_axes(struct qn_device *dev, struct qn_tensor *table, const struct qn_tensor *pos,
                        const struct qn_tensor *freq, const struct qn_tensor *axis, float scale)
{
    CHECK(table->ndim == 3 && f32_rows(table) && qn_tensor_contiguous(table), table, pos, freq);
    CHECK(pos->ndim == 2 && pos->dtype == QN_I32 && qn_tensor_contiguous(pos), table, pos, freq);
    CHECK(freq->ndim == 1 && f32_rows(freq) && axis->dtype == QN_I32, axis, pos, freq);
    CHECK(qn_tensor_same_shape(freq, axis) && qn_tensor_contiguous(axis), axis, pos, freq);
    CHECK(table->shape[0] == pos->shape[0] && table->shape[1] == 2, table, pos, freq);
    CHECK(table->shape[2] == freq->shape[0] && pos->shape[1] == QN_ROPE_AXES, table, pos, freq);
    dev->ops->rope_table_axes(dev, table, pos, freq, axis, scale);
}

void qn_rope(struct qn_device *dev, struct qn_tensor *x, const struct qn_tensor *table,
             enum qn_rope_pairs pairs)
{
    CHECK(x->ndim == 3 && f32_rows(x), x, table, NULL);
    CHECK(table->ndim == 3 && f32_rows(table) && qn_tensor_contiguous(table), x, table, NULL);
    CHECK(table->shape[0] == x->shape[0] && 2 * table->shape[2] <= x->shape[2], x, table, NULL);
    dev->ops->rope(dev, x, table, pairs);
}

static bool cached(enum qn_dtype t)
{
    return t == QN_F32 || t == QN_F16 || t == QN_BF16 || t == QN_Q8_0 || t == QN_Q4_0;
}

static void check_spans(const struct qn_kv_layer *c, const struct qn_span *spans, int n_spans,
                        const struct qn_tensor *rows)
{
    CHECK(n_spans >= 1 && n_spans <= QN_SPANS_MAX, rows, NULL, NULL);
    CHECK(cached(c->k_type) && cached(c->v_type), rows, NULL, NULL);
    CHECK(c->k_dim % qn_dtype(c->k_type)->block == 0, rows, NULL, NULL);
    CHECK(c->v_dim % qn_dtype(c->v_type)->block == 0, rows, NULL, NULL);
    for (int i = 0; i < n_spans; i++) {
        const struct qn_span *s = &spans[i];
        CHECK(s->n >= 1 && s->row >= 0 && s->row + (int64_t)s->n <= rows->shape[0], rows, NULL,
              NULL);
        CHECK(s->past >= 0 && s->pages, rows, NULL, NULL);
    }
}

void qn_kv_store(struct qn_device *dev, const struct qn_kv_layer *cache,
                 const struct qn_span *spans, int n_spans, const struct qn_tensor *k,
                 const struct qn_tensor *v)
{
    CHECK(k->ndim == 3 && f32_rows(k), k, v, NULL);
    CHECK(k->shape[1] == cache->kv_heads && k->shape[2] == cache->k_dim, k, v, NULL);
    CHECK(cache->v_in_k ? !v : v && v->ndim == 3 && f32_rows(v), k, v, NULL);
    if (v) {
        CHECK(v->shape[0] == k->shape[0] && v->shape[1] == cache->kv_heads, k, v, NULL);
        CHECK(v->shape[2] == cache->v_dim, k, v, NULL);
    }
    check_spans(cache, spans, n_spans, k);
    dev->ops->kv_store(dev, cache, spans, n_spans, k, v);
}

void qn_attention(struct qn_device *dev, struct qn_tensor *out, const struct qn_tensor *q,
                  const struct qn_kv_layer *cache, const struct qn_span *spans, int n_spans,
                  const struct qn_attend_params *params)
{
    const struct qn_tensor *sinks = params->sinks;
    CHECK(q->ndim == 3 && f32_rows(q) && out->ndim == 3 && f32_rows(out), q, out, NULL);
    CHECK(q->shape[0] == out->shape[0] && q->shape[1] == out->shape[1], q, out, NULL);
    CHECK(q->shape[2] == cache->k_dim && out->shape[2] == cache->v_dim, q, out, NULL);
    CHECK(q->shape[1] % cache->kv_heads == 0, q, out, NULL);
    CHECK(params->window >= 0 && params->chunk >= 0, q, out, NULL);
    if (sinks)
        CHECK(sinks->ndim == 1 && f32_rows(sinks) && sinks->shape[0] == q->shape[1], q, out, sinks);
    check_spans(cache, spans, n_spans, q);
    dev->ops->attention(dev, out, q, cache, spans, n_spans, params);
}

void qn_add(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *a,
            const struct qn_tensor *b)
{
    CHECK(qn_tensor_same_shape(y, a) && qn_tensor_same_shape(y, b), y, a, b);
    CHECK(y->ndim <= 2 && f32_rows(y) && f32_rows(a) && f32_rows(b), y, a, b);
    dev->ops->add(dev, y, a, b);
}

void qn_silu_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                 const struct qn_tensor *up)
{
    CHECK(qn_tensor_same_shape(y, gate) && qn_tensor_same_shape(y, up), y, gate, up);
    CHECK(y->ndim <= 2 && f32_rows(y) && f32_rows(gate) && f32_rows(up), y, gate, up);
    dev->ops->silu_mul(dev, y, gate, up);
}

void qn_scale_rows(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_tensor *s)
{
    CHECK(qn_tensor_same_shape(y, x) && y->ndim == 2 && f32_rows(y) && f32_rows(x), y, x, s);
    CHECK(s->ndim == 2 && f32_rows(s) && s->shape[0] == x->shape[0] && s->shape[1] == 1, y, x, s);
    dev->ops->scale_rows(dev, y, x, s);
}

void qn_swiglu_clamped(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                       const struct qn_tensor *up, float alpha, float limit)
{
    CHECK(qn_tensor_same_shape(y, gate) && qn_tensor_same_shape(y, up), y, gate, up);
    CHECK(y->ndim <= 2 && f32_rows(y) && f32_rows(gate) && f32_rows(up), y, gate, up);
    dev->ops->swiglu_clamped(dev, y, gate, up, alpha, limit);
}

void qn_scale_cols(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_tensor *w)
{
    CHECK(qn_tensor_same_shape(y, x) && y->ndim == 2 && f32_rows(y) && f32_rows(x), y, x, w);
    CHECK(w->ndim == 1 && f32_rows(w) && w->shape[0] == x->shape[1], y, x, w);
    dev->ops->scale_cols(dev, y, x, w);
}

void qn_match_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_tensor *like)
{
    CHECK(qn_tensor_same_shape(y, x) && qn_tensor_same_shape(y, like), y, x, like);
    CHECK(y->ndim == 2 && f32_rows(y) && f32_rows(x) && f32_rows(like), y, x, like);
    dev->ops->match_norm(dev, y, x, like);
}

void qn_cut_below(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                  float times)
{
    CHECK(qn_tensor_same_shape(y, x) && y->ndim == 2 && f32_rows(y) && f32_rows(x), y, x, NULL);
    dev->ops->cut_below(dev, y, x, times);
}

void qn_gelu_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                 const struct qn_tensor *up)
{
    CHECK(qn_tensor_same_shape(y, gate) && qn_tensor_same_shape(y, up), y, gate, up);
    CHECK(y->ndim <= 2 && f32_rows(y) && f32_rows(gate) && f32_rows(up), y, gate, up);
    dev->ops->gelu_mul(dev, y, gate, up);
}

void qn_scale(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x, float factor)
{
    CHECK(qn_tensor_same_shape(y, x) && y->ndim <= 2 && f32_rows(y) && f32_rows(x), y, x, NULL);
    dev->ops->scale(dev, y, x, factor);
}

void qn_softcap(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x, float limit)
{
    CHECK(qn_tensor_same_shape(y, x) && y->ndim <= 2 && f32_rows(y) && f32_rows(x), y, x, NULL);
    dev->ops->softcap(dev, y, x, limit);
}

void qn_softmax(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x)
{
    CHECK(qn_tensor_same_shape(y, x) && y->ndim <= 3 && f32_rows(x) && f32_rows(y), y, x, NULL);
    dev->ops->softmax(dev, y, x);
}

static bool plain(enum qn_dtype t)
{
    return qn_dtype(t)->block == 1;
}

void qn_copy(struct qn_device *dev, struct qn_tensor *dst, const struct qn_tensor *src)
{
    bool halves = (dst->dtype == QN_F32 || dst->dtype == QN_F16) &&
                  (src->dtype == QN_F32 || src->dtype == QN_F16);
    CHECK(qn_tensor_same_shape(dst, src), dst, src, NULL);
    CHECK(halves || (dst->dtype == src->dtype && plain(dst->dtype)), dst, src, NULL);
    dev->ops->copy(dev, dst, src);
}

void qn_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *a,
            const struct qn_tensor *b)
{
    CHECK(qn_tensor_same_shape(y, a) && qn_tensor_same_shape(y, b), y, a, b);
    CHECK(y->ndim == 2 && f32_rows(y) && f32_rows(a) && f32_rows(b), y, a, b);
    dev->ops->mul(dev, y, a, b);
}

void qn_relu_squared(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x)
{
    CHECK(qn_tensor_same_shape(y, x) && y->ndim == 2 && f32_rows(y) && f32_rows(x), y, x, NULL);
    dev->ops->relu_squared(dev, y, x);
}

void qn_sigmoid_mul(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *gate,
                    const struct qn_tensor *x)
{
    CHECK(qn_tensor_same_shape(y, gate) && qn_tensor_same_shape(y, x), y, gate, x);
    CHECK(y->ndim <= 3 && f32_rows(y) && f32_rows(gate) && f32_rows(x), y, gate, x);
    dev->ops->sigmoid_mul(dev, y, gate, x);
}

void qn_sigmoid(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x)
{
    CHECK(qn_tensor_same_shape(y, x) && y->ndim == 2 && f32_rows(x) && f32_rows(y), y, x, NULL);
    dev->ops->sigmoid(dev, y, x);
}

void qn_l2_norm(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x, float eps,
                float scale)
{
    CHECK(qn_tensor_same_shape(y, x) && y->ndim <= 3 && f32_rows(x) && f32_rows(y), y, x, NULL);
    dev->ops->l2_norm(dev, y, x, eps, scale);
}

/* ---- recurrent layers ---- */

/* Checks that the spans lie within `rows` rows and that each has a state of this shape. */
static void check_states(const struct qn_span *spans, const struct qn_tensor *states, int n_spans,
                         const struct qn_tensor *rows, size_t ndim, const int64_t *shape)
{
    CHECK(n_spans >= 1 && n_spans <= QN_SPANS_MAX, rows, NULL, NULL);
    for (int i = 0; i < n_spans; i++) {
        const struct qn_span *s = &spans[i];
        const struct qn_tensor *t = &states[i];
        CHECK(s->n >= 1 && s->row >= 0 && s->row + (int64_t)s->n <= rows->shape[0], rows, t, NULL);
        CHECK(t->dtype == QN_F32 && t->ndim == (int)ndim && qn_tensor_contiguous(t), rows, t, NULL);
        for (size_t d = 0; d < ndim; d++)
            CHECK(t->shape[d] == shape[d], rows, t, NULL);
    }
}

static bool f32_shape(const struct qn_tensor *t, size_t ndim, const int64_t *shape)
{
    if (t->ndim != (int)ndim || !f32_rows(t))
        return false;
    for (size_t i = 0; i < ndim; i++)
        if (t->shape[i] != shape[i])
            return false;
    return true;
}

void qn_short_conv(struct qn_device *dev, struct qn_tensor *y, const struct qn_tensor *x,
                   const struct qn_tensor *w, const struct qn_tensor *bias, bool silu,
                   const struct qn_span *spans, const struct qn_tensor *states, int n_spans)
{
    CHECK(x->ndim == 2 && f32_rows(x) && f32_rows(y) && qn_tensor_same_shape(x, y), y, x, w);
    int64_t kernel = w->shape[0], channels = x->shape[1];
    CHECK(f32_shape(w, QN_SHAPE(kernel, channels)), y, x, w);
    CHECK(kernel >= 2 && kernel <= QN_CONV_MAX, y, x, w);
    CHECK(!bias || f32_shape(bias, QN_SHAPE(channels)), y, x, bias);
    check_states(spans, states, n_spans, x, QN_SHAPE(kernel - 1, channels));
    dev->ops->short_conv(dev, y, x, w, bias, silu, spans, states, n_spans);
}

void qn_time_steps(struct qn_device *dev, struct qn_tensor *decay, struct qn_tensor *dt,
                   const struct qn_tensor *raw, const struct qn_tensor *bias,
                   const struct qn_tensor *a)
{
    CHECK(raw->ndim == 2 && f32_rows(raw), decay, raw, a);
    CHECK(f32_shape(decay, QN_SHAPE(raw->shape[0], raw->shape[1])), decay, raw, a);
    CHECK(!dt || f32_shape(dt, QN_SHAPE(raw->shape[0], raw->shape[1])), dt, raw, a);
    CHECK(f32_shape(bias, QN_SHAPE(raw->shape[1])), bias, raw, a);
    CHECK(f32_shape(a, QN_SHAPE(raw->shape[1])), bias, raw, a);
    dev->ops->time_steps(dev, decay, dt, raw, bias, a);
}

void qn_delta_rule(struct qn_device *dev, struct qn_tensor *out, const struct qn_delta *d,
                   const struct qn_span *spans, const struct qn_tensor *states, int n_spans)
{
    const struct qn_tensor *q = d->q, *k = d->k, *v = d->v;
    CHECK(k->ndim == 3 && f32_rows(k) && f32_rows(q) && qn_tensor_same_shape(q, k), q, k, v);
    CHECK(v->ndim == 3 && f32_rows(v) && v->shape[1] % k->shape[1] == 0, q, k, v);
    CHECK(v->shape[2] % 16 == 0 && v->shape[0] == k->shape[0], q, k, v);
    CHECK(f32_rows(out) && qn_tensor_same_shape(out, v), out, v, NULL);
    CHECK(f32_shape(d->decay, QN_SHAPE(v->shape[0], v->shape[1])), d->decay, v, NULL);
    CHECK(f32_shape(d->beta, QN_SHAPE(v->shape[0], v->shape[1])), d->beta, v, NULL);
    check_states(spans, states, n_spans, v, QN_SHAPE(v->shape[1], k->shape[2], v->shape[2]));
    dev->ops->delta_rule(dev, out, d, spans, states, n_spans);
}

void qn_mamba2_scan(struct qn_device *dev, struct qn_tensor *out, const struct qn_scan *d,
                    const struct qn_span *spans, const struct qn_tensor *states, int n_spans)
{
    const struct qn_tensor *x = d->x, *b = d->b, *c = d->c;
    CHECK(b->ndim == 3 && f32_rows(b) && f32_rows(c) && qn_tensor_same_shape(b, c), x, b, c);
    CHECK(x->ndim == 3 && f32_rows(x) && x->shape[1] % b->shape[1] == 0, x, b, c);
    CHECK(x->shape[2] % 16 == 0 && x->shape[0] == b->shape[0], x, b, c);
    CHECK(f32_rows(out) && qn_tensor_same_shape(out, x), out, x, NULL);
    CHECK(f32_shape(d->decay, QN_SHAPE(x->shape[0], x->shape[1])), d->decay, x, NULL);
    CHECK(f32_shape(d->dt, QN_SHAPE(x->shape[0], x->shape[1])), d->dt, x, NULL);
    CHECK(f32_shape(d->d, QN_SHAPE(x->shape[1])), d->d, x, NULL);
    check_states(spans, states, n_spans, x, QN_SHAPE(x->shape[1], b->shape[2], x->shape[2]));
    dev->ops->mamba2_scan(dev, out, d, spans, states, n_spans);
}

qn_err qn_read(struct qn_device *dev, void *host, const struct qn_tensor *t)
{
    CHECK(qn_tensor_contiguous(t), t, NULL, NULL);
    return dev->ops->read(dev, host, t);
}

void qn_write(struct qn_device *dev, struct qn_tensor *t, const void *host)
{
    CHECK(qn_tensor_contiguous(t), t, NULL, NULL);
    dev->ops->write(dev, t, host);
}

qn_err qn_weight_prepare(struct qn_device *dev, struct qn_tensor *t, struct qn_mem **out,
                         struct qn_error *e)
{
    CHECK((t->ndim == 2 || t->ndim == 3) && t->mem->layout == 0, t, NULL, NULL);
    CHECK(!t->factors || t->dtype == QN_NVFP4, t, NULL, NULL);
    return dev->ops->weight_prepare(dev, t, out, e);
}

qn_err qn_weight_adopt(struct qn_device *dev, struct qn_tensor *t, const void *host, size_t bytes,
                       struct qn_mem **out, struct qn_error *e)
{
    CHECK((t->ndim == 2 || t->ndim == 3) && t->mem->layout == 0, t, NULL, NULL);
    return dev->ops->weight_adopt(dev, t, host, bytes, out, e);
}

uint32_t qn_device_layouts(const struct qn_device *dev)
{
    return dev->layouts;
}

void qn_device_free(struct qn_device *dev)
{
    if (dev)
        dev->ops->free(dev);
}

const char *qn_device_name(const struct qn_device *dev)
{
    return dev->name;
}

int qn_device_threads(const struct qn_device *dev)
{
    return dev->ops->threads(dev);
}

void qn_device_set_threads(struct qn_device *dev, int threads)
{
    dev->ops->set_threads(dev, threads);
}

qn_err qn_device_reserve(struct qn_device *dev, const struct qn_reserve *need, struct qn_error *e)
{
    return dev->ops->reserve(dev, need, e);
}

qn_err qn_mem_new(struct qn_device *dev, size_t bytes, struct qn_mem **out, struct qn_error *e)
{
    return dev->ops->mem_new(dev, bytes, out, e);
}

struct qn_mem *qn_mem_borrow(struct qn_device *dev, const void *host, size_t bytes)
{
    struct qn_mem *m = qn_xcalloc(1, sizeof *m);
    *m = (struct qn_mem){.dev = dev, .host = (void *)host, .bytes = bytes};
    return m;
}

void qn_mem_free(struct qn_mem *m)
{
    if (!m)
        return;
    if (m->owned)
        m->dev->ops->mem_free(m->dev, m);
    free(m);
}
