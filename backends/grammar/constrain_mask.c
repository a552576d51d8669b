/* See constrain_mask.h. */
#include "grammar/constrain_mask.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPARSE = 64 }; /* a mask with at most one token in SPARSE is stored as a list */

/* The cached mask of one automaton state, shared by all constraints that use it. */
struct lexical {
    struct lexical *chain;
    uint32_t dfa, state;
    uint32_t min, max;      /* counted automaton: how many more characters must and may follow, both
                               capped at the characters of the longest token */
    struct qn_mask *inside; /* tokens that stay within the automaton */
    uint32_t *exits; /* nodes of the prefix tree at which the automaton may end and below which
                        there are more tokens */
    uint32_t n_exits;
};

size_t qn_mask_bytes(const struct qn_mask *m)
{
    return m ? m->bytes : 0;
}

void qn_mask_free(struct qn_mask *m)
{
    if (!m)
        return;
    free(m->ids);
    free(m->bits);
    free(m);
}

void qn_mask_maker_init(struct qn_mask_maker *k, const struct qn_trie *t, struct qn_machine *m)
{
    memset(k, 0, sizeof *k);
    k->trie = t;
    k->machine = m;
    k->lexical_mask = 63;
    k->lexical = qn_xcalloc(k->lexical_mask + 1, sizeof(struct lexical *));
    k->states = qn_xcalloc((size_t)t->depth + 1, sizeof *k->states);
    k->counts = qn_xcalloc((size_t)t->depth + 1, sizeof *k->counts);
    k->nodes = qn_xcalloc((size_t)t->depth + 1, sizeof(struct qn_constraint_node *));
    k->bits = qn_xcalloc(t->words, sizeof *k->bits);
    k->scratch = qn_xcalloc(t->words, sizeof *k->scratch);
}

static void forget_lexical(struct qn_mask_maker *k)
{
    for (uint32_t i = 0; i <= k->lexical_mask; i++) {
        for (struct lexical *x = k->lexical[i], *next; x; x = next) {
            next = x->chain;
            qn_mask_free(x->inside);
            free(x->exits);
            free(x);
        }
        k->lexical[i] = NULL;
    }
    k->n_lexical = 0;
    k->bytes = 0;
}

void qn_mask_maker_deinit(struct qn_mask_maker *k)
{
    forget_lexical(k);
    free(k->lexical);
    free(k->states);
    free(k->counts);
    free(k->nodes);
    free(k->bits);
    free(k->scratch);
    memset(k, 0, sizeof *k);
}

static void set_tokens(const struct qn_trie *t, int32_t id, uint64_t *bits)
{
    for (; id >= 0; id = t->same[id])
        bits[id >> 6] |= 1ull << (id & 63);
}

static uint64_t lexical_hash(const struct lexical *x)
{
    return qn_hash_u64(qn_hash_u64(11, (uint64_t)x->dfa << 32 | x->state),
                       (uint64_t)x->min << 32 | x->max);
}

static struct qn_mask *pack(const struct qn_trie *t, const uint64_t *bits)
{
    struct qn_mask *m = qn_xcalloc(1, sizeof *m);
    for (uint32_t w = 0; w < t->words; w++)
        m->count += (uint32_t)__builtin_popcountll(bits[w]);
    m->bytes = sizeof *m;
    if (m->count > (uint32_t)t->tokens / SPARSE) {
        m->bits = qn_xcalloc(t->words, sizeof *bits);
        memcpy(m->bits, bits, t->words * sizeof *bits);
        m->bytes += t->words * sizeof *bits;
        return m;
    }
    m->ids = qn_xcalloc((size_t)m->count + 1, sizeof *m->ids);
    m->bytes += ((size_t)m->count + 1) * sizeof *m->ids;
    uint32_t n = 0;
    for (uint32_t w = 0; w < t->words; w++)
        for (uint64_t left = bits[w]; left; left &= left - 1)
            m->ids[n++] = (int32_t)(w * 64 + (uint32_t)__builtin_ctzll(left));
    return m;
}

