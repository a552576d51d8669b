/* See constrain_grammar.h. */
#include "grammar/constrain_grammar.h"

#include "grammar/constrain.h"

#include <stdlib.h>
#include <string.h>

static const struct qn_gx empty = {.kind = QN_GX_EMPTY}, never = {.kind = QN_GX_NEVER};

void qn_grammar_init(struct qn_grammar *g, struct qn_constraint_budget *budget)
{
    *g = (struct qn_grammar){.budget = budget};
    g->arena = qn_arena_new(QN_GRAMMAR_ARENA_MAX);
}

void qn_grammar_deinit(struct qn_grammar *g)
{
    for (uint32_t i = 0; i < g->n_dfas; i++)
        qn_dfa_deinit(&g->dfas[i]);
    free(g->dfas);
    free(g->rules);
    qn_arena_free(g->arena);
    memset(g, 0, sizeof *g);
}

uint32_t qn_grammar_rule(struct qn_grammar *g, const char *name)
{
    char *copy = qn_arena_try(g->arena, strlen(name) + 1);
    if (g->n_rules == QN_CONSTRAIN_RULES_MAX || !copy) {
        g->full = true;
        return 0;
    }
    strcpy(copy, name);
    if (g->n_rules == g->cap_rules) {
        g->cap_rules = g->cap_rules ? g->cap_rules * 2 : 32;
        g->rules = qn_xrealloc(g->rules, g->cap_rules * sizeof *g->rules);
    }
    g->rules[g->n_rules] = (struct qn_grammar_rule){.name = copy};
    return g->n_rules++;
}

uint32_t qn_grammar_dfa(struct qn_grammar *g, struct qn_dfa *d)
{
    g->states += d->n;
    if (g->states > QN_CONSTRAIN_STATES_MAX)
        g->full = true;
    if (g->n_dfas == g->cap_dfas) {
        g->cap_dfas = g->cap_dfas ? g->cap_dfas * 2 : 32;
        g->dfas = qn_xrealloc(g->dfas, g->cap_dfas * sizeof *g->dfas);
    }
    g->dfas[g->n_dfas] = *d;
    memset(d, 0, sizeof *d);
    return g->n_dfas++;
}

qn_err qn_grammar_check(const struct qn_grammar *g, struct qn_error *e)
{
    if (g->budget->over)
        return qn_budget_fail(e);
    return g->full
               ? qn_fail(e, QN_ELIMIT, "too large: compiled it has more than %d rules or %d states",
                         QN_CONSTRAIN_RULES_MAX, QN_CONSTRAIN_STATES_MAX)
               : QN_OK;
}

static void *take(struct qn_grammar *g, size_t n)
{
    void *p = g->full ? NULL : qn_arena_try(g->arena, n);
    if (!p)
        g->full = true;
    return p;
}

const struct qn_gx *qn_gx_empty(struct qn_grammar *g)
{
    (void)g;
    return &empty;
}

const struct qn_gx *qn_gx_never(struct qn_grammar *g)
{
    (void)g;
    return &never;
}

const struct qn_gx *qn_gx_bytes(struct qn_grammar *g, const char *s, size_t n)
{
    if (n == 0)
        return &empty;
    struct qn_gx *x = take(g, sizeof *x);
    char *copy = take(g, n);
    if (!x || !copy)
        return &never;
    memcpy(copy, s, n);
    x->kind = QN_GX_BYTES;
    x->bytes.s = copy;
    x->bytes.n = n;
    return x;
}

const struct qn_gx *qn_gx_text(struct qn_grammar *g, const char *s)
{
    return qn_gx_bytes(g, s, strlen(s));
}

static int by_first(const void *a, const void *b)
{
    const struct qn_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

const struct qn_gx *qn_gx_set(struct qn_grammar *g, const struct qn_range *v, size_t n)
{
    if (n == 0)
        return &never;
    struct qn_gx *x = take(g, sizeof *x);
    struct qn_range *r = take(g, n * sizeof *r);
    if (!x || !r)
        return &never;
    memcpy(r, v, n * sizeof *r);
    qsort(r, n, sizeof *r, by_first);
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        if (r[i].first <= r[kept].last + 1) {
            if (r[i].last > r[kept].last)
                r[kept].last = r[i].last;
        } else {
            r[++kept] = r[i];
        }
    }
    x->kind = QN_GX_SET;
    x->set.v = r;
    x->set.n = kept + 1;
    return x;
}

