/* Members beyond OpenAI's that say how a loaded model is run for one request, in the form other
 * local servers have: "lora" (adapters it was loaded with), "context_shift" and
 * "cache_prompt". */
#ifndef QN_DIALECTS_SHARED_ADAPTERS_H
#define QN_DIALECTS_SHARED_ADAPTERS_H

#include "dialects/dialect.h"

/* "lora": [{"id": 0, "scale": 0.5}, {"name": "pirate"}]: those and no others, without a scale at
 * the one they were loaded with. "context_shift": true or false. "cache_prompt": false computes the
 * whole prompt and leaves nothing of it for others. QN_EINVAL names the member. */
qn_err qn_read_adapters(const struct qn_jref *root, struct qn_request *rq, struct qn_sampling *s,
                        struct qn_error *e);

#endif
