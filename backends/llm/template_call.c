/* Calls: evaluating arguments, binding them to a macro's parameters, running its body. */
#include "llm/template_builtin.h"
#include "llm/template_eval.h"

#include "llm/template.h"
#include "llm/template_compiled.h"

#include <string.h>

struct arguments {
    struct qn_tlist *positional;
    struct qn_tdict *named; /* NULL while there are none */
};

static enum qn_tflow add_named(struct qn_trun *run, struct arguments *args, const char *s, size_t n,
                               const struct qn_tval *v)
{
    if (!args->named)
        QN_T_TRY(qn_tdict_new(run, 0, &args->named));
    if (qn_tdict_find(run, args->named, s, n))
        return qn_trun_fail(run, "argument `%.*s` is given twice", (int)(n > 64 ? 64 : n), s);
    return qn_tdict_set(run, args->named, s, n, v);
}

static enum qn_tflow add_spread(struct qn_trun *run, struct arguments *args,
                                const struct qn_tval *v)
{
    if (!qn_tval_is(v, QN_T_LISTS))
        return qn_trun_fail(run, "* needs a list, this is %s", qn_ttype_name(v->type));
    for (size_t i = 0; i < v->list->n; i++) {
        QN_T_TRY(qn_trun_charge(run, 1));
        QN_T_TRY(qn_tlist_push(run, args->positional, &v->list->items[i]));
    }
    return QN_T_OK;
}

static enum qn_tflow add_spread_named(struct qn_trun *run, struct arguments *args,
                                      const struct qn_tval *v)
{
    if (!qn_tval_is(v, QN_T_DICTS))
        return qn_trun_fail(run, "** needs a dictionary, this is %s", qn_ttype_name(v->type));
    for (size_t i = 0; i < v->dict->n; i++) {
        const struct qn_tmember *m = &v->dict->members[i];
        QN_T_TRY(add_named(run, args, m->key, m->n, &m->val));
    }
    return QN_T_OK;
}

static enum qn_tflow add_argument(struct qn_trun *run, struct arguments *args,
                                  const struct qn_tnode *kid)
{
    struct qn_tval v;
    bool marked =
        kid->kind == QN_N_KEYWORD || kid->kind == QN_N_SPREAD || kid->kind == QN_N_SPREAD_KW;
    QN_T_TRY(qn_teval_value(run, marked ? kid->a : kid, &v));
    switch (kid->kind) {
    case QN_N_KEYWORD:
        return add_named(run, args, kid->val.s, kid->val.n, &v);
    case QN_N_SPREAD:
        return add_spread(run, args, &v);
    case QN_N_SPREAD_KW:
        return add_spread_named(run, args, &v);
    default:
        return qn_tlist_push(run, args->positional, &v);
    }
}

enum qn_tflow qn_teval_arguments(struct qn_trun *run, const struct qn_tnodes *kids,
                                 struct qn_targs *out)
{
    *out = (struct qn_targs){0};
    if (kids->n == 0)
        return QN_T_OK;
    struct arguments args = {0};
    QN_T_TRY(qn_tlist_new(run, kids->n, &args.positional));
    for (size_t i = 0; i < kids->n; i++)
        QN_T_TRY(add_argument(run, &args, kids->v[i]));
    if (args.named) {
        struct qn_tval named = qn_tval_dict(QN_T_KWARGS, args.named);
        QN_T_TRY(qn_tlist_push(run, args.positional, &named));
    }
    out->v = args.positional->items;
    out->n = args.positional->n;
    return QN_T_OK;
}

/* Evaluates what a call needs, in the scope where it stands. */
static enum qn_tflow prepare(struct qn_trun *run, const struct qn_tnode *node,
                             struct qn_tval *callee, struct qn_targs *args)
{
    QN_T_TRY(qn_teval_arguments(run, &node->kids, args));
    QN_T_TRY(qn_teval_value(run, node->a, callee));
    /* A schema of an array has a member "items"; schema.items() means the method, as in Python. */
    if (callee->type != QN_T_FUNCTION && node->a->kind == QN_N_MEMBER) {
        struct qn_tval object;
        QN_T_TRY(qn_teval_value(run, node->a->a, &object));
        QN_T_TRY(qn_tmethod_get(run, &object, node->a->val.s, node->a->val.n, callee));
    }
    run->at = node->at;
    if (callee->type != QN_T_FUNCTION)
        return qn_trun_fail(run, "%s is not a function and cannot be called",
                            qn_ttype_name(callee->type));
    return QN_T_OK;
}

enum qn_tflow qn_teval_call(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out)
{
    struct qn_tval callee;
    struct qn_targs args;
    QN_T_TRY(prepare(run, node, &callee, &args));
    return callee.fn->call(run, callee.fn, &args, out);
}

