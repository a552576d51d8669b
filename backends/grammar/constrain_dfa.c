/* See constrain_dfa.h. */
#include "grammar/constrain_dfa.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    MINIMIZE_WORK = 6 * 1000 * 1000, /* states² · classes above which minimising costs more than it
                                        saves */
    KEY_STEP = 16                    /* key bytes read or written per step of the budget */
};

void qn_dfa_deinit(struct qn_dfa *d)
{
    free(d->next);
    free(d->flags);
    memset(d, 0, sizeof *d);
}

bool qn_dfa_continues(const struct qn_dfa *d, uint32_t s)
{
    for (uint32_t c = 0; c < d->classes; c++)
        if (d->next[(size_t)s * d->classes + c] != QN_DFA_DEAD)
            return true;
    return false;
}

bool qn_dfa_is_empty(const struct qn_dfa *d)
{
    return !(d->flags[0] & QN_DFA_ACCEPT) && !qn_dfa_continues(d, 0);
}

bool qn_dfa_accepts(const struct qn_dfa *d, const char *s, size_t n)
{
    uint32_t at = 0;
    for (size_t i = 0; i < n && at != QN_DFA_DEAD; i++)
        at = qn_dfa_step(d, at, (uint8_t)s[i]);
    return at != QN_DFA_DEAD && (d->flags[at] & QN_DFA_ACCEPT);
}

size_t qn_dfa_bytes(const struct qn_dfa *d)
{
    return sizeof *d + (size_t)d->n * (d->classes * sizeof *d->next + sizeof *d->flags);
}

/* While an automaton is built: the states' keys, concatenated, and a hash table of them. */
struct builder {
    struct qn_buf keys;
    size_t *at; /* [n + 1] offset of each key */
    uint32_t n, cap;
    uint32_t *slot; /* [mask + 1] state + 1, 0: free */
    uint32_t mask;
    uint32_t *next;
    uint8_t *flags;
};

static uint64_t key_hash(const void *key, size_t n)
{
    return qn_hash_bytes(0x51ed270b1ull, key, n);
}

static void rehash(struct builder *b)
{
    uint32_t size = (b->mask + 1) * 2;
    free(b->slot);
    b->slot = qn_xcalloc(size, sizeof *b->slot);
    b->mask = size - 1;
    for (uint32_t s = 0; s < b->n; s++) {
        uint32_t i = (uint32_t)key_hash(b->keys.data + b->at[s], b->at[s + 1] - b->at[s]) & b->mask;
        while (b->slot[i])
            i = (i + 1) & b->mask;
        b->slot[i] = s + 1;
    }
}

/* Returns the state of this key and adds it if it is new; QN_DFA_DEAD when there are too many
 * states. */
static uint32_t intern(struct builder *b, uint32_t classes, const void *key, size_t n)
{
    uint32_t i = (uint32_t)key_hash(key, n) & b->mask;
    for (; b->slot[i]; i = (i + 1) & b->mask) {
        uint32_t s = b->slot[i] - 1;
        size_t len = b->at[s + 1] - b->at[s];
        if (len == n && (n == 0 || memcmp(b->keys.data + b->at[s], key, n) == 0))
            return s;
    }
    if (b->n == QN_DFA_STATES_MAX ||
        (size_t)(b->n + 1) * classes * sizeof *b->next > QN_DFA_TABLE_MAX)
        return QN_DFA_DEAD;
    size_t start = b->keys.len;
    if (n > 0 && qn_buf_add(&b->keys, key, n))
        return QN_DFA_DEAD;
    if (b->n == b->cap) {
        b->cap = b->cap ? b->cap * 2 : 64;
        b->at = qn_xrealloc(b->at, (b->cap + 1) * sizeof *b->at);
        b->next = qn_xrealloc(b->next, (size_t)b->cap * classes * sizeof *b->next);
        b->flags = qn_xrealloc(b->flags, b->cap);
    }
    b->slot[i] = b->n + 1;
    b->at[b->n] = start;
    b->at[b->n + 1] = start + n;
    b->n++;
    if (b->n * 2 > b->mask)
        rehash(b);
    return b->n - 1;
}

/* Renumbers states: map [n] holds each state's new number, or QN_DFA_DEAD for a state to drop. */
static void renumber(struct qn_dfa *d, const uint32_t *map, uint32_t n)
{
    uint32_t *next = qn_xcalloc((size_t)n * d->classes, sizeof *next);
    uint8_t *flags = qn_xcalloc(n, 1);
    for (uint32_t s = 0; s < d->n; s++) {
        if (map[s] == QN_DFA_DEAD)
            continue;
        flags[map[s]] = d->flags[s];
        for (uint32_t c = 0; c < d->classes; c++) {
            uint32_t to = d->next[(size_t)s * d->classes + c];
            next[(size_t)map[s] * d->classes + c] = to == QN_DFA_DEAD ? to : map[to];
        }
    }
    free(d->next);
    free(d->flags);
    d->next = next;
    d->flags = flags;
    d->n = n;
}

