/* Calls; see eval.h. */
#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/loop.h"
#include "jinja/macro.h"

static enum qn_tflow spread(struct qn_trun *run, const struct qn_tval *v, struct qn_tlist *list)
{
    struct qn_tcursor c;
    struct qn_tval item;
    bool more = false;
    QN_T_TRY(qn_titer_begin(run, v, &c));
    QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    while (more) {
        QN_T_TRY(qn_tlist_push(run, list, &item));
        QN_T_TRY(qn_titer_next(run, &c, &item, &more));
    }
    return QN_T_OK;
}

static enum qn_tflow name_argument(struct qn_trun *run, struct qn_targs *args,
                                   const struct qn_tval *key, const struct qn_tval *v)
{
    struct qn_tval *found = NULL;
    if (key->type != QN_T_STRING)
        return qn_trun_fail(run, "keywords must be strings");
    if (!args->named)
        QN_T_TRY(qn_tdict_new(run, 4, &args->named));
    QN_T_TRY(qn_tdict_find(run, args->named, key, &found));
    if (found)
        return qn_trun_fail(run, "got multiple values for keyword argument '%.*s'",
                            (int)(key->n & 0xff), key->s);
    return qn_tdict_set(run, args->named, key, v);
}

static enum qn_tflow spread_named(struct qn_trun *run, const struct qn_tval *v,
                                  struct qn_targs *args)
{
    if (v->type == QN_T_UNDEFINED)
        return qn_trun_undefined(run, v);
    if (v->type != QN_T_DICT)
        return qn_trun_fail(run, "argument after ** must be a mapping, not %s", qn_tval_class(v));
    for (size_t i = 0; i < v->dict->n; i++)
        QN_T_TRY(name_argument(run, args, &v->dict->members[i].key, &v->dict->members[i].val));
    return QN_T_OK;
}

enum qn_tflow qn_teval_arguments(struct qn_trun *run, const struct qn_tnodes *nodes,
                                 struct qn_targs *out)
{
    struct qn_tlist *list = NULL;
    *out = (struct qn_targs){0};
    if (nodes->n == 0)
        return QN_T_OK;
    QN_T_TRY(qn_tlist_new(run, nodes->n, &list));
    for (size_t i = 0; i < nodes->n; i++) {
        const struct qn_tnode *node = nodes->v[i];
        struct qn_tval v;
        bool inner =
            node->kind == QN_N_KEYWORD || node->kind == QN_N_SPREAD || node->kind == QN_N_SPREAD_KW;
        QN_T_TRY(qn_teval(run, inner ? node->a : node, &v));
        if (node->kind == QN_N_SPREAD)
            QN_T_TRY(spread(run, &v, list));
        else if (node->kind == QN_N_SPREAD_KW)
            QN_T_TRY(spread_named(run, &v, out));
        else if (node->kind == QN_N_KEYWORD)
            QN_T_TRY(name_argument(run, out, &node->val, &v));
        else
            QN_T_TRY(qn_tlist_push(run, list, &v));
    }
    out->v = list->items;
    out->n = list->n;
    return QN_T_OK;
}

static enum qn_tflow call_joiner(struct qn_trun *run, struct qn_tjoiner *joiner,
                                 const struct qn_targs *args, struct qn_tval *out)
{
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    *out = joiner->used ? joiner->sep : qn_tval_cstr("");
    joiner->used = true;
    return QN_T_OK;
}

enum qn_tflow qn_tval_call(struct qn_trun *run, const struct qn_tval *callee,
                           const struct qn_targs *args, struct qn_tval *out)
{
    switch (callee->type) {
    case QN_T_FUNCTION:
        return callee->fn->call(run, &callee->fn->self, args, out);
    case QN_T_MACRO:
        return qn_tmacro_call(run, callee->macro, args, out);
    case QN_T_LOOP:
        return qn_tloop_call(run, callee->loop, args, out);
    case QN_T_JOINER:
        return call_joiner(run, callee->joiner, args, out);
    case QN_T_UNDEFINED:
        return qn_trun_undefined(run, callee);
    default:
        return qn_trun_fail(run, "'%s' object is not callable", qn_tval_class(callee));
    }
}

enum qn_tflow qn_teval_call(struct qn_trun *run, const struct qn_tnode *node,
                            const struct qn_tval *caller, struct qn_tval *out)
{
    struct qn_tval callee, name = qn_tval_cstr("caller");
    struct qn_targs args;
    QN_T_TRY(qn_teval(run, node->a, &callee));
    QN_T_TRY(qn_teval_arguments(run, &node->args, &args));
    if (caller)
        QN_T_TRY(name_argument(run, &args, &name, caller));
    return qn_tval_call(run, &callee, &args, out);
}
