/* See scope.h: assigns scopes and variable slots to nodes. */
#include "jinja/scope.h"

#include "jinja/filters.h"
#include "jinja/scope_private.h"
#include "jinja/tests.h"

enum { COMPILE_MEMORY_MAX = 512 * 1024 * 1024 };

/* The context in which a node is resolved. */
struct where {
    struct qn_tc_scope *scope;
    bool soft, toplevel, in_loop;
};

struct walk {
    struct qn_tc_compiler *c;
    struct where w;
};

static bool resolve(void *ctx, struct qn_tnode *node);

static bool resolve_in(struct qn_tc_compiler *c, struct where w, struct qn_tnode *node)
{
    struct walk walk = {.c = c, .w = w};
    return !node || resolve(&walk, node);
}

static bool resolve_all(struct qn_tc_compiler *c, struct where w, const struct qn_tnodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        if (!resolve_in(c, w, nodes->v[i]))
            return false;
    return !c->err;
}

static struct qn_tscope loads_of(struct qn_tc_compiler *c, const struct qn_tc_scope *s)
{
    struct qn_tscope out = {.n = s->n};
    out.v = qn_arena_alloc(c->t->arena, (s->n ? s->n : 1) * sizeof *out.v);
    for (size_t i = 0; i < s->n; i++)
        out.v[i] = s->v[i].load;
    return out;
}

static void place_name(struct qn_tc_compiler *c, struct qn_tc_scope *s, struct qn_tnode *node)
{
    struct qn_tc_entry *entry = qn_tscope_find(c, s, node->symbol, &node->hops);
    if (!entry) { /* an argument of a filter that jinja2's analysis does not visit */
        entry = qn_tscope_define(c, s, node->symbol);
        entry->load.how = QN_LOAD_CONTEXT;
        node->hops = 0;
    }
    node->slot = (uint16_t)entry->load.slot;
}

static uint32_t symbol_of(const struct qn_template *t, const char *name)
{
    return qn_tsymbol_find(t, name, strlen(name));
}

/* The scope of a macro, call block or block, and the special variables that it takes besides its
 * parameters. */
static struct qn_tc_scope *body_scope(struct qn_tc_compiler *c, struct qn_tc_scope *outer,
                                      struct qn_tnode *node)
{
    static const char *const special[] = {"caller", "kwargs", "varargs"};
    struct qn_tbody *body = node->body;
    struct qn_tc_scope *s = qn_tscope_new(c, outer, qn_tscope_body(c, outer ? outer->body : NULL));
    struct qn_tc_undeclared u = {.names = special, .n = 3};
    qn_tscope_undeclared(&node->kids, &u);
    qn_tscope_analyze(c, s, &body->params);
    qn_tscope_analyze(c, s, &body->defaults);
    size_t params = body->params.n;
    for (size_t i = 0; i < params; i++) {
        const struct qn_tval *name = &body->params.v[i]->val;
        if (u.found[0] && qn_tval_str_eq(name, "caller")) {
            if (i + body->defaults.n < params)
                qn_tcompile_fail(
                    c, node,
                    "the special \"caller\" argument must be omitted or be given a default", NULL);
            u.found[0] = false;
        }
        u.found[1] = u.found[1] && !qn_tval_str_eq(name, "kwargs");
        u.found[2] = u.found[2] && !qn_tval_str_eq(name, "varargs");
    }
    qn_tscope_analyze(c, s, &node->kids);
    body->takes_caller = u.found[0];
    body->takes_kwargs = u.found[1];
    body->takes_varargs = u.found[2];
    uint32_t *slots[] = {&body->caller, &body->kwargs, &body->varargs};
    for (int i = 0; i < 3; i++)
        if (u.found[i])
            *slots[i] = qn_tscope_parameter(c, s, symbol_of(c->t, special[i]))->load.slot;
    return s;
}

static bool resolve_body(struct qn_tc_compiler *c, struct where w, struct qn_tnode *node,
                         struct qn_tc_scope *outer)
{
    struct qn_tc_scope *s = body_scope(c, outer, node);
    struct where inside = {.scope = s};
    (void)w;
    bool ok = resolve_all(c, inside, &node->body->params) &&
              resolve_all(c, inside, &node->body->defaults) && resolve_all(c, inside, &node->kids);
    node->body->scope = loads_of(c, s);
    node->body->slots = s->body->slots;
    return ok;
}

