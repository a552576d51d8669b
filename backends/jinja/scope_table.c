/* See scope_private.h: the tables of the names of scopes and their slots. */
#include "jinja/scope_private.h"

#include "base/error.h"

enum {
    SLOTS_MAX = 60000,            /* variables of one body */
    WORK_MAX = 200 * 1000 * 1000, /* name comparisons while a template is compiled */
};

bool qn_tcompile_fail(struct qn_tc_compiler *c, const struct qn_tnode *node, const char *what,
                      const struct qn_tval *name)
{
    int n = !name ? 0 : name->n > 60 ? 60 : (int)name->n;
    if (!c->err)
        c->err = qn_fail(c->e, QN_EFORMAT, "chat template, line %u: %s%.*s", node->line, what, n,
                         name ? name->s : "");
    return false;
}

void *qn_tcompile_get(struct qn_tc_compiler *c, size_t n)
{
    void *p = qn_arena_try(c->arena, n ? n : 1);
    if (!p && !c->err)
        c->err = qn_fail(c->e, QN_ELIMIT, "chat template: too many variables");
    return p ? p : qn_arena_alloc(c->t->arena, n ? n : 1);
}

static void *grown(struct qn_tc_compiler *c, const void *old, size_t size, size_t n, size_t *cap)
{
    *cap = *cap ? *cap * 2 : 8;
    char *p = qn_tcompile_get(c, *cap * size);
    if (n > 0)
        memcpy(p, old, n * size);
    return p;
}

void qn_tcompile_count(struct qn_tc_compiler *c, size_t n)
{
    c->work += n;
    if (c->work > WORK_MAX && !c->err)
        c->err = qn_fail(c->e, QN_ELIMIT, "chat template: too many variables");
}

struct qn_tc_entry *qn_tscope_own(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol)
{
    qn_tcompile_count(c, s->n);
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].symbol == symbol)
            return &s->v[i];
    return NULL;
}

/* The entry of a name in this scope or an enclosing one; counts the frames in between. */
struct qn_tc_entry *qn_tscope_find(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol,
                                   uint16_t *hops)
{
    struct qn_tc_body *body = s ? s->body : NULL;
    *hops = 0;
    for (; s; s = s->parent) {
        for (; body != s->body; body = body->outer)
            (*hops)++;
        struct qn_tc_entry *entry = qn_tscope_own(c, s, symbol);
        if (entry)
            return entry;
    }
    return NULL;
}

static uint32_t slot_of(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol)
{
    struct qn_tc_places *p = s->places;
    qn_tcompile_count(c, p->n);
    for (size_t i = 0; i < p->n; i++)
        if (p->v[i].symbol == symbol)
            return p->v[i].slot;
    if (p->n == p->cap)
        p->v = grown(c, p->v, sizeof *p->v, p->n, &p->cap);
    if (s->body->slots >= SLOTS_MAX && !c->err)
        c->err = qn_fail(c->e, QN_ELIMIT, "chat template: more than %d variables", SLOTS_MAX);
    p->v[p->n++] = (struct qn_tc_place){.symbol = symbol, .slot = s->body->slots};
    return s->body->slots++;
}

struct qn_tc_entry *qn_tscope_define(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                                     uint32_t symbol)
{
    struct qn_tc_entry *entry = qn_tscope_own(c, s, symbol);
    if (!entry) {
        if (s->n == s->cap)
            s->v = grown(c, s->v, sizeof *s->v, s->n, &s->cap);
        entry = &s->v[s->n++];
        *entry = (struct qn_tc_entry){.symbol = symbol};
    }
    entry->load.slot = slot_of(c, s, symbol);
    entry->load.symbol = symbol;
    return entry;
}

static void alias(struct qn_tc_entry *entry, const struct qn_tc_entry *outer, uint16_t hops,
                  uint16_t bodies)
{
    entry->load.how = QN_LOAD_ALIAS;
    entry->load.from = (uint16_t)outer->load.slot;
    entry->load.hops = (uint16_t)(hops + bodies);
}

/* See scope_private.h. */
bool qn_tscope_load_outer(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                          struct qn_tc_entry *entry)
{
    uint16_t hops = 0;
    struct qn_tc_entry *outer =
        s->parent ? qn_tscope_find(c, s->parent, entry->symbol, &hops) : NULL;
    if (!outer)
        return false;
    uint16_t bodies = 0;
    for (struct qn_tc_body *b = s->body; b != s->parent->body; b = b->outer)
        bodies++;
    alias(entry, outer, hops, bodies);
    return true;
}

void qn_tscope_store(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol)
{
    struct qn_tc_entry *entry = qn_tscope_own(c, s, symbol);
    if (!entry) {
        entry = qn_tscope_define(c, s, symbol);
        if (!qn_tscope_load_outer(c, s, entry))
            entry->load.how = QN_LOAD_MISSING;
    }
    entry->stored = true;
}

struct qn_tc_entry *qn_tscope_parameter(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                                        uint32_t symbol)
{
    struct qn_tc_entry *entry = qn_tscope_define(c, s, symbol);
    entry->load.how = QN_LOAD_PARAM;
    entry->stored = true;
    return entry;
}

void qn_tscope_load(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol)
{
    uint16_t hops;
    if (!qn_tscope_find(c, s, symbol, &hops))
        qn_tscope_define(c, s, symbol)->load.how = QN_LOAD_CONTEXT;
}

struct qn_tc_scope *qn_tscope_new(struct qn_tc_compiler *c, struct qn_tc_scope *parent,
                                  struct qn_tc_body *body)
{
    struct qn_tc_scope *s = qn_tcompile_get(c, sizeof *s);
    *s = (struct qn_tc_scope){
        .parent = parent, .body = body, .places = qn_tcompile_get(c, sizeof *s->places)};
    *s->places = (struct qn_tc_places){0};
    return s;
}

struct qn_tc_body *qn_tscope_body(struct qn_tc_compiler *c, struct qn_tc_body *outer)
{
    struct qn_tc_body *b = qn_tcompile_get(c, sizeof *b);
    *b = (struct qn_tc_body){.outer = outer};
    return b;
}
