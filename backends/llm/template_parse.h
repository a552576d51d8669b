/* From tokens to the syntax tree: statements in template_parse.c, expressions in
 * template_expression.c. */
#ifndef QN_LLM_TEMPLATE_PARSE_H
#define QN_LLM_TEMPLATE_PARSE_H

#include "base/error.h"
#include "llm/template_compiled.h"
#include "llm/template_lex.h"

/* Fills body and symbols of a template whose source is set. QN_EFORMAT says where and what. */
qn_err qn_tparse(struct qn_template *t, struct qn_error *e);

/* What the two files share. Every function that returns a node answers NULL after it has recorded
 * a message; the first one stays. */
struct qn_tparser {
    struct qn_template *t;
    const struct qn_ttoken *tok; /* the next token */
    struct qn_error *e;
    qn_err err;
    int depth;            /* brackets and blocks that are open */
    size_t loops;         /* how often `loop` was mentioned */
    bool varargs, kwargs; /* seen since the innermost macro began, in macros within it too */
    uint32_t symbols_cap;
};

void *qn_tparse_fail(struct qn_tparser *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct qn_tnode *qn_tparse_node(struct qn_tparser *p, enum qn_tkind kind, uint32_t at);
/* Takes the heights of a node's children into account; fails when the tree becomes too high. */
struct qn_tnode *qn_tparse_done(struct qn_tparser *p, struct qn_tnode *node);

/* A growing list of children; qn_tparse_kids copies it into the template and frees it. */
struct qn_tkids {
    const struct qn_tnode **v;
    size_t n, cap;
};
void qn_tkids_add(struct qn_tkids *k, const struct qn_tnode *node);
struct qn_tnodes qn_tparse_kids(struct qn_tparser *p, struct qn_tkids *k);

bool qn_tparse_at(const struct qn_tparser *p, enum qn_ttoken_kind kind, const char *s);
bool qn_tparse_accept(struct qn_tparser *p, enum qn_ttoken_kind kind, const char *s);
bool qn_tparse_expect(struct qn_tparser *p, const char *punct);
bool qn_tparse_down(struct qn_tparser *p); /* one bracket or block deeper; p->depth-- comes back */
uint32_t qn_tparse_symbol(struct qn_tparser *p, const char *s, size_t n);

const struct qn_tnode *qn_tparse_expression(struct qn_tparser *p);
/* a, b, c without brackets: a tuple; a single expression stands for itself. Primaries only: the
 * targets of a loop, which end before `in`. */
const struct qn_tnode *qn_tparse_sequence(struct qn_tparser *p, bool primaries);
const struct qn_tnode *qn_tparse_postfix(struct qn_tparser *p);
/* name or name(arguments), after `|` or `filter`. */
const struct qn_tnode *qn_tparse_filter(struct qn_tparser *p, const struct qn_tnode *operand,
                                        uint32_t at);
bool qn_tparse_arguments(struct qn_tparser *p, struct qn_tnodes *out);

#endif
