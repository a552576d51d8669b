/* Operators; see number.h. */
#include "jinja/number.h"

#include "jinja/bigint.h"
#include "jinja/format.h"
#include "jinja/print.h"
#include "jinja/run.h"

#include <math.h>

/* Larger indices are clamped to this value; adding a length to it does not overflow. */
#define INDEX_MAX ((int64_t)1 << 62)

static const char *sign_of(enum qn_top op)
{
    static const char *const signs[] = {
        [QN_OP_ADD] = "+",        [QN_OP_SUB] = "-", [QN_OP_MUL] = "*", [QN_OP_DIV] = "/",
        [QN_OP_FLOOR_DIV] = "//", [QN_OP_MOD] = "%", [QN_OP_POW] = "**"};
    return signs[op];
}

static enum qn_tflow unsupported(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                                 const struct qn_tval *b)
{
    if (a->type == QN_T_UNDEFINED || b->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, a->type == QN_T_UNDEFINED ? a : b);
    return qn_trun_fail(run, "unsupported operand type(s) for %s: '%s' and '%s'", sign_of(op),
                        qn_tval_class(a), qn_tval_class(b));
}

enum qn_tflow qn_tval_double(struct qn_trun *run, const struct qn_tval *v, double *out)
{
    if (v->type == QN_T_FLOAT)
        *out = v->f;
    else if (v->type == QN_T_INT)
        *out = (double)v->i;
    else if (v->type == QN_T_BOOL)
        *out = v->b;
    else if (v->type == QN_T_BIG)
        *out = qn_tbig_double(v->big);
    else if (v->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, v);
    else
        return qn_trun_fail(run, "must be real number, not %s", qn_tval_class(v));
    if (v->type == QN_T_BIG && isinf(*out))
        return qn_trun_fail(run, "int too large to convert to float");
    return QN_T_OK;
}

enum qn_tflow qn_tval_index(struct qn_trun *run, const struct qn_tval *v, int64_t *out)
{
    if (v->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, v);
    if (!qn_tval_is(v, QN_T_INTEGERS))
        return qn_trun_fail(run, "'%s' object cannot be interpreted as an integer",
                            qn_tval_class(v));
    if (v->type == QN_T_BIG)
        *out = v->big->negative ? -INDEX_MAX : INDEX_MAX;
    else
        *out = v->type == QN_T_BOOL ? v->b : v->i;
    *out = *out > INDEX_MAX ? INDEX_MAX : *out < -INDEX_MAX ? -INDEX_MAX : *out;
    return QN_T_OK;
}

enum qn_tflow qn_tval_index_or(struct qn_trun *run, const struct qn_tval *v, int64_t fallback,
                               int64_t *out)
{
    *out = fallback;
    return qn_tval_is(v, QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE)) ? QN_T_OK
                                                                       : qn_tval_index(run, v, out);
}

static enum qn_tflow in_range(struct qn_trun *run, double f, const struct qn_tval *a,
                              const struct qn_tval *b, struct qn_tval *out)
{
    bool was =
        (a->type != QN_T_FLOAT || isfinite(a->f)) && (b->type != QN_T_FLOAT || isfinite(b->f));
    if (was && isinf(f))
        return qn_trun_fail(run, "Numerical result out of range");
    *out = qn_tval_float(f);
    return QN_T_OK;
}

static double floor_mod(double x, double y)
{
    double rest = fmod(x, y);
    if (rest == 0)
        return copysign(0.0, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

static double floor_div(double x, double y)
{
    double rest = fmod(x, y), quotient = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0))
        quotient -= 1;
    if (quotient == 0)
        return copysign(0.0, x / y);
    double down = floor(quotient);
    return quotient - down > 0.5 ? down + 1 : down;
}

static enum qn_tflow float_pow(struct qn_trun *run, double x, double y, const struct qn_tval *a,
                               const struct qn_tval *b, struct qn_tval *out)
{
    if (x == 0 && y < 0)
        return qn_trun_fail(run, "0.0 cannot be raised to a negative power");
    if (x < 0 && isfinite(x) && isfinite(y) && y != floor(y))
        return qn_trun_fail(run, "complex numbers are not supported");
    return in_range(run, pow(x, y), a, b, out);
}

