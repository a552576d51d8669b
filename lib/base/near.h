/* Which of several words a misspelt one stands for. Pure. */
#ifndef QN_BASE_NEAR_H
#define QN_BASE_NEAR_H

#include <stddef.h>

enum { QN_NEAR_WORD_MAX = 63, QN_NEAR_FAR = 99 };

/* The number of single edits that turn a into b: a byte inserted, removed or replaced, or two
 * neighbours exchanged (optimal string alignment); letters' case does not count. QN_NEAR_FAR when
 * one of them is longer than QN_NEAR_WORD_MAX bytes. */
size_t qn_near_distance(const char *a, const char *b);

/* A search for the nearest word: begin, offer every candidate, read `found`. */
struct qn_near {
    const char *word;  /* borrowed */
    const char *found; /* the candidate's name; NULL: none is near enough */
    size_t best;       /* a candidate must have fewer edits than this */
};

/* Up to a third of the word's letters and one more may differ. */
struct qn_near qn_near_begin(const char *word);

/* name is what `found` becomes when candidate is nearer than all before; borrowed. */
void qn_near_offer(struct qn_near *n, const char *candidate, const char *name);

#endif
