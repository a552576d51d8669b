/* What runs a constraint's program over bytes: the places where the text may be, all of them at
 * once.
 *
 * A node is such a set of places: each a state of an automaton and the stack of what has to follow
 * it. Nodes and stacks are hash-consed, so equal ones are one, and what has been found out about a
 * node (where bytes lead, which tokens may follow) is found out once. Memory is bounded: nodes
 * without a reference are forgotten when there are too many. Compute thread only. */
#ifndef QN_GRAMMAR_CONSTRAIN_MACHINE_H
#define QN_GRAMMAR_CONSTRAIN_MACHINE_H

#include "grammar/constrain_program.h"

enum {
    QN_MACHINE_PLACES_MAX = 4096,    /* places of one node */
    QN_MACHINE_CLOSURE_MAX = 100000, /* steps without a byte in one go */
    QN_MACHINE_BYTES_MAX =
        48 << 20, /* of nodes, stacks and masks, before the unused are forgotten */
    QN_MACHINE_BYTES_HARD = 96 << 20 /* beyond which no byte leads anywhere new */
};

struct qn_stack; /* what has to follow, NULL: nothing */

struct qn_place {
    uint32_t dfa, state, count; /* count: characters so far, of a counted automaton */
    struct qn_stack *up;
};

struct qn_constraint_node {
    struct qn_constraint_node *chain; /* in the hash table */
    uint64_t hash;
    uint32_t refs;     /* of answers */
    bool accept;       /* the text may end here */
    uint64_t first[4]; /* the bytes that may come next (one of them too many only if counted) */
    struct qn_constraint_node **to; /* [256] where bytes lead, NULL: not known yet; or NULL */
    struct qn_mask *mask;           /* constrain_mask.c's, NULL: not made yet */
    uint32_t n;
    struct qn_place v[]; /* [n], sorted */
};

struct qn_machine {
    const struct qn_constraint_program *p;
    struct qn_constraint_node **nodes; /* [node_mask + 1] */
    struct qn_stack **stacks;          /* [stack_mask + 1] */
    uint32_t node_mask, stack_mask, n_nodes, n_stacks;
    struct qn_constraint_node *start; /* holds one reference; NULL: nothing can be
                                         said, or its closure met a limit */
    size_t bytes;                     /* of all that, masks included */
    size_t steps;                     /* of all closures so far, the measure of work */
    bool gave_up; /* since the last tidying one of these limits was met: what led nowhere may have
                     led on */
    uint32_t epoch;
    struct qn_closure *work;
};

void qn_machine_init(struct qn_machine *m, const struct qn_constraint_program *p);
void qn_machine_deinit(struct qn_machine *m);

/* The node after one byte more; NULL: the byte may not come. Lent until qn_machine_tidy. */
struct qn_constraint_node *qn_machine_step(struct qn_machine *m, struct qn_constraint_node *from,
                                           uint8_t byte);
/* The node when the automaton of this place has ended. Lent likewise. */
struct qn_constraint_node *qn_machine_leave(struct qn_machine *m, const struct qn_place *place);
/* The state after a byte in one place; false: it may not come. */
bool qn_place_step(const struct qn_constraint_program *p, struct qn_place *place, uint8_t byte);
/* The automaton of this place may end here. */
bool qn_place_ends(const struct qn_constraint_program *p, const struct qn_place *place);

/* Forgets nodes without a reference when there are too many. */
void qn_machine_tidy(struct qn_machine *m);

#endif