static enum qn_tflow float_binary(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                                  const struct qn_tval *b, struct qn_tval *out)
{
    double x = 0, y = 0;
    QN_T_TRY(qn_tval_double(run, a, &x));
    QN_T_TRY(qn_tval_double(run, b, &y));
    if (y == 0 && (op == QN_OP_DIV || op == QN_OP_FLOOR_DIV || op == QN_OP_MOD))
        return qn_trun_fail(run, op == QN_OP_DIV ? "division by zero"
                                                 : "float floor division or modulo by zero");
    switch (op) {
    case QN_OP_ADD:
        *out = qn_tval_float(x + y);
        return QN_T_OK;
    case QN_OP_SUB:
        *out = qn_tval_float(x - y);
        return QN_T_OK;
    case QN_OP_MUL:
        *out = qn_tval_float(x * y);
        return QN_T_OK;
    case QN_OP_DIV:
        *out = qn_tval_float(x / y);
        return QN_T_OK;
    case QN_OP_FLOOR_DIV:
        *out = qn_tval_float(floor_div(x, y));
        return QN_T_OK;
    case QN_OP_MOD:
        *out = qn_tval_float(floor_mod(x, y));
        return QN_T_OK;
    default:
        return float_pow(run, x, y, a, b, out);
    }
}

static enum qn_tflow int_div(struct qn_trun *run, const struct qn_tval *a, const struct qn_tval *b,
                             struct qn_tval *out)
{
    if (a->type == QN_T_BIG || b->type == QN_T_BIG)
        return float_binary(run, QN_OP_DIV, a, b, out);
    long double x = a->type == QN_T_BOOL ? a->b : a->i, y = b->type == QN_T_BOOL ? b->b : b->i;
    if (y == 0)
        return qn_trun_fail(run, "division by zero");
    *out = qn_tval_float((double)(x / y));
    return QN_T_OK;
}

static enum qn_tflow int_pow(struct qn_trun *run, const struct qn_tval *a, const struct qn_tval *b,
                             struct qn_tval *out)
{
    int64_t exponent = 0;
    QN_T_TRY(qn_tval_index(run, b, &exponent));
    if (exponent < 0)
        return float_binary(run, QN_OP_POW, a, b, out);
    return qn_tbig_pow(run, a, (uint64_t)exponent, out);
}

static enum qn_tflow big_binary(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                                const struct qn_tval *b, struct qn_tval *out)
{
    struct qn_tbig x, y;
    qn_tbig_load(a, &x);
    qn_tbig_load(b, &y);
    switch (op) {
    case QN_OP_ADD:
    case QN_OP_SUB:
        return qn_tbig_add(run, &x, &y, op == QN_OP_SUB, out);
    case QN_OP_MUL:
        return qn_tbig_mul(run, &x, &y, out);
    case QN_OP_FLOOR_DIV:
        return qn_tbig_divmod(run, &x, &y, out, NULL);
    default:
        return qn_tbig_divmod(run, &x, &y, NULL, out);
    }
}

static enum qn_tflow int_binary(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                                const struct qn_tval *b, struct qn_tval *out)
{
    if (op == QN_OP_DIV)
        return int_div(run, a, b, out);
    if (op == QN_OP_POW)
        return int_pow(run, a, b, out);
    if (a->type == QN_T_BIG || b->type == QN_T_BIG) {
        if (b->type != QN_T_BIG && (b->type == QN_T_BOOL ? b->b : b->i) == 0 &&
            op >= QN_OP_FLOOR_DIV)
            return qn_trun_fail(run, "integer division or modulo by zero");
        return big_binary(run, op, a, b, out);
    }
    int64_t x = a->type == QN_T_BOOL ? a->b : a->i, y = b->type == QN_T_BOOL ? b->b : b->i, r = 0;
    bool over = false;
    if (op == QN_OP_ADD)
        over = __builtin_add_overflow(x, y, &r);
    else if (op == QN_OP_SUB)
        over = __builtin_sub_overflow(x, y, &r);
    else if (op == QN_OP_MUL)
        over = __builtin_mul_overflow(x, y, &r);
    else if (y == 0)
        return qn_trun_fail(run, "integer division or modulo by zero");
    else if (y == -1)
        over = op == QN_OP_FLOOR_DIV && __builtin_sub_overflow(0, x, &r);
    else if (op == QN_OP_FLOOR_DIV)
        r = x / y - (x % y != 0 && (x % y < 0) != (y < 0));
    else
        r = x % y + (x % y != 0 && (x % y < 0) != (y < 0) ? y : 0);
    if (over)
        return big_binary(run, op, a, b, out);
    *out = qn_tval_int(r);
    return QN_T_OK;
}

