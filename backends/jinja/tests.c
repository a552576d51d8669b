/* See tests.h. */
#include "jinja/tests.h"

#include "jinja/compare.h"
#include "jinja/filters.h"
#include "jinja/iter.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/run.h"

#include "base/str.h"
#include "jinja/unicode.h"

#define ARGS struct qn_trun *run, const struct qn_tval *v, const struct qn_targs *args, bool *out

static enum qn_tflow nothing_else(struct qn_trun *run, const struct qn_targs *args)
{
    return qn_trun_args(run, args, "", 0, NULL);
}

/* Defines a test that depends only on the value's type. */
#define TYPE_TEST(name, condition)                                                                 \
    static enum qn_tflow name(ARGS)                                                                \
    {                                                                                              \
        QN_T_TRY(nothing_else(run, args));                                                         \
        *out = (condition);                                                                        \
        return QN_T_OK;                                                                            \
    }

TYPE_TEST(is_defined, v->type != QN_T_UNDEFINED)
TYPE_TEST(is_undefined, v->type == QN_T_UNDEFINED)
TYPE_TEST(is_none, v->type == QN_T_NONE)
TYPE_TEST(is_boolean, v->type == QN_T_BOOL)
TYPE_TEST(is_false, v->type == QN_T_BOOL && !v->b)
TYPE_TEST(is_true, v->type == QN_T_BOOL && v->b)
TYPE_TEST(is_integer, qn_tval_is(v, QN_T_BIT(QN_T_INT) | QN_T_BIT(QN_T_BIG)))
TYPE_TEST(is_float, v->type == QN_T_FLOAT)
TYPE_TEST(is_number, qn_tval_is(v, QN_T_NUMBERS))
TYPE_TEST(is_string, v->type == QN_T_STRING)
TYPE_TEST(is_mapping, v->type == QN_T_DICT)
TYPE_TEST(is_iterable, qn_tval_iterable(v))
TYPE_TEST(is_escaped, v->type == QN_T_STRING && v->kind == QN_T_MARKUP)
TYPE_TEST(is_sequence, qn_tval_is(v, QN_T_LISTS | QN_T_BIT(QN_T_STRING) | QN_T_BIT(QN_T_DICT) |
                                         QN_T_BIT(QN_T_RANGE) | QN_T_BIT(QN_T_UNDEFINED)))
TYPE_TEST(is_callable,
          qn_tval_is(v, QN_T_BIT(QN_T_FUNCTION) | QN_T_BIT(QN_T_MACRO) | QN_T_BIT(QN_T_LOOP) |
                            QN_T_BIT(QN_T_JOINER) | QN_T_BIT(QN_T_UNDEFINED)))

/* Names are looked up in a dictionary, so a value that cannot be a key is an error. */
static enum qn_tflow is_filter(ARGS)
{
    uint64_t hash;
    QN_T_TRY(nothing_else(run, args));
    QN_T_TRY(qn_tval_hash(run, v, &hash));
    *out = qn_tfilter_find(v) != NULL;
    return QN_T_OK;
}

static enum qn_tflow is_test(ARGS)
{
    uint64_t hash;
    QN_T_TRY(nothing_else(run, args));
    QN_T_TRY(qn_tval_hash(run, v, &hash));
    *out = qn_ttest_find(v) != NULL;
    return QN_T_OK;
}

static enum qn_tflow modulo(struct qn_trun *run, const struct qn_tval *v, const struct qn_tval *by,
                            int64_t rest, bool *out)
{
    struct qn_tval r, wanted = qn_tval_int(rest);
    QN_T_TRY(qn_tval_binary(run, QN_OP_MOD, v, by, &r));
    return qn_tval_eq(run, &r, &wanted, out);
}

static enum qn_tflow is_odd(ARGS)
{
    struct qn_tval two = qn_tval_int(2);
    QN_T_TRY(nothing_else(run, args));
    return modulo(run, v, &two, 1, out);
}

static enum qn_tflow is_even(ARGS)
{
    struct qn_tval two = qn_tval_int(2);
    QN_T_TRY(nothing_else(run, args));
    return modulo(run, v, &two, 0, out);
}

