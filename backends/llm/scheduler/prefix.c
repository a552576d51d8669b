/* See prefix.h. Invariants: every node begins at a multiple of the page size; a node with children
 * ends at one; a node without children (except the root) owns a sequence, other nodes may; the
 * sequence's length is the node's end. */
#include "llm/scheduler/prefix.h"

#include "base/buf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *parent, *child, *next; /* next: the next sibling */
    int32_t *tokens;                    /* [n], malloc'ed */
    int32_t start, n;   /* number of tokens before this node, and of the node itself */
    struct qn_seq *seq; /* NULL: the descendants' sequences cover this node */
    int64_t used;       /* the tree's clock at the last use */
    /* Set in children of the root, for the whole subtree: see struct qn_prefix_space. */
    uint64_t owner;
    struct qn_mix *mix;
};

struct qn_prefix {
    const struct qn_batch_model *m;
    struct node root;
    int64_t clock;
    int64_t tokens;
    int seqs, seqs_max;
};

struct qn_prefix *qn_prefix_new(const struct qn_batch_model *model, int seqs_max)
{
    struct qn_prefix *p = qn_xcalloc(1, sizeof *p);
    p->m = model;
    p->seqs_max = seqs_max;
    return p;
}

static int32_t end_of(const struct node *x)
{
    return x->start + x->n;
}

static bool is_leaf(const struct node *x)
{
    return x->child == NULL && x->parent != NULL;
}

static int32_t whole_pages(const struct qn_prefix *p, int32_t tokens)
{
    return tokens - tokens % p->m->page;
}

/* Removes the childless node from the tree and frees it, but not its sequence. */
static void node_remove(struct qn_prefix *p, struct node *x)
{
    struct node **at = &x->parent->child;
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    p->tokens -= x->n;
    free(x->tokens);
    free(x->mix);
    free(x);
}

void qn_prefix_free(struct qn_prefix *p)
{
    if (!p)
        return;
    struct node *x = &p->root;
    while (x->child || x->parent) {
        if (x->child) {
            x = x->child;
            continue;
        }
        struct node *up = x->parent;
        if (x->seq)
            p->m->seq_free(x->seq);
        node_remove(p, x);
        x = up;
    }
    free(p);
}

