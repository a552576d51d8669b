/* io/http_reader.c: any bytes, however they are cut, give the same requests. The first byte seeds
 * where they are cut. */
#include "io/http_reader.h"

#include "io/http_target.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_MAX = 2048, INPUT_MAX = 64 * 1024, TARGET_ARENA_MAX = 64 * 1024 };

/* All events, written down: heads and bodies as they are, with marks between them. */
struct outcome {
    struct qn_buf said;
    int status;
};

static void look_at_head(const struct qn_reader *r, struct outcome *o)
{
    struct qn_arena *a = qn_arena_new(TARGET_ARENA_MAX);
    const struct qn_head *h = &r->head;
    char *path, *query;
    assert(h->status == 200 && h->len == r->bytes.len && h->len <= HEAD_MAX);
    assert(h->target >= r->bytes.data && h->target + h->target_len <= r->bytes.data + h->len);
    assert(h->minor == 0 || h->framing.has_host);
    assert(!(h->framing.chunked && h->framing.has_length));
    assert(!memchr(r->bytes.data, 0, h->len));
    if (qn_target_split(h->target, h->target_len, a, &path, &query))
        (void)qn_query_find(query, "name", a);
    (void)qn_head_field(r->bytes.data, h->len, "Upgrade", a);
    qn_buf_fmt(&o->said, "<%s>", h->method);
    qn_buf_add(&o->said, r->bytes.data, h->len);
    qn_arena_free(a);
}

/* Feeds one piece; false: nothing more is taken. */
static bool feed(struct qn_reader *r, const char *p, size_t n, struct outcome *o)
{
    size_t at = 0;
    while (at < n || qn_reader_has_end(r)) {
        const char *data;
        size_t used, data_len;
        enum qn_reader_event event = qn_reader_take(r, p + at, n - at, &used, &data, &data_len);
        assert(used <= n - at);
        assert(data_len == 0 ||
               (event == QN_READER_DATA && data >= p + at && data + data_len <= p + at + used));
        at += used;
        if (event == QN_READER_REFUSED) {
            o->status = r->status;
            return false;
        }
        if (event == QN_READER_HEAD)
            look_at_head(r, o);
        if (event == QN_READER_END)
            qn_buf_str(&o->said, "<end>");
        assert(event != QN_READER_MORE || at == n);
        assert(event != QN_READER_DATA || data_len > 0);
        qn_buf_add(&o->said, data, data_len);
    }
    return true;
}

/* seed 0: in one piece. */
static void read_all(const uint8_t *data, size_t n, uint32_t seed, struct outcome *o)
{
    struct qn_reader r;
    *o = (struct outcome){0};
    qn_buf_init(&o->said, 4 * INPUT_MAX);
    qn_reader_init(&r, HEAD_MAX);
    bool more = true;
    bool in_one = seed == 0;
    for (size_t at = 0, len; at < n && more; at += len) {
        seed = seed * 1103515245 + 12345;
        size_t step = (seed >> 16) % 3 ? (seed >> 20) % 16 + 1 : (seed >> 20) + 1;
        len = in_one || n - at < step ? n - at : step;
        /* A copy of exact size, so that reading past the end is seen. */
        char *p = malloc(len);
        if (!p)
            abort();
        memcpy(p, data + at, len);
        more = feed(&r, p, len, o);
        free(p);
    }
    qn_reader_deinit(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 1 || n > INPUT_MAX)
        return 0;
    struct outcome whole, cut;
    read_all(data + 1, n - 1, 0, &whole);
    read_all(data + 1, n - 1, data[0] + 1u, &cut);
    assert(whole.status == cut.status && whole.said.len == cut.said.len);
    assert(!whole.said.len || !memcmp(whole.said.data, cut.said.data, whole.said.len));
    qn_buf_deinit(&whole.said);
    qn_buf_deinit(&cut.said);
    return 0;
}
