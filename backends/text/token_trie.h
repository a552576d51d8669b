/* A trie of a vocabulary's bytes, for tokenizers that look for tokens at every place of a text: one
 * step per byte through one hash table of edges. Immutable after construction. */
#ifndef QN_TEXT_TOKEN_TRIE_H
#define QN_TEXT_TOKEN_TRIE_H

#include "text/vocab.h"

struct qn_token_edge {
    uint32_t key, to; /* node·256 + byte; the node behind it, 0: an empty slot, since no edge leads
                         to the root */
};

struct qn_token_leaf {
    int32_t id;  /* the token whose bytes lead here, -1: none */
    float score; /* its score; 0 for tokens of users, and where the vocabulary has none */
};

struct qn_token_trie {
    struct qn_token_edge *edge; /* [mask + 1] */
    struct qn_token_leaf *leaf; /* [nodes], node 0 is the root */
    uint32_t mask, nodes;
};

/* The tokens whose kind is in kinds, a mask of 1 << enum qn_token_kind; of equal texts the lowest
 * id. QN_ELIMIT: the vocabulary's bytes make too many nodes. */
qn_err qn_token_trie_init(struct qn_token_trie *t, const struct qn_vocab *v, unsigned kinds,
                          struct qn_error *e);
void qn_token_trie_deinit(struct qn_token_trie *t);

/* The node behind `node` and byte c; 0: there is none. */
static inline uint32_t qn_token_trie_step(const struct qn_token_trie *t, uint32_t node,
                                          unsigned char c)
{
    uint32_t key = node << 8 | c, at = key * 2654435761u >> 9 & t->mask;
    while (t->edge[at].key != key && t->edge[at].to != 0)
        at = (at + 1) & t->mask;
    return t->edge[at].to;
}

#endif
