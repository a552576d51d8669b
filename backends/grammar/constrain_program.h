/* A folded grammar as what the machine runs: instructions in continuation-passing style. Place 0 is
 * the return of every rule. Immutable. */
#ifndef QN_GRAMMAR_CONSTRAIN_PROGRAM_H
#define QN_GRAMMAR_CONSTRAIN_PROGRAM_H

#include "grammar/constrain_grammar.h"

enum {
    QN_PROGRAM_MAX = 1 << 20, /* instructions, and ways of alternatives */
    QN_PROGRAM_EXPAND = 8     /* a repetition up to so many times is written out */
};

enum qn_op {
    QN_OP_RETURN,
    QN_OP_TERM, /* the automaton `arg`, then next */
    QN_OP_ANY,  /* one of ways[arg .. arg + n) */
    QN_OP_CALL, /* the rule `arg`, then next */
    QN_OP_LOOP  /* the body at `arg`, min to max times, then next; the body returns here */
};

struct qn_instr {
    uint8_t op;
    bool nullable; /* LOOP: the body allows the empty text; min is 0 then */
    uint32_t next, arg, n, min, max;
};

struct qn_constraint_program {
    struct qn_instr *v;
    uint32_t n, cap;
    uint32_t *ways;
    uint32_t n_ways, cap_ways;
    uint32_t *entry; /* of each rule */
    uint32_t n_rules;
    struct qn_dfa *dfas;
    uint32_t n_dfas;
};

/* Takes the grammar's automata. QN_EUNSUPPORTED: a rule begins with itself (left recursion).
 * QN_ELIMIT. */
qn_err qn_program_make(struct qn_grammar *g, struct qn_constraint_program *out, struct qn_error *e);
void qn_program_deinit(struct qn_constraint_program *p);
size_t qn_program_bytes(const struct qn_constraint_program *p);

#endif
