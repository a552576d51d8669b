/* How long a model stays loaded after a request, in the forms that clients use. Loop thread
 * only. */
#ifndef QN_DIALECTS_SHARED_KEEP_ALIVE_H
#define QN_DIALECTS_SHARED_KEEP_ALIVE_H

#include "base/error.h"
#include "base/json.h"

#include <stdint.h>

/* Reads a number of seconds, or a text: a number of seconds or a duration in Go's syntax, "5m",
 * "1h30m", "1.5h", "300ms". A negative value means no limit (-1). *ms is unchanged if v is absent
 * or null. Otherwise QN_EINVAL with the path. */
qn_err qn_keep_alive_read(const struct qn_jref *v, int64_t *ms, struct qn_error *e);

/* The same for a request's members: "ttl", as LM Studio's clients call it, or "keep_alive". */
qn_err qn_keep_alive_of(const struct qn_jref *request, int64_t *ms, struct qn_error *e);

#endif
