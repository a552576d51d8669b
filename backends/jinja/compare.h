/* Equality, order, membership and hashes, by Python's rules. */
#ifndef QN_JINJA_COMPARE_H
#define QN_JINJA_COMPARE_H

#include "jinja/ast.h"
#include "jinja/value.h"

enum qn_tflow qn_tval_eq(struct qn_trun *run, const struct qn_tval *a, const struct qn_tval *b,
                         bool *out);
bool qn_tval_identical(const struct qn_tval *a, const struct qn_tval *b); /* `is` */
/* What containers ask of their items. */
enum qn_tflow qn_tval_same_or_equal(struct qn_trun *run, const struct qn_tval *a,
                                    const struct qn_tval *b, bool *out);
/* a < b, a <= b, a > b, a >= b; fails for values without order. */
enum qn_tflow qn_tval_order(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                            const struct qn_tval *b, bool *out);
/* item in container */
enum qn_tflow qn_tval_in(struct qn_trun *run, const struct qn_tval *item,
                         const struct qn_tval *container, bool *out);
/* Fails for lists, dictionaries and what else cannot be a key. */
enum qn_tflow qn_tval_hash(struct qn_trun *run, const struct qn_tval *v, uint64_t *out);

/* Sorts items by their keys (of the same number) and stays stable; both arrays are reordered. */
enum qn_tflow qn_tval_sort(struct qn_trun *run, struct qn_tval *items, struct qn_tval *keys,
                           size_t n, bool reverse);

#endif
