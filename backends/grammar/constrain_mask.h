/* Which tokens may follow a node of the machine.
 *
 * A token that stays within one automaton depends on nothing but that automaton's state, so these
 * are found by one walk over the vocabulary per state and kept for the whole constraint; the walk
 * also notes after which beginnings of tokens the automaton may be left. A node's mask is then the
 * union over its places, and only what follows those beginnings is checked against what the node's
 * stacks ask for. Source of the split: XGrammar (arXiv:2411.15100, section 3.1). Compute thread
 * only. */
#ifndef QN_GRAMMAR_CONSTRAIN_MASK_H
#define QN_GRAMMAR_CONSTRAIN_MASK_H

#include "grammar/constrain_machine.h"
#include "grammar/constrain_trie.h"

enum {
    QN_MASK_WORK_MAX = 8 << 20, /* steps of the machine for one mask, its closures' included */
    QN_MASK_WALK_STEP = 16,     /* nodes of the tree that cost an automaton as much as one step */
    QN_MASK_LEXICAL_MAX =
        32 << 20 /* bytes of what is known of automata's states of one constraint */
};

struct qn_mask {
    uint32_t count; /* tokens, end tokens not among them */
    int32_t *ids;   /* [count] ascending, when they are few; else NULL and bits */
    uint64_t *bits; /* [words] */
    size_t bytes;
};
size_t qn_mask_bytes(const struct qn_mask *m); /* NULL allowed */
void qn_mask_free(struct qn_mask *m);          /* NULL allowed */

struct qn_mask_maker {
    const struct qn_trie *trie;
    struct qn_machine *machine;
    struct lexical **lexical; /* [mask + 1] hash table of what is known of automata's states */
    uint32_t lexical_mask, n_lexical;
    size_t bytes;
    uint32_t *states, *counts;         /* [depth + 1] of a walk */
    struct qn_constraint_node **nodes; /* [depth + 1] */
    uint64_t *bits, *scratch;          /* [words] */
    size_t work;
};

void qn_mask_maker_init(struct qn_mask_maker *k, const struct qn_trie *t, struct qn_machine *m);
void qn_mask_maker_deinit(struct qn_mask_maker *k);

/* The node's mask, lent as long as the node and until qn_machine_tidy. NULL: a limit of work or of
 * memory was met on the way. */
const struct qn_mask *qn_mask_of(struct qn_mask_maker *k, struct qn_constraint_node *n);
/* Sets the logits [vocab] of all tokens but these, and the end tokens if the node accepts, to
 * -INFINITY. */
void qn_mask_apply(const struct qn_mask *m, const struct qn_trie *t, bool accept, float *logits,
                   int32_t vocab);

#endif
