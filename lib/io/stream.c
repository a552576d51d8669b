/* The queue is one contiguous buffer with a read offset. It is compacted when the front half is
 * empty, and freed when it drains after having grown, so a thousand idle streams take almost no
 * memory. */
#include "io/stream.h"

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_BYTES = 1024,
    KEEP_BYTES = 16 * 1024 /* an empty buffer up to this size is kept for the next write */
};

struct qn_stream {
    char *data;
    size_t cap, head, len; /* the bytes are data[head .. head + len) */
    bool full, closed;
    qn_stream_fn readable, drained;
    void *rctx, *dctx;
};

struct qn_stream *qn_stream_new(qn_stream_fn readable, void *rctx, qn_stream_fn drained, void *dctx)
{
    struct qn_stream *s = qn_xcalloc(1, sizeof *s);
    s->readable = readable;
    s->rctx = rctx;
    s->drained = drained;
    s->dctx = dctx;
    return s;
}

void qn_stream_free(struct qn_stream *s)
{
    if (!s)
        return;
    free(s->data);
    free(s);
}

static void make_room(struct qn_stream *s, size_t n)
{
    if (s->cap - s->head - s->len >= n)
        return;
    if (s->len)
        memmove(s->data, s->data + s->head, s->len);
    s->head = 0;
    if (s->cap - s->len >= n)
        return;
    size_t cap = s->cap ? s->cap : FIRST_BYTES;
    while (cap - s->len < n) {
        assert(cap <= SIZE_MAX / 2);
        cap *= 2;
    }
    s->data = qn_xrealloc(s->data, cap);
    s->cap = cap;
}

void qn_stream_write(struct qn_stream *s, const void *p, size_t n)
{
    assert(!s->closed);
    if (n == 0)
        return;
    bool was_empty = s->len == 0;
    make_room(s, n);
    memcpy(s->data + s->head + s->len, p, n);
    s->len += n;
    if (s->len >= QN_STREAM_HIGH)
        s->full = true;
    if (was_empty && s->readable)
        s->readable(s->rctx);
}

bool qn_stream_full(const struct qn_stream *s)
{
    return s->full;
}

void qn_stream_end(struct qn_stream *s)
{
    if (s->closed)
        return;
    s->closed = true;
    if (s->len == 0 && s->readable)
        s->readable(s->rctx);
}

bool qn_stream_closed(const struct qn_stream *s)
{
    return s->closed;
}

bool qn_stream_ended(const struct qn_stream *s)
{
    return s->closed && s->len == 0;
}

size_t qn_stream_len(const struct qn_stream *s)
{
    return s->len;
}

size_t qn_stream_read(struct qn_stream *s, void *p, size_t n)
{
    if (n > s->len)
        n = s->len;
    if (n == 0)
        return 0;
    memcpy(p, s->data + s->head, n);
    s->head += n;
    s->len -= n;
    if (s->len == 0) {
        s->head = 0;
        if (s->cap > KEEP_BYTES) {
            free(s->data);
            s->data = NULL;
            s->cap = 0;
        }
    }
    if (s->full && s->len <= QN_STREAM_LOW) {
        s->full = false;
        /* A producer that has ended the stream needs no more space. */
        if (s->drained && !s->closed)
            s->drained(s->dctx);
    }
    return n;
}
