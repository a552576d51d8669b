/* Finds the word that a misspelt word was probably meant to be. Pure. */
#ifndef QN_BASE_NEAR_H
#define QN_BASE_NEAR_H

#include <stddef.h>

enum { QN_NEAR_WORD_MAX = 63, QN_NEAR_FAR = 99 };

/* The number of single edits that turn a into b: a byte inserted, removed or replaced, or two
 * adjacent bytes exchanged (optimal string alignment); case is ignored. QN_NEAR_FAR when one of
 * them is longer than QN_NEAR_WORD_MAX bytes. */
size_t qn_near_distance(const char *a, const char *b);

/* A search for the nearest word: begin, offer every candidate, then read `found`. */
struct qn_near {
    const char *word;  /* borrowed */
    const char *found; /* the candidate's name; NULL: none is near enough */
    size_t best;       /* a candidate needs fewer edits than this */
};

/* Accepts candidates of up to 1 + a third of the word's length in edits. */
struct qn_near qn_near_begin(const char *word);

/* If candidate is nearer than all before, `found` becomes name, which is borrowed. */
void qn_near_offer(struct qn_near *n, const char *candidate, const char *name);

#endif