static enum qn_tflow is_divisible(ARGS)
{
    struct qn_tval by;
    QN_T_TRY(qn_trun_args(run, args, "num", 1, &by));
    return modulo(run, v, &by, 0, out);
}

static enum qn_tflow cased(struct qn_trun *run, const struct qn_tval *v, bool upper, bool *out)
{
    struct qn_tval text;
    QN_T_TRY(qn_tval_str(run, v, &text));
    QN_T_TRY(qn_trun_walked(run, text.n));
    bool any = false, other = false;
    for (size_t at = 0; at < text.n;) {
        uint32_t cp;
        at += qn_utf8_decode(text.s + at, text.n - at, &cp);
        any = any || (upper ? qn_tchar_upper(cp) : qn_tchar_lower(cp));
        other = other || (upper ? qn_tchar_lower(cp) : qn_tchar_upper(cp)) || qn_tchar_title(cp);
    }
    *out = any && !other;
    return QN_T_OK;
}

static enum qn_tflow is_lower(ARGS)
{
    QN_T_TRY(nothing_else(run, args));
    return cased(run, v, false, out);
}

static enum qn_tflow is_upper(ARGS)
{
    QN_T_TRY(nothing_else(run, args));
    return cased(run, v, true, out);
}

static enum qn_tflow is_same(ARGS)
{
    struct qn_tval other;
    QN_T_TRY(qn_trun_args(run, args, "other", 1, &other));
    *out = qn_tval_identical(v, &other);
    return QN_T_OK;
}

static enum qn_tflow is_in(ARGS)
{
    struct qn_tval seq;
    QN_T_TRY(qn_trun_args(run, args, "seq", 1, &seq));
    return qn_tval_in(run, v, &seq, out);
}

static enum qn_tflow is_eq(ARGS)
{
    struct qn_tval other;
    QN_T_TRY(qn_trun_args(run, args, "/b", 1, &other));
    return qn_tval_eq(run, v, &other, out);
}

static enum qn_tflow is_ne(ARGS)
{
    QN_T_TRY(is_eq(run, v, args, out));
    *out = !*out;
    return QN_T_OK;
}

static enum qn_tflow ordered(struct qn_trun *run, enum qn_top op, const struct qn_tval *v,
                             const struct qn_targs *args, bool *out)
{
    struct qn_tval other;
    QN_T_TRY(qn_trun_args(run, args, "/b", 1, &other));
    return qn_tval_order(run, op, v, &other, out);
}

static enum qn_tflow is_lt(ARGS)
{
    return ordered(run, QN_OP_LT, v, args, out);
}

static enum qn_tflow is_le(ARGS)
{
    return ordered(run, QN_OP_LE, v, args, out);
}

static enum qn_tflow is_gt(ARGS)
{
    return ordered(run, QN_OP_GT, v, args, out);
}

static enum qn_tflow is_ge(ARGS)
{
    return ordered(run, QN_OP_GE, v, args, out);
}

const struct qn_ttest *qn_ttest_find(const struct qn_tval *name)
{
    static const struct qn_ttest tests[] = {
        {"odd", is_odd},
        {"even", is_even},
        {"divisibleby", is_divisible},
        {"defined", is_defined},
        {"undefined", is_undefined},
        {"filter", is_filter},
        {"test", is_test},
        {"none", is_none},
        {"boolean", is_boolean},
        {"false", is_false},
        {"true", is_true},
        {"integer", is_integer},
        {"float", is_float},
        {"lower", is_lower},
        {"upper", is_upper},
        {"string", is_string},
        {"mapping", is_mapping},
        {"number", is_number},
        {"sequence", is_sequence},
        {"iterable", is_iterable},
        {"callable", is_callable},
        {"sameas", is_same},
        {"escaped", is_escaped},
        {"in", is_in},
        {"==", is_eq},
        {"eq", is_eq},
        {"equalto", is_eq},
        {"!=", is_ne},
        {"ne", is_ne},
        {">", is_gt},
        {"gt", is_gt},
        {"greaterthan", is_gt},
        {"ge", is_ge},
        {">=", is_ge},
        {"<", is_lt},
        {"lt", is_lt},
        {"lessthan", is_lt},
        {"<=", is_le},
        {"le", is_le},
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (qn_tval_str_eq(name, tests[i].name))
            return &tests[i];
    return NULL;
}