/* Drops states from which no accepting state can be reached. The start state is never dropped. */
static void trim(struct qn_dfa *d)
{
    /* Reverse edges, as adjacency lists in arrays. */
    size_t edges = (size_t)d->n * d->classes, filled = 0;
    uint32_t *first = qn_xcalloc((size_t)d->n + 2, sizeof *first);
    uint32_t *from = qn_xmalloc((edges + 1) * sizeof *from);
    for (size_t i = 0; i < edges; i++)
        if (d->next[i] != QN_DFA_DEAD)
            first[d->next[i] + 2]++;
    for (uint32_t s = 2; s < d->n + 2; s++)
        first[s] += first[s - 1];
    for (size_t i = 0; i < edges; i++)
        if (d->next[i] != QN_DFA_DEAD)
            from[first[d->next[i] + 1]++] = (uint32_t)(i / d->classes);
    uint32_t *todo = qn_xmalloc(((size_t)d->n + 1) * sizeof *todo);
    uint32_t *map = qn_xcalloc(d->n, sizeof *map);
    for (uint32_t s = 0; s < d->n; s++) {
        if (d->flags[s] & QN_DFA_ACCEPT) {
            map[s] = 1;
            todo[filled++] = s;
        }
    }
    while (filled > 0) {
        uint32_t s = todo[--filled];
        for (uint32_t i = first[s]; i < first[s + 1]; i++) {
            if (!map[from[i]]) {
                map[from[i]] = 1;
                todo[filled++] = from[i];
            }
        }
    }
    uint32_t n = 0;
    for (uint32_t s = 0; s < d->n; s++)
        map[s] = map[s] || s == 0 ? n++ : QN_DFA_DEAD;
    renumber(d, map, n);
    free(first);
    free(from);
    free(todo);
    free(map);
}

/* Moore's partition refinement: blocks are split until all states of a block agree in flags and in
 * the blocks that they lead to. */
static void minimize(struct qn_dfa *d, struct qn_constraint_budget *budget)
{
    if ((uint64_t)d->n * d->n * d->classes > MINIMIZE_WORK)
        return;
    uint32_t *block = qn_xcalloc(d->n, sizeof *block), *fresh = qn_xcalloc(d->n, sizeof *fresh);
    uint32_t size = 64;
    while (size < d->n * 2)
        size *= 2;
    uint32_t *slot = qn_xcalloc(size, sizeof *slot);
    uint32_t *first = qn_xcalloc(d->n, sizeof *first); /* one representative state of each block */
    for (uint32_t s = 0; s < d->n; s++)
        block[s] = d->flags[s];
    uint32_t blocks = 0;
    for (;;) {
        uint32_t n = 0;
        qn_budget_take(budget, (uint64_t)d->n * d->classes);
        memset(slot, 0, size * sizeof *slot);
        for (uint32_t s = 0; s < d->n; s++) {
            uint64_t h = qn_hash_u64(7, block[s]);
            const uint32_t *a = d->next + (size_t)s * d->classes;
            for (uint32_t c = 0; c < d->classes; c++)
                h = qn_hash_u64(h, a[c] == QN_DFA_DEAD ? QN_DFA_DEAD : block[a[c]]);
            uint32_t i = (uint32_t)h & (size - 1);
            for (; slot[i]; i = (i + 1) & (size - 1)) {
                uint32_t t = first[slot[i] - 1];
                const uint32_t *b = d->next + (size_t)t * d->classes;
                bool same = block[t] == block[s];
                for (uint32_t c = 0; c < d->classes && same; c++)
                    same = (a[c] == QN_DFA_DEAD) == (b[c] == QN_DFA_DEAD) &&
                           (a[c] == QN_DFA_DEAD || block[a[c]] == block[b[c]]);
                if (same)
                    break;
            }
            if (!slot[i]) {
                first[n] = s;
                slot[i] = ++n;
            }
            fresh[s] = slot[i] - 1;
        }
        uint32_t *t = block;
        block = fresh;
        fresh = t;
        if (n == blocks)
            break;
        blocks = n;
    }
    /* State 0 is the first that receives a block, so the start state remains 0. */
    if (blocks < d->n)
        renumber(d, block, blocks);
    free(block);
    free(fresh);
    free(slot);
    free(first);
}

