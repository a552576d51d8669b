/* See constrain_trie.h. */
#include "grammar/constrain_trie.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    const char *bytes;
    uint32_t n;
    int32_t id;
    bool control;
};

/* The i-th byte of an entry's path in the tree; the path of a control token has QN_CONTROL_BYTE in
 * front. */
static uint8_t byte_at(const struct entry *x, size_t i)
{
    if (x->control)
        return i == 0 ? QN_CONTROL_BYTE : (uint8_t)x->bytes[i - 1];
    return (uint8_t)x->bytes[i];
}

static size_t length(const struct entry *x)
{
    return (size_t)x->n + x->control;
}

static int by_bytes(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->control != y->control)
        return x->control ? 1 : -1; /* plain tokens that begin with QN_CONTROL_BYTE are not in the
                                       tree */
    size_t n = x->n < y->n ? x->n : y->n;
    int c = n ? memcmp(x->bytes, y->bytes, n) : 0;
    if (c != 0)
        return c;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static size_t common(const struct entry *x, const struct entry *y)
{
    size_t n = length(x) < length(y) ? length(x) : length(y), i = 0;
    while (i < n && byte_at(x, i) == byte_at(y, i))
        i++;
    return i;
}

/* Closes every open node below `depth`. */
static void close_nodes(struct qn_trie *t, uint32_t *open, size_t *n_open, size_t depth)
{
    while (*n_open > depth)
        t->v[open[--*n_open]].skip = t->n;
}

static void build(struct qn_trie *t, const struct entry *all, size_t n)
{
    size_t nodes = 0, longest = 0;
    for (size_t i = 0; i < n; i++) {
        nodes += length(&all[i]) - (i ? common(&all[i - 1], &all[i]) : 0);
        longest = length(&all[i]) > longest ? length(&all[i]) : longest;
    }
    t->v = qn_xcalloc(nodes + 1, sizeof *t->v);
    t->depth = (uint32_t)longest;
    uint32_t *open = qn_xcalloc(longest + 1, sizeof *open);
    size_t n_open = 0;
    for (size_t i = 0; i < n; i++) {
        const struct entry *x = &all[i];
        size_t shared = i ? common(&all[i - 1], x) : 0;
        close_nodes(t, open, &n_open, shared);
        for (size_t at = shared; at < length(x); at++) {
            open[n_open++] = t->n;
            t->v[t->n++] = (struct qn_trie_node){
                .token = -1, .depth = (uint16_t)(at + 1), .byte = byte_at(x, at)};
        }
        struct qn_trie_node *end = &t->v[open[n_open - 1]];
        t->same[x->id] = end->token;
        end->token = x->id;
    }
    close_nodes(t, open, &n_open, 0);
    free(open);
}

void qn_trie_init(struct qn_trie *t, const struct qn_constrain_vocab *v)
{
    memset(t, 0, sizeof *t);
    t->tokens = v->n;
    t->words = ((uint32_t)v->n + 63) / 64;
    t->same = qn_xcalloc((size_t)v->n + 1, sizeof *t->same);
    t->end = qn_xcalloc((size_t)v->n + 1, sizeof *t->end);
    struct entry *all = qn_xcalloc((size_t)v->n + 1, sizeof *all);
    size_t n = 0;
    for (int32_t id = 0; id < v->n; id++) {
        size_t len;
        const char *bytes = v->token_bytes(v->ctx, id, &len);
        bool control = v->token_is_control(v->ctx, id);
        t->same[id] = -1;
        if (v->token_is_end(v->ctx, id))
            t->end[t->n_end++] = id;
        else if (len > 0 && len < UINT16_MAX && (control || (uint8_t)bytes[0] != QN_CONTROL_BYTE))
            all[n++] = (struct entry){bytes, (uint32_t)len, id, control};
    }
    qsort(all, n, sizeof *all, by_bytes);
    build(t, all, n);
    free(all);
}

void qn_trie_deinit(struct qn_trie *t)
{
    free(t->v);
    free(t->same);
    free(t->end);
    memset(t, 0, sizeof *t);
}

bool qn_trie_is_end(const struct qn_trie *t, int32_t id)
{
    for (uint32_t i = 0; i < t->n_end; i++)
        if (t->end[i] == id)
            return true;
    return false;
}
