/* Computes which tokens may follow a node of the machine.
 *
 * For most tokens it depends only on the state of one automaton whether they may follow, because
 * all their bytes stay within that automaton. They are found by one walk over the vocabulary per
 * state and cached for the whole constraint; the walk also records after which token prefixes the
 * automaton may end. A node's mask is the union over its places, and only the tokens that continue
 * after such a prefix are checked against the node's stacks. Source of this division: XGrammar
 * (arXiv:2411.15100, section 3.1). Compute thread only. */
#ifndef QN_GRAMMAR_CONSTRAIN_MASK_H
#define QN_GRAMMAR_CONSTRAIN_MASK_H

#include "grammar/constrain_machine.h"
#include "grammar/constrain_trie.h"

enum {
    QN_MASK_WORK_MAX = 8 << 20, /* machine steps for one mask, including those of closures */
    QN_MASK_WALK_STEP = 16,     /* tree nodes walked within an automaton that count as one step */
    QN_MASK_LEXICAL_MAX = 32 << 20 /* bytes of cached automaton-state masks of one constraint */
};

struct qn_mask {
    uint32_t count; /* number of tokens, not counting end tokens */
    int32_t *ids;   /* [count] ascending, for a sparse mask; NULL: see bits */
    uint64_t *bits; /* [words] bit set, for a dense mask */
    size_t bytes;
};
size_t qn_mask_bytes(const struct qn_mask *m); /* NULL allowed */
void qn_mask_free(struct qn_mask *m);          /* NULL allowed */

struct qn_mask_maker {
    const struct qn_trie *trie;
    struct qn_machine *machine;
    struct lexical **lexical; /* [mask + 1] hash table of the automaton states' masks */
    uint32_t lexical_mask, n_lexical;
    size_t bytes;
    uint32_t *states, *counts;         /* [depth + 1] stacks of one walk */
    struct qn_constraint_node **nodes; /* [depth + 1] */
    uint64_t *bits, *scratch;          /* [words] */
    size_t work;
};

void qn_mask_maker_init(struct qn_mask_maker *k, const struct qn_trie *t, struct qn_machine *m);
void qn_mask_maker_deinit(struct qn_mask_maker *k);

/* The node's mask, borrowed until the node is freed or qn_machine_tidy is called. NULL when a limit
 * of work or of memory was met. */
const struct qn_mask *qn_mask_of(struct qn_mask_maker *k, struct qn_constraint_node *n);
/* Sets the logits [vocab] of all tokens outside the mask to -INFINITY. End tokens keep their logits
 * if accept is true. */
void qn_mask_apply(const struct qn_mask *m, const struct qn_trie *t, bool accept, float *logits,
                   int32_t vocab);

#endif
