/* See scope.h. */
#include "jinja/scope.h"

#include "jinja/filters.h"
#include "jinja/tests.h"

#include <stdio.h>

enum {
    SLOTS_MAX = 60000,            /* variables of one body */
    WORK_MAX = 200 * 1000 * 1000, /* names compared while a template is compiled */
    COMPILE_MEMORY_MAX = 512 * 1024 * 1024
};

struct body { /* what has variables of its own, while it is compiled */
    struct body *outer;
    uint32_t slots;
};

struct place {
    uint32_t symbol, slot;
};

struct places { /* where a scope keeps its names; shared by the copies that branches make */
    struct place *v;
    size_t n, cap;
};

struct entry {
    struct qn_tload load;
    bool stored, is_set; /* is_set: the name has a place here, rather than only being stored */
    uint32_t symbol;
};

struct scope {
    struct scope *parent;
    struct body *body;
    struct places *places;
    struct entry *v;
    size_t n, cap;
};

struct compiler {
    struct qn_template *t;
    struct qn_arena *arena; /* of the compiler itself */
    struct qn_error *e;
    qn_err err;
    uint64_t work;
    struct scope *scope; /* of the analysis */
};

/* How a node stands. */
struct where {
    struct scope *scope;
    bool soft, toplevel, in_loop;
};

static bool fail(struct compiler *c, const struct qn_tnode *node, const char *what,
                 const struct qn_tval *name)
{
    int n = !name ? 0 : name->n > 60 ? 60 : (int)name->n;
    if (!c->err)
        c->err = qn_fail(c->e, QN_EFORMAT, "chat template, line %u: %s%.*s", node->line, what, n,
                         name ? name->s : "");
    return false;
}

static void *get(struct compiler *c, size_t n)
{
    void *p = qn_arena_try(c->arena, n ? n : 1);
    if (!p && !c->err)
        c->err = qn_fail(c->e, QN_ELIMIT, "chat template: too many variables");
    return p ? p : qn_arena_alloc(c->t->arena, n ? n : 1);
}

static void *grown(struct compiler *c, const void *old, size_t size, size_t n, size_t *cap)
{
    *cap = *cap ? *cap * 2 : 8;
    char *p = get(c, *cap * size);
    if (n > 0)
        memcpy(p, old, n * size);
    return p;
}

static void count_work(struct compiler *c, size_t n)
{
    c->work += n;
    if (c->work > WORK_MAX && !c->err)
        c->err = qn_fail(c->e, QN_ELIMIT, "chat template: too many variables");
}

static struct entry *own(struct compiler *c, struct scope *s, uint32_t symbol)
{
    count_work(c, s->n);
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].symbol == symbol)
            return &s->v[i];
    return NULL;
}

/* The entry of a name here or further out; counts the bodies on the way. */
static struct entry *find(struct compiler *c, struct scope *s, uint32_t symbol, uint16_t *hops)
{
    struct body *body = s ? s->body : NULL;
    *hops = 0;
    for (; s; s = s->parent) {
        for (; body != s->body; body = body->outer)
            (*hops)++;
        struct entry *entry = own(c, s, symbol);
        if (entry)
            return entry;
    }
    return NULL;
}

static uint32_t slot_of(struct compiler *c, struct scope *s, uint32_t symbol)
{
    struct places *p = s->places;
    count_work(c, p->n);
    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].symbol == symbol)
            return p->v[i].slot;
    if (p->n == p->cap)
        p->v = grown(c, p->v, sizeof *p->v, p->n, &p->cap);
    if (s->body->slots >= SLOTS_MAX && !c->err)
        c->err = qn_fail(c->e, QN_ELIMIT, "chat template: more than %d variables", SLOTS_MAX);
    p->v[p->n++] = (struct place){.symbol = symbol, .slot = s->body->slots};
    return s->body->slots++;
}

static struct entry *define(struct compiler *c, struct scope *s, uint32_t symbol)
{
    struct entry *entry = own(c, s, symbol);
    if (!entry) {
        if (s->n == s->cap)
            s->v = grown(c, s->v, sizeof *s->v, s->n, &s->cap);
        entry = &s->v[s->n++];
        *entry = (struct entry){.symbol = symbol};
    }
    entry->load.slot = slot_of(c, s, symbol);
    entry->load.symbol = symbol;
    return entry;
}

