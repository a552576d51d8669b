/* Memory that is freed in one call: a request, a parsed job, a template's values. */
#ifndef QN_BASE_ARENA_H
#define QN_BASE_ARENA_H

#include "base/buf.h"

#include <stddef.h>

struct qn_arena;

/* limit: most bytes of payload it gives out before qn_arena_try answers NULL. */
struct qn_arena *qn_arena_new(size_t limit);
void qn_arena_free(struct qn_arena *a); /* NULL allowed */

/* Zeroed, 16-byte aligned. _alloc aborts past the limit (sizes of our own); _try gives NULL there.
 */
void *qn_arena_alloc(struct qn_arena *a, size_t n);
void *qn_arena_try(struct qn_arena *a, size_t n);
char *qn_arena_strdup(struct qn_arena *a, const char *s);
char *qn_arena_strndup(struct qn_arena *a, const char *s, size_t n);
char *qn_arena_fmt(struct qn_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What buf holds and a zero byte; NULL past the limit, and when buf has overflowed: a part never
 * passes for the whole. */
char *qn_arena_take(struct qn_arena *a, struct qn_buf *buf);
size_t qn_arena_used(const struct qn_arena *a); /* bytes given out */

#endif
