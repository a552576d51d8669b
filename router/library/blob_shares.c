/* See blob_shares.h. */
#include "library/blob_shares.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/str.h"
#include "catalog/used_files.h"

#include <stdio.h>
#include <stdlib.h>

struct qn_blob_share *qn_blob_share_add(struct qn_blob_shares *s, const char *owner,
                                        const char *path, int64_t bytes)
{
    struct qn_blob_share *x = qn_xcalloc(1, sizeof *x);
    snprintf(x->owner, sizeof x->owner, "%s", owner);
    x->path = qn_xstrdup(path);
    x->bytes = bytes;
    x->pending = true;
    x->next = s->first;
    s->first = x;
    return x;
}

static void take_out(struct qn_blob_share **at)
{
    struct qn_blob_share *x = *at;
    *at = x->next;
    free(x->path);
    free(x);
}

void qn_blob_share_drop(struct qn_blob_shares *s, struct qn_blob_share *share)
{
    struct qn_blob_share **at = &s->first;
    while (*at && *at != share)
        at = &(*at)->next;
    if (*at)
        take_out(at);
}

void qn_blob_shares_prune(struct qn_blob_shares *s, const struct qn_snapshot *snap)
{
    struct qn_blob_share **at = &s->first;
    while (*at) {
        const struct qn_blob_share *x = *at;
        if (!x->pending && (!qn_file_exists(x->path) || qn_file_is_used(snap, x->path)))
            take_out(at);
        else
            at = &(*at)->next;
    }
}

int64_t qn_blob_shares_left(const struct qn_blob_shares *s, const char *owner, int64_t max)
{
    size_t n = 0;
    for (const struct qn_blob_share *x = s->first; x; x = x->next) {
        if (!qn_str_eq(x->owner, owner))
            continue;
        n++;
        max -= x->bytes < max ? x->bytes : max;
    }
    return n < QN_BLOB_OWNER_FILES ? max : -1;
}

void qn_blob_shares_deinit(struct qn_blob_shares *s)
{
    while (s->first)
        take_out(&s->first);
}
