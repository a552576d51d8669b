/* See constrain_machine.h. The stacks are those of a pushdown automaton that runs on all its paths
 * at once. Sharing the stacks is Tomita's graph-structured stack (Efficient Parsing for Natural
 * Language, 1985). */
#include "grammar/constrain_machine.h"

#include "base/hash.h"
#include "grammar/constrain_mask.h"

#include <stdlib.h>
#include <string.h>

struct qn_stack {
    struct qn_stack *chain; /* next in the hash bucket */
    struct qn_stack *up;
    uint32_t place; /* instruction to continue at; for a LOOP's body, the LOOP itself */
    uint32_t count; /* LOOP: how often the body has begun */
    uint32_t fresh; /* epoch of the last closure that pushed this entry */
    uint32_t used;  /* epoch of the last tidying that marked this entry as used */
};

struct todo {
    uint32_t place;
    struct qn_stack *up;
};

struct seen {
    struct todo what;
    uint32_t epoch; /* when it is not the current epoch, the slot is free */
};

/* Working memory of one closure: all positions that are reached without reading a byte. */
struct qn_closure {
    struct todo *todo;
    struct seen *seen; /* [seen_mask + 1], a hash table */
    size_t n, cap, seen_mask, n_seen, steps;
    struct qn_place *out;
    size_t n_out, cap_out;
    bool accept;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
    return qn_hash_u64(h ^ 0xa0761d6478bd642full, v);
}

