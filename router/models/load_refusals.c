/* See load_refusals.h. */
#include "models/load_refusals.h"

#include "base/str.h"

#include <stdio.h>

void qn_load_refusals_add(struct qn_load_refusals *r, const char *key, const struct qn_error *why,
                          int64_t now_ms)
{
    size_t at = 0;
    while (at < r->n && !qn_str_eq(r->v[at].key, key))
        at++;
    if (at == QN_LOAD_REFUSALS_MAX) {
        at = 0;
        for (size_t i = 1; i < r->n; i++)
            if (r->v[i].until_ms < r->v[at].until_ms)
                at = i;
    }
    if (at == r->n)
        r->n++;
    snprintf(r->v[at].key, sizeof r->v[at].key, "%s", key);
    r->v[at].why = *why;
    r->v[at].until_ms = now_ms + QN_LOAD_REFUSAL_MS;
}

const struct qn_error *qn_load_refusals_find(const struct qn_load_refusals *r, const char *key,
                                             int64_t now_ms)
{
    for (size_t i = 0; i < r->n; i++)
        if (now_ms < r->v[i].until_ms && qn_str_eq(r->v[i].key, key))
            return &r->v[i].why;
    return NULL;
}