/* Walks the prefix tree from one automaton state. This is the only walk over nearly all tokens. */
static void walk_state(struct qn_mask_maker *k, struct lexical *x)
{
    const struct qn_trie *t = k->trie;
    const struct qn_constraint_program *p = k->machine->p;
    const struct qn_dfa *d = &p->dfas[x->dfa];
    bool counted = d->max > 0;
    uint32_t cap = 0;
    memset(k->scratch, 0, t->words * sizeof *k->scratch);
    k->states[0] = x->state;
    k->counts[0] = 0;
    size_t visited = 0;
    for (uint32_t i = 0; i < t->n; visited++) {
        const struct qn_trie_node *v = &t->v[i];
        uint32_t from = k->states[v->depth - 1], count = k->counts[v->depth - 1];
        uint32_t to = qn_dfa_step(d, from, v->byte);
        if (to == QN_DFA_DEAD) {
            i = v->skip;
            continue;
        }
        if (counted && (d->flags[from] & QN_DFA_BOUNDARY)) {
            bool ends = d->flags[to] & QN_DFA_ACCEPT;
            if (ends ? count < x->min : count >= x->max) {
                i = v->skip;
                continue;
            }
            count += !ends;
        }
        k->states[v->depth] = to;
        k->counts[v->depth] = count;
        if (v->token >= 0)
            set_tokens(t, v->token, k->scratch);
        i++;
        if ((d->flags[to] & QN_DFA_ACCEPT) && v->skip > i) {
            if (x->n_exits == cap) {
                cap = cap ? cap * 2 : 16;
                x->exits = qn_xrealloc(x->exits, cap * sizeof *x->exits);
            }
            x->exits[x->n_exits++] = i - 1;
        }
    }
    x->inside = pack(t, k->scratch);
    k->bytes += sizeof *x + x->inside->bytes + cap * sizeof *x->exits;
    k->work += visited / QN_MASK_WALK_STEP;
}

static struct lexical *lexical_of(struct qn_mask_maker *k, const struct qn_place *place)
{
    const struct qn_dfa *d = &k->machine->p->dfas[place->dfa];
    struct lexical want = {.dfa = place->dfa, .state = place->state};
    if (d->max > 0) {
        uint32_t most = k->trie->depth;
        uint32_t min = d->min > place->count ? d->min - place->count : 0;
        uint32_t max = d->max == QN_REPEAT_EVER ? most : d->max - place->count;
        want.min = min < most ? min : most;
        want.max = max < most ? max : most;
    }
    uint64_t h = lexical_hash(&want);
    struct lexical *x = k->lexical[h & k->lexical_mask];
    for (; x; x = x->chain)
        if (x->dfa == want.dfa && x->state == want.state && x->min == want.min &&
            x->max == want.max)
            return x;
    if (k->bytes > QN_MASK_LEXICAL_MAX)
        forget_lexical(k);
    if (k->n_lexical > k->lexical_mask) {
        uint32_t mask = k->lexical_mask * 2 + 1;
        struct lexical **slots = qn_xcalloc((size_t)mask + 1, sizeof(struct lexical *));
        for (uint32_t i = 0; i <= k->lexical_mask; i++) {
            for (struct lexical *y = k->lexical[i], *next; y; y = next) {
                next = y->chain;
                uint64_t at = lexical_hash(y) & mask;
                y->chain = slots[at];
                slots[at] = y;
            }
        }
        free(k->lexical);
        k->lexical = slots;
        k->lexical_mask = mask;
    }
    x = qn_xmalloc(sizeof *x);
    *x = want;
    x->chain = k->lexical[h & k->lexical_mask];
    k->lexical[h & k->lexical_mask] = x;
    k->n_lexical++;
    walk_state(k, x);
    return x;
}

static bool over_limit(const struct qn_mask_maker *k)
{
    return k->work >= QN_MASK_WORK_MAX || k->machine->gave_up;
}

/* Adds the tokens below the tree's node `top` whose remaining bytes may follow `start`. */
static void walk_below(struct qn_mask_maker *k, struct qn_constraint_node *start, uint32_t top)
{
    const struct qn_trie *t = k->trie;
    uint32_t end = t->v[top].skip;
    k->nodes[t->v[top].depth] = start;
    for (uint32_t i = top + 1; i < end && !over_limit(k);) {
        const struct qn_trie_node *v = &t->v[i];
        struct qn_constraint_node *from = k->nodes[v->depth - 1];
        if (!(from->first[v->byte >> 6] >> (v->byte & 63) & 1)) {
            i = v->skip;
            continue;
        }
        bool known = from->to && from->to[v->byte];
        size_t steps = k->machine->steps;
        struct qn_constraint_node *to = qn_machine_step(k->machine, from, v->byte);
        k->work += (known ? 1 : 1 + from->n) + (k->machine->steps - steps);
        if (!to) {
            i = v->skip;
            continue;
        }
        k->nodes[v->depth] = to;
        if (v->token >= 0)
            set_tokens(t, v->token, k->bits);
        i++;
    }
}

