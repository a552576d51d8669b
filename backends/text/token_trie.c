/* See token_trie.h. */
#include "text/token_trie.h"

#include "base/buf.h"

#include <stdlib.h>

enum { NODES_MAX = 1 << 24, EDGES_FIRST = 4096 }; /* a node's number and a byte fit into 32 bits */

static void put_edge(struct qn_token_trie *t, uint32_t key, uint32_t to)
{
    uint32_t at = key * 2654435761u >> 9 & t->mask;
    while (t->edge[at].to != 0)
        at = (at + 1) & t->mask;
    t->edge[at] = (struct qn_token_edge){key, to};
}

/* Doubles the number of edges and leaves; at most half of the hash table is in use. */
static void grow(struct qn_token_trie *t)
{
    struct qn_token_edge *old = t->edge;
    uint32_t n = t->mask + 1;
    t->mask = 2 * n - 1;
    t->edge = qn_xcalloc(2 * (size_t)n, sizeof *t->edge);
    for (uint32_t i = 0; i < n; i++)
        if (old[i].to != 0)
            put_edge(t, old[i].key, old[i].to);
    free(old);
    t->leaf = qn_xrealloc(t->leaf, (size_t)n * sizeof *t->leaf);
}

static qn_err add(struct qn_token_trie *t, const struct qn_vocab *v, int32_t id, struct qn_error *e)
{
    const struct qn_token *token = &v->token[id];
    uint32_t node = 0;
    for (uint32_t i = 0; i < token->n; i++) {
        uint32_t next = qn_token_trie_step(t, node, (unsigned char)token->s[i]);
        if (next == 0) {
            if (t->nodes >= NODES_MAX)
                return qn_fail(e, QN_ELIMIT, "the vocabulary is too large for this tokenizer");
            if (2 * t->nodes > t->mask)
                grow(t);
            next = t->nodes++;
            t->leaf[next].id = -1;
            put_edge(t, node << 8 | (unsigned char)token->s[i], next);
        }
        node = next;
    }
    if (t->leaf[node].id < 0)
        t->leaf[node] =
            (struct qn_token_leaf){id, v->score && token->kind != QN_TOKEN_USER ? v->score[id] : 0};
    return QN_OK;
}

qn_err qn_token_trie_init(struct qn_token_trie *t, const struct qn_vocab *v, unsigned kinds,
                          struct qn_error *e)
{
    *t = (struct qn_token_trie){.mask = EDGES_FIRST - 1, .nodes = 1};
    t->edge = qn_xcalloc(EDGES_FIRST, sizeof *t->edge);
    t->leaf = qn_xcalloc(EDGES_FIRST / 2, sizeof *t->leaf);
    t->leaf[0].id = -1;
    qn_err err = QN_OK;
    for (int32_t i = 0; i < v->n && err == QN_OK; i++)
        if (v->token[i].n > 0 && (kinds >> v->token[i].kind & 1u) != 0)
            err = add(t, v, i, e);
    return err;
}

void qn_token_trie_deinit(struct qn_token_trie *t)
{
    free(t->edge);
    free(t->leaf);
    *t = (struct qn_token_trie){.nodes = 0};
}
