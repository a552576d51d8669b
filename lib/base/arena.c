/* See arena.h. Block sizes double; an allocation too big for the current block gets a block of its
 * own. */
#include "base/arena.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 2048, LARGEST_BLOCK = 1024 * 1024, ALIGN = 16 };

struct block {
    struct block *next;
    size_t cap, used;
    _Alignas(ALIGN) char data[];
};

struct qn_arena {
    struct block *head;
    size_t used, limit, next_cap;
};

struct qn_arena *qn_arena_new(size_t limit)
{
    struct qn_arena *a = qn_xcalloc(1, sizeof *a);
    a->limit = limit;
    a->next_cap = FIRST_BLOCK;
    return a;
}

void qn_arena_free(struct qn_arena *a)
{
    if (!a)
        return;
    for (struct block *b = a->head; b;) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
    free(a);
}

void *qn_arena_try(struct qn_arena *a, size_t n)
{
    if (n > a->limit - a->used || n > SIZE_MAX - sizeof(struct block) - ALIGN)
        return NULL;
    size_t size = (n + ALIGN - 1) / ALIGN * ALIGN;
    if (!a->head || a->head->cap - a->head->used < size) {
        size_t cap = size > a->next_cap ? size : a->next_cap;
        /* calloc: new blocks are zeroed, and no byte is handed out twice. */
        struct block *b = calloc(1, sizeof *b + cap);
        if (!b)
            return NULL;
        b->cap = cap;
        if (a->head && cap == size && a->head->cap - a->head->used > ALIGN * 4) {
            /* A block for one big allocation: smaller ones continue to fill the block that still
             * has space. */
            b->used = size;
            b->next = a->head->next;
            a->head->next = b;
            a->used += n;
            return b->data;
        }
        b->next = a->head;
        a->head = b;
        if (a->next_cap < LARGEST_BLOCK)
            a->next_cap *= 2;
    }
    void *p = a->head->data + a->head->used;
    a->head->used += size;
    a->used += n;
    return p;
}

void *qn_arena_alloc(struct qn_arena *a, size_t n)
{
    void *p = qn_arena_try(a, n);
    if (!p) {
        fprintf(stderr, "quince: arena limit of %zu bytes passed\n", a->limit);
        abort();
    }
    return p;
}

char *qn_arena_strndup(struct qn_arena *a, const char *s, size_t n)
{
    char *p = qn_arena_alloc(a, n + 1);
    memcpy(p, s, n);
    return p;
}

char *qn_arena_strdup(struct qn_arena *a, const char *s)
{
    return qn_arena_strndup(a, s, strlen(s));
}

char *qn_arena_take(struct qn_arena *a, struct qn_buf *buf)
{
    char *p = buf->overflow ? NULL : qn_arena_try(a, buf->len + 1);
    if (p)
        memcpy(p, qn_buf_cstr(buf), buf->len + 1);
    return p;
}

char *qn_arena_fmt(struct qn_arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *p = qn_arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

size_t qn_arena_used(const struct qn_arena *a)
{
    return a->used;
}
