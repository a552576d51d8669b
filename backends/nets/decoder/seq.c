/* Sequences: which pages of the net's cache hold their tokens. */
#include "nets/decoder/seq.h"

#include "base/buf.h"
#include "nets/decoder/decoder.h"

#include <assert.h>
#include <stdlib.h>

/* The cache shapes of all layers; the caller frees the array. */
static struct qn_kv_shape *shapes_of(const struct qn_net *net)
{
    struct qn_kv_shape *shapes = qn_xcalloc((size_t)net->shape.layers, sizeof *shapes);
    for (int32_t i = 0; i < net->shape.layers; i++)
        shapes[i] = net->layer[i].cache;
    return shapes;
}

qn_err qn_net_kv_init(struct qn_net *net, const struct qn_kv_config *config, struct qn_error *e)
{
    assert(!net->kv);
    struct qn_kv_shape *shapes = shapes_of(net);
    qn_err err = qn_kv_new(net->dev, shapes, net->shape.layers, config, &net->kv, e);
    free(shapes);
    return err;
}

int64_t qn_net_kv_seq_bytes(const struct qn_net *net, enum qn_dtype k, enum qn_dtype v,
                            int64_t tokens)
{
    struct qn_kv_shape *shapes = shapes_of(net);
    int64_t bytes = qn_kv_seq_bytes(shapes, net->shape.layers, k, v, tokens, net->max_chunk);
    free(shapes);
    return bytes;
}

void qn_net_kv_pages(const struct qn_net *net, int64_t *free_pages, int64_t *total)
{
    qn_kv_pages(net->kv, free_pages, total);
}

int64_t qn_net_kv_bytes(const struct qn_net *net)
{
    return net->kv ? qn_kv_bytes_touched(net->kv) : 0;
}

qn_err qn_seq_new(struct qn_net *net, int32_t context, struct qn_seq **out, struct qn_error *e)
{
    assert(net->kv);
    if (context < 1 || context > QN_NET_CONTEXT_MAX)
        return qn_fail(e, QN_EINVAL, "a context of %d tokens: choose 1 to %d", context,
                       QN_NET_CONTEXT_MAX);
    struct qn_seq *s = qn_xcalloc(1, sizeof *s);
    qn_err err = qn_state_init(&s->state, net, e);
    if (err != QN_OK) {
        free(s);
        return err;
    }
    s->net = net;
    s->context = context;
    qn_kv_table_init(&s->table, net->kv, context);
    *out = s;
    return QN_OK;
}

void qn_seq_free(struct qn_seq *s)
{
    if (!s)
        return;
    qn_kv_table_deinit(&s->table);
    qn_state_deinit(&s->state);
    free(s);
}

int32_t qn_seq_len(const struct qn_seq *s)
{
    return s->len;
}

qn_err qn_seq_reserve(struct qn_seq *s, int32_t n, struct qn_error *e)
{
    assert(n >= 0);
    if (n > s->context - s->len)
        return qn_fail(e, QN_ECONTEXT, "%d tokens do not fit after %d of %d", (int)n, (int)s->len,
                       (int)s->context);
    qn_err err = qn_kv_table_reserve(&s->table, s->len, n, e);
    return err == QN_OK ? qn_state_reserve(s->net, &s->state, s->len, n, e) : err;
}

void qn_seq_advance(struct qn_seq *s, int32_t n)
{
    s->len += n;
    qn_kv_table_slide(&s->table, s->len);
}

int32_t qn_seq_truncate(struct qn_seq *s, int32_t len)
{
    assert(len >= 0 && len <= s->len);
    len = qn_state_reach(&s->state, s->len, len);
    if (!qn_kv_table_whole_at(&s->table, len))
        len = 0;
    qn_kv_table_cut(&s->table, len);
    qn_state_cut(s->net, &s->state, s->len, len);
    s->len = len;
    return len;
}

qn_err qn_seq_fork(struct qn_seq *dst, const struct qn_seq *src, int32_t len, struct qn_error *e)
{
    assert(dst != src && dst->net == src->net && len >= 0 && len <= src->len);
    qn_seq_truncate(dst, 0);
    if (len > dst->context)
        return qn_fail(e, QN_ECONTEXT, "%d tokens do not fit a context of %d", (int)len,
                       (int)dst->context);
    if (!qn_kv_table_whole_at(&src->table, len))
        return qn_fail(e, QN_EUNSUPPORTED, "the first %d of %d tokens have left the window",
                       (int)len, (int)src->len);
    if (qn_state_reach(&src->state, src->len, len) != len)
        return qn_fail(e, QN_EUNSUPPORTED, "no state is kept after %d of %d tokens", (int)len,
                       (int)src->len);
    qn_kv_table_share(&dst->table, &src->table, len);
    qn_state_share(src->net, &dst->state, &src->state, src->len, len);
    dst->len = len;
    return QN_OK;
}

int32_t qn_seq_forkable(const struct qn_seq *src, int32_t len)
{
    len = qn_state_reach(&src->state, src->len, len < src->len ? len : src->len);
    return qn_kv_table_whole_at(&src->table, len) ? len : 0;
}
