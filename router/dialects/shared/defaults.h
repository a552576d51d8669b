/* What a profile says about sampling: values where a request is silent, and how far its values may
 * go. */
#ifndef QN_DIALECTS_SHARED_DEFAULTS_H
#define QN_DIALECTS_SHARED_DEFAULTS_H

#include "answers/profile.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/job.h"

/* Fills in max_tokens, temperature and so on where the request is silent and the profile has
 * defaults; elsewhere the model's own values apply. */
void qn_sampling_defaults(const struct qn_profile_defaults *d, struct qn_sampling *s);

/* QN_EINVAL, about `temperature`, where *s is hotter than the profile allows. */
qn_err qn_sampling_check(const struct qn_profile *p, const struct qn_sampling *s,
                         const struct qn_jref *temperature, struct qn_error *e);

#endif
