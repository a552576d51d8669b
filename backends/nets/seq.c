/* Sequences: the keys and values of the tokens seen so far, one allocation each.
 *
 * Every layer has [kv_heads, context, head_dim] keys, then values of the same shape, so that one
 * head's cache is read front to back. The memory is committed by the system as tokens fill it. */
#include "base/buf.h"
#include "nets/decoder.h"

#include <assert.h>
#include <stdlib.h>

qn_err qn_seq_new(struct qn_net *net, int32_t context, struct qn_seq **out, struct qn_error *e)
{
    const struct qn_decoder_shape *shape = &net->shape;
    if (context < 1 || context > QN_NET_CONTEXT_MAX)
        return qn_fail(e, QN_EINVAL, "a context of %d tokens: choose 1 to %d", context,
                       QN_NET_CONTEXT_MAX);
    struct qn_seq *s = qn_xcalloc(1, sizeof *s);
    size_t bytes = (size_t)net->info.kv_token_bytes * (size_t)context;
    qn_err err = qn_mem_new(net->dev, bytes, &s->mem, e);
    if (err != QN_OK) {
        free(s);
        return qn_fail(e, err, "a context of %d tokens needs %zu MiB of memory for its cache",
                       context, bytes >> 20);
    }
    s->dev = net->dev;
    s->layers = shape->layers;
    s->context = context;
    s->k = qn_xcalloc((size_t)shape->layers, sizeof *s->k);
    s->v = qn_xcalloc((size_t)shape->layers, sizeof *s->v);
    size_t at = 0;
    for (int32_t i = 0; i < shape->layers; i++) {
        const struct qn_layer_cache *c = &net->layer[i].cache;
        s->k[i] = qn_tensor_make(QN_F16, QN_SHAPE(c->kv_heads, context, c->k_dim), s->mem, at);
        at += qn_tensor_bytes(&s->k[i]);
        s->v[i] = qn_tensor_make(QN_F16, QN_SHAPE(c->kv_heads, context, c->v_dim), s->mem, at);
        at += qn_tensor_bytes(&s->v[i]);
    }
    *out = s;
    return QN_OK;
}

void qn_seq_free(struct qn_seq *s)
{
    if (!s)
        return;
    qn_mem_free(s->mem);
    free(s->k);
    free(s->v);
    free(s);
}

int32_t qn_seq_len(const struct qn_seq *s)
{
    return s->len;
}

void qn_seq_truncate(struct qn_seq *s, int32_t len)
{
    assert(len >= 0 && len <= s->len);
    s->len = len;
}

void qn_seq_copy(struct qn_seq *dst, const struct qn_seq *src, int32_t len)
{
    assert(dst != src && dst->layers == src->layers);
    assert(len >= 0 && len <= src->len && len <= dst->context);
    for (int32_t i = 0; i < src->layers && len > 0; i++) {
        struct qn_tensor from = qn_tensor_slice(&src->k[i], 1, 0, len);
        struct qn_tensor to = qn_tensor_slice(&dst->k[i], 1, 0, len);
        qn_copy(dst->dev, &to, &from);
        from = qn_tensor_slice(&src->v[i], 1, 0, len);
        to = qn_tensor_slice(&dst->v[i], 1, 0, len);
        qn_copy(dst->dev, &to, &from);
    }
    dst->len = len;
}
