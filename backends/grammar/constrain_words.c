/* See constrain_words.h. Words are added in sorted order; the states of a word that are not shared
 * with the next word are final and are merged with equal ones. Source: Daciuk, Mihov, Watson,
 * Watson, "Incremental construction of minimal acyclic finite-state automata", Computational
 * Linguistics 26(1), 2000. */
#include "grammar/constrain_words.h"

#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct edge {
    uint8_t byte;
    uint32_t to;
};

struct state {
    uint32_t first, n; /* edges of the state */
    bool accept;
};

/* A state on the path of the current word: its edges so far; the target of the last edge is not
 * known yet. */
struct open {
    struct edge *v;
    uint32_t n, cap;
    bool accept;
};

struct maker {
    struct state *states; /* final states */
    uint32_t n, cap;
    struct edge *edges; /* edges of the final states */
    uint32_t n_edges, cap_edges;
    uint32_t *slot; /* [mask + 1] final state + 1 */
    uint32_t mask;
    struct open *way; /* [depth + 1] path of the current word */
    size_t deepest;
    struct qn_constraint_budget *budget;
    bool full;
};

static uint64_t hash_of(const struct edge *v, uint32_t n, bool accept)
{
    uint64_t h = qn_hash_u64(11, (uint64_t)n << 1 | accept);
    for (uint32_t i = 0; i < n; i++)
        h = qn_hash_u64(h, (uint64_t)v[i].to << 8 | v[i].byte);
    return h;
}

static uint32_t *slot_of(struct maker *m, const struct edge *v, uint32_t n, bool accept)
{
    uint32_t i = (uint32_t)hash_of(v, n, accept) & m->mask;
    for (; m->slot[i]; i = (i + 1) & m->mask) {
        const struct state *s = &m->states[m->slot[i] - 1];
        bool same = s->n == n && s->accept == accept;
        for (uint32_t k = 0; k < n && same; k++)
            same = m->edges[s->first + k].byte == v[k].byte && m->edges[s->first + k].to == v[k].to;
        if (same)
            break;
    }
    return &m->slot[i];
}

static void rehash(struct maker *m)
{
    m->mask = m->mask * 2 + 1;
    free(m->slot);
    m->slot = qn_xcalloc((size_t)m->mask + 1, sizeof *m->slot);
    for (uint32_t s = 0; s < m->n; s++)
        *slot_of(m, m->edges + m->states[s].first, m->states[s].n, m->states[s].accept) = s + 1;
}

/* Returns the final state that equals this open state, adding it if needed; the open state is empty
 * afterwards. */
static uint32_t finish(struct maker *m, struct open *o)
{
    uint32_t *slot = slot_of(m, o->v, o->n, o->accept);
    uint32_t n = o->n, found = *slot;
    if (!qn_budget_take(m->budget, 4 + n) || (!found && m->n == QN_DFA_STATES_MAX))
        m->full = true;
    if (found || m->full) {
        o->n = 0;
        return found ? found - 1 : 0;
    }
    if (m->n == m->cap) {
        m->cap = m->cap ? m->cap * 2 : 64;
        m->states = qn_xrealloc(m->states, m->cap * sizeof *m->states);
    }
    while (m->n_edges + n > m->cap_edges) {
        m->cap_edges = m->cap_edges ? m->cap_edges * 2 : 256;
        m->edges = qn_xrealloc(m->edges, m->cap_edges * sizeof *m->edges);
    }
    m->states[m->n] = (struct state){m->n_edges, n, o->accept};
    if (n > 0)
        memcpy(m->edges + m->n_edges, o->v, n * sizeof *o->v);
    m->n_edges += n;
    *slot = ++m->n;
    if (m->n * 2 > m->mask)
        rehash(m);
    o->n = 0;
    return m->n - 1;
}

/* Makes the states of the current word from `depth` on final. */
static void finish_from(struct maker *m, size_t from, size_t depth)
{
    for (size_t at = from; at > depth; at--) {
        uint32_t s = finish(m, &m->way[at]);
        struct open *before = &m->way[at - 1];
        before->v[before->n - 1].to = s;
    }
}

static void add_edge(struct open *o, uint8_t byte)
{
    if (o->n == o->cap) {
        o->cap = o->cap ? o->cap * 2 : 2;
        o->v = qn_xrealloc(o->v, o->cap * sizeof *o->v);
    }
    o->v[o->n++] = (struct edge){byte, 0};
}

