/* Counts how much of a shared resource each owner holds: one amount per name, and the total. Pure.
 * Names come from outside, so the hash has a random seed. Memory is used only for names with an
 * amount other than 0. */
#ifndef QN_BASE_TALLY_H
#define QN_BASE_TALLY_H

#include <stddef.h>
#include <stdint.h>

enum { QN_TALLY_SLOTS = 64 };

struct qn_tally {
    struct qn_tally_entry *slots[QN_TALLY_SLOTS];
    uint64_t seed;
    int64_t total;
};

void qn_tally_init(struct qn_tally *t);
void qn_tally_deinit(struct qn_tally *t);

/* Adds n to the name's amount, which must not become negative; returns the new amount. The name is
 * copied. */
int64_t qn_tally_add(struct qn_tally *t, const char *name, int64_t n);

int64_t qn_tally_of(const struct qn_tally *t, const char *name);

/* The name with the largest amount, which is stored in *n; NULL: all are 0. Lent until the next
 * change. */
const char *qn_tally_most(const struct qn_tally *t, int64_t *n);

#endif
