/* See buf.h. */
#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *p, size_t n)
{
    if (!p && n) {
        fprintf(stderr, "quince: out of memory for %zu bytes\n", n);
        abort();
    }
    return p;
}

void *qn_xmalloc(size_t n)
{
    return must(malloc(n ? n : 1), n ? n : 1);
}

void *qn_xcalloc(size_t count, size_t size)
{
    return must(calloc(count ? count : 1, size ? size : 1), 1);
}

void *qn_xrealloc(void *p, size_t n)
{
    return must(realloc(p, n ? n : 1), n ? n : 1);
}

char *qn_xstrdup(const char *s)
{
    return qn_xstrndup(s, strlen(s));
}

char *qn_xstrndup(const char *s, size_t n)
{
    char *p = qn_xmalloc(n + 1);
    memcpy(p, s, n);
    p[n] = '\0';
    return p;
}

void *qn_alloc_sized(size_t count, size_t size, size_t limit)
{
    size_t n;
    if (__builtin_mul_overflow(count, size, &n) || n > limit)
        return NULL;
    return calloc(count ? count : 1, size ? size : 1);
}

void qn_buf_init(struct qn_buf *b, size_t limit)
{
    *b = (struct qn_buf){.limit = limit};
}

void qn_buf_deinit(struct qn_buf *b)
{
    free(b->data);
    *b = (struct qn_buf){.limit = b->limit};
}

void qn_buf_clear(struct qn_buf *b)
{
    b->len = 0;
    b->overflow = false;
    if (b->data)
        b->data[0] = '\0';
}

qn_err qn_buf_reserve(struct qn_buf *b, size_t n)
{
    size_t need;
    if (__builtin_add_overflow(b->len, n, &need) || need > b->limit || need == SIZE_MAX) {
        b->overflow = true;
        return QN_ELIMIT;
    }
    if (need + 1 > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < need + 1)
            cap = cap > SIZE_MAX / 2 ? need + 1 : cap * 2;
        b->data = qn_xrealloc(b->data, cap);
        b->cap = cap;
        b->data[b->len] = '\0';
    }
    return QN_OK;
}

qn_err qn_buf_add(struct qn_buf *b, const void *p, size_t n)
{
    qn_err err = qn_buf_reserve(b, n);
    if (err)
        return err;
    if (n)
        memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = '\0';
    return QN_OK;
}

qn_err qn_buf_str(struct qn_buf *b, const char *s)
{
    return qn_buf_add(b, s, strlen(s));
}

qn_err qn_buf_char(struct qn_buf *b, char c)
{
    return qn_buf_add(b, &c, 1);
}

qn_err qn_buf_vfmt(struct qn_buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    assert(n >= 0);
    qn_err err = qn_buf_reserve(b, (size_t)n);
    if (err)
        return err;
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    b->len += (size_t)n;
    return QN_OK;
}

qn_err qn_buf_fmt(struct qn_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    qn_err err = qn_buf_vfmt(b, fmt, ap);
    va_end(ap);
    return err;
}

void qn_buf_drop(struct qn_buf *b, size_t n)
{
    assert(n <= b->len);
    if (n == 0)
        return;
    b->len -= n;
    memmove(b->data, b->data + n, b->len + 1);
}

char *qn_buf_cstr(struct qn_buf *b)
{
    static char empty[1];
    return b->data ? b->data : empty;
}

char *qn_buf_take(struct qn_buf *b)
{
    char *p = b->data ? b->data : qn_xstrdup("");
    *b = (struct qn_buf){.limit = b->limit};
    return p;
}
