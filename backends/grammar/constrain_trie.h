/* A vocabulary as a prefix tree over bytes, laid out depth first in one array, so that a walk over
 * the tokens an automaton allows touches each common beginning once. Immutable. */
#ifndef QN_GRAMMAR_CONSTRAIN_TRIE_H
#define QN_GRAMMAR_CONSTRAIN_TRIE_H

#include "grammar/constrain.h"

/* Stands before a control token's written form, in the tree and in grammars: no text has this byte.
 */
#define QN_CONTROL_BYTE 0xff

struct qn_trie_node {
    uint32_t skip;  /* the first node behind everything below this one */
    int32_t token;  /* that ends here, -1: none */
    uint16_t depth; /* bytes up to here, at least 1; the root is not in the array */
    uint8_t byte;
};

struct qn_trie {
    struct qn_trie_node *v;
    uint32_t n;
    uint32_t depth; /* of the deepest node */
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
