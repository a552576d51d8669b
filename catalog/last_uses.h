/* The times of last use of models since the program started. Uses come with every request and are
 * written to the database in batches, so this list has the times that the database does not have
 * yet. */
#ifndef QN_CATALOG_LAST_USES_H
#define QN_CATALOG_LAST_USES_H

#include <stdint.h>

struct qn_last_uses;

struct qn_last_uses *qn_last_uses_new(void);
void qn_last_uses_free(struct qn_last_uses *u); /* NULL allowed */

/* These functions may be called from any thread. when_s: Unix time; a time earlier than the known
 * one changes nothing. */
void qn_last_uses_note(struct qn_last_uses *u, const char *name, int64_t when_s);
void qn_last_uses_forget(struct qn_last_uses *u, const char *name);
int64_t qn_last_uses_find(struct qn_last_uses *u, const char *name); /* 0: not since the start */

#endif
