/* See merge.h. A binary heap of candidate pairs with outdated ones left in until they come up. */
#include "nets/merge.h"

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>

qn_err qn_merge_start(struct qn_merge *m, size_t n, struct qn_error *e)
{
    m->n = 0;
    m->heap_n = 0;
    if (n <= m->cap) {
        return QN_OK;
    }
    size_t cap = n < 64 ? 64 : n + n / 4;
    qn_merge_deinit(m);
    /* Live pairs: n - 1 at first, and each join takes one and adds at most two. */
    m->sym = qn_alloc_sized(cap, sizeof *m->sym, SIZE_MAX);
    m->heap = qn_alloc_sized(cap, 2 * sizeof *m->heap, SIZE_MAX);
    if (m->sym == NULL || m->heap == NULL) {
        qn_merge_deinit(m);
        return qn_fail(e, QN_ENOMEM, "no memory to tokenise %zu characters at once", n);
    }
    m->cap = cap;
    return QN_OK;
}

void qn_merge_add(struct qn_merge *m, uint32_t at, uint32_t len, int32_t id)
{
    assert(m->n < m->cap);
    int32_t i = (int32_t)m->n++;
    m->sym[i] = (struct qn_merge_sym){at, len, i - 1, -1, id};
    if (i > 0) {
        m->sym[i - 1].next = i;
    }
}

static void push(struct qn_merge *m, struct qn_merge_pair p)
{
    assert(m->heap_n < 2 * m->cap);
    size_t i = m->heap_n++;
    while (i > 0 && m->heap[(i - 1) / 2].key > p.key) {
        m->heap[i] = m->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    m->heap[i] = p;
}

static struct qn_merge_pair pop(struct qn_merge *m)
{
    struct qn_merge_pair top = m->heap[0];
    struct qn_merge_pair p = m->heap[--m->heap_n];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= m->heap_n) {
            break;
        }
        if (child + 1 < m->heap_n && m->heap[child + 1].key < m->heap[child].key) {
            child++;
        }
        if (m->heap[child].key >= p.key) {
            break;
        }
        m->heap[i] = m->heap[child];
        i = child;
    }
    m->heap[i] = p;
    return top;
}

static void try_pair(struct qn_merge *m, const char *text, int32_t left, int32_t right,
                     qn_merge_rank rank, const void *ctx)
{
    uint32_t priority;
    struct qn_merge_pair p = {.right = right};
    if (left < 0 || right < 0 ||
        !rank(ctx, text, &m->sym[left], &m->sym[right], &priority, &p.id)) {
        return;
    }
    p.key = (uint64_t)priority << 32 | (uint32_t)left;
    p.len = m->sym[left].len + m->sym[right].len;
    push(m, p);
}

void qn_merge_run(struct qn_merge *m, const char *text, qn_merge_rank rank, const void *ctx)
{
    for (size_t i = 1; i < m->n; i++) {
        try_pair(m, text, (int32_t)i - 1, (int32_t)i, rank, ctx);
    }
    while (m->heap_n > 0) {
        struct qn_merge_pair p = pop(m);
        int32_t left = (int32_t)(uint32_t)p.key;
        struct qn_merge_sym *l = &m->sym[left], *r = &m->sym[p.right];
        /* A symbol grows only by taking the one after it, so equal lengths mean an unchanged pair.
         */
        if (l->len == 0 || r->len == 0 || l->len + r->len != p.len) {
            continue;
        }
        l->len = p.len;
        l->id = p.id;
        r->len = 0;
        l->next = r->next;
        if (r->next >= 0) {
            m->sym[r->next].prev = left;
        }
        try_pair(m, text, l->prev, left, rank, ctx);
        try_pair(m, text, left, l->next, rank, ctx);
    }
}

void qn_merge_deinit(struct qn_merge *m)
{
    free(m->sym);
    free(m->heap);
    *m = (struct qn_merge){.n = 0};
}
