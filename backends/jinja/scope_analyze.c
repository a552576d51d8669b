/* See scope_private.h: finds the names of a scope. */
#include "jinja/scope_private.h"

static bool analyze(void *ctx, struct qn_tnode *node);

static struct qn_tc_scope *branch(struct qn_tc_compiler *c, struct qn_tc_scope *from,
                                  const struct qn_tnodes *nodes, const struct qn_tnode *test)
{
    struct qn_tc_scope *copy = qn_tcompile_get(c, sizeof *copy), *saved = c->scope;
    *copy = *from;
    copy->cap = from->n;
    copy->v = qn_tcompile_get(c, from->n * sizeof *copy->v);
    qn_tcompile_count(c, from->n);
    if (from->n > 0)
        memcpy(copy->v, from->v, from->n * sizeof *copy->v);
    c->scope = copy;
    if (test)
        analyze(c, (struct qn_tnode *)test);
    for (size_t i = 0; i < nodes->n && !c->err; i++)
        analyze(c, nodes->v[i]);
    c->scope = saved;
    return copy;
}

/* Merges the entries of the branches into the scope. A name that only some branches set is
 * initialised from the enclosing scope. */
static void merge(struct qn_tc_compiler *c, struct qn_tc_scope *s, struct qn_tc_scope **branches,
                  size_t n)
{
    size_t before = s->n;
    for (size_t b = 0; b < n; b++) {
        for (size_t i = 0; i < branches[b]->n && !c->err; i++) {
            struct qn_tc_entry *from = &branches[b]->v[i];
            struct qn_tc_entry *to = qn_tscope_own(c, s, from->symbol);
            size_t at = to ? (size_t)(to - s->v) : 0;
            bool was_stored = to && at < before && to->stored;
            bool new_store = from->stored && !was_stored;
            if (!to)
                to = qn_tscope_define(c, s, from->symbol);
            if (at >= before || !was_stored)
                to->load = from->load;
            to->stored = to->stored || from->stored;
            to->is_set = to->is_set || new_store;
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        if (!s->v[i].is_set)
            continue;
        s->v[i].is_set = false;
        if (!qn_tscope_load_outer(c, s, &s->v[i]))
            s->v[i].load.how = QN_LOAD_CONTEXT;
    }
}

static bool analyze_if(struct qn_tc_compiler *c, struct qn_tnode *node)
{
    struct qn_tc_scope *s = c->scope;
    struct qn_tc_scope *branches[3];
    struct qn_tnodes none = {0}, rest = {0};
    if (node->kids.n == 0) { /* {% print %} */
        for (size_t i = 0; i < node->other.n; i++)
            analyze(c, node->other.v[i]);
        return !c->err;
    }
    rest.v = node->kids.v + 1;
    rest.n = node->kids.n - 1;
    analyze(c, node->kids.v[0]->a);
    branches[0] = branch(c, s, &node->kids.v[0]->kids, NULL);
    branches[1] = branch(c, s, node->kids.n > 1 ? &rest : &none, NULL);
    branches[2] = branch(c, s, &node->other, NULL);
    merge(c, s, branches, 3);
    return !c->err;
}

/* All elifs of an `if` are one branch in analyze_if. Within that branch each elif is analysed like
 * an `if` without else. */
static bool analyze_elif(struct qn_tc_compiler *c, struct qn_tnode *node)
{
    struct qn_tnodes none = {0};
    struct qn_tc_scope *branches[2];
    analyze(c, node->a);
    branches[0] = branch(c, c->scope, &node->kids, NULL);
    branches[1] = branch(c, c->scope, &none, NULL);
    merge(c, c->scope, branches, 2);
    return !c->err;
}

static bool analyze(void *ctx, struct qn_tnode *node)
{
    struct qn_tc_compiler *c = ctx;
    if (c->err)
        return false;
    switch (node->kind) {
    case QN_N_NAME:
        if (node->use == QN_USE_PARAM)
            qn_tscope_parameter(c, c->scope, node->symbol);
        else if (node->use == QN_USE_STORE)
            qn_tscope_store(c, c->scope, node->symbol);
        else
            qn_tscope_load(c, c->scope, node->symbol);
        return true;
    case QN_N_NSREF:
        qn_tscope_load(c, c->scope, node->a->symbol);
        return true;
    case QN_N_IF:
        return analyze_if(c, node);
    case QN_N_BRANCH:
        return analyze_elif(c, node);
    case QN_N_MACRO:
        qn_tscope_store(c, c->scope, node->a->symbol);
        return true;
    case QN_N_IMPORT:
        analyze(c, node->a);
        for (size_t i = 0; i < node->kids.n; i++)
            qn_tscope_store(c, c->scope, node->kids.v[i]->symbol);
        return true;
    case QN_N_SET:
        return analyze(c, node->b) && analyze(c, node->a);
    case QN_N_FOR:
        return analyze(c, node->b);
    case QN_N_CALL_BLOCK:
    case QN_N_FILTER_BLOCK:
    case QN_N_SET_BLOCK:
        return !node->a || analyze(c, node->a);
    case QN_N_WITH:
        for (size_t i = 1; i < node->args.n; i += 2)
            analyze(c, node->args.v[i]);
        return !c->err;
    case QN_N_AUTOESCAPE:
    case QN_N_BLOCK:
        return true;
    default:
        return qn_tnode_children(node, analyze, c);
    }
}

void qn_tscope_analyze(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                       const struct qn_tnodes *nodes)
{
    struct qn_tc_scope *saved = c->scope;
    c->scope = s;
    for (size_t i = 0; i < nodes->n && !c->err; i++)
        analyze(c, nodes->v[i]);
    c->scope = saved;
}

void qn_tscope_analyze_one(struct qn_tc_compiler *c, struct qn_tc_scope *s, struct qn_tnode *node)
{
    struct qn_tnodes one = {.v = &node, .n = node != NULL};
    qn_tscope_analyze(c, s, &one);
}

void qn_tscope_declare(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                       const struct qn_tnode *target)
{
    if (target->kind == QN_N_NAME)
        qn_tscope_parameter(c, s, target->symbol);
    for (size_t i = 0; i < target->kids.n; i++)
        qn_tscope_declare(c, s, target->kids.v[i]);
}

static bool look(void *ctx, struct qn_tnode *node)
{
    struct qn_tc_undeclared *u = ctx;
    if (node->kind == QN_N_BLOCK)
        return true;
    for (size_t i = 0; node->kind == QN_N_NAME && i < u->n; i++) {
        if (!qn_tval_str_eq(&node->val, u->names[i]))
            continue;
        if (node->use == QN_USE_LOAD && !u->gone[i])
            u->found[i] = true;
        else
            u->gone[i] = true;
    }
    return qn_tnode_children(node, look, u);
}

void qn_tscope_undeclared(const struct qn_tnodes *nodes, struct qn_tc_undeclared *u)
{
    for (size_t i = 0; i < nodes->n; i++)
        look(u, nodes->v[i]);
}

bool qn_tscope_no_loop_store(void *ctx, struct qn_tnode *node)
{
    if (node->kind == QN_N_NAME && node->use == QN_USE_STORE && qn_tval_str_eq(&node->val, "loop"))
        return false;
    return qn_tnode_children(node, qn_tscope_no_loop_store, ctx);
}
