/* Expressions: one function per kind of node, chosen by a table. */
#include "llm/template_eval.h"

#include "base/str.h"
#include "llm/template_builtin.h"
#include "llm/template_text.h"

#include <math.h>
#include <string.h>

typedef enum qn_tflow (*eval_fn)(struct qn_trun *run, const struct qn_tnode *node,
                                 struct qn_tval *out);

static enum qn_tflow eval_literal(struct qn_trun *run, const struct qn_tnode *node,
                                  struct qn_tval *out)
{
    (void)run;
    *out = node->val;
    return QN_T_OK;
}

static enum qn_tflow eval_name(struct qn_trun *run, const struct qn_tnode *node,
                               struct qn_tval *out)
{
    *out = qn_trun_lookup(run, node->symbol);
    return QN_T_OK;
}

static enum qn_tflow eval_list(struct qn_trun *run, const struct qn_tnode *node,
                               struct qn_tval *out)
{
    struct qn_tlist *list;
    QN_T_TRY(qn_tlist_new(run, node->kids.n, &list));
    for (size_t i = 0; i < node->kids.n; i++) {
        struct qn_tval item;
        QN_T_TRY(qn_teval_value(run, node->kids.v[i], &item));
        QN_T_TRY(qn_tlist_push(run, list, &item));
    }
    *out = qn_tval_list(list);
    if (node->kind == QN_N_TUPLE)
        out->type = QN_T_TUPLE;
    return QN_T_OK;
}

static enum qn_tflow eval_dict(struct qn_trun *run, const struct qn_tnode *node,
                               struct qn_tval *out)
{
    struct qn_tdict *dict;
    QN_T_TRY(qn_tdict_new(run, node->kids.n / 2, &dict));
    for (size_t i = 0; i < node->kids.n; i += 2) {
        struct qn_tval key, val;
        QN_T_TRY(qn_teval_value(run, node->kids.v[i], &key));
        if (key.type != QN_T_STRING)
            return qn_trun_fail(run, "a dictionary's keys are strings, this is %s",
                                qn_ttype_name(key.type));
        QN_T_TRY(qn_teval_value(run, node->kids.v[i + 1], &val));
        QN_T_TRY(qn_tdict_set(run, dict, key.s, key.n, &val));
    }
    *out = qn_tval_dict(QN_T_DICT, dict);
    return QN_T_OK;
}

static enum qn_tflow eval_sign(struct qn_trun *run, const struct qn_tnode *node,
                               struct qn_tval *out)
{
    struct qn_tval v;
    QN_T_TRY(qn_teval_value(run, node->a, &v));
    if (v.type == QN_T_BOOL)
        v = qn_tval_int(v.b);
    if (!qn_tval_is(&v, QN_T_NUMBERS))
        return qn_trun_fail(run, "%s has no sign", qn_ttype_name(v.type));
    if (node->op == QN_OP_SUB)
        v.num = -v.num;
    *out = v;
    return QN_T_OK;
}

static enum qn_tflow eval_not(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out)
{
    struct qn_tval v;
    QN_T_TRY(qn_teval_value(run, node->a, &v));
    *out = qn_tval_bool(!qn_tval_truth(&v));
    return QN_T_OK;
}

/* and, or: the value that decides. */
static enum qn_tflow eval_logic(struct qn_trun *run, const struct qn_tnode *node,
                                struct qn_tval *out)
{
    struct qn_tval v;
    QN_T_TRY(qn_teval_value(run, node->a, &v));
    if (qn_tval_truth(&v) == (node->kind == QN_N_OR)) {
        *out = v;
        return QN_T_OK;
    }
    return qn_teval(run, node->b, out);
}

static enum qn_tflow eval_binary(struct qn_trun *run, const struct qn_tnode *node,
                                 struct qn_tval *out)
{
    struct qn_tval a, b;
    QN_T_TRY(qn_teval_value(run, node->a, &a));
    QN_T_TRY(qn_teval_value(run, node->b, &b));
    run->at = node->at;
    return qn_teval_operator(run, node->op, &a, &b, out);
}

static enum qn_tflow eval_test(struct qn_trun *run, const struct qn_tnode *node,
                               struct qn_tval *out)
{
    struct qn_tval v;
    bool holds;
    QN_T_TRY(qn_teval_value(run, node->a, &v));
    run->at = node->at;
    QN_T_TRY(qn_ttest_apply(run, &node->val, &v, NULL, &holds));
    *out = qn_tval_bool(holds != node->flag);
    return QN_T_OK;
}

static enum qn_tflow eval_filter(struct qn_trun *run, const struct qn_tnode *node,
                                 struct qn_tval *out)
{
    struct qn_tval v;
    struct qn_targs args;
    QN_T_TRY(qn_teval_value(run, node->a, &v));
    QN_T_TRY(qn_teval_arguments(run, &node->kids, &args));
    run->at = node->at;
    return qn_tfilter_apply(run, &node->val, node->flag, &v, &args, out);
}

