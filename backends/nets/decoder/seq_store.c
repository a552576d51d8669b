/* Sequences as bytes: their cache pages and the recurrent state after the last token, for a file
 * that the same network reads again. The sizes are checked here; the caller checks that the bytes
 * have not changed. */
#include "nets/decoder/seq.h"

#include "nets/decoder/decoder.h"

#include <assert.h>
#include <string.h>

/* The header of a stored piece. */
struct head {
    int32_t from, len;           /* tokens it omits, and the resulting length */
    int32_t first[QN_KV_GROUPS]; /* entries below it had left the sliding window */
};

static int32_t entries(int32_t tokens)
{
    return (tokens + QN_KV_PAGE - 1) / QN_KV_PAGE;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

qn_err qn_seq_save(const struct qn_seq *s, int32_t from, qn_seq_sink write, void *ctx,
                   struct qn_error *e)
{
    const struct qn_kv_table *t = &s->table;
    struct head head = {.from = from, .len = s->len};
    assert(from >= 0 && from < s->len && from % QN_KV_PAGE == 0);
    assert(from == 0 || s->net->state_bytes == 0);
    memcpy(head.first, t->first, sizeof head.first);
    bool good = write(ctx, &head, sizeof head);
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        if (!t->page[g])
            continue;
        for (int32_t i = larger(from / QN_KV_PAGE, t->first[g]); i < entries(s->len) && good; i++) {
            size_t bytes;
            const void *page = qn_kv_page(t->kv, (enum qn_kv_group)g, t->page[g][i], &bytes);
            good = write(ctx, page, bytes);
        }
    }
    if (good && s->net->state_bytes)
        good = write(ctx, s->state.now->host, s->net->state_bytes);
    return good ? QN_OK : qn_fail(e, QN_EIO, "the sequence could not be written");
}

/* Whether the piece continues s, within the limits of s. */
static bool continues(const struct qn_seq *s, const struct head *h, int32_t len)
{
    if (h->from != s->len || h->len != len || len <= s->len || len > s->context ||
        s->len % QN_KV_PAGE || (s->len > 0 && s->net->state_bytes))
        return false;
    for (int g = 0; g < QN_KV_GROUPS; g++)
        if (h->first[g] < s->table.first[g] || h->first[g] > entries(len) ||
            (g == QN_KV_FULL && h->first[g] != 0))
            return false;
    return true;
}

qn_err qn_seq_restore(struct qn_seq *s, int32_t len, qn_seq_source read, void *ctx,
                      struct qn_error *e)
{
    struct qn_kv_table *t = &s->table;
    struct head head;
    int32_t from = s->len;
    if (!read(ctx, &head, sizeof head))
        return qn_fail(e, QN_EFORMAT, "a stored sequence is truncated");
    if (!continues(s, &head, len))
        return qn_fail(e, QN_EFORMAT,
                       "a stored sequence does not continue the sequence that it is added to");
    qn_err err = qn_seq_reserve(s, len - from, e);
    if (err != QN_OK)
        return err;
    bool good = true;
    for (int g = 0; g < QN_KV_GROUPS; g++) {
        if (!t->page[g])
            continue;
        for (int32_t i = larger(from / QN_KV_PAGE, head.first[g]); i < entries(len) && good; i++) {
            size_t bytes;
            void *page = qn_kv_page(t->kv, (enum qn_kv_group)g, t->page[g][i], &bytes);
            good = read(ctx, page, bytes);
        }
    }
    if (good && s->net->state_bytes)
        good = read(ctx, s->state.now->host, s->net->state_bytes);
    s->len = len;
    qn_kv_table_forget(t, head.first);
    if (good && qn_kv_table_whole_at(t, len))
        return QN_OK;
    qn_seq_truncate(s, 0);
    return qn_fail(e, QN_EFORMAT, "a stored sequence is truncated");
}
