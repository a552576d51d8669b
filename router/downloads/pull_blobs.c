/* The files that jobs need, one entry per file however many jobs need it; see pull_private.h. */
#include "downloads/pull_private.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>

static size_t slot_of(const char *partial)
{
    size_t h = 5381;
    for (const char *c = partial; *c; c++)
        h = h * 33 + (unsigned char)*c;
    return h % QN_PULL_SLOTS;
}

struct qn_pull_blob *qn_pull_blob_find(const struct qn_pulls *p, const char *partial)
{
    struct qn_pull_blob *b = p->blobs[slot_of(partial)];
    while (b && !qn_str_eq(b->partial, partial))
        b = b->next;
    return b;
}

static struct qn_pull_blob *blob_get(struct qn_pulls *p, const struct qn_download_file *f)
{
    struct qn_pull_blob **slot = &p->blobs[slot_of(f->partial)],
                        *b = qn_pull_blob_find(p, f->partial);
    if (!b) {
        b = qn_xcalloc(1, sizeof *b);
        b->partial = qn_xstrdup(f->partial);
        b->next = *slot;
        *slot = b;
        atomic_init(&b->meter.here_bytes, 0);
        atomic_init(&b->meter.before_bytes, 0);
        atomic_init(&b->meter.size_bytes, f->size_bytes);
    }
    b->users++;
    return b;
}

static void blob_put(struct qn_pulls *p, struct qn_pull_blob *b)
{
    if (--b->users)
        return;
    struct qn_pull_blob **at = &p->blobs[slot_of(b->partial)];
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    free(b->partial);
    free(b);
}

void qn_pull_blobs_take(struct qn_pull_job *j)
{
    j->blobs = qn_xcalloc(j->plan->n + 1, sizeof(struct qn_pull_blob *));
    for (size_t i = 0; i < j->plan->n; i++)
        j->blobs[i] = blob_get(j->pulls, &j->plan->files[i]);
}

void qn_pull_blobs_drop(struct qn_pull_job *j)
{
    for (size_t i = 0; j->blobs && i < j->plan->n; i++)
        blob_put(j->pulls, j->blobs[i]);
    free(j->blobs);
    j->blobs = NULL;
}

bool qn_pull_wanted_elsewhere(const struct qn_pull_job *j, const struct qn_pull_blob *b)
{
    for (const struct qn_pull_job *other = j->pulls->jobs; b->users > 1 && other;
         other = other->next) {
        if (other == j || !other->blobs || other->m.state == QN_PULL_CANCELLED ||
            other->m.state == QN_PULL_GONE)
            continue;
        for (size_t i = 0; i < other->plan->n; i++)
            if (other->blobs[i] == b)
                return true;
    }
    return false;
}