/* Strings are indexed by UTF-16 unit; half a character becomes U+FFFD. */
static enum qn_tflow string_at(struct qn_trun *run, const struct qn_tval *v, double index,
                               struct qn_tval *out)
{
    QN_T_TRY(qn_trun_walked(run, v->n));
    if (index < 0)
        index += (double)qn_text_utf16_len(v->s, v->n);
    *out = qn_tval_undefined();
    double unit = 0;
    for (size_t i = 0; index >= 0 && i < v->n;) {
        uint32_t cp;
        size_t k = qn_utf8_decode(v->s + i, v->n - i, &cp);
        if (cp > 0xFFFF && (index == unit || index == unit + 1)) {
            *out = qn_tval_string("\xEF\xBF\xBD", 3);
            break;
        }
        if (index == unit) {
            *out = qn_tval_string(v->s + i, k);
            break;
        }
        unit += cp > 0xFFFF ? 2 : 1;
        i += k;
    }
    return QN_T_OK;
}

static void list_at(const struct qn_tlist *list, double index, struct qn_tval *out)
{
    if (index < 0)
        index += (double)list->n;
    *out = index >= 0 && index < (double)list->n ? list->items[(size_t)index] : qn_tval_undefined();
}

enum qn_tflow qn_teval_member(struct qn_trun *run, const struct qn_tval *object,
                              const struct qn_tval *key, struct qn_tval *out)
{
    if (key->type == QN_T_INT && qn_tval_is(object, QN_T_LISTS)) {
        list_at(object->list, key->num, out);
        return QN_T_OK;
    }
    if (key->type == QN_T_INT && object->type == QN_T_STRING)
        return string_at(run, object, key->num, out);
    /* As in Python: what is not there, is under no key. Schemas without a type lead to it. */
    if (key->type == QN_T_UNDEFINED && qn_tval_is(object, QN_T_DICTS)) {
        *out = qn_tval_undefined();
        return QN_T_OK;
    }
    if (key->type != QN_T_STRING)
        return qn_trun_fail(run, "%s cannot be indexed with %s", qn_ttype_name(object->type),
                            qn_ttype_name(key->type));
    if (qn_tval_is(object, QN_T_DICTS | QN_T_BIT(QN_T_NAMESPACE))) {
        const struct qn_tval *found = qn_tdict_find(run, object->dict, key->s, key->n);
        if (found) {
            *out = *found;
            return QN_T_OK;
        }
    }
    return qn_tmethod_get(run, object, key->s, key->n, out);
}

static enum qn_tflow eval_member(struct qn_trun *run, const struct qn_tnode *node,
                                 struct qn_tval *out)
{
    struct qn_tval object;
    QN_T_TRY(qn_teval_value(run, node->a, &object));
    return qn_teval_member(run, &object, &node->val, out);
}

static enum qn_tflow eval_index(struct qn_trun *run, const struct qn_tnode *node,
                                struct qn_tval *out)
{
    struct qn_tval object, key;
    QN_T_TRY(qn_teval_value(run, node->a, &object));
    QN_T_TRY(qn_teval_value(run, node->b, &key));
    run->at = node->at;
    return qn_teval_member(run, &object, &key, out);
}

/* A slice's bounds over n items, as Python has them: each is clamped, an end that lies the wrong
 * way gives nothing. */
struct bounds {
    double start, stop, step;
};

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static enum qn_tflow eval_bounds(struct qn_trun *run, const struct qn_tnode *node, double n,
                                 struct bounds *b)
{
    double given[3] = {NAN, NAN, NAN};
    for (size_t i = 0; i < 3; i++) {
        struct qn_tval v;
        if (!node->kids.v[i])
            continue;
        QN_T_TRY(qn_teval_value(run, node->kids.v[i], &v));
        if (v.type == QN_T_INT)
            given[i] = v.num;
        else if (v.type != QN_T_UNDEFINED)
            return qn_trun_fail(run, "a slice's bounds are integers, this is %s",
                                qn_ttype_name(v.type));
    }
    b->step = isnan(given[2]) ? 1 : given[2];
    double low = b->step > 0 ? 0 : -1, high = b->step > 0 ? n : n - 1;
    for (size_t i = 0; i < 2; i++)
        if (given[i] < 0)
            given[i] = given[i] + n < low ? low : given[i] + n;
    b->start = isnan(given[0]) ? (b->step > 0 ? 0 : n - 1) : clamp(given[0], low, high);
    b->stop = isnan(given[1]) ? (b->step > 0 ? n : -1) : clamp(given[1], low, high);
    if (b->step == 0)
        b->stop = b->start;
    return QN_T_OK;
}

static bool within(const struct bounds *b, double i)
{
    return b->step > 0 ? i < b->stop : i > b->stop;
}

