/* See constrain_program.h. */
#include "grammar/constrain_program.h"

#include <stdlib.h>
#include <string.h>

enum {
    PLACE_RETURN = 0,
    EXPAND_PARTS = 24 /* a body with fewer parts than this may be unrolled */
};

struct maker {
    struct qn_grammar *g;
    struct qn_constraint_program *p;
    bool *nullable; /* [rules] */
    bool full;
};

static bool is_nullable(const struct qn_grammar *g, const struct qn_gx *x, const bool *rules)
{
    qn_budget_take(g->budget, 1);
    switch (x->kind) {
    case QN_GX_EMPTY:
        return true;
    case QN_GX_RULE:
        return rules[x->rule];
    case QN_GX_DFA:
        return g->dfas[x->dfa].max == 0 && (g->dfas[x->dfa].flags[0] & QN_DFA_ACCEPT);
    case QN_GX_REPEAT:
        return x->repeat.min == 0 || is_nullable(g, x->repeat.body, rules);
    case QN_GX_SEQ:
        for (size_t i = 0; i < x->list.n; i++)
            if (!is_nullable(g, x->list.v[i], rules))
                return false;
        return true;
    case QN_GX_ALT:
        for (size_t i = 0; i < x->list.n; i++)
            if (is_nullable(g, x->list.v[i], rules))
                return true;
        return false;
    default:
        return false;
    }
}

static void find_nullable(struct maker *m)
{
    m->nullable = qn_xcalloc(m->g->n_rules, sizeof *m->nullable);
    for (bool changed = true; changed && !m->g->budget->over;) {
        changed = false;
        for (uint32_t i = m->g->n_rules; i-- > 0;) {
            if (!m->nullable[i] && is_nullable(m->g, m->g->rules[i].body, m->nullable))
                m->nullable[i] = changed = true;
        }
    }
}

struct edges {
    uint32_t *v;
    size_t n, cap;
};

/* Appends the rules with which x can begin. */
static void first_rules(const struct maker *m, const struct qn_gx *x, struct edges *out)
{
    switch (x->kind) {
    case QN_GX_RULE:
        if (out->n == out->cap) {
            out->cap = out->cap ? out->cap * 2 : 64;
            out->v = qn_xrealloc(out->v, out->cap * sizeof *out->v);
        }
        out->v[out->n++] = x->rule;
        break;
    case QN_GX_REPEAT:
        first_rules(m, x->repeat.body, out);
        break;
    case QN_GX_SEQ:
        for (size_t i = 0; i < x->list.n; i++) {
            first_rules(m, x->list.v[i], out);
            if (!is_nullable(m->g, x->list.v[i], m->nullable))
                break;
        }
        break;
    case QN_GX_ALT:
        for (size_t i = 0; i < x->list.n; i++)
            first_rules(m, x->list.v[i], out);
        break;
    default:
        break;
    }
}

/* Depth-first search over "can begin with"; a rule that is reached from itself is
 * left-recursive. */
static qn_err check_left(const struct maker *m, struct qn_error *e)
{
    uint32_t n = m->g->n_rules;
    struct edges edges = {0};
    size_t *at = qn_xcalloc((size_t)n + 1, sizeof *at),
           *end = qn_xcalloc((size_t)n + 1, sizeof *end);
    uint8_t *color = qn_xcalloc(n, 1); /* 1: on the current path, 2: done */
    uint32_t *way = qn_xcalloc(n, sizeof *way), found = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        at[i] = edges.n;
        first_rules(m, m->g->rules[i].body, &edges);
        end[i] = edges.n;
    }
    for (uint32_t i = 0; i < n && found == UINT32_MAX; i++) {
        uint32_t depth = 0;
        if (color[i])
            continue;
        way[depth++] = i;
        color[i] = 1;
        while (depth > 0 && found == UINT32_MAX) {
            uint32_t r = way[depth - 1];
            if (at[r] == end[r]) {
                color[r] = 2;
                depth--;
                continue;
            }
            uint32_t to = edges.v[at[r]++];
            if (color[to] == 1)
                found = to;
            else if (!color[to]) {
                color[to] = 1;
                way[depth++] = to;
            }
        }
    }
    free(edges.v);
    free(at);
    free(end);
    free(color);
    free(way);
    return found == UINT32_MAX
               ? QN_OK
               : qn_fail(e, QN_EUNSUPPORTED,
                         "\"%s\" begins with itself (left recursion): write it as a repetition",
                         m->g->rules[found].name);
}

static uint32_t instr(struct maker *m, struct qn_instr v)
{
    struct qn_constraint_program *p = m->p;
    if (p->n == QN_PROGRAM_MAX) {
        m->full = true;
        return PLACE_RETURN;
    }
    if (p->n == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 64;
        p->v = qn_xrealloc(p->v, p->cap * sizeof *p->v);
    }
    p->v[p->n] = v;
    return p->n++;
}

static uint32_t any(struct maker *m, const uint32_t *ways, uint32_t n)
{
    struct qn_constraint_program *p = m->p;
    if (p->n_ways + (uint64_t)n > QN_PROGRAM_MAX) {
        m->full = true;
        return PLACE_RETURN;
    }
    while (p->n_ways + n > p->cap_ways) {
        p->cap_ways = p->cap_ways ? p->cap_ways * 2 : 64;
        p->ways = qn_xrealloc(p->ways, p->cap_ways * sizeof *p->ways);
    }
    for (uint32_t i = 0; i < n; i++)
        p->ways[p->n_ways++] = ways[i];
    return instr(m, (struct qn_instr){.op = QN_OP_ANY, .arg = p->n_ways - n, .n = n});
}

