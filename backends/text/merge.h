/* Joins adjacent symbols of a word, best pair first, until no pair may be joined. This is the core
 * of both BPE and SentencePiece, which differ in how pairs are ranked. O(n log n) for n symbols,
 * without recursion. */
#ifndef QN_TEXT_MERGE_H
#define QN_TEXT_MERGE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* A symbol is identified by the offset of its first byte in the word; it ends where the next symbol
 * begins. */
struct qn_merge_sym {
    uint32_t prev, next; /* adjacent symbols; QN_MERGE_NONE before the first, the word's length
                            after the last */
    int32_t id; /* token; -1: a character without a token; -2: joined to the previous symbol */
};
#define QN_MERGE_NONE UINT32_MAX

/* Working memory, reused from word to word; zero-initialise. */
struct qn_merge {
    struct qn_merge_sym *sym; /* [cap], indexed by the symbol's first byte */
    uint64_t *heap;           /* [2 * cap] min-heap of priority, then left symbol */
    size_t cap, heap_n;
    uint32_t last; /* the symbol that was added last */
};

/* The token made by joining the symbols left and right, whose text is s[0..len), and its priority
 * below UINT32_MAX (smaller is earlier); -1: they may not be joined. */
typedef int32_t (*qn_merge_rank)(const void *ctx, const char *s, size_t len, int32_t left,
                                 int32_t right, uint32_t *priority);

/* Empties m and allocates for a word of n bytes. QN_ENOMEM. */
qn_err qn_merge_start(struct qn_merge *m, size_t n, struct qn_error *e);

/* Appends a symbol of len bytes at `at`, which must be the end of the previous symbol. */
static inline void qn_merge_add(struct qn_merge *m, uint32_t at, uint32_t len, int32_t id)
{
    m->sym[at] = (struct qn_merge_sym){at > 0 ? m->last : QN_MERGE_NONE, at + len, id};
    m->last = at;
}

/* Joins the symbols of word[0..n). The result is the list from symbol 0 along `next` to n. */
void qn_merge_run(struct qn_merge *m, const char *word, size_t n, qn_merge_rank rank,
                  const void *ctx);
void qn_merge_deinit(struct qn_merge *m);

#endif
