/* What a request for a model's work is told at the door, and how long it may take: reply headers
 * with its names and its place in the queue, its deadline, and the refusal of a full queue or a
 * late answer in the words of the listener's profile. */
#ifndef QN_MODELS_ADMISSION_H
#define QN_MODELS_ADMISSION_H

#include "answers/answer.h"
#include "models/inventory.h"
#include "models/queue_spot.h"

#include <stdint.h>

/* Sets X-Request-Id, X-Client-Id and, where the client named its request, X-Client-Request-Id. id:
 * the request's letters and digits. Returns what X-Request-Id says, for the log; lent for the
 * request. */
const char *qn_admission_name(struct qn_http *h, const struct qn_profile *profile, const char *id);

/* Sets X-Queue-Position, X-Queue-Depth and X-Estimated-Wait-Ms. */
void qn_admission_tell(struct qn_http *h, const struct qn_queue_spot *spot);

/* The time that a request may take: as configured (<= 0: any), or less where its header
 * X-Request-Timeout says so, in seconds. *out 0: any. QN_EINVAL: not a number of seconds. */
qn_err qn_admission_limit(struct qn_http *h, int64_t configured_ms, int64_t *out_ms,
                          struct qn_error *e);

/* A refusal as the listener's profile has it: after p and e are filled as for any error, changes
 * p's status and type, and e's message where clients look for certain words. Returns the seconds
 * after which to come again. a: NULL for a request that took too long. */
int64_t qn_admission_refuse(const struct qn_profile *profile, enum qn_family family,
                            const struct qn_admission *a, struct qn_problem *p, struct qn_error *e);

#endif
