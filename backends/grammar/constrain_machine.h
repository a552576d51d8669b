/* Runs a constraint's program over bytes and keeps all positions in the grammar that the bytes so
 * far can have led to. A node is such a set of positions ("places"); each place is a state of an
 * automaton and the stack of instructions that must follow it. Nodes and stacks are hash-consed:
 * equal ones are the same object, and what is computed for a node (transitions, the token mask) is
 * computed once. Memory is bounded: when there are too many nodes, those without a reference are
 * freed. Compute thread only. */
#ifndef QN_GRAMMAR_CONSTRAIN_MACHINE_H
#define QN_GRAMMAR_CONSTRAIN_MACHINE_H

#include "grammar/constrain_program.h"

enum {
    QN_MACHINE_PLACES_MAX = 4096,    /* places of one node */
    QN_MACHINE_CLOSURE_MAX = 100000, /* steps of one closure, that is, without reading a byte */
    QN_MACHINE_BYTES_MAX =
        48 << 20, /* bytes of nodes, stacks and masks above which unreferenced nodes are freed */
    QN_MACHINE_BYTES_HARD = 96 << 20 /* bytes above which no new node is made */
};

struct qn_stack; /* instructions that must follow; NULL: none */

struct qn_place {
    uint32_t dfa, state, count; /* count: characters so far, for a counted automaton */
    struct qn_stack *up;
};

struct qn_constraint_node {
    struct qn_constraint_node *chain; /* next in the hash bucket */
    uint64_t hash;
    uint32_t refs;     /* references from sequences */
    bool accept;       /* the text may end here */
    uint64_t first[4]; /* bitmap of the bytes that may come next; a counted automaton can have set
                          bits for bytes that its count does not allow */
    struct qn_constraint_node **to; /* [256] node after each byte, NULL entry: not computed; NULL
                                       array: none computed */
    struct qn_mask *mask;           /* made by constrain_mask.c; NULL: not computed */
    uint32_t n;
    struct qn_place v[]; /* [n], sorted */
};

struct qn_machine {
    const struct qn_constraint_program *p;
    struct qn_constraint_node **nodes; /* [node_mask + 1] */
    struct qn_stack **stacks;          /* [stack_mask + 1] */
    uint32_t node_mask, stack_mask, n_nodes, n_stacks;
    struct qn_constraint_node *start; /* holds one reference; NULL: no text is allowed, or the
                                         closure met a limit */
    size_t bytes;                     /* memory of all the above, masks included */
    size_t steps;                     /* steps of all closures so far; measures the work done */
    bool gave_up; /* a limit was met since the last tidying, so a missing transition may be due to
                     the limit */
    uint32_t epoch;
    struct qn_closure *work;
};

void qn_machine_init(struct qn_machine *m, const struct qn_constraint_program *p);
void qn_machine_deinit(struct qn_machine *m);

/* The node after one more byte; NULL when the byte is not allowed. Borrowed until
 * qn_machine_tidy. */
struct qn_constraint_node *qn_machine_step(struct qn_machine *m, struct qn_constraint_node *from,
                                           uint8_t byte);
/* The node after the automaton of this place has ended. Borrowed until qn_machine_tidy. */
struct qn_constraint_node *qn_machine_leave(struct qn_machine *m, const struct qn_place *place);
/* Advances one place by a byte; false when the byte is not allowed. */
bool qn_place_step(const struct qn_constraint_program *p, struct qn_place *place, uint8_t byte);
/* Whether the automaton of this place may end here. */
bool qn_place_ends(const struct qn_constraint_program *p, const struct qn_place *place);

/* Frees nodes without a reference when memory is above QN_MACHINE_BYTES_MAX. */
void qn_machine_tidy(struct qn_machine *m);

#endif
