/* Compiles regular expressions in the syntax of JSON Schema's "pattern" (ECMA-262 with Unicode) to
 * automata. */
#ifndef QN_GRAMMAR_CONSTRAIN_REGEX_H
#define QN_GRAMMAR_CONSTRAIN_REGEX_H

#include "grammar/constrain_grammar.h"

enum {
    QN_REGEX_DEPTH_MAX = 64,    /* nested groups */
    QN_REGEX_REPEAT_MAX = 10000 /* largest n in {n} */
};

/* Makes the automaton of all texts in which the expression matches somewhere; ^ and $ require a
 * match at the beginning or the end. Not supported: back references, word boundaries, lookbehind,
 * and lookahead anywhere but right after a leading "^". QN_EUNSUPPORTED for those, QN_EINVAL for a
 * malformed expression, QN_ELIMIT. */
qn_err qn_regex_compile(const char *pattern, enum qn_gx_encoding encoding,
                        struct qn_constraint_budget *budget, struct qn_dfa *out,
                        struct qn_error *e);

#endif
