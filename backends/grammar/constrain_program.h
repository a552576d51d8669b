/* A folded grammar compiled to instructions for the machine, in continuation-passing style.
 * Instruction 0 is the return of every rule. Immutable. */
#ifndef QN_GRAMMAR_CONSTRAIN_PROGRAM_H
#define QN_GRAMMAR_CONSTRAIN_PROGRAM_H

#include "grammar/constrain_grammar.h"

enum {
    QN_PROGRAM_MAX = 1 << 20, /* limit of instructions, and of entries in `ways` */
    QN_PROGRAM_EXPAND = 8     /* a repetition of at most this many times is unrolled */
};

enum qn_op {
    QN_OP_RETURN,
    QN_OP_TERM, /* run automaton `arg`, then continue at next */
    QN_OP_ANY,  /* continue at any of ways[arg .. arg + n) */
    QN_OP_CALL, /* run rule `arg`, then continue at next */
    QN_OP_LOOP  /* run the body at `arg` min to max times, then continue at next; the body returns
                   to this LOOP */
};

struct qn_instr {
    uint8_t op;
    bool nullable; /* LOOP: the body allows the empty text; min is then 0 */
    uint32_t next, arg, n, min, max;
};

struct qn_constraint_program {
    struct qn_instr *v;
    uint32_t n, cap;
    uint32_t *ways;
    uint32_t n_ways, cap_ways;
    uint32_t *entry; /* first instruction of each rule */
    uint32_t n_rules;
    struct qn_dfa *dfas;
    uint32_t n_dfas;
};

/* Takes ownership of the grammar's automata. QN_EUNSUPPORTED: a rule begins with itself (left
 * recursion). QN_ELIMIT: too many instructions, or the budget is used up. */
qn_err qn_program_make(struct qn_grammar *g, struct qn_constraint_program *out, struct qn_error *e);
void qn_program_deinit(struct qn_constraint_program *p);
size_t qn_program_bytes(const struct qn_constraint_program *p);

#endif
