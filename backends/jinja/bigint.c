/* See bigint.h. Schoolbook algorithms are sufficient for numbers of this size. */
#include "jinja/bigint.h"

#include "jinja/run.h"

#include <math.h>

static void trim(struct qn_tbig *b)
{
    while (b->n > 0 && b->limb[b->n - 1] == 0)
        b->n--;
    if (b->n == 0)
        b->negative = false;
}

void qn_tbig_load(const struct qn_tval *v, struct qn_tbig *out)
{
    if (v->type == QN_T_BIG) {
        *out = *v->big;
        return;
    }
    int64_t i = v->type == QN_T_BOOL ? v->b : v->i;
    uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    out->negative = i < 0;
    out->n = 2;
    out->limb[0] = (uint32_t)u;
    out->limb[1] = (uint32_t)(u >> 32);
    trim(out);
}

enum qn_tflow qn_tbig_store(struct qn_trun *run, const struct qn_tbig *b, struct qn_tval *out)
{
    uint64_t u = b->n > 0 ? b->limb[0] : 0;
    if (b->n > 1)
        u |= (uint64_t)b->limb[1] << 32;
    if (b->n <= 2 && u <= (uint64_t)INT64_MAX + b->negative) {
        *out = qn_tval_int(b->negative ? (int64_t)(0 - u) : (int64_t)u);
        return QN_T_OK;
    }
    if (b->n > QN_TBIG_LIMBS)
        return qn_trun_limit(run, "an integer of more than %d bits", QN_TBIG_LIMBS * 32);
    struct qn_tbig *copy = NULL;
    QN_T_TRY(qn_trun_alloc(run, sizeof *copy, &copy));
    *copy = *b;
    *out = (struct qn_tval){.type = QN_T_BIG, .big = copy};
    return QN_T_OK;
}

enum qn_tflow qn_tbig_from_double(struct qn_trun *run, double f, struct qn_tval *out)
{
    int exponent;
    double part = frexp(fabs(trunc(f)), &exponent);
    if (exponent <= 62) {
        *out = qn_tval_int((int64_t)f);
        return QN_T_OK;
    }
    struct qn_tbig b = {.negative = f < 0};
    uint64_t bits = (uint64_t)ldexp(part, 53);
    unsigned shift = (unsigned)(exponent - 53), at = shift / 32, by = shift % 32;
    b.limb[at] = (uint32_t)(bits << by);
    b.limb[at + 1] = (uint32_t)(bits >> (32 - by));
    b.limb[at + 2] = by ? (uint32_t)((bits >> 32) >> (32 - by)) : 0;
    b.n = at + 3;
    trim(&b);
    return qn_tbig_store(run, &b, out);
}

double qn_tbig_double(const struct qn_tbig *b)
{
    /* Takes the 64 highest bits and sets the lowest one if any bit below is set, so that the result
     * is rounded like the whole number. */
    uint64_t top = 0;
    uint32_t used = 0;
    bool rest = false;
    int zeros = b->n > 0 ? __builtin_clz(b->limb[b->n - 1]) : 0;
    for (uint32_t bit = b->n * 32 - (uint32_t)zeros; bit-- > 0;) {
        uint32_t one = (b->limb[bit / 32] >> (bit % 32)) & 1;
        if (used < 64) {
            top = top << 1 | one;
            used++;
        } else {
            rest = rest || one;
        }
    }
    int below = (int)(b->n * 32) - zeros - (int)used;
    double f = ldexp((double)(top | (below > 0 && rest)), below);
    return b->negative ? -f : f;
}

