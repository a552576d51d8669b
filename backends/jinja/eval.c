/* Expressions; see eval.h. */
#include "jinja/eval.h"

#include "jinja/compare.h"
#include "jinja/filters.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/tests.h"

struct qn_tval *qn_tname_slot(struct qn_trun *run, const struct qn_tnode *name)
{
    struct qn_tframe *frame = run->frame;
    for (uint16_t i = 0; i < name->hops; i++)
        frame = frame->outer;
    return &frame->slots[name->slot];
}

static enum qn_tflow eval_name(struct qn_trun *run, const struct qn_tnode *node,
                               struct qn_tval *out)
{
    *out = *qn_tname_slot(run, node);
    if (out->type == QN_T_MISSING)
        *out = qn_tval_undefined(QN_T_NO_NAME, node->val.s, node->val.n);
    return QN_T_OK;
}

static enum qn_tflow eval_items(struct qn_trun *run, const struct qn_tnode *node,
                                struct qn_tval *out)
{
    struct qn_tlist *list = NULL;
    QN_T_TRY(qn_tlist_new(run, node->kids.n, &list));
    for (size_t i = 0; i < node->kids.n; i++) {
        struct qn_tval v;
        QN_T_TRY(qn_teval(run, node->kids.v[i], &v));
        QN_T_TRY(qn_tlist_push(run, list, &v));
    }
    *out = node->kind == QN_N_LIST ? qn_tval_list(list) : qn_tval_tuple(list);
    return QN_T_OK;
}

static enum qn_tflow eval_dict(struct qn_trun *run, const struct qn_tnode *node,
                               struct qn_tval *out)
{
    struct qn_tdict *dict = NULL;
    QN_T_TRY(qn_tdict_new(run, node->kids.n / 2, &dict));
    for (size_t i = 0; i + 1 < node->kids.n; i += 2) {
        struct qn_tval key, v;
        QN_T_TRY(qn_teval(run, node->kids.v[i], &key));
        QN_T_TRY(qn_teval(run, node->kids.v[i + 1], &v));
        QN_T_TRY(qn_tdict_set(run, dict, &key, &v));
    }
    *out = qn_tval_dict(dict);
    return QN_T_OK;
}

static enum qn_tflow eval_logic(struct qn_trun *run, const struct qn_tnode *node,
                                struct qn_tval *out)
{
    bool truth = false;
    QN_T_TRY(qn_teval(run, node->a, out));
    QN_T_TRY(qn_tval_truth(run, out, &truth));
    if (node->kind == QN_N_NOT) {
        *out = qn_tval_bool(!truth);
        return QN_T_OK;
    }
    return truth == (node->kind == QN_N_AND) ? qn_teval(run, node->b, out) : QN_T_OK;
}

static enum qn_tflow eval_ternary(struct qn_trun *run, const struct qn_tnode *node,
                                  struct qn_tval *out)
{
    bool truth = false;
    QN_T_TRY(qn_teval(run, node->b, out));
    QN_T_TRY(qn_tval_truth(run, out, &truth));
    if (truth || node->c)
        return qn_teval(run, truth ? node->a : node->c, out);
    *out = qn_tval_hint(
        "the inline if-expression evaluated to false and no else section was defined.");
    return QN_T_OK;
}

static enum qn_tflow compare(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                             const struct qn_tval *b, bool *out)
{
    if (op == QN_OP_EQ || op == QN_OP_NE) {
        QN_T_TRY(qn_tval_eq(run, a, b, out));
        *out = *out == (op == QN_OP_EQ);
        return QN_T_OK;
    }
    if (op == QN_OP_IN || op == QN_OP_NOT_IN) {
        QN_T_TRY(qn_tval_in(run, a, b, out));
        *out = *out == (op == QN_OP_IN);
        return QN_T_OK;
    }
    return qn_tval_order(run, op, a, b, out);
}

static enum qn_tflow eval_compare(struct qn_trun *run, const struct qn_tnode *node,
                                  struct qn_tval *out)
{
    struct qn_tval a, b;
    bool truth = true;
    QN_T_TRY(qn_teval(run, node->a, &a));
    for (size_t i = 0; truth && i < node->kids.n; i++, a = b) {
        QN_T_TRY(qn_teval(run, node->kids.v[i]->a, &b));
        QN_T_TRY(compare(run, node->kids.v[i]->op, &a, &b, &truth));
    }
    *out = qn_tval_bool(truth);
    return QN_T_OK;
}

static enum qn_tflow eval_binary(struct qn_trun *run, const struct qn_tnode *node,
                                 struct qn_tval *out)
{
    struct qn_tval a, b;
    QN_T_TRY(qn_teval(run, node->a, &a));
    QN_T_TRY(qn_teval(run, node->b, &b));
    return qn_tval_binary(run, node->op, &a, &b, out);
}

/* a ~ b ~ c: joins the operands as strings. With autoescape the result is markup as soon as one
 * operand is. */
