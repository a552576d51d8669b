/* See merge.h. For short words the best pair is found by a linear search; for long words by a
 * binary heap of candidates, in which outdated entries remain until they are popped. */
#include "text/merge.h"

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>

enum { SHORT = 32 };     /* longest word in bytes for which a linear search is faster than a heap */
#define NEVER UINT32_MAX /* priority of a pair that may not be joined */

qn_err qn_merge_start(struct qn_merge *m, size_t n, struct qn_error *e)
{
    m->heap_n = 0;
    if (n <= m->cap) {
        return QN_OK;
    }
    size_t cap = n < 64 ? 64 : n + n / 4;
    qn_merge_deinit(m);
    /* The heap holds at most 2n pairs: n - 1 initially, and each join removes one and adds at most
     * two. */
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

/* The input of one run. */
struct joining {
    struct qn_merge_sym *sym;
    const char *word;
    uint32_t n;
    qn_merge_rank rank;
    const void *ctx;
};

/* The token and priority of joining the symbol with the next one; -1 and NEVER: they may not be
 * joined. */
static int32_t pair(const struct joining *j, uint32_t left, uint32_t *priority)
{
    const struct qn_merge_sym *l = &j->sym[left];
    *priority = NEVER;
    if (l->next >= j->n) {
        return -1;
    }
    const struct qn_merge_sym *r = &j->sym[l->next];
    int32_t id = j->rank(j->ctx, j->word + left, r->next - left, l->id, r->id, priority);
    *priority = id < 0 ? NEVER : *priority;
    return id;
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

static void run_short(const struct joining *j)
{
    uint32_t priority[SHORT]; /* of the pair that begins with the symbol at this byte */
    int32_t id[SHORT];
    for (uint32_t i = 0; i < j->n; i++) {
        priority[i] = NEVER;
    }
    for (uint32_t i = 0; i < j->n; i = j->sym[i].next) {
        id[i] = pair(j, i, &priority[i]);
    }
    for (;;) {
        uint32_t best = NEVER, left = 0;
        for (uint32_t i = 0; i < j->n; i++) {
            left = priority[i] < best ? i : left;
            best = priority[i] < best ? priority[i] : best;
        }
        if (best == NEVER) {
            return;
        }
        priority[j->sym[left].next] = NEVER;
        join(j, left, id[left]);
        uint32_t prev = j->sym[left].prev;
        if (prev != QN_MERGE_NONE) {
            id[prev] = pair(j, prev, &priority[prev]);
        }
        id[left] = pair(j, left, &priority[left]);
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
    if (n <= SHORT) {
        run_short(&j);
        return;
    }
    for (uint32_t i = 0; i < j.n; i = j.sym[i].next) {
        try_pair(m, &j, i);
    }
    while (m->heap_n > 0) {
        uint64_t key = pop(m);
        uint32_t left = (uint32_t)key, priority;
        /* The entry is outdated if the symbol has been joined to another one or the pair that
         * begins here has a different priority. */
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