/* Resolves a scope that has no frame of its own. */
static bool resolve_inner(struct qn_tc_compiler *c, struct where w, struct qn_tc_scope *s,
                          struct qn_tnode *node)
{
    struct where inside = {.scope = s, .in_loop = w.in_loop};
    bool ok = resolve_all(c, inside, &node->kids);
    if (ok && node->kind == QN_N_FILTER_BLOCK)
        ok = resolve_in(c, inside, node->a);
    if (ok && node->kind == QN_N_SET_BLOCK)
        ok = resolve_in(c, inside, node->b);
    node->scope = loads_of(c, s);
    return ok;
}

static struct qn_tnode *copy_target(struct qn_tc_compiler *c, const struct qn_tnode *from)
{
    struct qn_tnode *to = qn_arena_alloc(c->t->arena, sizeof *to);
    *to = *from;
    to->kids.v =
        qn_arena_alloc(c->t->arena, (from->kids.n ? from->kids.n : 1) * sizeof *to->kids.v);
    for (size_t i = 0; i < from->kids.n; i++)
        to->kids.v[i] = copy_target(c, from->kids.v[i]);
    return to;
}

/* The condition of a loop has a frame of its own, with the loop's targets as its variables. */
static bool resolve_test(struct qn_tc_compiler *c, struct where w, struct qn_tnode *node)
{
    struct qn_tc_scope *s = qn_tscope_new(c, w.scope, qn_tscope_body(c, w.scope->body));
    struct where inside = {.scope = s};
    struct qn_tbody *test = node->test = qn_arena_alloc(c->t->arena, sizeof *test);
    qn_tscope_declare(c, s, node->a);
    qn_tscope_analyze_one(c, s, node->c);
    test->params.v = qn_arena_alloc(c->t->arena, sizeof *test->params.v);
    test->params.v[0] = copy_target(c, node->a);
    test->params.n = 1;
    bool ok = resolve_in(c, inside, test->params.v[0]) && resolve_in(c, inside, node->c);
    test->scope = loads_of(c, s);
    test->slots = s->body->slots;
    return ok;
}

static bool resolve_for(struct qn_tc_compiler *c, struct where w, struct qn_tnode *node)
{
    static const char *const loop_name[] = {"loop"};
    struct qn_tc_undeclared u = {.names = loop_name, .n = 1};
    struct qn_tc_body *body = node->flag ? qn_tscope_body(c, w.scope->body) : w.scope->body;
    struct qn_tc_scope *s = qn_tscope_new(c, w.scope, body),
                       *other = qn_tscope_new(c, w.scope, body);
    if (!qn_tscope_no_loop_store(NULL, node))
        return qn_tcompile_fail(c, node, "Can't assign to special loop variable in for-loop target",
                                NULL);
    qn_tscope_undeclared(&node->kids, &u);
    node->has_loop = node->flag || u.found[0];
    uint32_t loop = symbol_of(c->t, "loop");
    if (node->has_loop && loop != QN_TSYMBOL_NONE)
        node->loop_slot = (uint16_t)qn_tscope_parameter(c, s, loop)->load.slot;
    else
        node->has_loop = false;
    qn_tscope_declare(c, s, node->a);
    qn_tscope_analyze(c, s, &node->kids);
    qn_tscope_analyze(c, other, &node->other);
    struct where inside = {.scope = s, .in_loop = true},
                 otherwise = {.scope = other, .in_loop = w.in_loop && !node->flag};
    bool ok = (!node->c || resolve_test(c, w, node)) && resolve_in(c, w, node->b) &&
              resolve_in(c, inside, node->a) && resolve_all(c, inside, &node->kids) &&
              resolve_all(c, otherwise, &node->other);
    node->scope = loads_of(c, s);
    node->else_scope = loads_of(c, other);
    if (node->flag) {
        node->body = qn_arena_alloc(c->t->arena, sizeof *node->body);
        node->body->slots = body->slots;
    }
    return ok;
}

static bool resolve_with(struct qn_tc_compiler *c, struct where w, struct qn_tnode *node)
{
    struct qn_tc_scope *s = qn_tscope_new(c, w.scope, w.scope->body);
    struct where inside = {.scope = s, .in_loop = w.in_loop};
    for (size_t i = 0; i < node->args.n; i += 2)
        qn_tscope_analyze_one(c, s, node->args.v[i]);
    qn_tscope_analyze(c, s, &node->kids);
    for (size_t i = 0; i < node->args.n; i += 2)
        if (!resolve_in(c, inside, node->args.v[i]) || !resolve_in(c, w, node->args.v[i + 1]))
            return false;
    return resolve_inner(c, w, s, node);
}

