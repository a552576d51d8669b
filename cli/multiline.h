/* A text typed line by line: a final backslash joins the next line, and three double quotes begin
 * and end a text of many lines. Knows no terminal. */
#ifndef QN_CLI_MULTILINE_H
#define QN_CLI_MULTILINE_H

#include "base/buf.h"

#include <stdbool.h>

struct qn_multiline {
    struct qn_buf text;
    size_t lines; /* in text */
    bool quoted;  /* it was opened by three quotes */
};

void qn_multiline_init(struct qn_multiline *m, size_t limit);
void qn_multiline_deinit(struct qn_multiline *m);
void qn_multiline_clear(struct qn_multiline *m);

/* Adds a line of n bytes (a line break at its end is ignored). True when the text is complete;
 * text.overflow when it grew beyond the limit. */
bool qn_multiline_add(struct qn_multiline *m, const char *line, size_t n);

#endif
