/* A profile's rules for sampling: default values, and limits of a request's values. */
#ifndef QN_DIALECTS_SHARED_DEFAULTS_H
#define QN_DIALECTS_SHARED_DEFAULTS_H

#include "answers/profile.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/job.h"

/* Sets max_tokens, temperature and other values that the request leaves unset, if the profile has
 * defaults for them; otherwise the model's own values apply. */
void qn_sampling_defaults(const struct qn_profile_defaults *d, struct qn_sampling *s);

/* QN_EINVAL, about `temperature`, if it is higher than the profile allows. */
qn_err qn_sampling_check(const struct qn_profile *p, const struct qn_sampling *s,
                         const struct qn_jref *temperature, struct qn_error *e);

#endif