static bool resolve_block(struct qn_tc_compiler *c, struct where w, struct qn_tnode *node)
{
    w.toplevel = false;
    return resolve_body(c, w, node, NULL);
}

static bool resolve_scoped(struct qn_tc_compiler *c, struct where w, struct qn_tnode *node)
{
    struct qn_tc_scope *s = qn_tscope_new(c, w.scope, w.scope->body);
    struct where inside = {.scope = s, .in_loop = w.in_loop};
    if (node->kind == QN_N_AUTOESCAPE)
        qn_tscope_analyze_one(c, s, node->a);
    qn_tscope_analyze(c, s, &node->kids);
    if (node->kind == QN_N_FILTER_BLOCK)
        qn_tscope_analyze_one(c, s, node->a);
    if (node->kind == QN_N_SET_BLOCK && node->b)
        qn_tscope_analyze_one(c, s, node->b);
    if (node->kind == QN_N_AUTOESCAPE && !resolve_in(c, inside, node->a))
        return false;
    if (node->kind == QN_N_SET_BLOCK && !resolve_in(c, w, node->a))
        return false;
    return resolve_inner(c, w, s, node);
}

static bool resolve_builtin(struct qn_tc_compiler *c, struct where w, struct qn_tnode *node)
{
    bool filter = node->kind == QN_N_FILTER;
    node->builtin = filter ? (const void *)qn_tfilter_find(&node->val)
                           : (const void *)qn_ttest_find(&node->val);
    if (!node->builtin && !w.soft)
        return qn_tcompile_fail(c, node, filter ? "No filter named " : "No test named ",
                                &node->val);
    return true;
}

static bool resolve(void *ctx, struct qn_tnode *node)
{
    struct walk *walk = ctx, inner = *walk;
    struct qn_tc_compiler *c = walk->c;
    struct where *w = &walk->w;
    if (c->err)
        return false;
    node->toplevel = w->toplevel;
    switch (node->kind) {
    case QN_N_NAME:
        place_name(c, w->scope, node);
        return !c->err;
    case QN_N_NSREF:
        place_name(c, w->scope, node->a);
        return !c->err;
    case QN_N_FILTER:
    case QN_N_TEST:
        return resolve_builtin(c, *w, node) && qn_tnode_children(node, resolve, walk);
    case QN_N_IF:
    case QN_N_TERNARY:
        inner.w.soft = inner.w.soft || node->kind == QN_N_TERNARY || node->kids.n > 0;
        return qn_tnode_children(node, resolve, &inner);
    case QN_N_FOR:
        return resolve_for(c, *w, node);
    case QN_N_MACRO:
        place_name(c, w->scope, node->a);
        return resolve_body(c, *w, node, w->scope);
    case QN_N_CALL_BLOCK:
        return resolve_in(c, *w, node->a) && resolve_body(c, *w, node, w->scope);
    case QN_N_WITH:
        return resolve_with(c, *w, node);
    case QN_N_SET_BLOCK:
    case QN_N_FILTER_BLOCK:
    case QN_N_AUTOESCAPE:
        return resolve_scoped(c, *w, node);
    case QN_N_BLOCK:
        return resolve_block(c, *w, node);
    case QN_N_IMPORT:
        return resolve_in(c, *w, node->a) && resolve_all(c, *w, &node->kids);
    case QN_N_BREAK:
    case QN_N_CONTINUE:
        return w->in_loop ||
               qn_tcompile_fail(c, node, "break and continue need a loop around them", NULL);
    default:
        return qn_tnode_children(node, resolve, walk);
    }
}

qn_err qn_tscope_resolve(struct qn_template *t, struct qn_error *e)
{
    struct qn_tc_compiler c = {.t = t, .arena = qn_arena_new(COMPILE_MEMORY_MAX), .e = e};
    struct qn_tc_scope *root = qn_tscope_new(&c, NULL, qn_tscope_body(&c, NULL));
    struct where w = {.scope = root, .toplevel = true};
    qn_tscope_analyze(&c, root, &t->nodes);
    resolve_all(&c, w, &t->nodes);
    t->body.scope = loads_of(&c, root);
    t->body.slots = root->body->slots;
    qn_arena_free(c.arena);
    return c.err;
}
