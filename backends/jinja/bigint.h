/* Integers beyond 64 bits: sign and magnitude. Every result that fits 64 bits is a QN_T_INT. */
#ifndef QN_JINJA_BIGINT_H
#define QN_JINJA_BIGINT_H

#include "jinja/value.h"

enum {
    QN_TBIG_LIMBS = 450 /* of 32 bits: 4,300 decimal digits, the most that Python writes */
};

struct qn_tbig {
    bool negative;
    uint32_t n; /* limbs in use; the last one is not 0 */
    uint32_t limb[QN_TBIG_LIMBS + 2];
};

/* Any of QN_T_INTEGERS. */
void qn_tbig_load(const struct qn_tval *v, struct qn_tbig *out);
enum qn_tflow qn_tbig_store(struct qn_trun *run, const struct qn_tbig *b, struct qn_tval *out);
enum qn_tflow qn_tbig_from_double(struct qn_trun *run, double f,
                                  struct qn_tval *out); /* truncates */
double qn_tbig_double(const struct qn_tbig *b);         /* infinite when it is too large */
int qn_tbig_compare(const struct qn_tbig *a, const struct qn_tbig *b);

enum qn_tflow qn_tbig_add(struct qn_trun *run, const struct qn_tbig *a, const struct qn_tbig *b,
                          bool subtract, struct qn_tval *out);
enum qn_tflow qn_tbig_mul(struct qn_trun *run, const struct qn_tbig *a, const struct qn_tbig *b,
                          struct qn_tval *out);
/* Rounded down, as Python does; b is not 0. Either result may be NULL. */
enum qn_tflow qn_tbig_divmod(struct qn_trun *run, const struct qn_tbig *a, const struct qn_tbig *b,
                             struct qn_tval *quotient, struct qn_tval *rest);
enum qn_tflow qn_tbig_pow(struct qn_trun *run, const struct qn_tval *base, uint64_t exponent,
                          struct qn_tval *out);

/* Digits in a base from 2 to 36, lower case, with a minus sign; a string. */
enum qn_tflow qn_tbig_text(struct qn_trun *run, const struct qn_tval *v, unsigned base,
                           struct qn_tval *out);
/* n digits of this base, all of them checked by the caller. */
enum qn_tflow qn_tbig_parse(struct qn_trun *run, const char *s, size_t n, unsigned base,
                            bool negative, struct qn_tval *out);

#endif
