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
    s->arena = qn_arena_new(SIZE_MAX); /* the contents were bounded when they were written */
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

size_t qn_snapshot_alias_count(const struct qn_snapshot *s)
{
    return s->n_aliases;
}

const struct qn_alias_row *qn_snapshot_alias_at(const struct qn_snapshot *s, size_t i)
{
    return &s->aliases[i];
}

static int compare_alias(const void *key, const void *row)
{
    return strcmp(key, ((const struct qn_alias_row *)row)->name);
}

const char *qn_snapshot_alias(const struct qn_snapshot *s, const char *name)
{
    if (!s->n_aliases)
        return NULL;
    const struct qn_alias_row *row =
        bsearch(name, s->aliases, s->n_aliases, sizeof *s->aliases, compare_alias);
    return row ? row->model : NULL;
}

static int compare_path(const void *key, const void *path)
{
    return strcmp(key, *(const char *const *)path);
}

bool qn_snapshot_forgotten(const struct qn_snapshot *s, const char *path)
{
    return s->n_forgotten &&
           bsearch(path, s->forgotten, s->n_forgotten, sizeof *s->forgotten, compare_path) != NULL;
}
