/* Parses tokens to the syntax tree: statements in parse_statement.c, expressions in
 * parse_expression.c. */
#ifndef QN_JINJA_PARSE_H
#define QN_JINJA_PARSE_H

#include "base/error.h"
#include "jinja/compiled.h"
#include "jinja/lex.h"

/* Fills nodes and symbols of a template whose source is set. QN_EFORMAT with line and reason in the
 * message. */
qn_err qn_tparse(struct qn_template *t, struct qn_error *e);

/* Shared by the parser's files. Every function that returns a node returns NULL after recording a
 * message; only the first message is kept. */
struct qn_tparser {
    struct qn_template *t;
    const struct qn_ttoken *tok; /* the next token */
    struct qn_error *e;
    qn_err err;
    int depth;      /* number of open brackets and blocks */
    uint8_t escape; /* the QN_ESCAPE_... mode at this position */
    uint32_t symbols_cap;
};

void *qn_tparse_fail(struct qn_tparser *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct qn_tnode *qn_tparse_node(struct qn_tparser *p, enum qn_tkind kind);
/* Sets the height of a node from its children; fails when the tree becomes too high. */
struct qn_tnode *qn_tparse_done(struct qn_tparser *p, struct qn_tnode *node);

/* A growable list of children; qn_tparse_kids copies it into the template and frees it. */
struct qn_tkids {
    struct qn_tnode **v;
    size_t n, cap;
};
void qn_tkids_add(struct qn_tkids *k, struct qn_tnode *node);
struct qn_tnodes qn_tparse_kids(struct qn_tparser *p, struct qn_tkids *k);

bool qn_tparse_at(const struct qn_tparser *p, enum qn_ttoken_kind kind, const char *s);
bool qn_tparse_accept(struct qn_tparser *p, enum qn_ttoken_kind kind, const char *s);
bool qn_tparse_expect(struct qn_tparser *p, enum qn_ttoken_kind kind, const char *s);
bool qn_tparse_down(struct qn_tparser *p); /* enters a bracket or block; leave with p->depth-- */

/* Reads a name token and makes its node. */
struct qn_tnode *qn_tparse_name(struct qn_tparser *p, int use);

enum { QN_TUPLE_NO_CONDITION = 1, QN_TUPLE_PRIMARIES = 2, QN_TUPLE_BRACKETS = 4 };
struct qn_tnode *qn_tparse_expression(struct qn_tparser *p, bool condition);
/* Reads a, b, c without brackets as a tuple; a single expression is returned as it is. `end`: a
 * name that ends the tuple. */
struct qn_tnode *qn_tparse_tuple(struct qn_tparser *p, int how, const char *end);
/* Reads name or name(arguments) | ..., as after `filter`. operand NULL: the filters apply to the
 * text of a block. */
struct qn_tnode *qn_tparse_filters(struct qn_tparser *p, struct qn_tnode *operand,
                                   bool inline_start);
/* Reads an assignment target and sets the names' use. */
struct qn_tnode *qn_tparse_target(struct qn_tparser *p, int use, const char *end,
                                  bool with_namespace);

/* Operands: a name, literal or bracket; the postfix operators after it; then filters and tests. */
struct qn_tnode *qn_tparse_number(struct qn_tparser *p); /* number_literal.c */
struct qn_tnode *qn_tparse_primary(struct qn_tparser *p);
struct qn_tnode *qn_tparse_postfix(struct qn_tparser *p, struct qn_tnode *node);
struct qn_tnode *qn_tparse_filter_chain(struct qn_tparser *p, struct qn_tnode *node);

static inline bool qn_taccept_name(struct qn_tparser *p, const char *s)
{
    return qn_tparse_accept(p, QN_TOK_NAME, s);
}

static inline bool qn_taccept(struct qn_tparser *p, const char *s)
{
    return qn_tparse_accept(p, QN_TOK_PUNCT, s);
}

static inline bool qn_texpect(struct qn_tparser *p, const char *s)
{
    return qn_tparse_expect(p, QN_TOK_PUNCT, s);
}

static inline bool qn_tat(const struct qn_tparser *p, const char *s)
{
    return qn_tparse_at(p, QN_TOK_PUNCT, s);
}

#endif
