/* Joins neighbouring symbols of a word, best pair first, until no pair may be joined: the heart of
 * both BPE and SentencePiece, which differ only in who is the better pair. O(n log n) for n
 * symbols, without recursion. */
#ifndef QN_TEXT_MERGE_H
#define QN_TEXT_MERGE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* A symbol is named by where it begins in the word; it ends where the next one begins. */
struct qn_merge_sym {
    uint32_t prev, next; /* its neighbours; QN_MERGE_NONE before the first; the word's end after the
                          * last */
    int32_t id; /* token; -1 for a character without one; -2: joined to the one before it */
};
#define QN_MERGE_NONE UINT32_MAX

/* Memory of one caller, kept from word to word; zero-initialise. */
struct qn_merge {
    struct qn_merge_sym *sym; /* [cap], by the byte where a symbol begins */
    uint64_t *heap; /* [2 * cap]: priority, then the left symbol; the smallest goes first */
    size_t cap, heap_n;
    uint32_t last; /* the symbol added last */
};

/* The token that the symbols left and right become, which are len bytes at s together, and its
 * priority below UINT32_MAX (smaller is earlier); -1: they may not be joined. */
typedef int32_t (*qn_merge_rank)(const void *ctx, const char *s, size_t len, int32_t left,
                                 int32_t right, uint32_t *priority);

/* Empties m and makes room for a word of n bytes. QN_ENOMEM. */
qn_err qn_merge_start(struct qn_merge *m, size_t n, struct qn_error *e);

/* Appends a symbol of len bytes at `at`, which is where the one before it ends. */
static inline void qn_merge_add(struct qn_merge *m, uint32_t at, uint32_t len, int32_t id)
{
    m->sym[at] = (struct qn_merge_sym){at > 0 ? m->last : QN_MERGE_NONE, at + len, id};
    m->last = at;
}

/* Joins the symbols of word[0..n); what remains is the list from symbol 0 along `next` to n. */
void qn_merge_run(struct qn_merge *m, const char *word, size_t n, qn_merge_rank rank,
                  const void *ctx);
void qn_merge_deinit(struct qn_merge *m);

#endif
