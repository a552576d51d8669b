/* Joins neighbouring symbols of a word, best pair first, until no pair may be joined: the heart of
 * both BPE and SentencePiece, which differ only in who is the better pair. O(n log n) for n
 * symbols. */
#ifndef QN_NETS_MERGE_H
#define QN_NETS_MERGE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_merge_sym {
    uint32_t at, len;   /* its bytes in the text; len 0: joined to the symbol before it */
    int32_t prev, next; /* neighbours that are left, -1: none */
    int32_t id;         /* token, or -1 for a character without one */
};

struct qn_merge_pair {
    uint64_t key; /* priority, then the left symbol: the smallest goes first */
    int32_t right;
    int32_t id;
    uint32_t len; /* of both symbols when the pair was found: if it differs, the pair is outdated */
};

/* Memory of one caller, kept from word to word; zero-initialise. */
struct qn_merge {
    struct qn_merge_sym *sym;
    size_t n, cap;
    struct qn_merge_pair *heap; /* [2 * cap] */
    size_t heap_n;
};

/* Whether the two symbols may be joined; if so the priority (smaller is earlier) and the token. */
typedef bool (*qn_merge_rank)(const void *ctx, const char *text, const struct qn_merge_sym *left,
                              const struct qn_merge_sym *right, uint32_t *priority, int32_t *id);

/* Empties m and makes room for n symbols. QN_ENOMEM. */
qn_err qn_merge_start(struct qn_merge *m, size_t n, struct qn_error *e);
/* Appends a symbol; at most as many as there is room for. */
void qn_merge_add(struct qn_merge *m, uint32_t at, uint32_t len, int32_t id);
/* Joins; what remains is the list from symbol 0 along `next`. text: what `at` counts in. */
void qn_merge_run(struct qn_merge *m, const char *text, qn_merge_rank rank, const void *ctx);
void qn_merge_deinit(struct qn_merge *m);

#endif
