/* Statements; see eval.h. */
#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/print.h"

void qn_tscope_enter(struct qn_trun *run, const struct qn_tscope *scope)
{
    for (size_t i = 0; i < scope->n; i++) {
        const struct qn_tload *load = &scope->v[i];
        struct qn_tframe *from = run->frame;
        switch (load->how) {
        case QN_LOAD_CONTEXT:
            run->frame->slots[load->slot] = run->context[load->symbol];
            break;
        case QN_LOAD_ALIAS:
            for (uint16_t k = 0; k < load->hops; k++)
                from = from->outer;
            run->frame->slots[load->slot] = from->slots[load->from];
            break;
        case QN_LOAD_MISSING:
            run->frame->slots[load->slot] = qn_tval_of(QN_T_MISSING);
            break;
        case QN_LOAD_PARAM:
            break;
        }
    }
}

void qn_tscope_leave(struct qn_trun *run, const struct qn_tscope *scope)
{
    for (size_t i = 0; i < scope->n; i++)
        run->frame->slots[scope->v[i].slot] = qn_tval_of(QN_T_MISSING);
}

enum qn_tflow qn_tframe_new(struct qn_trun *run, const struct qn_tbody *body,
                            struct qn_tframe *outer, struct qn_tframe **out)
{
    QN_T_TRY(qn_trun_charge(run, 4));
    QN_T_TRY(qn_trun_alloc(run, sizeof **out, out));
    (*out)->outer = outer;
    return qn_trun_alloc(run, body->slots * sizeof *(*out)->slots, &(*out)->slots);
}

static enum qn_tflow unpack(struct qn_trun *run, const struct qn_tnode *target,
                            const struct qn_tval *v)
{
    struct qn_tcursor c;
    struct qn_tlist *items = NULL;
    struct qn_tval item;
    bool more = false;
    if (!qn_tval_iterable(v))
        return qn_trun_fail(run, "cannot unpack non-iterable %s object", qn_tval_class(v));
    QN_T_TRY(qn_titer_begin(run, v, &c));
    QN_T_TRY(qn_tlist_new(run, target->kids.n, &items));
    for (size_t i = 0; i < target->kids.n; i++) {
        QN_T_TRY(qn_titer_next(run, &c, &item, &more));
        if (!more)
            return qn_trun_fail(run, "not enough values to unpack (expected %zu, got %zu)",
                                target->kids.n, i);
        QN_T_TRY(qn_tlist_push(run, items, &item));
    }
    QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    if (more)
        return qn_trun_fail(run, "too many values to unpack (expected %zu)", target->kids.n);
    for (size_t i = 0; i < target->kids.n; i++)
        QN_T_TRY(qn_tassign(run, target->kids.v[i], &items->items[i]));
    return QN_T_OK;
}

enum qn_tflow qn_tassign(struct qn_trun *run, const struct qn_tnode *target,
                         const struct qn_tval *v)
{
    if (target->kind == QN_N_TUPLE)
        return unpack(run, target, v);
    if (target->kind == QN_N_NSREF) {
        const struct qn_tval *ns = qn_tname_slot(run, target->a);
        if (ns->type != QN_T_NAMESPACE)
            return qn_trun_fail(run, "cannot assign attribute on non-namespace object");
        return qn_tdict_set(run, ns->dict, &target->val, v);
    }
    *qn_tname_slot(run, target) = *v;
    if (target->toplevel)
        run->context[target->symbol] = *v;
    return QN_T_OK;
}

static bool escapes(const struct qn_trun *run, const struct qn_tnode *node)
{
    return node->escape == QN_ESCAPE_YES || (node->escape == QN_ESCAPE_RUNTIME && run->autoescape);
}

static enum qn_tflow exec_output(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval v;
    QN_T_TRY(qn_teval(run, node->a, &v));
    if (!escapes(run, node))
        return qn_tval_put_str(run, &v);
    QN_T_TRY(qn_tval_escape(run, &v, &v));
    return qn_trun_putv(run, &v);
}

static enum qn_tflow exec_if(struct qn_trun *run, const struct qn_tnode *node)
{
    for (size_t i = 0; i < node->kids.n; i++) {
        struct qn_tval v;
        bool truth = false;
        QN_T_TRY(qn_teval(run, node->kids.v[i]->a, &v));
        QN_T_TRY(qn_tval_truth(run, &v, &truth));
        if (truth)
            return qn_texec(run, &node->kids.v[i]->kids);
    }
    return qn_texec(run, &node->other);
}

/* Executes a body and returns its text as a value; break and continue discard the text. */
static enum qn_tflow capture(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out)
{
    size_t mark = run->out.len;
    enum qn_tflow flow = qn_texec(run, &node->kids);
    if (flow != QN_T_OK && flow != QN_T_FAIL)
        run->out.len = mark;
    return flow == QN_T_OK ? qn_trun_take(run, mark, out) : flow;
}

