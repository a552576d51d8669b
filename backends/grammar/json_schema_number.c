/* Numbers within bounds and multiples of a number, checked digit by digit.
 *
 * Decimal texts are compared with decimal bounds exactly. Such texts have at most 15 digits, which
 * a double represents distinctly, so a client that parses them as doubles reaches the same
 * verdict. */
#include "grammar/json_schema_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS_MAX = 15,       /* digits of a number that is compared or divided */
    DIGITS_INTEGER = 18,   /* digits of an integer that is only compared */
    FACTOR_STATES = 30000, /* limit of digits times factor, when no bound limits the digits */
    FACTOR_MAX = 4096,     /* largest multipleOf, after scaling to an integer */
    BOUND_DIGITS = 330     /* at least the digits before the decimal point of any double */
};

/* The absolute value of a bound, with its sign as a flag. */
struct decimal {
    char whole[BOUND_DIGITS];  /* at least one digit, no leading zeros except "0" itself */
    char part[DIGITS_MAX + 2]; /* digits after the point, no trailing zeros */
    size_t n_whole, n_part;
    bool negative;
};

struct bound {
    bool set, exclusive;
    struct decimal v;
};

struct number_ctx {
    struct bound min, max;
    size_t digits, parts; /* maximum of all digits, and of digits after the point */
    uint32_t factor;      /* the digits without the point must be a multiple of this; 1: no
                             condition */
    size_t factor_parts;  /* scale of factor: number of digits after the point */
};

enum phase { AT_START, AT_SIGN, IN_ZERO, IN_WHOLE, AT_POINT, IN_PART };

struct number_state {
    uint32_t rest; /* remainder of the digits so far divided by factor */
    uint8_t phase;
    uint8_t negative, nonzero;
    uint8_t whole, part;   /* digits so far before and after the point */
    int8_t to_min, to_max; /* -1, 0, 1: the digits so far compared with each bound's */
    uint8_t pad;
};

/* Adds one to the last digit after the point and carries into the integer part. */
static void grow(struct decimal *d)
{
    for (size_t i = d->n_part; i-- > 0;) {
        if (d->part[i] != '9') {
            d->part[i]++;
            return;
        }
        d->part[i] = '0';
    }
    for (size_t i = d->n_whole; i-- > 0;) {
        if (d->whole[i] != '9') {
            d->whole[i]++;
            return;
        }
        d->whole[i] = '0';
    }
    memmove(d->whole + 1, d->whole, d->n_whole);
    d->whole[0] = '1';
    d->n_whole++;
}

/* The shortest decimal form of v with at most `parts` digits after the point and `digits` in all.
 * Digits that are cut off make the bound stricter: `up` tells in which direction. *cut tells
 * whether any nonzero digit was cut off. */
static void to_decimal(double v, size_t digits, size_t parts, bool up, struct decimal *d, bool *cut)
{
    char text[64];
    memset(d, 0, sizeof *d);
    *cut = false;
    d->negative = v < 0;
    v = fabs(v);
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, v);
        if (strtod(text, NULL) == v)
            break;
    }
    /* The text has the form d.ddde[+-]xx. */
    char *e = strchr(text, 'e');
    long point = strtol(e + 1, NULL, 10) + 1; /* number of digits before the point */
    char mantissa[32];
    size_t n = 0;
    for (const char *s = text; s < e; s++)
        if (*s >= '0' && *s <= '9')
            mantissa[n++] = *s;
    for (long i = 0; i < point && d->n_whole < BOUND_DIGITS - 2; i++)
        d->whole[d->n_whole++] = (size_t)i < n ? mantissa[i] : '0';
    if (d->n_whole == 0)
        d->whole[d->n_whole++] = '0';
    if (d->n_whole < digits && parts > digits - d->n_whole)
        parts = digits - d->n_whole;
    else if (d->n_whole >= digits)
        parts = 0;
    for (long i = point; i < (long)n || i < 0; i++) {
        char c = i < 0 ? '0' : mantissa[i];
        if (d->n_part < parts)
            d->part[d->n_part++] = c;
        else if (c != '0')
            *cut = true;
        else if (i < 0 && i + 1000 < 0)
            i = -1; /* skips a long run of zeros */
    }
    if (*cut && up != d->negative)
        grow(d);
    while (d->n_part > 0 && d->part[d->n_part - 1] == '0')
        d->n_part--;
    if (d->n_whole == 1 && d->whole[0] == '0' && d->n_part == 0)
        d->negative = false;
}

