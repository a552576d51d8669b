/* Tables for terminals of 80 columns. The first column is shortened if necessary; the others are as
 * wide as their content, within limits; spare width goes to the last column. If a terminal is too
 * narrow for the columns, each row becomes a block of lines. Widths are columns of the terminal,
 * not bytes or characters. */
#ifndef QN_CLI_TABLE_H
#define QN_CLI_TABLE_H

#include "base/buf.h"

#include <stddef.h>

enum { QN_TABLE_COLUMNS_MAX = 9, QN_TABLE_WIDTH = 80 };

struct qn_table;

struct qn_table *qn_table_new(size_t columns, const char *const *titles);
void qn_table_row(struct qn_table *t, const char *const *cells); /* cells are copied; NULL is "" */
void qn_table_write(const struct qn_table *t, size_t width, struct qn_buf *out);
/* Prints on stdout in the terminal's width; QN_TABLE_WIDTH if stdout is not a terminal. */
void qn_table_print(const struct qn_table *t);
/* Appends s in at most `width` columns; a longer text loses its middle. Returns the columns used.
 * Characters that may not be shown are replaced by '?'. */
size_t qn_table_fit(struct qn_buf *out, const char *s, size_t width);
void qn_table_free(struct qn_table *t);

/* Writes "7.9 MB", "1.2 GB" (powers of 1000) to out. */
void qn_human_bytes(double bytes, char out[static 16]);
/* Writes "5.6M", "1.2B" to out; "-" if unknown. */
void qn_human_count(double count, char out[static 16]);

#endif