enum qn_tflow qn_teval_call_block(struct qn_trun *run, const struct qn_tnode *block,
                                  struct qn_tval *out)
{
    struct qn_tval callee, caller = {.type = QN_T_FUNCTION};
    struct qn_targs args;
    QN_T_TRY(prepare(run, block->a, &callee, &args));
    QN_T_TRY(qn_trun_alloc(run, sizeof(*caller.fn), &caller.fn));
    *caller.fn = (struct qn_tfunc){.call = qn_teval_macro, .node = block, .scope = run->covered_n};
    size_t scope = qn_trun_enter(run);
    enum qn_tflow flow = qn_trun_bind(run, block->symbol, &caller);
    if (flow == QN_T_OK)
        flow = callee.fn->call(run, callee.fn, &args, out);
    qn_trun_leave(run, scope);
    return flow;
}

static const struct qn_tparam *param_named(const struct qn_tparams *params, const char *s, size_t n)
{
    for (size_t i = 0; i < params->n; i++)
        if (params->v[i].name.n == n && memcmp(params->v[i].name.s, s, n) == 0)
            return &params->v[i];
    return NULL;
}

/* What no parameter takes: `varargs` and `kwargs` when the body asks for them, an error when not.
 */
static enum qn_tflow bind_rest(struct qn_trun *run, const struct qn_tparams *params,
                               const struct qn_targs *args, const struct qn_tdict *named)
{
    struct qn_tlist *varargs;
    struct qn_tdict *kwargs;
    if (args->n > params->n && !params->varargs)
        return qn_trun_fail(run, "this macro takes at most %zu arguments", params->n);
    QN_T_TRY(qn_tlist_new(run, 0, &varargs));
    for (size_t i = params->n; i < args->n; i++)
        QN_T_TRY(qn_tlist_push(run, varargs, &args->v[i]));
    QN_T_TRY(qn_tdict_new(run, 0, &kwargs));
    for (size_t i = 0; named && i < named->n; i++) {
        const struct qn_tmember *m = &named->members[i];
        const struct qn_tparam *param = param_named(params, m->key, m->n);
        if (param && (size_t)(param - params->v) >= args->n)
            continue;
        if (!params->kwargs)
            return qn_trun_fail(run, "this macro takes no argument `%.*s`",
                                (int)(m->n > 64 ? 64 : m->n), m->key);
        QN_T_TRY(qn_tdict_set(run, kwargs, m->key, m->n, &m->val));
    }
    struct qn_tval rest = qn_tval_list(varargs);
    if (params->varargs)
        QN_T_TRY(qn_trun_bind(run, qn_tsymbol_find(run->t, "varargs", 7), &rest));
    rest = qn_tval_dict(QN_T_DICT, kwargs);
    if (params->kwargs)
        QN_T_TRY(qn_trun_bind(run, qn_tsymbol_find(run->t, "kwargs", 6), &rest));
    return QN_T_OK;
}

static enum qn_tflow bind_params(struct qn_trun *run, const struct qn_tparams *params,
                                 struct qn_targs args)
{
    const struct qn_tdict *named = NULL;
    if (args.n > 0 && args.v[args.n - 1].type == QN_T_KWARGS)
        named = args.v[--args.n].dict;
    QN_T_TRY(bind_rest(run, params, &args, named));
    for (size_t i = 0; i < params->n; i++) {
        const struct qn_tparam *param = &params->v[i];
        const struct qn_tval *given = i < args.n ? &args.v[i] : NULL;
        struct qn_tval v = qn_tval_undefined();
        if (!given && named)
            given = qn_tdict_find(run, named, param->name.s, param->name.n);
        if (given)
            v = *given;
        else if (param->value)
            QN_T_TRY(qn_teval_value(run, param->value, &v));
        QN_T_TRY(qn_trun_bind(run, param->symbol, &v));
    }
    return QN_T_OK;
}

static enum qn_tflow run_body(struct qn_trun *run, const struct qn_tfunc *fn,
                              const struct qn_targs *args, struct qn_tval *out)
{
    size_t scope = qn_trun_enter(run), mark = run->out.len;
    enum qn_tflow flow = bind_params(run, fn->node->params, *args);
    if (flow == QN_T_OK)
        flow = qn_texec(run, &fn->node->kids);
    if (flow == QN_T_OK)
        flow = qn_trun_take(run, mark, out);
    else
        qn_trun_cut(run, mark);
    qn_trun_leave(run, scope);
    return flow;
}

/* A macro sees the variables of the place it is called from; the body of a call block those of the
 * place where it stands. */
enum qn_tflow qn_teval_macro(struct qn_trun *run, const struct qn_tfunc *fn,
                             const struct qn_targs *args, struct qn_tval *out)
{
    if (run->calls >= QN_TEMPLATE_DEPTH_MAX)
        return qn_trun_limit(run, "macros call one another more than %d levels deep",
                             QN_TEMPLATE_DEPTH_MAX);
    size_t home = fn->node->kind == QN_N_CALL_BLOCK ? fn->scope : run->covered_n;
    size_t top = qn_trun_rewind(run, home);
    run->calls++;
    enum qn_tflow flow = run_body(run, fn, args, out);
    run->calls--;
    qn_trun_replay(run, home, top);
    return flow;
}