static void set_bound(struct bound *b, double v, bool exclusive, size_t digits, size_t parts,
                      bool up)
{
    bool cut;
    b->set = isfinite(v);
    if (!b->set)
        return;
    to_decimal(v, digits, parts, up, &b->v, &cut);
    /* A bound that was rounded to a stricter value is itself allowed. */
    b->exclusive = exclusive && !cut;
}

static int8_t compare_digit(char a, char b)
{
    return (int8_t)((a > b) - (a < b));
}

static void follow(const struct bound *b, int8_t *cmp, bool whole, size_t at, char digit)
{
    if (!b->set || *cmp != 0)
        return;
    const char *digits = whole ? b->v.whole : b->v.part;
    size_t n = whole ? b->v.n_whole : b->v.n_part;
    if (at < n)
        *cmp = compare_digit(digit, digits[at]);
    else if (!whole)
        *cmp = compare_digit(digit, '0');
}

/* At the end of the integer part: when its length differs from the bound's, the length decides the
 * comparison. */
static void end_whole(const struct bound *b, int8_t *cmp, size_t digits)
{
    if (b->set && digits != b->v.n_whole)
        *cmp = digits < b->v.n_whole ? -1 : 1;
}

static bool number_step(void *ctx, const void *from, size_t n, uint8_t byte, struct qn_buf *to)
{
    const struct number_ctx *c = ctx;
    struct number_state s;
    memcpy(&s, from, n);
    bool digit = byte >= '0' && byte <= '9';
    if (byte == '-' && s.phase == AT_START) {
        s.phase = AT_SIGN;
        s.negative = 1;
    } else if (digit && (s.phase == AT_START || s.phase == AT_SIGN || s.phase == IN_WHOLE)) {
        if (s.whole == c->digits)
            return false;
        if (s.phase != IN_WHOLE)
            s.phase = byte == '0' ? IN_ZERO : IN_WHOLE;
        follow(&c->min, &s.to_min, true, s.whole, (char)byte);
        follow(&c->max, &s.to_max, true, s.whole, (char)byte);
        s.whole++;
    } else if (byte == '.' && (s.phase == IN_ZERO || s.phase == IN_WHOLE) && c->parts > 0) {
        s.phase = AT_POINT;
        end_whole(&c->min, &s.to_min, s.whole);
        end_whole(&c->max, &s.to_max, s.whole);
    } else if (digit && (s.phase == AT_POINT || s.phase == IN_PART)) {
        if (s.part == c->parts || (size_t)s.whole + s.part >= c->digits)
            return false;
        s.phase = IN_PART;
        follow(&c->min, &s.to_min, false, s.part, (char)byte);
        follow(&c->max, &s.to_max, false, s.part, (char)byte);
        s.part++;
    } else {
        return false;
    }
    if (digit) {
        s.nonzero |= byte != '0';
        s.rest = (s.rest * 10 + (uint32_t)(byte - '0')) % c->factor;
    }
    qn_buf_add(to, &s, sizeof s);
    return true;
}

/* Compares the number with the bound: -1, 0, 1. */
static int against(const struct bound *b, int8_t cmp, const struct number_state *s)
{
    if (s->phase == IN_ZERO || s->phase == IN_WHOLE)
        end_whole(b, &cmp, s->whole);
    if (cmp == 0 && s->part < b->v.n_part)
        cmp = -1; /* the bound has more digits, the last of which is not zero */
    if (s->negative != b->v.negative)
        return s->negative ? -1 : 1;
    return s->negative ? -cmp : cmp;
}