static uint64_t pointer_bits(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

static uint64_t stack_hash(uint32_t place, uint32_t count, const struct qn_stack *up)
{
    return mix(mix(pointer_bits(up), place), count);
}

static void grow_stacks(struct qn_machine *m)
{
    uint32_t mask = m->stack_mask * 2 + 1;
    struct qn_stack **slots = qn_xcalloc((size_t)mask + 1, sizeof *slots);
    for (uint32_t i = 0; i <= m->stack_mask; i++) {
        for (struct qn_stack *s = m->stacks[i], *next; s; s = next) {
            next = s->chain;
            struct qn_stack **at = &slots[stack_hash(s->place, s->count, s->up) & mask];
            s->chain = *at;
            *at = s;
        }
    }
    free(m->stacks);
    m->stacks = slots;
    m->stack_mask = mask;
}

static struct qn_stack *push(struct qn_machine *m, uint32_t place, uint32_t count,
                             struct qn_stack *up)
{
    struct qn_stack **at = &m->stacks[stack_hash(place, count, up) & m->stack_mask];
    struct qn_stack *s = *at;
    while (s && (s->place != place || s->count != count || s->up != up))
        s = s->chain;
    if (!s) {
        s = qn_xcalloc(1, sizeof *s);
        *s = (struct qn_stack){.chain = *at, .up = up, .place = place, .count = count};
        *at = s;
        m->bytes += sizeof *s + 16;
        if (++m->n_stacks > m->stack_mask)
            grow_stacks(m);
    }
    s->fresh = m->epoch;
    return s;
}

static struct seen *seen_slot(struct seen *slots, size_t mask, struct todo t, uint32_t epoch)
{
    size_t at = mix(pointer_bits(t.up), t.place) & mask;
    while (slots[at].epoch == epoch &&
           (slots[at].what.place != t.place || slots[at].what.up != t.up))
        at = (at + 1) & mask;
    return &slots[at];
}

static bool seen_before(struct qn_machine *m, struct todo t)
{
    struct qn_closure *w = m->work;
    if (w->n_seen * 2 > w->seen_mask) {
        size_t mask = w->seen_mask * 2 + 1;
        struct seen *slots = qn_xcalloc(mask + 1, sizeof *slots);
        for (size_t i = 0; i <= w->seen_mask; i++)
            if (w->seen[i].epoch == m->epoch)
                *seen_slot(slots, mask, w->seen[i].what, m->epoch) = w->seen[i];
        free(w->seen);
        w->seen = slots;
        w->seen_mask = mask;
    }
    struct seen *slot = seen_slot(w->seen, w->seen_mask, t, m->epoch);
    if (slot->epoch == m->epoch)
        return true;
    *slot = (struct seen){t, m->epoch};
    w->n_seen++;
    return false;
}

static void later(struct qn_closure *w, uint32_t place, struct qn_stack *up)
{
    if (w->n == w->cap) {
        w->cap *= 2;
        w->todo = qn_xrealloc(w->todo, w->cap * sizeof *w->todo);
    }
    w->todo[w->n++] = (struct todo){place, up};
}

static void begin_closure(struct qn_machine *m)
{
    struct qn_closure *w = m->work;
    w->n = w->n_out = w->n_seen = w->steps = 0;
    w->accept = false;
    m->epoch++;
}

static void found(struct qn_closure *w, struct qn_place place)
{
    if (w->n_out == w->cap_out) {
        w->cap_out *= 2;
        w->out = qn_xrealloc(w->out, w->cap_out * sizeof *w->out);
    }
    w->out[w->n_out++] = place;
}

static void loop(struct qn_machine *m, uint32_t place, uint32_t count, struct qn_stack *up)
{
    const struct qn_instr *i = &m->p->v[place];
    if (count >= i->min)
        later(m->work, i->next, up);
    if (i->max == QN_REPEAT_EVER || count < i->max) {
        /* Once an unbounded loop has reached min, its count stays at min. */
        uint32_t next = i->max == QN_REPEAT_EVER && count >= i->min ? i->min : count + 1;
        later(m->work, i->arg, push(m, place, next, up));
    }
}

/* Follows all instructions of the work list that read no byte. */
static void close_over(struct qn_machine *m)
{
    struct qn_closure *w = m->work;
    const struct qn_constraint_program *p = m->p;
    while (w->n > 0 && w->n_out < QN_MACHINE_PLACES_MAX && w->steps < QN_MACHINE_CLOSURE_MAX) {
        if (m->bytes > QN_MACHINE_BYTES_HARD)
            return; /* intern() checks the same limit and reports it */
        w->steps++;
        m->steps++;
        struct todo t = w->todo[--w->n];
        if (seen_before(m, t))
            continue;
        const struct qn_instr *i = &p->v[t.place];
        switch ((enum qn_op)i->op) {
        case QN_OP_RETURN:
            if (!t.up)
                w->accept = true;
            else if (p->v[t.up->place].op != QN_OP_LOOP)
                later(w, t.up->place, t.up->up);
            else if (!p->v[t.up->place].nullable || t.up->fresh != m->epoch)
                loop(m, t.up->place, t.up->count, t.up->up);
            /* Otherwise the body was empty; another iteration without a byte reaches nothing
             * new. */
            break;
        case QN_OP_TERM: {
            struct qn_place start = {.dfa = i->arg};
            start.up = i->next == 0 ? t.up : push(m, i->next, 0, t.up);
            if (qn_dfa_continues(&p->dfas[i->arg], 0))
                found(w, start);
            if (qn_place_ends(p, &start))
                later(w, i->next, t.up);
            break;
        }
        case QN_OP_ANY:
            for (uint32_t k = i->n; k-- > 0;)
                later(w, p->ways[i->arg + k], t.up);
            break;
        case QN_OP_CALL:
            later(w, p->entry[i->arg], i->next == 0 ? t.up : push(m, i->next, 0, t.up));
            break;
        case QN_OP_LOOP:
            loop(m, t.place, 0, t.up);
            break;
        }
    }
}

static int by_place(const void *a, const void *b)
{
    const struct qn_place *x = a, *y = b;
    if (x->dfa != y->dfa)
        return x->dfa < y->dfa ? -1 : 1;
    if (x->state != y->state)
        return x->state < y->state ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    uint64_t p = pointer_bits(x->up), q = pointer_bits(y->up);
    return (p > q) - (p < q);
}

static void grow_nodes(struct qn_machine *m)
{
    uint32_t mask = m->node_mask * 2 + 1;
    struct qn_constraint_node **slots = qn_xcalloc((size_t)mask + 1, sizeof *slots);
    for (uint32_t i = 0; i <= m->node_mask; i++) {
        for (struct qn_constraint_node *n = m->nodes[i], *next; n; n = next) {
            next = n->chain;
            n->chain = slots[n->hash & mask];
            slots[n->hash & mask] = n;
        }
    }
    free(m->nodes);
    m->nodes = slots;
    m->node_mask = mask;
}

static void note_first(const struct qn_constraint_program *p, struct qn_constraint_node *n)
{
    for (uint32_t i = 0; i < n->n; i++) {
        const struct qn_dfa *d = &p->dfas[n->v[i].dfa];
        const uint32_t *row = d->next + (size_t)n->v[i].state * d->classes;
        for (unsigned byte = 0; byte < 256; byte++)
            if (row[d->of[byte]] != QN_DFA_DEAD)
                n->first[byte >> 6] |= 1ull << (byte & 63);
    }
}

/* Returns the node of the set that the closure has found; NULL when the set is empty and does not
 * accept, or when a limit was met. */
static struct qn_constraint_node *intern(struct qn_machine *m)
{
    struct qn_closure *w = m->work;
    size_t n = 0;
    /* A closure that was cut short has not found all positions. */
    if (m->bytes > QN_MACHINE_BYTES_HARD || w->n > 0)
        m->gave_up = true;
    if (m->gave_up)
        return NULL;
    qsort(w->out, w->n_out, sizeof *w->out, by_place);
    for (size_t i = 0; i < w->n_out; i++)
        if (i == 0 || by_place(&w->out[n - 1], &w->out[i]) != 0)
            w->out[n++] = w->out[i];
    if (n == 0 && !w->accept)
        return NULL;
    uint64_t h = w->accept;
    for (size_t i = 0; i < n; i++)
        h = mix(mix(h, (uint64_t)w->out[i].dfa << 32 | w->out[i].state),
                pointer_bits(w->out[i].up) ^ (uint64_t)w->out[i].count << 48);
    struct qn_constraint_node *node = m->nodes[h & m->node_mask];
    for (; node; node = node->chain) {
        bool same = node->hash == h && node->n == n && node->accept == w->accept;
        for (size_t i = 0; i < n && same; i++)
            same = by_place(&node->v[i], &w->out[i]) == 0;
        if (same)
            return node;
    }
    size_t bytes = sizeof *node + n * sizeof *node->v;
    node = qn_xcalloc(1, bytes);
    node->hash = h;
    node->accept = w->accept;
    node->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        node->v[i] = w->out[i];
    note_first(m->p, node);
    node->chain = m->nodes[h & m->node_mask];
    m->nodes[h & m->node_mask] = node;
    m->bytes += bytes + 16;
    if (++m->n_nodes > m->node_mask)
        grow_nodes(m);
    return node;
}

bool qn_place_step(const struct qn_constraint_program *p, struct qn_place *place, uint8_t byte)
{
    const struct qn_dfa *d = &p->dfas[place->dfa];
    uint32_t next = qn_dfa_step(d, place->state, byte);
    if (next == QN_DFA_DEAD)
        return false;
    if (d->max > 0 && (d->flags[place->state] & QN_DFA_BOUNDARY)) {
        if (d->flags[next] & QN_DFA_ACCEPT) {
            if (place->count < d->min)
                return false;
        } else {
            if (place->count >= d->max)
                return false;
            /* Without an upper bound the count needs to go no further than the lower bound. */
            if (d->max != QN_REPEAT_EVER || place->count < d->min)
                place->count++;
        }
    }
    place->state = next;
    return true;
}

bool qn_place_ends(const struct qn_constraint_program *p, const struct qn_place *place)
{
    return p->dfas[place->dfa].flags[place->state] & QN_DFA_ACCEPT;
}

struct qn_constraint_node *qn_machine_leave(struct qn_machine *m, const struct qn_place *place)
{
    begin_closure(m);
    later(m->work, 0, place->up);
    close_over(m);
    return intern(m);
}

struct qn_constraint_node *qn_machine_step(struct qn_machine *m, struct qn_constraint_node *from,
                                           uint8_t byte)
{
    if (!(from->first[byte >> 6] >> (byte & 63) & 1))
        return NULL;
    if (!from->to) {
        from->to = qn_xcalloc(256, sizeof(struct qn_constraint_node *));
        m->bytes += 256 * sizeof(struct qn_constraint_node *);
    }
    if (from->to[byte])
        return from->to[byte];
    begin_closure(m);
    for (uint32_t i = 0; i < from->n; i++) {
        struct qn_place place = from->v[i];
        if (!qn_place_step(m->p, &place, byte))
            continue;
        if (qn_dfa_continues(&m->p->dfas[place.dfa], place.state))
            found(m->work, place);
        if (qn_place_ends(m->p, &place))
            later(m->work, 0, place.up);
    }
    close_over(m);
    struct qn_constraint_node *to = intern(m);
    if (to)
        from->to[byte] = to;
    else if (!m->gave_up)
        from->first[byte >> 6] &= ~(1ull << (byte & 63));
    return to;
}

void qn_machine_init(struct qn_machine *m, const struct qn_constraint_program *p)
{
    memset(m, 0, sizeof *m);
    m->p = p;
    m->node_mask = m->stack_mask = 255;
    m->nodes = qn_xcalloc((size_t)m->node_mask + 1, sizeof(struct qn_constraint_node *));
    m->stacks = qn_xcalloc((size_t)m->stack_mask + 1, sizeof(struct qn_stack *));
    m->work = qn_xcalloc(1, sizeof *m->work);
    m->work->cap = m->work->cap_out = 256;
    m->work->todo = qn_xcalloc(m->work->cap, sizeof *m->work->todo);
    m->work->out = qn_xcalloc(m->work->cap_out, sizeof *m->work->out);
    m->work->seen_mask = 255;
    m->work->seen = qn_xcalloc(m->work->seen_mask + 1, sizeof *m->work->seen);
    begin_closure(m);
    later(m->work, p->entry[0], NULL);
    close_over(m);
    m->start = intern(m);
    if (m->start)
        m->start->refs = 1;
}

static void free_node(struct qn_machine *m, struct qn_constraint_node *n)
{
    m->bytes -= sizeof *n + n->n * sizeof *n->v + 16;
    m->bytes -= qn_mask_bytes(n->mask);
    if (n->to)
        m->bytes -= 256 * sizeof(struct qn_constraint_node *);
    qn_mask_free(n->mask);
    free(n->to);
    free(n);
}

void qn_machine_deinit(struct qn_machine *m)
{
    for (uint32_t i = 0; i <= m->node_mask; i++) {
        for (struct qn_constraint_node *n = m->nodes[i], *next; n; n = next) {
            next = n->chain;
            free_node(m, n);
        }
    }
    for (uint32_t i = 0; i <= m->stack_mask; i++) {
        for (struct qn_stack *s = m->stacks[i], *next; s; s = next) {
            next = s->chain;
            free(s);
        }
    }
    free(m->nodes);
    free(m->stacks);
    free(m->work->todo);
    free(m->work->seen);
    free(m->work->out);
    free(m->work);
    memset(m, 0, sizeof *m);
}

void qn_machine_tidy(struct qn_machine *m)
{
    m->gave_up = false;
    if (m->bytes <= QN_MACHINE_BYTES_MAX)
        return;
    uint32_t seen = ++m->epoch;
    for (uint32_t i = 0; i <= m->node_mask; i++) {
        struct qn_constraint_node **at = &m->nodes[i];
        while (*at) {
            struct qn_constraint_node *n = *at;
            if (n->refs == 0) {
                *at = n->chain;
                m->n_nodes--;
                free_node(m, n);
                continue;
            }
            /* The cached transitions may point to nodes that are freed here. The mask is dropped as
             * well; it can be recomputed. */
            m->bytes -= qn_mask_bytes(n->mask);
            qn_mask_free(n->mask);
            n->mask = NULL;
            if (n->to) {
                m->bytes -= 256 * sizeof(struct qn_constraint_node *);
                free(n->to);
                n->to = NULL;
            }
            for (uint32_t k = 0; k < n->n; k++)
                for (struct qn_stack *s = n->v[k].up; s && s->used != seen; s = s->up)
                    s->used = seen;
            memset(n->first, 0, sizeof n->first);
            note_first(m->p, n);
            at = &n->chain;
        }
    }
    for (uint32_t i = 0; i <= m->stack_mask; i++) {
        struct qn_stack **at = &m->stacks[i];
        while (*at) {
            struct qn_stack *s = *at;
            if (s->used == seen) {
                at = &s->chain;
                continue;
            }
            *at = s->chain;
            m->n_stacks--;
            m->bytes -= sizeof *s + 16;
            free(s);
        }
    }
}
