/* Tables for terminals of 80 columns: the first column gives way, the others are as wide as they
 * need to be, within reason; room that is left goes to the last one. Where a narrower terminal has
 * no room for the columns, each row becomes a block of lines. Widths are columns of the terminal,
 * not bytes or characters. */
#ifndef QN_CLI_TABLE_H
#define QN_CLI_TABLE_H

#include "base/buf.h"

#include <stddef.h>

enum { QN_TABLE_COLUMNS_MAX = 9, QN_TABLE_WIDTH = 80 };

struct qn_table;

struct qn_table *qn_table_new(size_t columns, const char *const *titles);
void qn_table_row(struct qn_table *t, const char *const *cells); /* copied; NULL is "" */
void qn_table_write(const struct qn_table *t, size_t width, struct qn_buf *out);
/* On stdout, as wide as the terminal; QN_TABLE_WIDTH where there is none. */
void qn_table_print(const struct qn_table *t);
/* s in at most `width` columns: what is too long loses its middle. Returns the columns used. What
 * must not be shown becomes '?'. */
size_t qn_table_fit(struct qn_buf *out, const char *s, size_t width);
void qn_table_free(struct qn_table *t);

/* "7.9 MB", "1.2 GB" (powers of 1000) into out. */
void qn_human_bytes(double bytes, char out[static 16]);
/* "5.6M", "1.2B" into out; "-" when it is not known. */
void qn_human_count(double count, char out[static 16]);

#endif
