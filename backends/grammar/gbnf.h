/* Parses grammars in llama.cpp's notation (GBNF): rules "name ::= alternatives" of quoted texts,
 * character classes, names and groups, with *, +, ?, {m,n}; "#" begins a comment. The start symbol
 * is "root". */
#ifndef QN_GRAMMAR_GBNF_H
#define QN_GRAMMAR_GBNF_H

#include "grammar/constrain.h"
#include "grammar/constrain_grammar.h"

enum { QN_GBNF_DEPTH_MAX = 64 /* nested groups */ };

/* Adds the rules to g, which must be empty; rule 0 is root. Names that are used but not defined
 * become rules without a body. Tokens written as <...> are looked up in the vocabulary v. QN_EINVAL
 * with the line number, QN_EUNSUPPORTED, QN_ELIMIT. */
qn_err qn_gbnf_parse(struct qn_grammar *g, const char *text, const struct qn_constrain_vocab *v,
                     struct qn_error *e);

#endif
