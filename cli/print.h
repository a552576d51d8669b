/* Prints texts from a server, a file or a model. No text can control the terminal. */
#ifndef QN_CLI_PRINT_H
#define QN_CLI_PRINT_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void qn_print_json(const struct qn_jref *value); /* prints one line on stdout */

/* Prints a text in one line; control characters and direction characters are replaced by '?'. */
void qn_print_safe(FILE *out, const char *text);
void qn_print_line(const char *text); /* Like qn_print_safe on stdout, with a newline. */

/* Prints words in lines of at most `width` columns where their length allows. The cursor is at
 * column `indent`, and later lines are indented by as much. */
void qn_print_wrapped(const char *text, size_t indent, size_t width);

/* Prints a piece of a reply at once; line breaks and tabs are kept. If stdout is a terminal, escape
 * sequences and other control characters are removed. False if the output was closed. */
bool qn_print_answer(const char *text, size_t n);

/* The character at s[0..n), n > 0: its length in bytes, its width in columns (0, 1 or 2), and
 * whether it may be shown; if not, print '?' in its place. Needs the locale that main sets. */
struct qn_glyph {
    size_t bytes, columns;
    bool shown;
};
struct qn_glyph qn_print_glyph(const char *s, size_t n);

#endif
