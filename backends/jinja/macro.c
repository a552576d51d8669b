/* See macro.h. */
#include "jinja/macro.h"

#include "jinja/eval.h"
#include "jinja/print.h"
#include "jinja/template.h"

static enum qn_tflow take_named(struct qn_trun *run, struct qn_tdict *named,
                                const struct qn_tval *key, struct qn_tval *out)
{
    struct qn_tval *found = NULL;
    *out = qn_tval_of(QN_T_MISSING);
    if (!named)
        return QN_T_OK;
    QN_T_TRY(qn_tdict_find(run, named, key, &found));
    if (found) {
        *out = *found;
        *found = qn_tval_of(QN_T_MISSING); /* marks the argument as used */
    }
    return QN_T_OK;
}

/* The named arguments that no parameter has used. */
static enum qn_tflow rest_of(struct qn_trun *run, const struct qn_tdict *named,
                             struct qn_tdict **out)
{
    QN_T_TRY(qn_tdict_new(run, 0, out));
    for (size_t i = 0; named && i < named->n; i++)
        if (named->members[i].val.type != QN_T_MISSING)
            QN_T_TRY(qn_tdict_set(run, *out, &named->members[i].key, &named->members[i].val));
    return QN_T_OK;
}

static enum qn_tflow take_special(struct qn_trun *run, const struct qn_tbody *body,
                                  const struct qn_targs *args, struct qn_tval *slots)
{
    struct qn_tval caller = qn_tval_cstr("caller");
    struct qn_tdict *rest = NULL;
    if (body->takes_caller) {
        struct qn_tval *slot = &slots[body->caller];
        QN_T_TRY(take_named(run, args->named, &caller, slot));
        if (qn_tval_is(slot, QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE)))
            *slot = qn_tval_hint("No caller defined");
    }
    QN_T_TRY(rest_of(run, args->named, &rest));
    if (body->takes_kwargs)
        slots[body->kwargs] = qn_tval_dict(rest);
    else if (rest->n > 0)
        return qn_trun_fail(run, "a macro takes no keyword argument '%.*s'",
                            (int)(rest->members[0].key.n & 0xff), rest->members[0].key.s);
    if (body->takes_varargs) {
        struct qn_tlist *list = NULL;
        QN_T_TRY(qn_tlist_new(run, 0, &list));
        for (size_t i = body->params.n; i < args->n; i++)
            QN_T_TRY(qn_tlist_push(run, list, &args->v[i]));
        slots[body->varargs] = qn_tval_tuple(list);
    } else if (args->n > body->params.n) {
        return qn_trun_fail(run, "a macro takes not more than %zu argument(s)", body->params.n);
    }
    return QN_T_OK;
}

static enum qn_tflow fill_defaults(struct qn_trun *run, const struct qn_tbody *body)
{
    for (size_t i = 0; i < body->params.n; i++) {
        const struct qn_tnode *param = body->params.v[i];
        size_t first = body->params.n - body->defaults.n;
        struct qn_tval v = qn_tval_undefined(QN_T_NO_NAME, param->val.s, param->val.n);
        if (run->frame->slots[param->slot].type != QN_T_MISSING)
            continue;
        if (i >= first)
            QN_T_TRY(qn_teval(run, body->defaults.v[i - first], &v));
        run->frame->slots[param->slot] = v;
    }
    return QN_T_OK;
}

static enum qn_tflow run_body(struct qn_trun *run, const struct qn_tnode *node,
                              const struct qn_targs *args)
{
    const struct qn_tbody *body = node->body;
    for (size_t i = 0; i < body->params.n; i++) {
        struct qn_tval *slot = &run->frame->slots[body->params.v[i]->slot];
        if (i < args->n)
            *slot = args->v[i];
        else
            QN_T_TRY(take_named(run, args->named, &body->params.v[i]->val, slot));
    }
    QN_T_TRY(take_special(run, body, args, run->frame->slots));
    qn_tscope_enter(run, &body->scope);
    QN_T_TRY(fill_defaults(run, body));
    return qn_texec(run, &node->kids);
}

