/* Grammars as llama.cpp writes them (GBNF): rules "name ::= alternatives" of quoted texts,
 * character classes, names and groups, with *, +, ?, {m,n}; "#" begins a comment. The start symbol
 * is "root". */
#ifndef QN_GRAMMAR_GBNF_H
#define QN_GRAMMAR_GBNF_H

#include "grammar/constrain.h"
#include "grammar/constrain_grammar.h"

enum { QN_GBNF_DEPTH_MAX = 64 /* groups within groups */ };

/* Adds the rules to g, which is empty: rule 0 is root. Names that are used and not defined become
 * rules without a body. The vocabulary is asked for the tokens that <...> stands for. QN_EINVAL
 * with the line, QN_EUNSUPPORTED, QN_ELIMIT. */
qn_err qn_gbnf_parse(struct qn_grammar *g, const char *text, const struct qn_constrain_vocab *v,
                     struct qn_error *e);

#endif