static enum qn_tflow slice_list(struct qn_trun *run, const struct qn_tnode *node,
                                const struct qn_tlist *list, struct qn_tval *out)
{
    struct bounds b;
    struct qn_tlist *part;
    QN_T_TRY(eval_bounds(run, node, (double)list->n, &b));
    QN_T_TRY(qn_tlist_new(run, 0, &part));
    for (double i = b.start; b.step != 0 && within(&b, i); i += b.step) {
        QN_T_TRY(qn_trun_charge(run, 1));
        QN_T_TRY(qn_tlist_push(run, part, &list->items[(size_t)i]));
    }
    *out = qn_tval_list(part);
    return QN_T_OK;
}

/* Byte offset of the k-th code point from offset `from` on. */
static size_t after_chars(const struct qn_tval *v, size_t from, double k)
{
    for (; k > 0 && from < v->n; k--)
        from += qn_text_char(v->s + from, v->n - from);
    return from;
}

/* Every step-th code point: needs to know where each one starts. */
static enum qn_tflow step_string(struct qn_trun *run, const struct qn_tval *v, size_t n,
                                 const struct bounds *b, struct qn_tval *out)
{
    size_t mark = run->out.len, count = 0;
    uint32_t *at; /* offset of each code point, and of the end */
    QN_T_TRY(qn_trun_alloc(run, (n + 1) * sizeof(*at), &at));
    for (size_t i = 0; i < v->n; i += qn_text_char(v->s + i, v->n - i))
        at[count++] = (uint32_t)i;
    at[count] = (uint32_t)v->n;
    for (double i = b->start; b->step != 0 && within(b, i); i += b->step) {
        size_t k = (size_t)i;
        QN_T_TRY(qn_trun_charge(run, 1));
        QN_T_TRY(qn_trun_put(run, v->s + at[k], at[k + 1] - at[k]));
    }
    return qn_trun_take(run, mark, out);
}

/* Strings are sliced by code point. */
static enum qn_tflow slice_string(struct qn_trun *run, const struct qn_tnode *node,
                                  const struct qn_tval *v, struct qn_tval *out)
{
    struct bounds b;
    size_t n = 0;
    QN_T_TRY(qn_trun_walked(run, v->n));
    for (size_t i = 0; i < v->n; i += qn_text_char(v->s + i, v->n - i))
        n++;
    QN_T_TRY(eval_bounds(run, node, (double)n, &b));
    if (b.step != 1)
        return step_string(run, v, n, &b, out);
    size_t start = after_chars(v, 0, b.start);
    *out = qn_tval_string(v->s + start, after_chars(v, start, b.stop - b.start) - start);
    return QN_T_OK;
}

static enum qn_tflow eval_slice(struct qn_trun *run, const struct qn_tnode *node,
                                struct qn_tval *out)
{
    struct qn_tval v;
    QN_T_TRY(qn_teval_value(run, node->a, &v));
    run->at = node->at;
    if (qn_tval_is(&v, QN_T_LISTS))
        return slice_list(run, node, v.list, out);
    if (v.type == QN_T_STRING)
        return slice_string(run, node, &v, out);
    return qn_trun_fail(run, "%s cannot be sliced", qn_ttype_name(v.type));
}

static enum qn_tflow eval_ternary(struct qn_trun *run, const struct qn_tnode *node,
                                  struct qn_tval *out)
{
    struct qn_tval condition;
    QN_T_TRY(qn_teval_value(run, node->b, &condition));
    if (qn_tval_truth(&condition))
        return qn_teval(run, node->a, out);
    if (node->c)
        return qn_teval(run, node->c, out);
    *out = qn_tval_undefined();
    return QN_T_OK;
}

static const eval_fn evaluate[QN_N_KINDS] = {
    [QN_N_LITERAL] = eval_literal, [QN_N_NAME] = eval_name,       [QN_N_LIST] = eval_list,
    [QN_N_TUPLE] = eval_list,      [QN_N_DICT] = eval_dict,       [QN_N_SIGN] = eval_sign,
    [QN_N_NOT] = eval_not,         [QN_N_AND] = eval_logic,       [QN_N_OR] = eval_logic,
    [QN_N_BINARY] = eval_binary,   [QN_N_TEST] = eval_test,       [QN_N_FILTER] = eval_filter,
    [QN_N_CALL] = qn_teval_call,   [QN_N_MEMBER] = eval_member,   [QN_N_INDEX] = eval_index,
    [QN_N_SLICE] = eval_slice,     [QN_N_TERNARY] = eval_ternary, [QN_N_SELECT] = eval_ternary,
};

enum qn_tflow qn_teval(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out)
{
    run->at = node->at;
    if (run->frames >= QN_TEMPLATE_FRAMES_MAX)
        return qn_trun_limit(run, "expressions and macro calls are nested too deeply");
    QN_T_TRY(qn_trun_charge(run, 1));
    run->frames++;
    enum qn_tflow flow = evaluate[node->kind](run, node, out);
    run->frames--;
    return flow;
}

enum qn_tflow qn_teval_value(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out)
{
    QN_T_TRY(qn_teval(run, node, out));
    if (out->type == QN_T_ABSENT)
        return qn_trun_fail(run, "an empty list has no first and no last item");
    return QN_T_OK;
}
