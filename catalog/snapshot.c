/* See catalog.h and snapshot.h. */
#include "catalog/snapshot.h"

#include "base/buf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct qn_snapshot *qn_snapshot_new(void)
{
    struct qn_snapshot *s = qn_xcalloc(1, sizeof *s);
    atomic_init(&s->refs, 1);
    s->arena = qn_arena_new(SIZE_MAX); /* what is in it was bounded when it was written */
    return s;
}

void qn_snapshot_ref(struct qn_snapshot *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
}

void qn_snapshot_unref(struct qn_snapshot *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    qn_arena_free(s->arena);
    free(s);
}

size_t qn_snapshot_count(const struct qn_snapshot *s)
{
    return s->n;
}

const struct qn_model_row *qn_snapshot_at(const struct qn_snapshot *s, size_t i)
{
    return &s->rows[i];
}

static int compare(const void *key, const void *row)
{
    return strcmp(key, ((const struct qn_model_row *)row)->name);
}

const struct qn_model_row *qn_snapshot_find(const struct qn_snapshot *s, const char *name)
{
    return s->n ? bsearch(name, s->rows, s->n, sizeof *s->rows, compare) : NULL;
}