static int compare_magnitude(const struct qn_tbig *a, const struct qn_tbig *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (uint32_t i = a->n; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

int qn_tbig_compare(const struct qn_tbig *a, const struct qn_tbig *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    int order = compare_magnitude(a, b);
    return a->negative ? -order : order;
}

static void add_magnitude(const struct qn_tbig *a, const struct qn_tbig *b, struct qn_tbig *out)
{
    uint32_t n = a->n > b->n ? a->n : b->n;
    uint64_t carry = 0;
    for (uint32_t i = 0; i < n; i++) {
        carry += (i < a->n ? a->limb[i] : 0);
        carry += (i < b->n ? b->limb[i] : 0);
        out->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    out->limb[n] = (uint32_t)carry;
    out->n = n + 1;
    trim(out);
}

/* Requires |a| >= |b|. */
static void sub_magnitude(const struct qn_tbig *a, const struct qn_tbig *b, struct qn_tbig *out)
{
    int64_t borrow = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        borrow += (int64_t)a->limb[i] - (i < b->n ? b->limb[i] : 0);
        out->limb[i] = (uint32_t)borrow;
        borrow = borrow < 0 ? -1 : 0;
    }
    out->n = a->n;
    trim(out);
}

enum qn_tflow qn_tbig_add(struct qn_trun *run, const struct qn_tbig *a, const struct qn_tbig *b,
                          bool subtract, struct qn_tval *out)
{
    struct qn_tbig sum = {.negative = a->negative};
    bool b_negative = b->negative != subtract;
    if (a->negative == b_negative) {
        add_magnitude(a, b, &sum);
    } else if (compare_magnitude(a, b) >= 0) {
        sub_magnitude(a, b, &sum);
    } else {
        sum.negative = b_negative;
        sub_magnitude(b, a, &sum);
    }
    return qn_tbig_store(run, &sum, out);
}

enum qn_tflow qn_tbig_mul(struct qn_trun *run, const struct qn_tbig *a, const struct qn_tbig *b,
                          struct qn_tval *out)
{
    struct qn_tbig product = {.negative = a->negative != b->negative, .n = a->n + b->n};
    QN_T_TRY(qn_trun_charge(run, 1 + (size_t)a->n * b->n / 16));
    if (product.n > QN_TBIG_LIMBS + 1)
        return qn_trun_limit(run, "an integer of more than %d bits", QN_TBIG_LIMBS * 32);
    for (uint32_t i = 0; i < a->n; i++) {
        uint64_t carry = 0;
        for (uint32_t k = 0; k < b->n; k++) {
            carry += (uint64_t)a->limb[i] * b->limb[k] + product.limb[i + k];
            product.limb[i + k] = (uint32_t)carry;
            carry >>= 32;
        }
        product.limb[i + b->n] = (uint32_t)carry;
    }
    trim(&product);
    return qn_tbig_store(run, &product, out);
}

/* b = b * factor + add, in place. */
static void scale(struct qn_tbig *b, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;
    for (uint32_t i = 0; i < b->n; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
        b->limb[b->n++] = (uint32_t)carry;
}

/* Divides in place; returns the remainder. */
static uint32_t divide_small(struct qn_tbig *b, uint32_t by)
{
    uint64_t rest = 0;
    for (uint32_t i = b->n; i-- > 0;) {
        rest = rest << 32 | b->limb[i];
        b->limb[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    trim(b);
    return (uint32_t)rest;
}

/* Binary long division. */
static void divide_magnitude(const struct qn_tbig *a, const struct qn_tbig *b,
                             struct qn_tbig *quotient, struct qn_tbig *rest)
{
    quotient->n = a->n;
    for (uint32_t bit = a->n * 32; bit-- > 0;) {
        scale(rest, 2, (a->limb[bit / 32] >> (bit % 32)) & 1);
        if (rest->n == 0 && ((a->limb[bit / 32] >> (bit % 32)) & 1)) {
            rest->limb[0] = 1;
            rest->n = 1;
        }
        if (compare_magnitude(rest, b) >= 0) {
            sub_magnitude(rest, b, rest);
            quotient->limb[bit / 32] |= 1u << (bit % 32);
        }
    }
    trim(quotient);
}

enum qn_tflow qn_tbig_divmod(struct qn_trun *run, const struct qn_tbig *a, const struct qn_tbig *b,
                             struct qn_tval *quotient, struct qn_tval *rest)
{
    struct qn_tbig q = {0}, r = {0}, one = {.n = 1, .limb = {1}};
    struct qn_tval v;
    QN_T_TRY(qn_trun_charge(run, 1 + (size_t)a->n * 4 * (1 + b->n)));
    divide_magnitude(a, b, &q, &r);
    q.negative = q.n > 0 && a->negative != b->negative;
    r.negative = r.n > 0 && a->negative;
    if (r.n > 0 && a->negative != b->negative) {
        QN_T_TRY(qn_tbig_add(run, &r, b, false, &v));
        qn_tbig_load(&v, &r);
        QN_T_TRY(qn_tbig_add(run, &q, &one, true, &v));
        qn_tbig_load(&v, &q);
    }
    if (quotient)
        QN_T_TRY(qn_tbig_store(run, &q, quotient));
    return rest ? qn_tbig_store(run, &r, rest) : QN_T_OK;
}

enum qn_tflow qn_tbig_pow(struct qn_trun *run, const struct qn_tval *base, uint64_t exponent,
                          struct qn_tval *out)
{
    struct qn_tbig square, result;
    struct qn_tval v = qn_tval_int(1), power = *base;
    if (qn_tval_is(base, QN_T_BIT(QN_T_BOOL)))
        power = qn_tval_int(base->b);
    if (power.type == QN_T_INT && (power.i == 0 || power.i == 1 || power.i == -1)) {
        *out = qn_tval_int(exponent == 0 ? 1 : power.i == -1 && exponent % 2 == 0 ? 1 : power.i);
        return QN_T_OK;
    }
    for (; exponent > 0; exponent >>= 1) {
        qn_tbig_load(&power, &square);
        if (exponent & 1) {
            qn_tbig_load(&v, &result);
            QN_T_TRY(qn_tbig_mul(run, &result, &square, &v));
        }
        if (exponent > 1)
            QN_T_TRY(qn_tbig_mul(run, &square, &square, &power));
    }
    *out = v;
    return QN_T_OK;
}

enum qn_tflow qn_tbig_text(struct qn_trun *run, const struct qn_tval *v, unsigned base,
                           struct qn_tval *out)
{
    char text[QN_TBIG_LIMBS * 32 + 72];
    size_t at = sizeof text;
    struct qn_tbig b;
    qn_tbig_load(v, &b);
    QN_T_TRY(qn_trun_charge(run, 1 + (size_t)b.n * b.n));
    bool negative = b.negative;
    do
        text[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[divide_small(&b, base)];
    while (b.n > 0);
    if (negative)
        text[--at] = '-';
    return qn_trun_copy(run, text + at, sizeof text - at, out);
}

enum qn_tflow qn_tbig_parse(struct qn_trun *run, const char *s, size_t n, unsigned base,
                            bool negative, struct qn_tval *out)
{
    struct qn_tbig b = {0};
    QN_T_TRY(qn_trun_charge(run, 1 + n * (1 + n / 64)));
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        uint32_t digit = (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        if (b.n > QN_TBIG_LIMBS)
            return qn_trun_limit(run, "an integer of more than %d bits", QN_TBIG_LIMBS * 32);
        scale(&b, base, digit);
        if (b.n == 0 && digit) {
            b.limb[0] = digit;
            b.n = 1;
        }
    }
    b.negative = negative && b.n > 0;
    return qn_tbig_store(run, &b, out);
}
