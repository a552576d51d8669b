/* Tests: value is name, and the second argument of selectattr. */
#include "llm/template_builtin.h"

#include "llm/template_text.h"

#include <math.h>
#include <string.h>

#define TEST(name)                                                                                 \
    static enum qn_tflow name(struct qn_trun *run, const struct qn_tval *v,                        \
                              const struct qn_tval *argument, bool *out)

static enum qn_tflow parity(struct qn_trun *run, const struct qn_tval *v, double remainder,
                            bool *out)
{
    if (v->type != QN_T_INT)
        return qn_trun_fail(run, "%s is neither odd nor even", qn_ttype_name(v->type));
    *out = fabs(fmod(v->num, 2)) == remainder;
    return QN_T_OK;
}

TEST(test_odd)
{
    (void)argument;
    return parity(run, v, 1, out);
}

TEST(test_even)
{
    (void)argument;
    return parity(run, v, 0, out);
}

TEST(test_equal)
{
    if (!argument)
        return qn_trun_fail(run, "this test needs something to compare with");
    QN_T_TRY(qn_tval_charge_search(run, v, 1));
    *out = qn_tval_strict_eq(v, argument);
    return QN_T_OK;
}

static enum qn_tflow unchanged(struct qn_trun *run, const struct qn_tval *v,
                               void (*convert)(const char *, size_t, struct qn_buf *), bool *out)
{
    struct qn_buf text;
    *out = false;
    if (v->type != QN_T_STRING)
        return QN_T_OK;
    QN_T_TRY(qn_trun_walked(run, v->n));
    qn_buf_init(&text, v->n * 4 + 16);
    convert(v->s, v->n, &text);
    *out = text.len == v->n && memcmp(qn_buf_cstr(&text), v->s, v->n) == 0;
    qn_buf_deinit(&text);
    return QN_T_OK;
}

TEST(test_lower)
{
    (void)argument;
    return unchanged(run, v, qn_text_lower, out);
}

TEST(test_upper)
{
    (void)argument;
    return unchanged(run, v, qn_text_upper, out);
}

enum {
    BOOL = QN_T_BIT(QN_T_BOOL),
    STRING = QN_T_BIT(QN_T_STRING),
    UNDEFINED = QN_T_BIT(QN_T_UNDEFINED)
};

/* A test is a set of types or a function. */
static const struct {
    const char *name;
    unsigned types;
    enum qn_tflow (*apply)(struct qn_trun *run, const struct qn_tval *v,
                           const struct qn_tval *argument, bool *out);
    int truth; /* for booleans: 1 or 0 asks for that value, -1 for either */
} tests[] = {
    {"boolean", BOOL, NULL, -1},
    {"callable", QN_T_BIT(QN_T_FUNCTION), NULL, -1},
    {"defined", QN_T_ANY & ~(unsigned)UNDEFINED, NULL, -1},
    {"eq", 0, test_equal, -1},
    {"equalto", 0, test_equal, -1},
    {"even", 0, test_even, -1},
    {"false", BOOL, NULL, 0},
    {"integer", QN_T_BIT(QN_T_INT), NULL, -1},
    {"iterable", STRING | QN_T_BIT(QN_T_LIST), NULL, -1},
    {"lower", 0, test_lower, -1},
    {"mapping", QN_T_DICTS, NULL, -1},
    {"none", QN_T_BIT(QN_T_NULL), NULL, -1},
    {"number", QN_T_NUMBERS, NULL, -1},
    {"odd", 0, test_odd, -1},
    {"sequence", STRING | QN_T_LISTS | QN_T_DICTS, NULL, -1},
    {"string", STRING, NULL, -1},
    {"true", BOOL, NULL, 1},
    {"undefined", UNDEFINED, NULL, -1},
    {"upper", 0, test_upper, -1},
};

enum qn_tflow qn_ttest_apply(struct qn_trun *run, const struct qn_tval *name,
                             const struct qn_tval *value, const struct qn_tval *argument, bool *out)
{
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (!qn_tval_str_eq(name, tests[i].name))
            continue;
        if (tests[i].apply)
            return tests[i].apply(run, value, argument, out);
        *out = qn_tval_is(value, tests[i].types) &&
               (tests[i].truth < 0 || value->b == (tests[i].truth == 1));
        return QN_T_OK;
    }
    return qn_trun_fail(run, "unknown test `%.*s`", (int)(name->n > 64 ? 64 : name->n), name->s);
}