enum qn_tflow qn_tmacro_call(struct qn_trun *run, const struct qn_tmacro *macro,
                             const struct qn_targs *args, struct qn_tval *out)
{
    struct qn_tframe *caller = run->frame, *frame = NULL;
    size_t mark = run->out.len;
    uint32_t at = run->at;
    bool autoescape = run->autoescape;
    struct qn_targs mine = *args;
    if (run->calls >= QN_TEMPLATE_DEPTH_MAX)
        return qn_trun_limit(run, "macro calls nested more than %d deep", QN_TEMPLATE_DEPTH_MAX);
    if (args->named)
        QN_T_TRY(qn_tdict_copy(run, args->named, &mine.named));
    QN_T_TRY(qn_tframe_new(run, macro->node->body, macro->outer, &frame));
    run->calls++;
    run->frame = frame;
    QN_T_TRY(run_body(run, macro->node, &mine));
    run->frame = caller;
    run->calls--;
    run->at = at;
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = autoescape ? QN_T_MARKUP : QN_T_PLAIN;
    return QN_T_OK;
}

static enum qn_tflow define(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out)
{
    struct qn_tmacro *macro = NULL;
    QN_T_TRY(qn_trun_alloc(run, sizeof *macro, &macro));
    *macro = (struct qn_tmacro){.node = node, .outer = run->frame};
    *out = (struct qn_tval){.type = QN_T_MACRO, .macro = macro};
    return QN_T_OK;
}

enum qn_tflow qn_texec_macro(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval v;
    QN_T_TRY(define(run, node, &v));
    *qn_tname_slot(run, node->a) = v;
    if (node->toplevel)
        run->context[node->a->symbol] = v;
    return QN_T_OK;
}

enum qn_tflow qn_texec_call_block(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval caller, v;
    struct qn_targs none = {0};
    QN_T_TRY(define(run, node, &caller));
    if (node->a)
        QN_T_TRY(qn_teval_call(run, node->a, &caller, &v));
    else
        QN_T_TRY(qn_tmacro_call(run, caller.macro, &none, &v));
    if (v.type != QN_T_STRING)
        return qn_trun_fail(run, "a call block's call gave %s, not a string", qn_tval_class(&v));
    return qn_trun_putv(run, &v);
}

enum qn_tflow qn_tmacro_put(struct qn_trun *run, const struct qn_tmacro *macro)
{
    if (macro->node->kind != QN_N_MACRO)
        return qn_trun_puts(run, "<Macro anonymous>");
    QN_T_TRY(qn_trun_puts(run, "<Macro "));
    QN_T_TRY(qn_tval_put_repr(run, &macro->node->a->val));
    return qn_trun_puts(run, ">");
}

enum qn_tflow qn_tmacro_member(struct qn_trun *run, const struct qn_tmacro *macro,
                               const struct qn_tval *name, struct qn_tval *out)
{
    const struct qn_tbody *body = macro->node->body;
    if (qn_tval_str_eq(name, "name"))
        *out = macro->node->kind == QN_N_MACRO ? macro->node->a->val : qn_tval_none();
    else if (qn_tval_str_eq(name, "catch_kwargs"))
        *out = qn_tval_bool(body->takes_kwargs);
    else if (qn_tval_str_eq(name, "catch_varargs"))
        *out = qn_tval_bool(body->takes_varargs);
    else if (qn_tval_str_eq(name, "caller"))
        *out = qn_tval_bool(body->takes_caller);
    if (!qn_tval_str_eq(name, "arguments"))
        return QN_T_OK;
    struct qn_tlist *list = NULL;
    QN_T_TRY(qn_tlist_new(run, body->params.n, &list));
    for (size_t i = 0; i < body->params.n; i++)
        QN_T_TRY(qn_tlist_push(run, list, &body->params.v[i]->val));
    *out = qn_tval_tuple(list);
    return QN_T_OK;
}
