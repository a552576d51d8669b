/* A template's text, made ready for the lexer, and the way back to the places a person knows.
 *
 * Made ready means: one newline at the very end goes; blanks between a line's start and a block tag
 * or comment go; so does the newline right after one; `{% generation %}` marks, which only training
 * needs, go altogether. All of it is textual, as in the reference interpreter. */
#ifndef QN_LLM_TEMPLATE_SOURCE_H
#define QN_LLM_TEMPLATE_SOURCE_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct qn_tsource {
    const char *text; /* ready text */
    size_t n;
    const char *original;
    size_t original_n;
    struct qn_tcut {
        uint32_t at,
            before; /* from this offset of text on, this many bytes of the original are gone */
    } * cuts;
    size_t cuts_n;
};

/* Everything lives in the arena; original is copied. */
void qn_tsource_init(struct qn_tsource *s, struct qn_arena *arena, const char *original, size_t n);

/* Line and column, from 1, of an offset in the ready text. */
void qn_tsource_place(const struct qn_tsource *s, uint32_t at, unsigned *line, unsigned *column);

#endif