qn_err qn_dfa_build(struct qn_dfa_plan *plan, const void *start, size_t n, struct qn_dfa *out,
                    struct qn_error *e)
{
    struct builder b = {.mask = 127};
    struct qn_buf to;
    uint8_t example[256];
    qn_err err = QN_OK;
    memset(out, 0, sizeof *out);
    b.slot = qn_xcalloc(b.mask + 1, sizeof *b.slot);
    qn_buf_init(&b.keys, QN_DFA_KEYS_MAX);
    qn_buf_init(&to, QN_DFA_KEYS_MAX);
    for (int byte = 255; byte >= 0; byte--)
        example[plan->of[byte]] = (uint8_t)byte;
    struct qn_buf key;
    qn_buf_init(&key, QN_DFA_KEYS_MAX);
    if (intern(&b, plan->classes, start, n) == QN_DFA_DEAD)
        err = qn_fail(e, QN_ELIMIT, "too large");
    for (uint32_t s = 0; s < b.n && !err; s++) {
        /* The buffer of keys may be reallocated below, so the key is copied. */
        qn_buf_clear(&key);
        qn_buf_add(&key, b.keys.data + b.at[s], b.at[s + 1] - b.at[s]);
        b.flags[s] = plan->flags(plan->ctx, key.data, key.len);
        for (uint32_t c = 0; c < plan->classes && !err; c++) {
            uint32_t next = QN_DFA_DEAD;
            qn_buf_clear(&to);
            if (plan->step(plan->ctx, key.data, key.len, example[c], &to)) {
                next = intern(&b, plan->classes, to.data, to.len);
                if (next == QN_DFA_DEAD || to.overflow)
                    err =
                        qn_fail(e, QN_ELIMIT, "needs more than %d states", (int)QN_DFA_STATES_MAX);
            }
            if (!err && !qn_budget_take(plan->budget, 2 + (key.len + to.len) / KEY_STEP))
                err = qn_budget_fail(e);
            b.next[(size_t)s * plan->classes + c] = next;
        }
    }
    qn_buf_deinit(&key);
    qn_buf_deinit(&to);
    qn_buf_deinit(&b.keys);
    free(b.at);
    free(b.slot);
    if (err) {
        free(b.next);
        free(b.flags);
        return err;
    }
    out->n = b.n;
    out->classes = plan->classes;
    memcpy(out->of, plan->of, sizeof out->of);
    out->next = b.next;
    out->flags = b.flags;
    trim(out);
    minimize(out, plan->budget);
    return QN_OK;
}

struct pair_ctx {
    const struct qn_dfa *a, *b;
    bool subtract;
};

static bool pair_step(void *ctx, const void *from, size_t n, uint8_t byte, struct qn_buf *to)
{
    const struct pair_ctx *p = ctx;
    uint32_t s[2];
    memcpy(s, from, n);
    s[0] = qn_dfa_step(p->a, s[0], byte);
    if (s[1] != QN_DFA_DEAD)
        s[1] = qn_dfa_step(p->b, s[1], byte);
    if (s[0] == QN_DFA_DEAD || (s[1] == QN_DFA_DEAD && !p->subtract))
        return false;
    qn_buf_add(to, s, sizeof s);
    return true;
}

static uint8_t pair_flags(void *ctx, const void *state, size_t n)
{
    const struct pair_ctx *p = ctx;
    uint32_t s[2];
    memcpy(s, state, n);
    bool second = s[1] != QN_DFA_DEAD && (p->b->flags[s[1]] & QN_DFA_ACCEPT);
    bool first = p->a->flags[s[0]] & QN_DFA_ACCEPT;
    return first && second != p->subtract ? QN_DFA_ACCEPT : 0;
}

static qn_err product(const struct qn_dfa *a, const struct qn_dfa *b, bool subtract,
                      struct qn_constraint_budget *budget, struct qn_dfa *out, struct qn_error *e)
{
    struct pair_ctx ctx = {a, b, subtract};
    struct qn_dfa_plan plan = {
        .ctx = &ctx, .step = pair_step, .flags = pair_flags, .budget = budget};
    /* Bytes that neither automaton tells apart share a class: at most 256 pairs of classes. */
    uint16_t pairs[256];
    for (int byte = 0; byte < 256; byte++) {
        uint16_t pair = (uint16_t)(a->of[byte] << 8 | b->of[byte]);
        uint32_t c = 0;
        while (c < plan.classes && pairs[c] != pair)
            c++;
        if (c == plan.classes)
            pairs[plan.classes++] = pair;
        plan.of[byte] = (uint8_t)c;
    }
    static const uint32_t start[2] = {0, 0};
    return qn_dfa_build(&plan, start, sizeof start, out, e);
}

qn_err qn_dfa_intersect(const struct qn_dfa *a, const struct qn_dfa *b,
                        struct qn_constraint_budget *budget, struct qn_dfa *out, struct qn_error *e)
{
    return product(a, b, false, budget, out, e);
}

qn_err qn_dfa_subtract(const struct qn_dfa *a, const struct qn_dfa *b,
                       struct qn_constraint_budget *budget, struct qn_dfa *out, struct qn_error *e)
{
    return product(a, b, true, budget, out, e);
}

bool qn_dfa_overlap(const struct qn_dfa *a, const struct qn_dfa *b,
                    struct qn_constraint_budget *budget)
{
    struct qn_dfa both;
    if (qn_dfa_intersect(a, b, budget, &both, NULL))
        return true;
    bool some = !qn_dfa_is_empty(&both);
    qn_dfa_deinit(&both);
    return some;
}
