/* Arithmetic by Python's rules, and conversion of values to numbers. */
#ifndef QN_JINJA_NUMBER_H
#define QN_JINJA_NUMBER_H

#include "jinja/ast.h"
#include "jinja/value.h"

/* a op b for QN_OP_ADD to QN_OP_POW; strings and lists are supported where Python does. */
enum qn_tflow qn_tval_binary(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                             const struct qn_tval *b, struct qn_tval *out);
enum qn_tflow qn_tval_sign(struct qn_trun *run, enum qn_top op, const struct qn_tval *v,
                           struct qn_tval *out);

/* An integer argument of a function: a bool or int. Values beyond +-2^62 are clamped; no length is
 * that large. */
enum qn_tflow qn_tval_index(struct qn_trun *run, const struct qn_tval *v, int64_t *out);
/* The same, or `fallback` when the argument is missing or None. */
enum qn_tflow qn_tval_index_or(struct qn_trun *run, const struct qn_tval *v, int64_t fallback,
                               int64_t *out);
/* Converts a number to a float; fails for other values and for integers that are too large. */
enum qn_tflow qn_tval_double(struct qn_trun *run, const struct qn_tval *v, double *out);

/* int(text, base) and float(text): *ok is false where Python raises ValueError. */
enum qn_tflow qn_tval_parse_int(struct qn_trun *run, const char *s, size_t n, int64_t base,
                                bool *ok, struct qn_tval *out);
enum qn_tflow qn_tval_parse_float(struct qn_trun *run, const char *s, size_t n, bool *ok,
                                  double *out);
/* round(v, digits): v is a number. With digits QN_T_MISSING the result is an integer. */
enum qn_tflow qn_tval_round(struct qn_trun *run, const struct qn_tval *v,
                            const struct qn_tval *digits, struct qn_tval *out);

#endif
