/* The contents of a snapshot, for the code that builds it; readers include catalog.h only. Private
 * to catalog/. */
#ifndef QN_CATALOG_SNAPSHOT_H
#define QN_CATALOG_SNAPSHOT_H

#include "base/arena.h"
#include "catalog/catalog.h"

#include <stdatomic.h>

struct qn_snapshot {
    atomic_int refs;
    struct qn_arena *arena;    /* holds every string and list of the rows */
    struct qn_model_row *rows; /* sorted by name, bytewise */
    size_t n;
    struct qn_alias_row *aliases; /* sorted in the same way */
    size_t n_aliases;
    const char **forgotten; /* paths, sorted bytewise */
    size_t n_forgotten;
};

struct qn_snapshot *qn_snapshot_new(void); /* empty, one reference */

#endif
