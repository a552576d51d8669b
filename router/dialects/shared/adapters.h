/* Members beyond OpenAI's that set how a loaded model computes one request, in the form of other
 * local servers: "lora" (adapters that were loaded with the model), "context_shift" and
 * "cache_prompt". */
#ifndef QN_DIALECTS_SHARED_ADAPTERS_H
#define QN_DIALECTS_SHARED_ADAPTERS_H

#include "dialects/dialect.h"

/* "lora": [{"id": 0, "scale": 0.5}, {"name": "pirate"}]: exactly these adapters are used, without a
 * scale with the scale of the load. "context_shift": true or false. "cache_prompt": false computes
 * the whole prompt and keeps nothing of it for later requests. QN_EINVAL: a value is invalid; the
 * message names its member. */
qn_err qn_read_adapters(const struct qn_jref *root, struct qn_request *rq, struct qn_sampling *s,
                        struct qn_error *e);

#endif