/* Number of parts of an expression, counted up to `most`. */
static uint32_t parts(const struct qn_gx *x, uint32_t most)
{
    uint32_t n = 1;
    if (x->kind == QN_GX_REPEAT)
        n += parts(x->repeat.body, most) * QN_PROGRAM_EXPAND;
    if (x->kind == QN_GX_SEQ || x->kind == QN_GX_ALT)
        for (size_t i = 0; i < x->list.n && n < most; i++)
            n += parts(x->list.v[i], most);
    return n < most ? n : most;
}

static uint32_t emit(struct maker *m, const struct qn_gx *x, uint32_t next);

static uint32_t emit_repeat(struct maker *m, const struct qn_gx *x, uint32_t next)
{
    const struct qn_gx *body = x->repeat.body;
    uint32_t min = x->repeat.min, max = x->repeat.max;
    bool nullable = is_nullable(m->g, body, m->nullable);
    if (nullable)
        min = 0;
    uint32_t times = max == QN_REPEAT_EVER ? min : max;
    if (times > QN_PROGRAM_EXPAND || (times > 1 && parts(body, EXPAND_PARTS) == EXPAND_PARTS)) {
        uint32_t start = emit(m, body, PLACE_RETURN);
        return instr(m, (struct qn_instr){.op = QN_OP_LOOP,
                                          .nullable = nullable,
                                          .next = next,
                                          .arg = start,
                                          .min = min,
                                          .max = max});
    }
    uint32_t end = next;
    if (max == QN_REPEAT_EVER) {
        const uint32_t ways[2] = {next, next};
        end = any(m, ways, 2);
        if (m->full)
            return PLACE_RETURN;
        uint32_t slot = m->p->v[end].arg, start = emit(m, body, end);
        m->p->ways[slot] = start;
    } else {
        for (uint32_t i = min; i < max && !m->full; i++) {
            const uint32_t ways[2] = {emit(m, body, end), next};
            end = any(m, ways, 2);
        }
    }
    for (uint32_t i = 0; i < min && !m->full; i++)
        end = emit(m, body, end);
    return end;
}

static uint32_t emit(struct maker *m, const struct qn_gx *x, uint32_t next)
{
    if (m->full)
        return PLACE_RETURN;
    switch (x->kind) {
    case QN_GX_DFA:
        return instr(m, (struct qn_instr){.op = QN_OP_TERM, .arg = x->dfa, .next = next});
    case QN_GX_RULE:
        return instr(m, (struct qn_instr){.op = QN_OP_CALL, .arg = x->rule, .next = next});
    case QN_GX_REPEAT:
        return emit_repeat(m, x, next);
    case QN_GX_SEQ:
        for (size_t i = x->list.n; i-- > 0;)
            next = emit(m, x->list.v[i], next);
        return next;
    case QN_GX_ALT: {
        uint32_t *ways = qn_xcalloc(x->list.n, sizeof *ways);
        for (size_t i = 0; i < x->list.n; i++)
            ways[i] = emit(m, x->list.v[i], next);
        uint32_t place = any(m, ways, (uint32_t)x->list.n);
        free(ways);
        return place;
    }
    case QN_GX_EMPTY:
        return next;
    default:
        /* NEVER remains only as the body of rules that no other rule refers to; folding removed the
         * rest. */
        return any(m, NULL, 0);
    }
}

qn_err qn_program_make(struct qn_grammar *g, struct qn_constraint_program *out, struct qn_error *e)
{
    struct maker m = {.g = g, .p = out};
    memset(out, 0, sizeof *out);
    find_nullable(&m);
    qn_err err = qn_grammar_check(g, e);
    if (!err)
        err = check_left(&m, e);
    if (!err) {
        instr(&m, (struct qn_instr){.op = QN_OP_RETURN});
        out->entry = qn_xcalloc(g->n_rules, sizeof *out->entry);
        out->n_rules = g->n_rules;
        for (uint32_t i = 0; i < g->n_rules; i++)
            out->entry[i] = emit(&m, g->rules[i].body, PLACE_RETURN);
        if (g->budget->over)
            err = qn_budget_fail(e);
        else if (m.full)
            err = qn_fail(e, QN_ELIMIT, "too large: compiled it has more than %d instructions",
                          (int)QN_PROGRAM_MAX);
    }
    free(m.nullable);
    if (err) {
        qn_program_deinit(out);
        return err;
    }
    out->dfas = g->dfas;
    out->n_dfas = g->n_dfas;
    g->dfas = NULL;
    g->n_dfas = g->cap_dfas = 0;
    return QN_OK;
}

void qn_program_deinit(struct qn_constraint_program *p)
{
    for (uint32_t i = 0; i < p->n_dfas; i++)
        qn_dfa_deinit(&p->dfas[i]);
    free(p->dfas);
    free(p->v);
    free(p->ways);
    free(p->entry);
    memset(p, 0, sizeof *p);
}

size_t qn_program_bytes(const struct qn_constraint_program *p)
{
    size_t bytes =
        p->cap * sizeof *p->v + p->cap_ways * sizeof *p->ways + p->n_rules * sizeof *p->entry;
    for (uint32_t i = 0; i < p->n_dfas; i++)
        bytes += qn_dfa_bytes(&p->dfas[i]);
    return bytes;
}
