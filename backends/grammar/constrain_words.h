/* Makes the minimal automaton that accepts exactly the texts of a list. For thousands of texts this
 * is far faster than the general construction (constrain_nfa.c). */
#ifndef QN_GRAMMAR_CONSTRAIN_WORDS_H
#define QN_GRAMMAR_CONSTRAIN_WORDS_H

#include "grammar/constrain_grammar.h"

/* words: [n], each of kind QN_GX_BYTES, in any order, duplicates allowed; n >= 1. QN_ELIMIT when
 * the automaton has too many states or the budget is used up. */
qn_err qn_dfa_of_words(const struct qn_gx *const *words, size_t n,
                       struct qn_constraint_budget *budget, struct qn_dfa *out, struct qn_error *e);

#endif
