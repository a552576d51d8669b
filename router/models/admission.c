/* See admission.h. */
#include "models/admission.h"

#include "access/client_id.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RETRY_MAX_S = 60,
    LIMIT_MAX_S = 365 * 24 * 3600,
};

static void set_number(struct qn_http *h, const char *name, int64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)v);
    qn_http_set_header(h, name, text);
}

const char *qn_admission_name(struct qn_http *h, const struct qn_profile *profile, const char *id)
{
    /* one counter for all listeners, so that a number identifies one request */
    static uint64_t count;
    struct qn_arena *arena = qn_http_arena(h);
    count++;
    const char *own = qn_client_request_id(h);
    const char *name = profile->numbered_requests
                           ? qn_arena_fmt(arena, "%llu", (unsigned long long)count)
                           : qn_arena_fmt(arena, "req_%s", id);
    qn_http_set_header(h, "X-Request-Id", name);
    if (own)
        qn_http_set_header(h, "X-Client-Request-Id", own);
    qn_http_set_header(h, "X-Client-Id", qn_client_id(h));
    return name;
}

void qn_admission_tell(struct qn_http *h, const struct qn_queue_spot *spot)
{
    set_number(h, "X-Queue-Position", spot->position);
    set_number(h, "X-Queue-Depth", spot->depth);
    set_number(h, "X-Estimated-Wait-Ms", spot->wait_ms);
}

qn_err qn_admission_limit(struct qn_http *h, int64_t configured_ms, int64_t *out_ms,
                          struct qn_error *e)
{
    const char *text = qn_http_header(h, "X-Request-Timeout");
    *out_ms = configured_ms > 0 ? configured_ms : 0;
    if (!text)
        return QN_OK;
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !isfinite(seconds) || seconds <= 0 || seconds > LIMIT_MAX_S)
        return qn_fail(e, QN_EINVAL,
                       "the header X-Request-Timeout must be a number of seconds, not '%.40s'",
                       text);
    int64_t asked = (int64_t)ceil(seconds * 1000);
    if (!*out_ms || asked < *out_ms)
        *out_ms = asked;
    return QN_OK;
}

static int64_t seconds_until(const struct qn_queue_spot *spot)
{
    int64_t s = (spot->clear_ms + 999) / 1000;
    return s < RETRY_MAX_S ? s : RETRY_MAX_S;
}

int64_t qn_admission_refuse(const struct qn_profile *profile, enum qn_family family,
                            const struct qn_admission *a, struct qn_problem *p, struct qn_error *e)
{
    const struct qn_profile_refusal *own = a ? &profile->queue_full : &profile->timed_out;
    if (a && a->none_waits)
        p->status = 429;
    if (family != profile->family || !own->status)
        return a ? seconds_until(&a->spot) : 1;
    p->status = own->status;
    p->type = own->type;
    if (own->message)
        qn_fail(e, e->code, "%s", own->message);
    return own->retry_s;
}