static int by_bytes(const void *a, const void *b)
{
    const struct qn_gx *x = *(const struct qn_gx *const *)a, *y = *(const struct qn_gx *const *)b;
    size_t n = x->bytes.n < y->bytes.n ? x->bytes.n : y->bytes.n;
    int c = memcmp(x->bytes.s, y->bytes.s, n);
    return c ? c : (x->bytes.n > y->bytes.n) - (x->bytes.n < y->bytes.n);
}

/* Adds the sorted words; returns the start state. */
static uint32_t add_words(struct maker *m, const struct qn_gx *const *words, size_t n)
{
    const char *last = "";
    size_t last_n = 0;
    for (size_t i = 0; i < n && !m->full; i++) {
        const char *s = words[i]->bytes.s;
        size_t len = words[i]->bytes.n, shared = 0;
        while (shared < len && shared < last_n && s[shared] == last[shared])
            shared++;
        finish_from(m, last_n, shared);
        for (size_t at = shared; at < len; at++) {
            m->way[at + 1].n = 0;
            m->way[at + 1].accept = false;
            add_edge(&m->way[at], (uint8_t)s[at]);
        }
        m->way[len].accept = true;
        m->full |= !qn_budget_take(m->budget, 2 * (len + 1));
        last = s;
        last_n = len;
    }
    if (m->full)
        return 0;
    finish_from(m, last_n, 0);
    return finish(m, &m->way[0]);
}

/* Writes the states as a table that begins with the start state. */
static qn_err make_table(const struct maker *m, uint32_t start, struct qn_dfa *out,
                         struct qn_error *e)
{
    *out = (struct qn_dfa){.n = m->n, .classes = 1};
    for (uint32_t i = 0; i < m->n_edges; i++)
        if (!out->of[m->edges[i].byte])
            out->of[m->edges[i].byte] = (uint8_t)out->classes++;
    assert(out->classes <= 256); /* texts are UTF-8, in which not all byte values occur */
    size_t cells = (size_t)m->n * out->classes;
    if (cells * sizeof *out->next > QN_DFA_TABLE_MAX)
        return qn_fail(e, QN_ELIMIT, "the listed values need more than %d MiB",
                       QN_DFA_TABLE_MAX >> 20);
    out->next = qn_xmalloc(cells * sizeof *out->next);
    out->flags = qn_xcalloc(m->n, 1);
    memset(out->next, 0xff, cells * sizeof *out->next); /* sets every entry to QN_DFA_DEAD */
    for (uint32_t s = 0; s < m->n; s++) {
        uint32_t at = s == start ? 0 : s == 0 ? start : s;
        out->flags[at] = m->states[s].accept ? QN_DFA_ACCEPT : 0;
        for (uint32_t k = 0; k < m->states[s].n; k++) {
            const struct edge *v = &m->edges[m->states[s].first + k];
            uint32_t to = v->to == start ? 0 : v->to == 0 ? start : v->to;
            out->next[(size_t)at * out->classes + out->of[v->byte]] = to;
        }
    }
    return QN_OK;
}

qn_err qn_dfa_of_words(const struct qn_gx *const *words, size_t n,
                       struct qn_constraint_budget *budget, struct qn_dfa *out, struct qn_error *e)
{
    struct maker m = {.budget = budget, .mask = 127};
    const struct qn_gx **sorted = qn_xcalloc(n, sizeof *sorted);
    memcpy(sorted, words, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_bytes);
    for (size_t i = 0; i < n; i++)
        if (sorted[i]->bytes.n > m.deepest)
            m.deepest = sorted[i]->bytes.n;
    m.way = qn_xcalloc(m.deepest + 1, sizeof *m.way);
    m.slot = qn_xcalloc((size_t)m.mask + 1, sizeof *m.slot);
    uint32_t start = add_words(&m, sorted, n);
    qn_err err = QN_OK;
    if (budget->over)
        err = qn_budget_fail(e);
    else if (m.full)
        err = qn_fail(e, QN_ELIMIT, "the listed values need more than %d states",
                      (int)QN_DFA_STATES_MAX);
    else
        err = make_table(&m, start, out, e);
    for (size_t i = 0; i <= m.deepest; i++)
        free(m.way[i].v);
    free(m.way);
    free(m.slot);
    free(m.states);
    free(m.edges);
    free(sorted);
    return err;
}
