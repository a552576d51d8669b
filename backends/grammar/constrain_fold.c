/* Prepares a grammar for the machine: regular parts become automata; rules and alternatives that
 * allow no text are removed.
 *
 * Small rules without loops are inlined, so that their text is part of the same automaton as the
 * text next to them. Other rules (a string, a number) remain separate, so that all references share
 * the rule's states and thereby its masks. */
#include "grammar/constrain_grammar.h"

#include <stdlib.h>
#include <string.h>

enum {
    INLINE_MAX = 160,  /* approximate number of states up to which a rule is inlined */
    FOLD_MAX = 50000,  /* approximate number of states up to which an expression becomes one
                          automaton */
    INLINE_ROUNDS = 16 /* maximum nesting of inlined rules */
};

/* Approximate number of nondeterministic states; a value above FOLD_MAX means that there are too
 * many. */
static size_t weight(struct qn_grammar *g, const struct qn_gx *x)
{
    qn_budget_take(g->budget, 1);
    size_t sum = 1;
    switch (x->kind) {
    case QN_GX_BYTES:
        return x->bytes.n;
    case QN_GX_SET:
        return 1 + x->set.n * 3;
    case QN_GX_SEQ:
    case QN_GX_ALT:
        for (size_t i = 0; i < x->list.n && sum <= FOLD_MAX; i++)
            sum += weight(g, x->list.v[i]);
        return sum;
    case QN_GX_REPEAT: {
        size_t times = x->repeat.max == QN_REPEAT_EVER ? x->repeat.min : x->repeat.max;
        size_t one = weight(g, x->repeat.body);
        return one > FOLD_MAX || times > FOLD_MAX ? FOLD_MAX + 1 : one * (times + 1) + 1;
    }
    default:
        return sum;
    }
}

static bool is_regular(struct qn_grammar *g, const struct qn_gx *x)
{
    qn_budget_take(g->budget, 1);
    switch (x->kind) {
    case QN_GX_RULE:
    case QN_GX_DFA:
        return false;
    case QN_GX_SEQ:
    case QN_GX_ALT:
        for (size_t i = 0; i < x->list.n; i++)
            if (!is_regular(g, x->list.v[i]))
                return false;
        return true;
    case QN_GX_REPEAT:
        return is_regular(g, x->repeat.body);
    default:
        return true;
    }
}

static bool is_finite(struct qn_grammar *g, const struct qn_gx *x)
{
    qn_budget_take(g->budget, 1);
    switch (x->kind) {
    case QN_GX_SEQ:
    case QN_GX_ALT:
        for (size_t i = 0; i < x->list.n; i++)
            if (!is_finite(g, x->list.v[i]))
                return false;
        return true;
    case QN_GX_REPEAT:
        return x->repeat.max != QN_REPEAT_EVER && is_finite(g, x->repeat.body);
    default:
        return true;
    }
}

/* A copy of x in which `change` has been applied to each part, from the leaves up. Returns x itself
 * when nothing changes. */
typedef const struct qn_gx *(*change_fn)(struct qn_grammar *g, const struct qn_gx *leaf,
                                         const void *ctx);

static const struct qn_gx *rewrite(struct qn_grammar *g, const struct qn_gx *x, change_fn change,
                                   const void *ctx)
{
    qn_budget_take(g->budget, 2);
    if (x->kind == QN_GX_REPEAT) {
        const struct qn_gx *body = rewrite(g, x->repeat.body, change, ctx);
        return body == x->repeat.body ? x : qn_gx_repeat(g, body, x->repeat.min, x->repeat.max);
    }
    if (x->kind != QN_GX_SEQ && x->kind != QN_GX_ALT)
        return change(g, x, ctx);
    struct qn_gx_list l = {0};
    bool same = true;
    for (size_t i = 0; i < x->list.n; i++) {
        qn_gx_push(&l, rewrite(g, x->list.v[i], change, ctx));
        same = same && l.v[i] == x->list.v[i];
    }
    const struct qn_gx *made = same                   ? x
                               : x->kind == QN_GX_SEQ ? qn_gx_seq(g, l.v, l.n)
                                                      : qn_gx_alt(g, l.v, l.n);
    qn_gx_list_deinit(&l);
    return made;
}

static const struct qn_gx *inline_leaf(struct qn_grammar *g, const struct qn_gx *x, const void *ctx)
{
    const bool *small = ctx;
    return x->kind == QN_GX_RULE && small[x->rule] ? g->rules[x->rule].body : x;
}

static void inline_rules(struct qn_grammar *g)
{
    bool *small = qn_xcalloc(g->n_rules, sizeof *small);
    for (int round = 0; round < INLINE_ROUNDS && !g->full; round++) {
        bool changed = false;
        for (uint32_t i = 0; i < g->n_rules; i++) {
            const struct qn_gx *x = g->rules[i].body;
            small[i] = is_regular(g, x) && is_finite(g, x) && weight(g, x) <= INLINE_MAX;
        }
        for (uint32_t i = 0; i < g->n_rules && !g->budget->over; i++) {
            const struct qn_gx *made = rewrite(g, g->rules[i].body, inline_leaf, small);
            changed = changed || made != g->rules[i].body;
            g->rules[i].body = made;
        }
        if (!changed)
            break;
    }
    free(small);
}