static enum qn_tflow exec_set_block(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval v;
    qn_tscope_enter(run, &node->scope);
    QN_T_TRY(capture(run, node, &v));
    if (node->b) {
        v.kind = escapes(run, node) ? QN_T_MARKUP : QN_T_PLAIN;
        QN_T_TRY(qn_teval_filter(run, node->b, &v, &v));
    }
    if (run->autoescape) {
        QN_T_TRY(qn_tval_soft_str(run, &v, &v));
        v.kind = QN_T_MARKUP;
    }
    QN_T_TRY(qn_tassign(run, node->a, &v));
    qn_tscope_leave(run, &node->scope);
    return QN_T_OK;
}

static enum qn_tflow exec_filter_block(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval v;
    qn_tscope_enter(run, &node->scope);
    QN_T_TRY(capture(run, node, &v));
    v.kind = escapes(run, node) ? QN_T_MARKUP : QN_T_PLAIN;
    QN_T_TRY(qn_teval_filter(run, node->a, &v, &v));
    qn_tscope_leave(run, &node->scope);
    if (v.type != QN_T_STRING)
        return qn_trun_fail(run, "a filter block gave %s, not a string", qn_tval_class(&v));
    return qn_trun_putv(run, &v);
}

static enum qn_tflow exec_with(struct qn_trun *run, const struct qn_tnode *node)
{
    qn_tscope_enter(run, &node->scope);
    for (size_t i = 0; i + 1 < node->args.n; i += 2) {
        struct qn_tval v;
        QN_T_TRY(qn_teval(run, node->args.v[i + 1], &v));
        QN_T_TRY(qn_tassign(run, node->args.v[i], &v));
    }
    QN_T_TRY(qn_texec(run, &node->kids));
    qn_tscope_leave(run, &node->scope);
    return QN_T_OK;
}

static enum qn_tflow exec_autoescape(struct qn_trun *run, const struct qn_tnode *node)
{
    bool outer = run->autoescape;
    struct qn_tval v;
    qn_tscope_enter(run, &node->scope);
    QN_T_TRY(qn_teval(run, node->a, &v));
    QN_T_TRY(qn_tval_truth(run, &v, &run->autoescape));
    enum qn_tflow flow = qn_texec(run, &node->kids);
    run->autoescape = outer;
    qn_tscope_leave(run, &node->scope);
    return flow;
}

static enum qn_tflow exec_block(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tframe *saved = run->frame, *frame = NULL;
    QN_T_TRY(qn_tframe_new(run, node->body, NULL, &frame));
    run->frame = frame;
    qn_tscope_enter(run, &node->body->scope);
    QN_T_TRY(qn_texec(run, &node->kids));
    run->frame = saved;
    return QN_T_OK;
}

static enum qn_tflow exec(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval v;
    run->at = node->line;
    switch (node->kind) {
    case QN_N_TEXT:
        return qn_trun_putv(run, &node->val);
    case QN_N_OUTPUT:
        return exec_output(run, node);
    case QN_N_IF:
        return exec_if(run, node);
    case QN_N_FOR:
        return qn_texec_for(run, node);
    case QN_N_SET:
        QN_T_TRY(qn_teval(run, node->b, &v));
        return qn_tassign(run, node->a, &v);
    case QN_N_SET_BLOCK:
        return exec_set_block(run, node);
    case QN_N_MACRO:
        return qn_texec_macro(run, node);
    case QN_N_CALL_BLOCK:
        return qn_texec_call_block(run, node);
    case QN_N_FILTER_BLOCK:
        return exec_filter_block(run, node);
    case QN_N_WITH:
        return exec_with(run, node);
    case QN_N_AUTOESCAPE:
        return exec_autoescape(run, node);
    case QN_N_BLOCK:
        return exec_block(run, node);
    case QN_N_BREAK:
        return QN_T_BREAK;
    case QN_N_CONTINUE:
        return QN_T_CONTINUE;
    default:
        return qn_trun_fail(run, "%.*s: other templates cannot be used", (int)node->val.n,
                            node->val.s);
    }
}

enum qn_tflow qn_texec(struct qn_trun *run, const struct qn_tnodes *nodes)
{
    if (nodes->n > 0 && run->frames >= QN_TEMPLATE_FRAMES_MAX)
        return qn_trun_limit(run, "nested deeper than %d evaluations", QN_TEMPLATE_FRAMES_MAX);
    run->frames++;
    for (size_t i = 0; i < nodes->n; i++) {
        enum qn_tflow flow = qn_trun_charge(run, 1);
        if (flow == QN_T_OK)
            flow = exec(run, nodes->v[i]);
        if (flow != QN_T_OK) {
            run->frames--;
            return flow;
        }
    }
    run->frames--;
    return QN_T_OK;
}
