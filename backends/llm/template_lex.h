/* The tokens of a chat template. */
#ifndef QN_LLM_TEMPLATE_LEX_H
#define QN_LLM_TEMPLATE_LEX_H

#include "base/arena.h"
#include "base/error.h"
#include "llm/template_source.h"

#include <stdbool.h>

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
    uint32_t at;
    const char *s;
    size_t n;
};

/* Splits the whole source. *out is malloc'ed, ends with QN_TOK_END and is the caller's; its strings
 * point into the source or the arena. QN_EFORMAT says where. */
qn_err qn_tlex(const struct qn_tsource *source, struct qn_arena *arena, struct qn_ttoken **out,
               struct qn_error *e);

bool qn_ttoken_is(const struct qn_ttoken *t, enum qn_ttoken_kind kind, const char *s);

#endif
