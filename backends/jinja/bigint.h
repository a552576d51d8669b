/* Integers of more than 64 bits, as sign and magnitude. Results that fit into 64 bits are returned
 * as QN_T_INT. */
#ifndef QN_JINJA_BIGINT_H
#define QN_JINJA_BIGINT_H

#include "jinja/value.h"

enum {
    QN_TBIG_LIMBS = 450 /* limbs of 32 bits: enough for 4,300 decimal digits, the most that Python
                           converts to text */
};

struct qn_tbig {
    bool negative;
    uint32_t n; /* limbs in use; the last one is not 0 */
    uint32_t limb[QN_TBIG_LIMBS + 2];
};

/* v may have any type of QN_T_INTEGERS. */
void qn_tbig_load(const struct qn_tval *v, struct qn_tbig *out);
enum qn_tflow qn_tbig_store(struct qn_trun *run, const struct qn_tbig *b, struct qn_tval *out);
enum qn_tflow qn_tbig_from_double(struct qn_trun *run, double f,
                                  struct qn_tval *out); /* truncates the fraction */
double qn_tbig_double(const struct qn_tbig *b);         /* infinite when the number is too large */
int qn_tbig_compare(const struct qn_tbig *a, const struct qn_tbig *b);

enum qn_tflow qn_tbig_add(struct qn_trun *run, const struct qn_tbig *a, const struct qn_tbig *b,
                          bool subtract, struct qn_tval *out);
enum qn_tflow qn_tbig_mul(struct qn_trun *run, const struct qn_tbig *a, const struct qn_tbig *b,
                          struct qn_tval *out);
/* Quotient rounded down and the matching remainder, as in Python; b is not 0. Either result may be
 * NULL. */
enum qn_tflow qn_tbig_divmod(struct qn_trun *run, const struct qn_tbig *a, const struct qn_tbig *b,
                             struct qn_tval *quotient, struct qn_tval *rest);
enum qn_tflow qn_tbig_pow(struct qn_trun *run, const struct qn_tval *base, uint64_t exponent,
                          struct qn_tval *out);

/* Writes digits in a base from 2 to 36, in lower case, with a minus sign; the result is a
 * string. */
enum qn_tflow qn_tbig_text(struct qn_trun *run, const struct qn_tval *v, unsigned base,
                           struct qn_tval *out);
/* Parses n digits of this base; the caller has checked that all of them are valid. */
enum qn_tflow qn_tbig_parse(struct qn_trun *run, const char *s, size_t n, unsigned base,
                            bool negative, struct qn_tval *out);

#endif
