/* A trie of a vocabulary's bytes, for tokenizers that search for tokens at every position of a
 * text: one lookup per byte in one hash table of edges. Immutable after construction. */
#ifndef QN_TEXT_TOKEN_TRIE_H
#define QN_TEXT_TOKEN_TRIE_H

#include "text/vocab.h"

struct qn_token_edge {
    uint32_t key, to; /* key: node * 256 + byte; to: the child node, 0: an empty slot, because no
                         edge leads to the root */
};

struct qn_token_leaf {
    int32_t id;  /* the token that ends at this node, -1: none */
    float score; /* the token's score; 0 for user-defined tokens and for vocabularies without
                    scores */
};

struct qn_token_trie {
    struct qn_token_edge *edge; /* [mask + 1] */
    struct qn_token_leaf *leaf; /* [nodes]; node 0 is the root */
    uint32_t mask, nodes;
};

/* Adds the tokens whose kind is in `kinds`, a mask of 1 << enum qn_token_kind; of equal texts the
 * token with the lowest id. QN_ELIMIT: the vocabulary needs too many nodes. */
qn_err qn_token_trie_init(struct qn_token_trie *t, const struct qn_vocab *v, unsigned kinds,
                          struct qn_error *e);
void qn_token_trie_deinit(struct qn_token_trie *t);

/* The child of `node` for byte c; 0: none. */
static inline uint32_t qn_token_trie_step(const struct qn_token_trie *t, uint32_t node,
                                          unsigned char c)
{
    uint32_t key = node << 8 | c, at = key * 2654435761u >> 9 & t->mask;
    while (t->edge[at].key != key && t->edge[at].to != 0)
        at = (at + 1) & t->mask;
    return t->edge[at].to;
}

#endif