const struct qn_gx *qn_gx_set_not(struct qn_grammar *g, const struct qn_range *v, size_t n)
{
    static const struct qn_range all = {0, QN_CODEPOINT_MAX};
    const struct qn_gx *set = n ? qn_gx_set(g, v, n) : NULL;
    if (!set)
        return qn_gx_set(g, &all, 1);
    if (set->kind != QN_GX_SET)
        return &never;
    struct qn_range *r = take(g, (set->set.n + 1) * sizeof *r);
    if (!r)
        return &never;
    uint32_t from = 0;
    size_t count = 0;
    for (size_t i = 0; i < set->set.n; i++) {
        if (set->set.v[i].first > from)
            r[count++] = (struct qn_range){from, set->set.v[i].first - 1};
        from = set->set.v[i].last + 1;
    }
    if (from <= QN_CODEPOINT_MAX)
        r[count++] = (struct qn_range){from, QN_CODEPOINT_MAX};
    return qn_gx_set(g, r, count);
}

static const struct qn_gx *list_of(struct qn_grammar *g, enum qn_gx_kind kind,
                                   const struct qn_gx *const *v, size_t n)
{
    struct qn_gx *x = take(g, sizeof *x);
    const struct qn_gx **copy = take(g, n * sizeof *copy);
    if (!x || !copy)
        return &never;
    x->kind = kind;
    memcpy(copy, v, n * sizeof *copy);
    x->list.v = copy;
    x->list.n = n;
    return x;
}

const struct qn_gx *qn_gx_seq(struct qn_grammar *g, const struct qn_gx *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i]->kind == QN_GX_NEVER)
            return &never;
    /* Empty parts are dropped, so that a sequence that allows only the empty text becomes
     * QN_GX_EMPTY. */
    struct qn_gx_list some = {0};
    for (size_t i = 0; i < n; i++)
        if (v[i]->kind != QN_GX_EMPTY)
            qn_gx_push(&some, v[i]);
    const struct qn_gx *x = some.n == 0   ? &empty
                            : some.n == 1 ? some.v[0]
                                          : list_of(g, QN_GX_SEQ, some.v, some.n);
    qn_gx_list_deinit(&some);
    return x;
}

const struct qn_gx *qn_gx_alt(struct qn_grammar *g, const struct qn_gx *const *v, size_t n)
{
    struct qn_gx_list some = {0};
    for (size_t i = 0; i < n; i++)
        if (v[i]->kind != QN_GX_NEVER)
            qn_gx_push(&some, v[i]);
    const struct qn_gx *x = some.n == 0   ? &never
                            : some.n == 1 ? some.v[0]
                                          : list_of(g, QN_GX_ALT, some.v, some.n);
    qn_gx_list_deinit(&some);
    return x;
}

const struct qn_gx *qn_gx_repeat(struct qn_grammar *g, const struct qn_gx *body, uint32_t min,
                                 uint32_t max)
{
    if (min > max)
        return &never;
    if (max == 0 || body->kind == QN_GX_EMPTY)
        return &empty;
    if (body->kind == QN_GX_NEVER)
        return min == 0 ? &empty : &never;
    if (min == 1 && max == 1)
        return body;
    struct qn_gx *x = take(g, sizeof *x);
    if (!x)
        return &never;
    x->kind = QN_GX_REPEAT;
    x->repeat.body = body;
    x->repeat.min = min;
    x->repeat.max = max;
    return x;
}

static const struct qn_gx *plain(struct qn_grammar *g, enum qn_gx_kind kind, uint32_t number)
{
    struct qn_gx *x = take(g, sizeof *x);
    if (!x)
        return &never;
    x->kind = kind;
    if (kind == QN_GX_RULE)
        x->rule = number;
    else if (kind == QN_GX_DFA)
        x->dfa = number;
    return x;
}

const struct qn_gx *qn_gx_anchor(struct qn_grammar *g, enum qn_gx_kind kind)
{
    return plain(g, kind, 0);
}

const struct qn_gx *qn_gx_rule(struct qn_grammar *g, uint32_t rule)
{
    return plain(g, QN_GX_RULE, rule);
}

const struct qn_gx *qn_gx_dfa(struct qn_grammar *g, uint32_t dfa)
{
    return plain(g, QN_GX_DFA, dfa);
}

void qn_gx_push(struct qn_gx_list *l, const struct qn_gx *x)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 8;
        l->v = qn_xrealloc(l->v, l->cap * sizeof *l->v);
    }
    l->v[l->n++] = x;
}

void qn_gx_list_deinit(struct qn_gx_list *l)
{
    free(l->v);
    memset(l, 0, sizeof *l);
}