static int32_t common(const int32_t *a, const int32_t *b, int32_t n)
{
    int32_t i = 0;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

static const struct qn_prefix_space no_owner;

static bool is_in(const struct node *top, const struct qn_prefix_space *in)
{
    return top->owner == in->owner && qn_mix_equal(top->mix, in->mix);
}

/* Follows tokens [n] from the root. Returns the length of the longest known prefix; *last is the
 * deepest node that shares any token of it (the root if none), *into how many of that node's tokens
 * match. */
static int32_t walk(struct qn_prefix *p, const struct qn_prefix_space *in, const int32_t *tokens,
                    int32_t n, struct node **last, int32_t *into)
{
    struct node *x = &p->root;
    int32_t at = 0;
    *into = 0;
    for (;;) {
        struct node *best = NULL;
        int32_t shared = 0;
        for (struct node *c = x->child; c; c = c->next) {
            if (x == &p->root && !is_in(c, in))
                continue;
            int32_t most = c->n < n - at ? c->n : n - at;
            int32_t same = common(c->tokens, tokens + at, most);
            if (same > shared) {
                best = c;
                shared = same;
            }
        }
        if (!best)
            break;
        x = best;
        at += shared;
        *into = shared;
        if (shared < x->n)
            break;
    }
    *last = x;
    return at;
}

static void touch(struct qn_prefix *p, struct node *x)
{
    p->clock++;
    for (; x; x = x->parent)
        x->used = p->clock;
}

/* Finds the sequence at or below x, or else at an ancestor, from which most of the first len tokens
 * can be forked. Returns how many. */
static int32_t best_source(const struct qn_prefix *p, const struct node *x, int32_t len,
                           struct qn_seq **src)
{
    int32_t best = 0;
    const struct node *at = x;
    for (;;) {
        int32_t have = at->seq ? p->m->seq_forkable(at->seq, len) : 0;
        if (have > best) {
            best = have;
            *src = at->seq;
        }
        if (best == len)
            return best;
        if (at->child) {
            at = at->child;
            continue;
        }
        while (at != x && !at->next)
            at = at->parent;
        if (at == x)
            break;
        at = at->next;
    }
    while ((x = x->parent) && end_of(x) > best) {
        if (x->seq) {
            *src = x->seq;
            return end_of(x);
        }
    }
    return best;
}

int32_t qn_prefix_find(struct qn_prefix *p, const struct qn_prefix_space *in, const int32_t *tokens,
                       int32_t n, struct qn_seq **src)
{
    struct node *last;
    int32_t into;
    *src = NULL;
    int32_t known = walk(p, in ? in : &no_owner, tokens, n, &last, &into);
    if (known == 0)
        return 0;
    touch(p, last);
    return best_source(p, last, known, src);
}

/* Adds a leaf below `parent` for tokens [from, to). */
static struct node *leaf_new(struct qn_prefix *p, struct node *parent,
                             const struct qn_prefix_space *in, const int32_t *tokens, int32_t from,
                             int32_t to, struct qn_seq *seq)
{
    struct node *x = qn_xcalloc(1, sizeof *x);
    if (parent == &p->root)
        x->owner = in->owner;
    if (parent == &p->root && in->mix && in->mix->n) {
        x->mix = qn_xmalloc(sizeof *in->mix);
        *x->mix = *in->mix;
    }
    x->start = from;
    x->n = to - from;
    x->tokens = qn_xmalloc((size_t)x->n * sizeof *x->tokens);
    memcpy(x->tokens, tokens + from, (size_t)x->n * sizeof *x->tokens);
    x->seq = seq;
    x->parent = parent;
    x->next = parent->child;
    parent->child = x;
    p->tokens += x->n;
    p->seqs++;
    return x;
}

/* Splits x after its first n tokens, a multiple of the page size; x keeps the rest. Returns the
 * upper part. */
static struct node *split(struct node *x, int32_t n)
{
    struct node *up = qn_xcalloc(1, sizeof *up);
    up->start = x->start;
    up->n = n;
    up->tokens = qn_xmalloc((size_t)n * sizeof *up->tokens);
    memcpy(up->tokens, x->tokens, (size_t)n * sizeof *up->tokens);
    up->parent = x->parent;
    up->used = x->used;
    up->owner = x->owner;
    up->mix = x->mix;
    x->mix = NULL;
    struct node **at = &x->parent->child;
    while (*at != x)
        at = &(*at)->next;
    *at = up;
    up->next = x->next;
    up->child = x;
    x->parent = up;
    x->next = NULL;
    x->start += n;
    x->n -= n;
    memmove(x->tokens, x->tokens + n, (size_t)x->n * sizeof *x->tokens);
    return up;
}

/* The next node in pre-order; NULL after the last. */
static struct node *after(const struct node *x)
{
    if (x->child)
        return x->child;
    while (x->parent && !x->next)
        x = x->parent;
    return x->next;
}

static struct node *oldest_leaf(const struct qn_prefix *p)
{
    struct node *x = NULL;
    for (struct node *c = p->root.child; c; c = after(c))
        if (is_leaf(c) && (!x || c->used < x->used))
            x = c;
    return x;
}

/* Truncates the leaf's sequence to `keep` tokens. If the truncated sequence ends at an ancestor,
 * that node becomes the leaf, provided that it has no other children and no sequence of its own. */
static void cut_leaf(struct qn_prefix *p, struct node *x, int32_t keep)
{
    struct qn_seq *seq = x->seq;
    int32_t left = p->m->seq_truncate(seq, keep);
    x->seq = NULL;
    while (x->parent && !x->child && !x->seq && left <= x->start) {
        struct node *up = x->parent;
        node_remove(p, x);
        x = up;
    }
    if (!is_leaf(x) || x->seq) {
        p->m->seq_free(seq);
        p->seqs--;
        return;
    }
    p->tokens -= end_of(x) - left;
    x->n = left - x->start;
    x->seq = seq;
}

bool qn_prefix_evict(struct qn_prefix *p, int64_t pages)
{
    struct node *x = oldest_leaf(p);
    if (!x)
        return false;
    int32_t page = p->m->page, own = (x->n + page - 1) / page;
    int32_t drop = pages < 1 ? 1 : pages < own ? (int32_t)pages : own;
    cut_leaf(p, x, x->start + (own - drop) * page);
    return true;
}

/* Extends the leaf x to tokens [n], which begin with all of the leaf's tokens. */
static void lengthen(struct qn_prefix *p, struct node *x, const int32_t *tokens, int32_t n,
                     struct qn_seq *seq)
{
    p->m->seq_free(x->seq);
    p->tokens += n - end_of(x);
    x->n = n - x->start;
    free(x->tokens);
    x->tokens = qn_xmalloc((size_t)x->n * sizeof *x->tokens);
    memcpy(x->tokens, tokens + x->start, (size_t)x->n * sizeof *x->tokens);
    x->seq = seq;
}

/* Adds seq, whose n tokens are all in the tree already; the last one is token number `into` of node
 * x. If n is a multiple of the page size and no sequence in the tree can be forked at n, seq is
 * attached to the node that ends there (x is split if necessary), and that node is returned.
 * Otherwise seq is freed and x returned. */
static struct node *add_known(struct qn_prefix *p, struct node *x, int32_t into, int32_t n,
                              struct qn_seq *seq)
{
    struct qn_seq *src = NULL;
    if (n == 0 || best_source(p, x, n, &src) == n || n % p->m->page != 0) {
        p->m->seq_free(seq);
        return x;
    }
    if (into < x->n)
        x = split(x, into);
    x->seq = seq;
    p->seqs++;
    return x;
}

void qn_prefix_add(struct qn_prefix *p, const struct qn_prefix_space *in, const int32_t *tokens,
                   int32_t n, struct qn_seq *seq)
{
    in = in ? in : &no_owner;
    assert(n >= 0 && p->m->seq_len(seq) == n);
    struct node *x;
    int32_t into;
    int32_t known = walk(p, in, tokens, n, &x, &into), end = end_of(x);
    /* The newer sequence contains everything of the old one but may not be forkable at the old
     * one's end. */
    bool replaces = is_leaf(x) && into == x->n &&
                    (end % p->m->page != 0 || p->m->seq_forkable(seq, end) == end);
    if (replaces) {
        lengthen(p, x, tokens, n, seq);
    } else if (known == n) {
        x = add_known(p, x, into, n, seq);
    } else if (into == x->n) {
        x = leaf_new(p, x, in, tokens, known, n, seq);
    } else {
        int32_t cut = whole_pages(p, into);
        struct node *parent = cut > 0 ? split(x, cut) : x->parent;
        x = leaf_new(p, parent, in, tokens, end_of(parent), n, seq);
    }
    touch(p, x);
    while (p->seqs_max > 0 && p->seqs > p->seqs_max) {
        struct node *old = oldest_leaf(p);
        cut_leaf(p, old, old->start);
    }
}

int64_t qn_prefix_tokens(const struct qn_prefix *p)
{
    return p->tokens;
}

static int later_first(const void *a, const void *b)
{
    const struct node *const *x = a, *const *y = b;
    return ((*x)->used < (*y)->used) - ((*x)->used > (*y)->used);
}

void qn_prefix_each(const struct qn_prefix *p, qn_prefix_visit visit, void *ctx)
{
    size_t n = 0, i = 0;
    int32_t longest = 0;
    for (const struct node *x = p->root.child; x; x = after(x)) {
        n += x->seq != NULL;
        longest = end_of(x) > longest ? end_of(x) : longest;
    }
    if (n == 0)
        return;
    const struct node **nodes = qn_xmalloc(n * sizeof *nodes);
    int32_t *tokens = qn_xmalloc((size_t)longest * sizeof *tokens);
    for (const struct node *x = p->root.child; x; x = after(x))
        if (x->seq)
            nodes[i++] = x;
    qsort(nodes, n, sizeof *nodes, later_first);
    bool more = true;
    for (i = 0; i < n && more; i++) {
        struct qn_prefix_space in = {0};
        for (const struct node *x = nodes[i]; x->parent; x = x->parent) {
            memcpy(tokens + x->start, x->tokens, (size_t)x->n * sizeof *tokens);
            in = (struct qn_prefix_space){x->owner, x->mix};
        }
        more = visit(ctx, &in, tokens, end_of(nodes[i]), nodes[i]->seq);
    }
    free(nodes);
    free(tokens);
}