static enum qn_tflow eval_concat(struct qn_trun *run, const struct qn_tnode *node,
                                 struct qn_tval *out)
{
    struct qn_tlist *parts = NULL;
    bool markup = false;
    QN_T_TRY(qn_tlist_new(run, node->kids.n, &parts));
    for (size_t i = 0; i < node->kids.n; i++) {
        struct qn_tval v;
        QN_T_TRY(qn_teval(run, node->kids.v[i], &v));
        QN_T_TRY(qn_tval_soft_str(run, &v, &v));
        markup = markup || (node->escape == QN_ESCAPE_YES && v.kind == QN_T_MARKUP);
        QN_T_TRY(qn_tlist_push(run, parts, &v));
    }
    size_t mark = run->out.len;
    for (size_t i = 0; i < parts->n; i++) {
        struct qn_tval v = parts->items[i];
        if (markup)
            QN_T_TRY(qn_tval_escape(run, &v, &v));
        QN_T_TRY(qn_trun_putv(run, &v));
    }
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = markup ? QN_T_MARKUP : QN_T_PLAIN;
    return QN_T_OK;
}

static enum qn_tflow eval_test(struct qn_trun *run, const struct qn_tnode *node,
                               struct qn_tval *out)
{
    const struct qn_ttest *test = node->builtin;
    struct qn_targs args;
    struct qn_tval v;
    bool truth = false;
    if (!test)
        return qn_trun_fail(run, "No test named '%.*s' found.", (int)(node->val.n & 0xff),
                            node->val.s);
    QN_T_TRY(qn_teval(run, node->a, &v));
    QN_T_TRY(qn_teval_arguments(run, &node->args, &args));
    QN_T_TRY(test->call(run, &v, &args, &truth));
    *out = qn_tval_bool(truth);
    return QN_T_OK;
}

enum qn_tflow qn_teval_filter(struct qn_trun *run, const struct qn_tnode *node,
                              const struct qn_tval *operand, struct qn_tval *out)
{
    const struct qn_tfilter *filter = node->builtin;
    struct qn_targs args;
    struct qn_tval v = *operand;
    if (!filter)
        return qn_trun_fail(run, "No filter named '%.*s' found.", (int)(node->val.n & 0xff),
                            node->val.s);
    if (node->a && operand->type == QN_T_MISSING)
        QN_T_TRY(qn_teval(run, node->a, &v));
    else if (node->a) /* otherwise the filter applies to the text of a block */
        QN_T_TRY(qn_teval_filter(run, node->a, operand, &v));
    QN_T_TRY(qn_teval_arguments(run, &node->args, &args));
    return filter->call(run, &v, &args, out);
}

static enum qn_tflow eval_index(struct qn_trun *run, const struct qn_tnode *node,
                                struct qn_tval *out)
{
    struct qn_tval object, key, part[3];
    QN_T_TRY(qn_teval(run, node->a, &object));
    if (node->b->kind != QN_N_SLICE) {
        QN_T_TRY(qn_teval(run, node->b, &key));
        return qn_titem_get(run, &object, &key, out);
    }
    const struct qn_tnode *parts[] = {node->b->a, node->b->b, node->b->c};
    for (int i = 0; i < 3; i++) {
        part[i] = qn_tval_none();
        if (parts[i])
            QN_T_TRY(qn_teval(run, parts[i], &part[i]));
    }
    return qn_tslice_get(run, &object, part, out);
}

static enum qn_tflow eval(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out)
{
    struct qn_tval v;
    switch (node->kind) {
    case QN_N_LITERAL:
        *out = node->val;
        return QN_T_OK;
    case QN_N_NAME:
        return eval_name(run, node, out);
    case QN_N_LIST:
    case QN_N_TUPLE:
        return eval_items(run, node, out);
    case QN_N_DICT:
        return eval_dict(run, node, out);
    case QN_N_SIGN:
        QN_T_TRY(qn_teval(run, node->a, &v));
        return qn_tval_sign(run, node->op, &v, out);
    case QN_N_NOT:
    case QN_N_AND:
    case QN_N_OR:
        return eval_logic(run, node, out);
    case QN_N_BINARY:
        return eval_binary(run, node, out);
    case QN_N_CONCAT:
        return eval_concat(run, node, out);
    case QN_N_COMPARE:
        return eval_compare(run, node, out);
    case QN_N_TEST:
        return eval_test(run, node, out);
    case QN_N_FILTER:
        v = qn_tval_of(QN_T_MISSING);
        return qn_teval_filter(run, node, &v, out);
    case QN_N_CALL:
        return qn_teval_call(run, node, NULL, out);
    case QN_N_MEMBER:
        QN_T_TRY(qn_teval(run, node->a, &v));
        return qn_tmember_get(run, &v, &node->val, out);
    case QN_N_INDEX:
        return eval_index(run, node, out);
    case QN_N_TERNARY:
        return eval_ternary(run, node, out);
    default:
        return qn_trun_fail(run, "this cannot be evaluated");
    }
}

enum qn_tflow qn_teval(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out)
{
    QN_T_TRY(qn_trun_charge(run, 1));
    if (run->frames >= QN_TEMPLATE_FRAMES_MAX)
        return qn_trun_limit(run, "nested deeper than %d evaluations", QN_TEMPLATE_FRAMES_MAX);
    run->frames++;
    enum qn_tflow flow = eval(run, node, out);
    run->frames--;
    return flow;
}
