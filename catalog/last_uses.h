/* When models were last used since the program started. Uses come with every request and are
 * written to the database in batches; what asks for a model's last use must not wait for that. */
#ifndef QN_CATALOG_LAST_USES_H
#define QN_CATALOG_LAST_USES_H

#include <stdint.h>

struct qn_last_uses;

struct qn_last_uses *qn_last_uses_new(void);
void qn_last_uses_free(struct qn_last_uses *u); /* NULL allowed */

/* All of them from any thread. when_s: Unix time; an earlier one than is known changes nothing. */
void qn_last_uses_note(struct qn_last_uses *u, const char *name, int64_t when_s);
void qn_last_uses_forget(struct qn_last_uses *u, const char *name);
int64_t qn_last_uses_find(struct qn_last_uses *u, const char *name); /* 0: not since the start */

#endif
