/* Admission of a request for a model's work: response headers with the request's names and its
 * position in the queue, its deadline, and the error for a full queue or a timeout in the form that
 * the listener's profile prescribes. */
#ifndef QN_MODELS_ADMISSION_H
#define QN_MODELS_ADMISSION_H

#include "answers/answer.h"
#include "models/inventory.h"
#include "models/queue_spot.h"

#include <stdint.h>

/* Sets X-Request-Id, X-Client-Id and, where the client named its request, X-Client-Request-Id.
 * id: the server's identifier of the request, letters and digits. Returns the value of
 * X-Request-Id, for the log; it is lent for the life of the request. */
const char *qn_admission_name(struct qn_http *h, const struct qn_profile *profile, const char *id);

/* Sets X-Queue-Position, X-Queue-Depth and X-Estimated-Wait-Ms. */
void qn_admission_tell(struct qn_http *h, const struct qn_queue_spot *spot);

/* Sets *out_ms to the time that the request may take: the configured one (<= 0: no limit), or less
 * if its header X-Request-Timeout, in seconds, says so. *out_ms 0: no limit. QN_EINVAL: the header
 * is not a valid number of seconds. */
qn_err qn_admission_limit(struct qn_http *h, int64_t configured_ms, int64_t *out_ms,
                          struct qn_error *e);

/* Gives an error the form of the listener's profile: call it after p and e are filled as for any
 * error; it changes p's status and type, and e's message where clients search it for certain words.
 * Returns the seconds for Retry-After. a: NULL for a request that timed out. */
int64_t qn_admission_refuse(const struct qn_profile *profile, enum qn_family family,
                            const struct qn_admission *a, struct qn_problem *p, struct qn_error *e);

#endif
