/* See merge.h. Short words look at every pair for the best one; long ones keep a binary heap of
 * candidates in which outdated ones stay until they come up. */
#include "nets/merge.h"

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>

enum { SHORT = 24 }; /* symbols of a word for which a heap does not pay */

qn_err qn_merge_start(struct qn_merge *m, size_t n, struct qn_error *e)
{
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

static void push(struct qn_merge *m, uint64_t key)
{
    assert(m->heap_n < 2 * m->cap);
    size_t i = m->heap_n++;
    while (i > 0 && m->heap[(i - 1) / 2] > key) {
        m->heap[i] = m->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    m->heap[i] = key;
}

static uint64_t pop(struct qn_merge *m)
{
    uint64_t top = m->heap[0];
    uint64_t key = m->heap[--m->heap_n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < m->heap_n; i = child) {
        if (child + 1 < m->heap_n && m->heap[child + 1] < m->heap[child]) {
            child++;
        }
        if (m->heap[child] >= key) {
            break;
        }
        m->heap[i] = m->heap[child];
    }
    m->heap[i] = key;
    return top;
}

/* What one run works on. */
struct joining {
    struct qn_merge_sym *sym;
    const char *word;
    uint32_t n;
    qn_merge_rank rank;
    const void *ctx;
};

/* What the symbol and the next become, or -1. */
static int32_t pair(const struct joining *j, uint32_t left, uint32_t *priority)
{
    const struct qn_merge_sym *l = &j->sym[left];
    if (l->next >= j->n) {
        return -1;
    }
    const struct qn_merge_sym *r = &j->sym[l->next];
    return j->rank(j->ctx, j->word + left, r->next - left, l->id, r->id, priority);
}

static void join(const struct joining *j, uint32_t left, int32_t id)
{
    struct qn_merge_sym *l = &j->sym[left], *r = &j->sym[l->next];
    l->id = id;
    l->next = r->next;
    r->id = -2;
    if (l->next < j->n) {
        j->sym[l->next].prev = left;
    }
}

static void run_short(const struct joining *j, uint32_t count)
{
    struct {
        uint32_t left, priority;
        int32_t id; /* -1: may not be joined */
    } p[SHORT];
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++, left = j->sym[left].next) {
        p[i].left = left;
        p[i].id = pair(j, left, &p[i].priority);
    }
    for (;;) {
        uint32_t best = count;
        for (uint32_t i = 0; i < count; i++) {
            if (p[i].id >= 0 && (best == count || p[i].priority < p[best].priority)) {
                best = i;
            }
        }
        if (best == count) {
            return;
        }
        join(j, p[best].left, p[best].id);
        count--;
        for (uint32_t i = best + 1; i < count; i++) {
            p[i] = p[i + 1];
        }
        for (uint32_t i = best > 0 ? best - 1 : 0; i <= best; i++) {
            p[i].id = pair(j, p[i].left, &p[i].priority);
        }
    }
}

static void try_pair(struct qn_merge *m, const struct joining *j, uint32_t left)
{
    uint32_t priority;
    if (left != QN_MERGE_NONE && pair(j, left, &priority) >= 0) {
        push(m, (uint64_t)priority << 32 | left);
    }
}

void qn_merge_run(struct qn_merge *m, const char *word, size_t n, qn_merge_rank rank,
                  const void *ctx)
{
    struct joining j = {m->sym, word, (uint32_t)n, rank, ctx};
    uint32_t count = 0;
    for (uint32_t i = 0; i < j.n && count <= SHORT; i = j.sym[i].next) {
        count++;
    }
    if (count <= SHORT) {
        run_short(&j, count);
        return;
    }
    for (uint32_t i = 0; i < j.n; i = j.sym[i].next) {
        try_pair(m, &j, i);
    }
    while (m->heap_n > 0) {
        uint64_t key = pop(m);
        uint32_t left = (uint32_t)key, priority;
        /* Outdated when the symbol is gone, or when what now stands here has another priority. */
        int32_t id = j.sym[left].id == -2 ? -1 : pair(&j, left, &priority);
        if (id < 0 || priority != key >> 32) {
            continue;
        }
        join(&j, left, id);
        try_pair(m, &j, j.sym[left].prev);
        try_pair(m, &j, left);
    }
}

void qn_merge_deinit(struct qn_merge *m)
{
    free(m->sym);
    free(m->heap);
    *m = (struct qn_merge){.heap_n = 0};
}
