/* Input of a text over several lines: a backslash at the end of a line joins the next one, and
 * three double quotes begin and end a text of several lines. Independent of the terminal. */
#ifndef QN_CLI_MULTILINE_H
#define QN_CLI_MULTILINE_H

#include "base/buf.h"

#include <stdbool.h>

struct qn_multiline {
    struct qn_buf text;
    size_t lines; /* number of lines in text */
    bool quoted;  /* the text began with three quotes */
};

void qn_multiline_init(struct qn_multiline *m, size_t limit);
void qn_multiline_deinit(struct qn_multiline *m);
void qn_multiline_clear(struct qn_multiline *m);

/* Adds a line of n bytes (a line break at its end is ignored). True if the text is complete;
 * text.overflow is set if it exceeds the limit. */
bool qn_multiline_add(struct qn_multiline *m, const char *line, size_t n);

#endif
