/* See defaults.h. */
#include "dialects/shared/defaults.h"

#include <math.h>

void qn_sampling_defaults(const struct qn_profile_defaults *d, struct qn_sampling *s)
{
    s->max_with_prompt = d->max_with_prompt;
    if (s->max_tokens == QN_UNSET && d->max_tokens > 0)
        s->max_tokens = d->max_tokens;
    if (isnan(s->temperature))
        s->temperature = d->temperature;
    if (isnan(s->top_p))
        s->top_p = d->top_p;
    if (s->top_k == QN_UNSET && d->top_k > 0)
        s->top_k = d->top_k;
}

qn_err qn_sampling_check(const struct qn_profile *p, const struct qn_sampling *s,
                         const struct qn_jref *temperature, struct qn_error *e)
{
    if (p->temperature_max <= 0 || isnan(s->temperature) || s->temperature <= p->temperature_max)
        return QN_OK;
    return qn_json_fail(temperature, e, "must be between 0 and %g", p->temperature_max);
}
