/* Printing what came from a server, a file or a model: nothing in it may steer the terminal. */
#ifndef QN_CLI_PRINT_H
#define QN_CLI_PRINT_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void qn_print_json(const struct qn_jref *value); /* one line on stdout */

/* One line's text; control characters and reversals of direction are shown as '?'. */
void qn_print_safe(FILE *out, const char *text);
void qn_print_line(const char *text); /* the same on stdout, and a newline */

/* Its words in lines of at most `width` columns where words allow it, the later ones indented by
 * `indent`, which the cursor stands at. */
void qn_print_wrapped(const char *text, size_t indent, size_t width);

/* Text of an answer as it comes, at once; line breaks and tabs stay. When stdout is a terminal,
 * escape sequences and other control characters are left out. False when the reader of the output
 * has gone. */
bool qn_print_answer(const char *text, size_t n);

/* The character at s[0..n), n > 0: its bytes, the columns it takes (0, 1 or 2), and whether it may
 * be shown; if not, '?' is to stand for it. Needs the locale of main. */
struct qn_glyph {
    size_t bytes, columns;
    bool shown;
};
struct qn_glyph qn_print_glyph(const char *s, size_t n);

#endif