static void add_mask(struct qn_mask_maker *k, const struct qn_mask *m)
{
    if (m->bits) {
        for (uint32_t w = 0; w < k->trie->words; w++)
            k->bits[w] |= m->bits[w];
        return;
    }
    for (uint32_t i = 0; i < m->count; i++)
        k->bits[m->ids[i] >> 6] |= 1ull << (m->ids[i] & 63);
}

const struct qn_mask *qn_mask_of(struct qn_mask_maker *k, struct qn_constraint_node *n)
{
    if (n->mask)
        return n->mask;
    memset(k->bits, 0, k->trie->words * sizeof *k->bits);
    k->work = 0;
    for (uint32_t i = 0; i < n->n && !over_limit(k); i++) {
        const struct lexical *x = lexical_of(k, &n->v[i]);
        size_t steps = k->machine->steps;
        add_mask(k, x->inside);
        struct qn_constraint_node *after =
            x->n_exits > 0 ? qn_machine_leave(k->machine, &n->v[i]) : NULL;
        k->work += k->machine->steps - steps;
        if (!after || after->n == 0)
            continue;
        for (uint32_t e = 0; e < x->n_exits; e++)
            walk_below(k, after, x->exits[e]);
    }
    if (over_limit(k))
        return NULL;
    n->mask = pack(k->trie, k->bits);
    k->machine->bytes += n->mask->bytes;
    return n->mask;
}

/* n is at most 64 logits. Loops over whichever of the allowed and the excluded tokens are fewer, so
 * that there is no unpredictable branch per token. */
static void apply_word(uint64_t word, float *logits, int32_t n)
{
    float kept[64];
    uint64_t valid = n < 64 ? (1ull << n) - 1 : UINT64_MAX;
    word &= valid;
    if (__builtin_popcountll(word) > 24) {
        for (uint64_t left = ~word & valid; left; left &= left - 1)
            logits[__builtin_ctzll(left)] = -INFINITY;
        return;
    }
    size_t count = 0;
    for (uint64_t left = word; left; left &= left - 1)
        kept[count++] = logits[__builtin_ctzll(left)];
    for (int32_t i = 0; i < n; i++)
        logits[i] = -INFINITY;
    count = 0;
    for (uint64_t left = word; left; left &= left - 1)
        logits[__builtin_ctzll(left)] = kept[count++];
}

void qn_mask_apply(const struct qn_mask *m, const struct qn_trie *t, bool accept, float *logits,
                   int32_t vocab)
{
    enum { ENDS_KEPT = 64 };
    float ends[ENDS_KEPT];
    uint32_t n_ends = accept ? t->n_end : 0;
    int32_t tokens = t->tokens < vocab ? t->tokens : vocab;
    n_ends = n_ends < ENDS_KEPT ? n_ends : ENDS_KEPT;
    for (uint32_t i = 0; i < n_ends; i++)
        ends[i] = t->end[i] < vocab ? logits[t->end[i]] : 0;
    if (m->bits) {
        for (int32_t from = 0; from < tokens; from += 64) {
            uint64_t word = m->bits[from >> 6];
            int32_t n = tokens - from < 64 ? tokens - from : 64;
            if (word == UINT64_MAX)
                continue;
            apply_word(word, logits + from, n);
        }
        for (int32_t i = tokens; i < vocab; i++)
            logits[i] = -INFINITY;
    } else {
        int32_t from = 0;
        for (uint32_t i = 0; i < m->count && m->ids[i] < vocab; i++) {
            for (; from < m->ids[i]; from++)
                logits[from] = -INFINITY;
            from++;
        }
        for (; from < vocab; from++)
            logits[from] = -INFINITY;
    }
    for (uint32_t i = 0; i < n_ends; i++)
        if (t->end[i] < vocab)
            logits[t->end[i]] = ends[i];
}