/* x must be regular. Returns one automaton, or NULL when that automaton would be too large. */
static const struct qn_gx *fold_whole(struct qn_grammar *g, const struct qn_gx *x)
{
    struct qn_dfa d;
    if (x->kind == QN_GX_EMPTY || x->kind == QN_GX_NEVER)
        return x;
    bool leaf = x->kind == QN_GX_BYTES || x->kind == QN_GX_SET;
    if ((!leaf && weight(g, x) > FOLD_MAX) || qn_gx_compile(x, QN_GX_UTF8, g->budget, &d, NULL)) {
        g->full = g->full || leaf;
        return NULL;
    }
    if (qn_dfa_is_empty(&d)) {
        qn_dfa_deinit(&d);
        return qn_gx_never(g);
    }
    return qn_gx_dfa(g, qn_grammar_dfa(g, &d));
}

static const struct qn_gx *fold(struct qn_grammar *g, const struct qn_gx *x);

/* Folds adjacent regular parts into one automaton. */
static const struct qn_gx *fold_list(struct qn_grammar *g, const struct qn_gx *x)
{
    struct qn_gx_list out = {0}, run = {0};
    bool seq = x->kind == QN_GX_SEQ;
    for (size_t i = 0; i <= x->list.n; i++) {
        bool regular = i < x->list.n && is_regular(g, x->list.v[i]);
        if (regular)
            qn_gx_push(&run, x->list.v[i]);
        /* Alternatives have no order, so all regular alternatives are folded together at the
         * end. */
        if (run.n > 0 && (i == x->list.n || (seq && !regular))) {
            const struct qn_gx *all = (seq ? qn_gx_seq : qn_gx_alt)(g, run.v, run.n);
            const struct qn_gx *one = fold_whole(g, all);
            for (size_t k = 0; k < run.n && !one; k++)
                qn_gx_push(&out, fold(g, run.v[k]));
            if (one)
                qn_gx_push(&out, one);
            run.n = 0;
        }
        if (i < x->list.n && !regular)
            qn_gx_push(&out, fold(g, x->list.v[i]));
    }
    const struct qn_gx *made = (seq ? qn_gx_seq : qn_gx_alt)(g, out.v, out.n);
    qn_gx_list_deinit(&out);
    qn_gx_list_deinit(&run);
    return made;
}

static const struct qn_gx *fold(struct qn_grammar *g, const struct qn_gx *x)
{
    if (g->full || g->budget->over)
        return x;
    const struct qn_gx *whole = is_regular(g, x) ? fold_whole(g, x) : NULL;
    if (whole)
        return whole;
    if (x->kind == QN_GX_SEQ || x->kind == QN_GX_ALT)
        return fold_list(g, x);
    if (x->kind == QN_GX_REPEAT)
        return qn_gx_repeat(g, fold(g, x->repeat.body), x->repeat.min, x->repeat.max);
    return x;
}

static bool is_productive(struct qn_grammar *g, const struct qn_gx *x, const bool *good)
{
    qn_budget_take(g->budget, 1);
    switch (x->kind) {
    case QN_GX_NEVER:
        return false;
    case QN_GX_RULE:
        return good[x->rule];
    case QN_GX_REPEAT:
        return x->repeat.min == 0 || is_productive(g, x->repeat.body, good);
    case QN_GX_SEQ:
        for (size_t i = 0; i < x->list.n; i++)
            if (!is_productive(g, x->list.v[i], good))
                return false;
        return true;
    case QN_GX_ALT:
        for (size_t i = 0; i < x->list.n; i++)
            if (is_productive(g, x->list.v[i], good))
                return true;
        return false;
    default:
        return true;
    }
}

static const struct qn_gx *prune_leaf(struct qn_grammar *g, const struct qn_gx *x, const void *ctx)
{
    const bool *good = ctx;
    return x->kind == QN_GX_RULE && !good[x->rule] ? qn_gx_never(g) : x;
}

static void prune(struct qn_grammar *g)
{
    bool *good = qn_xcalloc(g->n_rules, sizeof *good);
    for (bool changed = true; changed && !g->budget->over;) {
        changed = false;
        /* Rules are processed from the last to the first because most references point to later
         * rules. */
        for (uint32_t i = g->n_rules; i-- > 0;) {
            if (!good[i] && is_productive(g, g->rules[i].body, good))
                good[i] = changed = true;
        }
    }
    for (uint32_t i = 0; i < g->n_rules; i++)
        g->rules[i].body =
            good[i] ? rewrite(g, g->rules[i].body, prune_leaf, good) : qn_gx_never(g);
    free(good);
}

qn_err qn_grammar_fold(struct qn_grammar *g, struct qn_error *e)
{
    qn_err err = qn_grammar_check(g, e);
    if (err)
        return err;
    for (uint32_t i = 0; i < g->n_rules; i++)
        if (!g->rules[i].body)
            return qn_fail(e, QN_EINVAL, "the rule \"%s\" is used, but not defined",
                           g->rules[i].name);
    inline_rules(g);
    for (uint32_t i = 0; i < g->n_rules && !g->full; i++)
        g->rules[i].body = fold(g, g->rules[i].body);
    prune(g);
    err = qn_grammar_check(g, e);
    if (err)
        return err;
    if (g->rules[0].body->kind == QN_GX_NEVER)
        return qn_fail(e, QN_EINVAL, "no text can satisfy it");
    return QN_OK;
}