static enum qn_tflow add_texts(struct qn_trun *run, const struct qn_tval *a,
                               const struct qn_tval *b, struct qn_tval *out)
{
    size_t mark = run->out.len;
    struct qn_tval x = *a, y = *b;
    bool markup = a->kind == QN_T_MARKUP || b->kind == QN_T_MARKUP;
    if (markup) {
        QN_T_TRY(qn_tval_escape(run, a, &x));
        QN_T_TRY(qn_tval_escape(run, b, &y));
    }
    QN_T_TRY(qn_trun_putv(run, &x));
    QN_T_TRY(qn_trun_putv(run, &y));
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = markup ? QN_T_MARKUP : QN_T_PLAIN;
    return QN_T_OK;
}

static enum qn_tflow add_lists(struct qn_trun *run, const struct qn_tval *a,
                               const struct qn_tval *b, struct qn_tval *out)
{
    struct qn_tlist *list = NULL;
    QN_T_TRY(qn_tlist_new(run, a->list->n + b->list->n, &list));
    for (size_t i = 0; i < a->list->n; i++)
        list->items[list->n++] = a->list->items[i];
    for (size_t i = 0; i < b->list->n; i++)
        list->items[list->n++] = b->list->items[i];
    *out = a->type == QN_T_LIST ? qn_tval_list(list) : qn_tval_tuple(list);
    return QN_T_OK;
}

static enum qn_tflow repeat(struct qn_trun *run, const struct qn_tval *v,
                            const struct qn_tval *times, struct qn_tval *out)
{
    int64_t count = 0;
    size_t mark = run->out.len;
    QN_T_TRY(qn_tval_index(run, times, &count));
    count = count < 0 ? 0 : count;
    if (v->type == QN_T_STRING) {
        QN_T_TRY(qn_trun_fill(run, v->s, v->n, v->n ? (size_t)count : 0));
        QN_T_TRY(qn_trun_take(run, mark, out));
        out->kind = v->kind;
        return QN_T_OK;
    }
    struct qn_tlist *list = NULL;
    size_t n = v->list->n;
    if (n && (uint64_t)count > run->steps / n)
        return qn_trun_limit(run, "a list of more than %d items", (int)run->steps);
    QN_T_TRY(qn_tlist_new(run, n ? n * (size_t)count : 0, &list));
    for (size_t i = 0; n && i < n * (size_t)count; i++)
        list->items[list->n++] = v->list->items[i % n];
    *out = v->type == QN_T_LIST ? qn_tval_list(list) : qn_tval_tuple(list);
    return QN_T_OK;
}

enum qn_tflow qn_tval_binary(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                             const struct qn_tval *b, struct qn_tval *out)
{
    enum { SEQUENCES = QN_T_LISTS | QN_T_BIT(QN_T_STRING) };
    if (qn_tval_is(a, QN_T_INTEGERS) && qn_tval_is(b, QN_T_INTEGERS))
        return int_binary(run, op, a, b, out);
    if (qn_tval_is(a, QN_T_NUMBERS) && qn_tval_is(b, QN_T_NUMBERS))
        return float_binary(run, op, a, b, out);
    if (op == QN_OP_ADD && a->type == b->type && a->type == QN_T_STRING)
        return add_texts(run, a, b, out);
    if (op == QN_OP_ADD && a->type == b->type && qn_tval_is(a, QN_T_LISTS))
        return add_lists(run, a, b, out);
    if (op == QN_OP_MUL && qn_tval_is(a, SEQUENCES) && qn_tval_is(b, QN_T_INTEGERS))
        return repeat(run, a, b, out);
    if (op == QN_OP_MUL && qn_tval_is(b, SEQUENCES) && qn_tval_is(a, QN_T_INTEGERS))
        return repeat(run, b, a, out);
    if (op == QN_OP_MOD && a->type == QN_T_STRING)
        return qn_tformat_percent(run, a, b, out);
    return unsupported(run, op, a, b);
}

enum qn_tflow qn_tval_sign(struct qn_trun *run, enum qn_top op, const struct qn_tval *v,
                           struct qn_tval *out)
{
    struct qn_tval zero = qn_tval_int(0);
    if (v->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, v);
    if (!qn_tval_is(v, QN_T_NUMBERS))
        return qn_trun_fail(run, "bad operand type for unary %s: '%s'", sign_of(op),
                            qn_tval_class(v));
    if (v->type == QN_T_FLOAT) {
        *out = qn_tval_float(op == QN_OP_SUB ? -v->f : v->f);
        return QN_T_OK;
    }
    return int_binary(run, op, &zero, v, out);
}
