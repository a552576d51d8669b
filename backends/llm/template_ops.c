/* Operators on two values. Which types an operator accepts, and what wins when several rules fit,
 * follows the reference interpreter: equality first, then undefined and none refuse everything
 * else, then ~, then numbers, lists, and strings. */
#include "llm/template_eval.h"

#include "llm/template_print.h"

#include <math.h>
#include <string.h>

static const char *const op_text[QN_OPS] = {
    [QN_OP_EQ] = "==", [QN_OP_NE] = "!=", [QN_OP_LT] = "<",         [QN_OP_GT] = ">",
    [QN_OP_LE] = "<=", [QN_OP_GE] = ">=", [QN_OP_IN] = "in",        [QN_OP_NOT_IN] = "not in",
    [QN_OP_ADD] = "+", [QN_OP_SUB] = "-", [QN_OP_CONCAT] = "~",     [QN_OP_MUL] = "*",
    [QN_OP_DIV] = "/", [QN_OP_MOD] = "%", [QN_OP_FLOOR_DIV] = "//", [QN_OP_POW] = "**",
};

typedef enum qn_tflow (*op_fn)(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                               const struct qn_tval *b, struct qn_tval *out);

static enum qn_tflow refuse(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                            const struct qn_tval *b, struct qn_tval *out)
{
    (void)out;
    return qn_trun_fail(run, "operator %s does not work between %s and %s", op_text[op],
                        qn_ttype_name(a->type), qn_ttype_name(b->type));
}

static enum qn_tflow equality(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                              const struct qn_tval *b, struct qn_tval *out)
{
    bool same;
    QN_T_TRY(qn_tval_loose_eq(run, a, b, &same));
    *out = qn_tval_bool(same == (op == QN_OP_EQ));
    return QN_T_OK;
}

static enum qn_tflow concat(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                            const struct qn_tval *b, struct qn_tval *out)
{
    size_t mark = run->out.len;
    (void)op;
    QN_T_TRY(qn_tval_put_raw(run, a));
    QN_T_TRY(qn_tval_put_raw(run, b));
    return qn_trun_take(run, mark, out);
}

static double operand(const struct qn_tval *v)
{
    return v->type == QN_T_BOOL ? (double)v->b : v->num;
}

static enum qn_tflow numbers(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                             const struct qn_tval *b, struct qn_tval *out)
{
    double x = operand(a), y = operand(b), num;
    switch (op) {
    case QN_OP_LT:
        *out = qn_tval_bool(x < y);
        return QN_T_OK;
    case QN_OP_GT:
        *out = qn_tval_bool(x > y);
        return QN_T_OK;
    case QN_OP_LE:
        *out = qn_tval_bool(x <= y);
        return QN_T_OK;
    case QN_OP_GE:
        *out = qn_tval_bool(x >= y);
        return QN_T_OK;
    case QN_OP_DIV:
        *out = qn_tval_float(x / y);
        return QN_T_OK;
    case QN_OP_ADD:
        num = x + y;
        break;
    case QN_OP_SUB:
        num = x - y;
        break;
    case QN_OP_MUL:
        num = x * y;
        break;
    case QN_OP_FLOOR_DIV:
        num = floor(x / y);
        break;
    case QN_OP_MOD:
        num = fmod(x, y);
        break;
    case QN_OP_POW:
        num = pow(x, y);
        break;
    default:
        return refuse(run, op, a, b, out);
    }
    bool exact = a->type != QN_T_FLOAT && b->type != QN_T_FLOAT;
    *out = exact ? qn_tval_int(num) : qn_tval_float(num);
    return QN_T_OK;
}

static enum qn_tflow join_lists(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                                const struct qn_tval *b, struct qn_tval *out)
{
    struct qn_tlist *list;
    if (op != QN_OP_ADD)
        return refuse(run, op, a, b, out);
    size_t n = a->list->n + b->list->n;
    QN_T_TRY(qn_trun_charge(run, n / 4));
    QN_T_TRY(qn_tlist_new(run, n, &list));
    for (size_t i = 0; i < n; i++)
        list->items[i] = i < a->list->n ? a->list->items[i] : b->list->items[i - a->list->n];
    list->n = n;
    *out = qn_tval_list(list);
    return QN_T_OK;
}

static enum qn_tflow in_list(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                             const struct qn_tval *b, struct qn_tval *out)
{
    bool found = false;
    QN_T_TRY(qn_tval_charge_search(run, a, b->list->n));
    for (size_t i = 0; !found && i < b->list->n; i++)
        found = qn_tval_strict_eq(a, &b->list->items[i]);
    *out = qn_tval_bool(found == (op == QN_OP_IN));
    return QN_T_OK;
}

static enum qn_tflow in_string(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                               const struct qn_tval *b, struct qn_tval *out)
{
    QN_T_TRY(qn_trun_copied(run, a->n + b->n));
    bool found = a->n == 0 || memmem(b->s, b->n, a->s, a->n) != NULL;
    *out = qn_tval_bool(found == (op == QN_OP_IN));
    return QN_T_OK;
}

static enum qn_tflow in_dict(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                             const struct qn_tval *b, struct qn_tval *out)
{
    bool found = qn_tdict_find(run, b->dict, a->s, a->n) != NULL;
    *out = qn_tval_bool(found == (op == QN_OP_IN));
    return QN_T_OK;
}

static enum qn_tflow in_undefined(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                                  const struct qn_tval *b, struct qn_tval *out)
{
    (void)run;
    (void)a;
    (void)b;
    *out = qn_tval_bool(op == QN_OP_NOT_IN);
    return QN_T_OK;
}

enum {
    ANY = QN_T_ANY,
    STRING = QN_T_BIT(QN_T_STRING),
    UNDEFINED = QN_T_BIT(QN_T_UNDEFINED),
    POWERS = QN_T_NUMBERS | QN_T_BIT(QN_T_BOOL) /* ** alone counts with booleans */
};

#define OP(op) (1u << (op))
static const unsigned equal_ops = OP(QN_OP_EQ) | OP(QN_OP_NE);
static const unsigned in_ops = OP(QN_OP_IN) | OP(QN_OP_NOT_IN);

/* The first rule that fits decides. */
enum qn_tflow qn_teval_operator(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                                const struct qn_tval *b, struct qn_tval *out)
{
    const unsigned all_ops = ~0u;
    const struct {
        unsigned ops, left, right;
        op_fn apply;
    } rules[] = {
        {equal_ops, ANY, ANY, equality},          {in_ops, ANY, UNDEFINED, in_undefined},
        {all_ops, QN_T_NOTHING, ANY, refuse},     {all_ops, ANY, QN_T_NOTHING, refuse},
        {OP(QN_OP_CONCAT), ANY, ANY, concat},     {all_ops, QN_T_NUMBERS, QN_T_NUMBERS, numbers},
        {OP(QN_OP_POW), POWERS, POWERS, numbers}, {all_ops, QN_T_LISTS, QN_T_LISTS, join_lists},
        {in_ops, ANY, QN_T_LISTS, in_list},       {OP(QN_OP_ADD), STRING, ANY, concat},
        {OP(QN_OP_ADD), ANY, STRING, concat},     {in_ops, STRING, STRING, in_string},
        {in_ops, STRING, QN_T_DICTS, in_dict},    {all_ops, ANY, ANY, refuse},
    };
    size_t i = 0;
    while (!(rules[i].ops & OP(op)) || !qn_tval_is(a, rules[i].left) ||
           !qn_tval_is(b, rules[i].right))
        i++;
    return rules[i].apply(run, op, a, b, out);
}