static void alias(struct entry *entry, const struct entry *outer, uint16_t hops, uint16_t bodies)
{
    entry->load.how = QN_LOAD_ALIAS;
    entry->load.from = (uint16_t)outer->load.slot;
    entry->load.hops = (uint16_t)(hops + bodies);
}

/* A name that is found further out, or from the context. */
static bool load_outer(struct compiler *c, struct scope *s, struct entry *entry)
{
    uint16_t hops = 0;
    struct entry *outer = s->parent ? find(c, s->parent, entry->symbol, &hops) : NULL;
    if (!outer)
        return false;
    uint16_t bodies = 0;
    for (struct body *b = s->body; b != s->parent->body; b = b->outer)
        bodies++;
    alias(entry, outer, hops, bodies);
    return true;
}

static void store(struct compiler *c, struct scope *s, uint32_t symbol)
{
    struct entry *entry = own(c, s, symbol);
    if (!entry) {
        entry = define(c, s, symbol);
        if (!load_outer(c, s, entry))
            entry->load.how = QN_LOAD_MISSING;
    }
    entry->stored = true;
}

static struct entry *parameter(struct compiler *c, struct scope *s, uint32_t symbol)
{
    struct entry *entry = define(c, s, symbol);
    entry->load.how = QN_LOAD_PARAM;
    entry->stored = true;
    return entry;
}

static void load(struct compiler *c, struct scope *s, uint32_t symbol)
{
    uint16_t hops;
    if (!find(c, s, symbol, &hops))
        define(c, s, symbol)->load.how = QN_LOAD_CONTEXT;
}

static struct scope *new_scope(struct compiler *c, struct scope *parent, struct body *body)
{
    struct scope *s = get(c, sizeof *s);
    *s = (struct scope){.parent = parent, .body = body, .places = get(c, sizeof *s->places)};
    *s->places = (struct places){0};
    return s;
}

static struct body *new_body(struct compiler *c, struct body *outer)
{
    struct body *b = get(c, sizeof *b);
    *b = (struct body){.outer = outer};
    return b;
}

/* ---- which names a scope has ---- */

static bool analyze(void *ctx, struct qn_tnode *node);