static uint8_t number_flags(void *ctx, const void *state, size_t n)
{
    const struct number_ctx *c = ctx;
    struct number_state s;
    memcpy(&s, state, n);
    if ((s.phase != IN_ZERO && s.phase != IN_WHOLE && s.phase != IN_PART) ||
        (s.negative && !s.nonzero))
        return 0;
    uint32_t rest = s.rest;
    for (size_t i = s.part; i < c->factor_parts; i++)
        rest = rest * 10 % c->factor;
    if (rest != 0)
        return 0;
    int low = c->min.set ? against(&c->min, s.to_min, &s) : 1;
    int high = c->max.set ? against(&c->max, s.to_max, &s) : -1;
    if (low < 0 || (low == 0 && c->min.exclusive) || high > 0 || (high == 0 && c->max.exclusive))
        return 0;
    return QN_DFA_ACCEPT;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

/* Combines all multipleOf values into one integer factor over a power of ten. */
static bool read_factor(struct js *js, const struct conj *c, const struct facts *f,
                        struct number_ctx *ctx)
{
    uint64_t factor = 0;
    size_t parts = 0;
    for (size_t i = 0; i < f->n_multiple; i++) {
        struct decimal d;
        bool cut;
        to_decimal(f->multiple[i], DIGITS_MAX, DIGITS_MAX, true, &d, &cut);
        uint64_t one = 0;
        for (size_t k = 0; k < d.n_whole && one < UINT32_MAX; k++)
            one = one * 10 + (uint64_t)(d.whole[k] - '0');
        size_t most = d.n_part > parts ? d.n_part : parts;
        for (size_t k = 0; k < most && one < UINT32_MAX; k++)
            one = one * 10 + (uint64_t)(k < d.n_part ? d.part[k] - '0' : 0);
        for (; factor && parts < most && factor < UINT32_MAX; parts++)
            factor *= 10;
        parts = most;
        factor = factor ? factor / gcd(factor, one) * one : one;
        if (cut || factor > FACTOR_MAX)
            return js_fail(js, c->v[0].ref, QN_EUNSUPPORTED,
                           "multipleOf: more than %d as a whole number", FACTOR_MAX);
    }
    ctx->factor = factor ? (uint32_t)factor : 1;
    ctx->factor_parts = parts;
    return true;
}

/* The most digits before the point: those of the larger bound. Without bounds the number of digits
 * is limited, because each further digit costs as many states as the factor. */
static size_t whole_digits(const struct facts *f, const struct number_ctx *c)
{
    double largest = fmax(fabs(f->min), fabs(f->max));
    size_t most = DIGITS_MAX;
    if (isfinite(largest)) {
        size_t n = 1;
        for (double v = largest; v >= 10; v /= 10)
            n++;
        return n;
    }
    if (c->factor * most > FACTOR_STATES)
        most = FACTOR_STATES / c->factor;
    return most;
}

const struct qn_gx *js_number(struct js *js, const struct conj *c, const struct facts *f,
                              bool integer)
{
    struct number_ctx ctx = {0};
    bool bounded = isfinite(f->min) || isfinite(f->max);
    if (!bounded && !f->has_multiple)
        return integer ? js->integer : js->number;
    if (!read_factor(js, c, f, &ctx))
        return qn_gx_never(js->g);
    ctx.digits = integer && !f->has_multiple ? DIGITS_INTEGER : DIGITS_MAX;
    ctx.parts = integer ? 0 : f->has_multiple ? ctx.factor_parts : DIGITS_MAX - 1;
    if (f->min >= pow(10, (double)ctx.digits) || f->max <= -pow(10, (double)ctx.digits)) {
        js_fail(js, c->v[0].ref, QN_EUNSUPPORTED, "only numbers of more than %zu digits are valid",
                ctx.digits);
        return qn_gx_never(js->g);
    }
    if (f->has_multiple && whole_digits(f, &ctx) + ctx.parts < ctx.digits)
        ctx.digits = whole_digits(f, &ctx) + ctx.parts;
    set_bound(&ctx.min, f->min, f->above, ctx.digits, ctx.parts, true);
    set_bound(&ctx.max, f->max, f->below, ctx.digits, ctx.parts, false);
    struct qn_dfa_plan plan = {
        .ctx = &ctx, .step = number_step, .flags = number_flags, .budget = js->g->budget};
    /* Classes: ten digits, the minus sign, the point, and all other bytes. */
    plan.classes = 13;
    for (int byte = 0; byte < 256; byte++)
        plan.of[byte] = (uint8_t)(byte >= '0' && byte <= '9' ? byte - '0'
                                  : byte == '-'              ? 10
                                  : byte == '.'              ? 11
                                                             : 12);
    struct number_state start;
    memset(&start, 0, sizeof start);
    struct qn_dfa d;
    struct qn_error why = {0};
    qn_err err = qn_dfa_build(&plan, &start, sizeof start, &d, &why);
    return js_dfa(js, &d, err, c->v[0].ref, &why);
}
