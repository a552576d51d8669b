/* Regular expressions as JSON Schema's "pattern" has them (ECMA-262 with Unicode) become automata.
 */
#ifndef QN_GRAMMAR_CONSTRAIN_REGEX_H
#define QN_GRAMMAR_CONSTRAIN_REGEX_H

#include "grammar/constrain_grammar.h"

enum {
    QN_REGEX_DEPTH_MAX = 64,    /* groups within groups */
    QN_REGEX_REPEAT_MAX = 10000 /* {n} */
};

/* The texts in which the expression is found anywhere, unless it is anchored. Not understood: back
 * references, word boundaries, looking behind, and looking ahead anywhere but right after a leading
 * "^". QN_EUNSUPPORTED for those, QN_EINVAL for what is no expression, QN_ELIMIT. */
qn_err qn_regex_compile(const char *pattern, enum qn_gx_encoding encoding,
                        struct qn_constraint_budget *budget, struct qn_dfa *out,
                        struct qn_error *e);

#endif