static struct scope *branch(struct compiler *c, struct scope *from, const struct qn_tnodes *nodes,
                            const struct qn_tnode *test)
{
    struct scope *copy = get(c, sizeof *copy), *saved = c->scope;
    *copy = *from;
    copy->cap = from->n;
    copy->v = get(c, from->n * sizeof *copy->v);
    count_work(c, from->n);
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

/* What a branch has found out becomes the scope's; what only some branches set begins as what it
 * covers. */
static void merge(struct compiler *c, struct scope *s, struct scope **branches, size_t n)
{
    size_t before = s->n;
    for (size_t b = 0; b < n; b++) {
        for (size_t i = 0; i < branches[b]->n && !c->err; i++) {
            struct entry *from = &branches[b]->v[i];
            struct entry *to = own(c, s, from->symbol);
            size_t at = to ? (size_t)(to - s->v) : 0;
            bool was_stored = to && at < before && to->stored;
            bool new_store = from->stored && !was_stored;
            if (!to)
                to = define(c, s, from->symbol);
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
        if (!load_outer(c, s, &s->v[i]))
            s->v[i].load.how = QN_LOAD_CONTEXT;
    }
}

static bool analyze_if(struct compiler *c, struct qn_tnode *node)
{
    struct scope *s = c->scope;
    struct scope *branches[3];
    struct qn_tnodes none = {0},
                     rest = {.v = node->kids.v + 1, .n = node->kids.n ? node->kids.n - 1 : 0};
    if (node->kids.n == 0) { /* {% print %} */
        for (size_t i = 0; i < node->other.n; i++)
            analyze(c, node->other.v[i]);
        return !c->err;
    }
    analyze(c, node->kids.v[0]->a);
    branches[0] = branch(c, s, &node->kids.v[0]->kids, NULL);
    branches[1] = branch(c, s, node->kids.n > 1 ? &rest : &none, NULL);
    branches[2] = branch(c, s, &node->other, NULL);
    merge(c, s, branches, 3);
    return !c->err;
}

/* An elif is an `if` of its own within the branch of all of them. */
static bool analyze_elif(struct compiler *c, struct qn_tnode *node)
{
    struct qn_tnodes none = {0};
    struct scope *branches[2];
    analyze(c, node->a);
    branches[0] = branch(c, c->scope, &node->kids, NULL);
    branches[1] = branch(c, c->scope, &none, NULL);
    merge(c, c->scope, branches, 2);
    return !c->err;
}

static bool analyze(void *ctx, struct qn_tnode *node)
{
    struct compiler *c = ctx;
    if (c->err)
        return false;
    switch (node->kind) {
    case QN_N_NAME:
        if (node->use == QN_USE_PARAM)
            parameter(c, c->scope, node->symbol);
        else if (node->use == QN_USE_STORE)
            store(c, c->scope, node->symbol);
        else
            load(c, c->scope, node->symbol);
        return true;
    case QN_N_NSREF:
        load(c, c->scope, node->a->symbol);
        return true;
    case QN_N_IF:
        return analyze_if(c, node);
    case QN_N_BRANCH:
        return analyze_elif(c, node);
    case QN_N_MACRO:
        store(c, c->scope, node->a->symbol);
        return true;
    case QN_N_IMPORT:
        analyze(c, node->a);
        for (size_t i = 0; i < node->kids.n; i++)
            store(c, c->scope, node->kids.v[i]->symbol);
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

static void analyze_in(struct compiler *c, struct scope *s, const struct qn_tnodes *nodes)
{
    struct scope *saved = c->scope;
    c->scope = s;
    for (size_t i = 0; i < nodes->n && !c->err; i++)
        analyze(c, nodes->v[i]);
    c->scope = saved;
}

static void analyze_one(struct compiler *c, struct scope *s, struct qn_tnode *node)
{
    struct qn_tnodes one = {.v = &node, .n = node != NULL};
    analyze_in(c, s, &one);
}

static void declare_target(struct compiler *c, struct scope *s, const struct qn_tnode *target)
{
    if (target->kind == QN_N_NAME)
        parameter(c, s, target->symbol);
    for (size_t i = 0; i < target->kids.n; i++)
        declare_target(c, s, target->kids.v[i]);
}

/* ---- names that nodes use without setting them ---- */

struct undeclared {
    const char *const *names;
    size_t n;
    bool gone[3], found[3];
};

static bool look(void *ctx, struct qn_tnode *node)
{
    struct undeclared *u = ctx;
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

static void find_undeclared(const struct qn_tnodes *nodes, struct undeclared *u)
{
    for (size_t i = 0; i < nodes->n; i++)
        look(u, nodes->v[i]);
}

static bool no_store_to_loop(void *ctx, struct qn_tnode *node)
{
    if (node->kind == QN_N_NAME && node->use == QN_USE_STORE && qn_tval_str_eq(&node->val, "loop"))
        return false;
    return qn_tnode_children(node, no_store_to_loop, ctx);
}

/* ---- giving names their places ---- */

struct walk {
    struct compiler *c;
    struct where w;
};

static bool resolve(void *ctx, struct qn_tnode *node);

static bool resolve_in(struct compiler *c, struct where w, struct qn_tnode *node)
{
    struct walk walk = {.c = c, .w = w};
    return !node || resolve(&walk, node);
}

static bool resolve_all(struct compiler *c, struct where w, const struct qn_tnodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        if (!resolve_in(c, w, nodes->v[i]))
            return false;
    return !c->err;
}

static struct qn_tscope loads_of(struct compiler *c, const struct scope *s)
{
    struct qn_tscope out = {.n = s->n};
    out.v = qn_arena_alloc(c->t->arena, (s->n ? s->n : 1) * sizeof *out.v);
    for (size_t i = 0; i < s->n; i++)
        out.v[i] = s->v[i].load;
    return out;
}

static void place_name(struct compiler *c, struct scope *s, struct qn_tnode *node)
{
    struct entry *entry = find(c, s, node->symbol, &node->hops);
    if (!entry) { /* a filter's argument that jinja2's analysis leaves out */
        entry = define(c, s, node->symbol);
        entry->load.how = QN_LOAD_CONTEXT;
        node->hops = 0;
    }
    node->slot = (uint16_t)entry->load.slot;
}

static uint32_t symbol_of(const struct qn_template *t, const char *name)
{
    return qn_tsymbol_find(t, name, strlen(name));
}

/* The scope of a macro, call block or block, and what it takes beside its parameters. */
static struct scope *body_scope(struct compiler *c, struct scope *outer, struct qn_tnode *node)
{
    static const char *const special[] = {"caller", "kwargs", "varargs"};
    struct qn_tbody *body = node->body;
    struct scope *s = new_scope(c, outer, new_body(c, outer ? outer->body : NULL));
    struct undeclared u = {.names = special, .n = 3};
    find_undeclared(&node->kids, &u);
    analyze_in(c, s, &body->params);
    analyze_in(c, s, &body->defaults);
    size_t params = body->params.n;
    for (size_t i = 0; i < params; i++) {
        const struct qn_tval *name = &body->params.v[i]->val;
        if (u.found[0] && qn_tval_str_eq(name, "caller")) {
            if (i + body->defaults.n < params)
                fail(c, node,
                     "the special \"caller\" argument must be omitted or be given a default", NULL);
            u.found[0] = false;
        }
        u.found[1] = u.found[1] && !qn_tval_str_eq(name, "kwargs");
        u.found[2] = u.found[2] && !qn_tval_str_eq(name, "varargs");
    }
    analyze_in(c, s, &node->kids);
    body->takes_caller = u.found[0];
    body->takes_kwargs = u.found[1];
    body->takes_varargs = u.found[2];
    uint32_t *slots[] = {&body->caller, &body->kwargs, &body->varargs};
    for (int i = 0; i < 3; i++)
        if (u.found[i])
            *slots[i] = parameter(c, s, symbol_of(c->t, special[i]))->load.slot;
    return s;
}

static bool resolve_body(struct compiler *c, struct where w, struct qn_tnode *node,
                         struct scope *outer)
{
    struct scope *s = body_scope(c, outer, node);
    struct where inside = {.scope = s};
    (void)w;
    bool ok = resolve_all(c, inside, &node->body->params) &&
              resolve_all(c, inside, &node->body->defaults) && resolve_all(c, inside, &node->kids);
    node->body->scope = loads_of(c, s);
    node->body->slots = s->body->slots;
    return ok;
}

/* A scope within the body it stands in. */
static bool resolve_inner(struct compiler *c, struct where w, struct scope *s,
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

static struct qn_tnode *copy_target(struct compiler *c, const struct qn_tnode *from)
{
    struct qn_tnode *to = qn_arena_alloc(c->t->arena, sizeof *to);
    *to = *from;
    to->kids.v =
        qn_arena_alloc(c->t->arena, (from->kids.n ? from->kids.n : 1) * sizeof *to->kids.v);
    for (size_t i = 0; i < from->kids.n; i++)
        to->kids.v[i] = copy_target(c, from->kids.v[i]);
    return to;
}

/* The condition of a loop is a body of its own, with the loop's targets as its variables. */
static bool resolve_test(struct compiler *c, struct where w, struct qn_tnode *node)
{
    struct scope *s = new_scope(c, w.scope, new_body(c, w.scope->body));
    struct where inside = {.scope = s};
    struct qn_tbody *test = node->test = qn_arena_alloc(c->t->arena, sizeof *test);
    declare_target(c, s, node->a);
    analyze_one(c, s, node->c);
    test->params.v = qn_arena_alloc(c->t->arena, sizeof *test->params.v);
    test->params.v[0] = copy_target(c, node->a);
    test->params.n = 1;
    bool ok = resolve_in(c, inside, test->params.v[0]) && resolve_in(c, inside, node->c);
    test->scope = loads_of(c, s);
    test->slots = s->body->slots;
    return ok;
}

static bool resolve_for(struct compiler *c, struct where w, struct qn_tnode *node)
{
    static const char *const loop_name[] = {"loop"};
    struct undeclared u = {.names = loop_name, .n = 1};
    struct body *body = node->flag ? new_body(c, w.scope->body) : w.scope->body;
    struct scope *s = new_scope(c, w.scope, body), *other = new_scope(c, w.scope, body);
    if (!no_store_to_loop(NULL, node))
        return fail(c, node, "Can't assign to special loop variable in for-loop target", NULL);
    find_undeclared(&node->kids, &u);
    node->has_loop = node->flag || u.found[0];
    uint32_t loop = symbol_of(c->t, "loop");
    if (node->has_loop && loop != QN_TSYMBOL_NONE)
        node->loop_slot = (uint16_t)parameter(c, s, loop)->load.slot;
    else
        node->has_loop = false;
    declare_target(c, s, node->a);
    analyze_in(c, s, &node->kids);
    analyze_in(c, other, &node->other);
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

static bool resolve_with(struct compiler *c, struct where w, struct qn_tnode *node)
{
    struct scope *s = new_scope(c, w.scope, w.scope->body);
    struct where inside = {.scope = s, .in_loop = w.in_loop};
    for (size_t i = 0; i < node->args.n; i += 2)
        analyze_one(c, s, node->args.v[i]);
    analyze_in(c, s, &node->kids);
    for (size_t i = 0; i < node->args.n; i += 2)
        if (!resolve_in(c, inside, node->args.v[i]) || !resolve_in(c, w, node->args.v[i + 1]))
            return false;
    return resolve_inner(c, w, s, node);
}

static bool resolve_block(struct compiler *c, struct where w, struct qn_tnode *node)
{
    w.toplevel = false;
    return resolve_body(c, w, node, NULL);
}

static bool resolve_scoped(struct compiler *c, struct where w, struct qn_tnode *node)
{
    struct scope *s = new_scope(c, w.scope, w.scope->body);
    struct where inside = {.scope = s, .in_loop = w.in_loop};
    if (node->kind == QN_N_AUTOESCAPE)
        analyze_one(c, s, node->a);
    analyze_in(c, s, &node->kids);
    if (node->kind == QN_N_FILTER_BLOCK)
        analyze_one(c, s, node->a);
    if (node->kind == QN_N_SET_BLOCK && node->b)
        analyze_one(c, s, node->b);
    if (node->kind == QN_N_AUTOESCAPE && !resolve_in(c, inside, node->a))
        return false;
    if (node->kind == QN_N_SET_BLOCK && !resolve_in(c, w, node->a))
        return false;
    return resolve_inner(c, w, s, node);
}

static bool resolve_builtin(struct compiler *c, struct where w, struct qn_tnode *node)
{
    bool filter = node->kind == QN_N_FILTER;
    node->builtin = filter ? (const void *)qn_tfilter_find(&node->val)
                           : (const void *)qn_ttest_find(&node->val);
    if (!node->builtin && !w.soft)
        return fail(c, node, filter ? "No filter named " : "No test named ", &node->val);
    return true;
}

static bool resolve(void *ctx, struct qn_tnode *node)
{
    struct walk *walk = ctx, inner = *walk;
    struct compiler *c = walk->c;
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
        return w->in_loop || fail(c, node, "break and continue need a loop around them", NULL);
    default:
        return qn_tnode_children(node, resolve, walk);
    }
}

qn_err qn_tscope_resolve(struct qn_template *t, struct qn_error *e)
{
    struct compiler c = {.t = t, .arena = qn_arena_new(COMPILE_MEMORY_MAX), .e = e};
    struct scope *root = new_scope(&c, NULL, new_body(&c, NULL));
    struct where w = {.scope = root, .toplevel = true};
    analyze_in(&c, root, &t->nodes);
    resolve_all(&c, w, &t->nodes);
    t->body.scope = loads_of(&c, root);
    t->body.slots = root->body->slots;
    qn_arena_free(c.arena);
    return c.err;
}
