/* The tokens of a chat template. */
#ifndef QN_JINJA_LEX_H
#define QN_JINJA_LEX_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qn_ttoken_kind {
    QN_TOK_TEXT, /* text between tags */
    QN_TOK_NAME,
    QN_TOK_INT,
    QN_TOK_FLOAT,
    QN_TOK_STRING, /* s: the contents, with escapes resolved */
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

/* Prepares a template's text for the lexer: line ends become \n, and one at the very end is
 * removed. */
const char *qn_tlex_prepare(struct qn_arena *arena, const char *source, size_t n, size_t *ready);

/* Splits the whole text into tokens. *out is allocated with malloc, ends with QN_TOK_END and is
 * owned by the caller; its strings point into the text or the arena. QN_EFORMAT with the line
 * number in the message. */
qn_err qn_tlex(const char *text, size_t n, struct qn_arena *arena, struct qn_ttoken **out,
               struct qn_error *e);

bool qn_ttoken_is(const struct qn_ttoken *t, enum qn_ttoken_kind kind, const char *s);

/* Resolves the escapes of a string literal (lex_string.c); false for an invalid escape. */
bool qn_tlex_unescape(struct qn_arena *arena, const char *s, size_t n, const char **out,
                      size_t *out_n);

#endif
