/* A vocabulary as a prefix tree over bytes, stored depth first in one array. A walk over the tokens
 * that an automaton allows visits each common prefix once. Immutable. */
#ifndef QN_GRAMMAR_CONSTRAIN_TRIE_H
#define QN_GRAMMAR_CONSTRAIN_TRIE_H

#include "grammar/constrain.h"

/* Precedes a control token's written form in the tree and in grammars. This byte does not occur in
 * UTF-8 text. */
#define QN_CONTROL_BYTE 0xff

struct qn_trie_node {
    uint32_t skip;  /* index of the first node after this node's subtree */
    int32_t token;  /* token whose bytes end at this node, -1: none */
    uint16_t depth; /* bytes from the root to this node, at least 1; the root is not in the array */
    uint8_t byte;
};

struct qn_trie {
    struct qn_trie_node *v;
    uint32_t n;
    uint32_t depth; /* depth of the deepest node */
    int32_t *same;  /* [tokens] another token with the same bytes, -1: none */
    int32_t *end;   /* end tokens, which are not in the tree */
    uint32_t n_end;
    int32_t tokens;
    uint32_t words; /* 64-bit words of a bit set of tokens */
};

void qn_trie_init(struct qn_trie *t, const struct qn_constrain_vocab *v);
void qn_trie_deinit(struct qn_trie *t);
bool qn_trie_is_end(const struct qn_trie *t, int32_t id);

#endif
