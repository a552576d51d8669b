/* How long a model stays loaded after a request, as clients write it. Loop thread only. */
#ifndef QN_DIALECTS_SHARED_KEEP_ALIVE_H
#define QN_DIALECTS_SHARED_KEEP_ALIVE_H

#include "base/error.h"
#include "base/json.h"

#include <stdint.h>

/* Reads a number of seconds, or a text: a number of seconds or a duration as Go writes it, "5m",
 * "1h30m", "1.5h", "300ms". Anything below zero is for ever (-1). *ms is left alone when v is
 * absent or null. QN_EINVAL with the path otherwise. */
qn_err qn_keep_alive_read(const struct qn_jref *v, int64_t *ms, struct qn_error *e);

/* The same of a request's members: "ttl", as LM Studio's clients call it, or "keep_alive". */
qn_err qn_keep_alive_of(const struct qn_jref *request, int64_t *ms, struct qn_error *e);

#endif
