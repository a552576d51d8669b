/* Equality, order, membership and hashes by Python's rules. */
#ifndef QN_JINJA_COMPARE_H
#define QN_JINJA_COMPARE_H

#include "jinja/ast.h"
#include "jinja/value.h"

enum qn_tflow qn_tval_eq(struct qn_trun *run, const struct qn_tval *a, const struct qn_tval *b,
                         bool *out);
bool qn_tval_identical(const struct qn_tval *a, const struct qn_tval *b); /* Python's `is` */
/* The comparison that containers use for their items: identical or equal. */
enum qn_tflow qn_tval_same_or_equal(struct qn_trun *run, const struct qn_tval *a,
                                    const struct qn_tval *b, bool *out);
/* a < b, a <= b, a > b, a >= b; fails for values that have no order. */
enum qn_tflow qn_tval_order(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                            const struct qn_tval *b, bool *out);
/* item in container */
enum qn_tflow qn_tval_in(struct qn_trun *run, const struct qn_tval *item,
                         const struct qn_tval *container, bool *out);
/* The hash of a value as a key; fails for lists, dictionaries and other values that cannot be
 * keys. */
enum qn_tflow qn_tval_hash(struct qn_trun *run, const struct qn_tval *v, uint64_t *out);

/* Stable sort of n items by their n keys; both arrays are reordered. */
enum qn_tflow qn_tval_sort(struct qn_trun *run, struct qn_tval *items, struct qn_tval *keys,
                           size_t n, bool reverse);

#endif
