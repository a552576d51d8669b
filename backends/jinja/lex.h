/* The tokens of a chat template. */
#ifndef QN_JINJA_LEX_H
#define QN_JINJA_LEX_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qn_ttoken_kind {
    QN_TOK_TEXT, /* between tags */
    QN_TOK_NAME,
    QN_TOK_INT,
    QN_TOK_FLOAT,
    QN_TOK_STRING, /* s is what the quotes mean */
    QN_TOK_PUNCT,
    QN_TOK_OPEN_EXPR, /* {{ */
    QN_TOK_CLOSE_EXPR,
    QN_TOK_OPEN_STMT, /* {% */
    QN_TOK_CLOSE_STMT,
    QN_TOK_END
};

struct qn_ttoken {
    enum qn_ttoken_kind kind;
    uint32_t line;
    const char *s;
    size_t n;
};

/* A template's text as the lexer wants it: line ends are \n, one at the very end is gone. */
const char *qn_tlex_prepare(struct qn_arena *arena, const char *source, size_t n, size_t *ready);

/* Splits the whole text. *out is malloc'ed, ends with QN_TOK_END and is the caller's; its strings
 * point into the text or the arena. QN_EFORMAT says in which line. */
qn_err qn_tlex(const char *text, size_t n, struct qn_arena *arena, struct qn_ttoken **out,
               struct qn_error *e);

bool qn_ttoken_is(const struct qn_ttoken *t, enum qn_ttoken_kind kind, const char *s);

/* What the quotes of a string mean (lex_string.c); false for a broken escape. */
bool qn_tlex_unescape(struct qn_arena *arena, const char *s, size_t n, const char **out,
                      size_t *out_n);

#endif
