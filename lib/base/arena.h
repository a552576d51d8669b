/* Memory that is freed in one call, for example with a request, a parsed job or a template's
 * values. */
#ifndef QN_BASE_ARENA_H
#define QN_BASE_ARENA_H

#include "base/buf.h"

#include <stddef.h>

struct qn_arena;

/* limit: bytes of payload after which qn_arena_try returns NULL. */
struct qn_arena *qn_arena_new(size_t limit);
void qn_arena_free(struct qn_arena *a); /* NULL allowed */

/* Zeroed, 16-byte aligned memory. If the limit would be exceeded, _alloc aborts (it is meant for
 * sizes that do not come from outside) and _try returns NULL. */
void *qn_arena_alloc(struct qn_arena *a, size_t n);
void *qn_arena_try(struct qn_arena *a, size_t n);
char *qn_arena_strdup(struct qn_arena *a, const char *s);
char *qn_arena_strndup(struct qn_arena *a, const char *s, size_t n);
char *qn_arena_fmt(struct qn_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A NUL-terminated copy of the contents of buf. NULL if the limit would be exceeded, or if buf has
 * overflowed, so that truncated contents are never used as complete. */
char *qn_arena_take(struct qn_arena *a, struct qn_buf *buf);
size_t qn_arena_used(const struct qn_arena *a); /* bytes allocated from it */

#endif
