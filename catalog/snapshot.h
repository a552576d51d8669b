/* How a snapshot is made; readers use catalog.h alone. Private to this room. */
#ifndef QN_CATALOG_SNAPSHOT_H
#define QN_CATALOG_SNAPSHOT_H

#include "base/arena.h"
#include "catalog/catalog.h"

#include <stdatomic.h>

struct qn_snapshot {
    atomic_int refs;
    struct qn_arena *arena;    /* every string and list of the rows */
    struct qn_model_row *rows; /* sorted by name, in bytes' order */
    size_t n;
    struct qn_alias_row *aliases; /* likewise */
    size_t n_aliases;
    const char **forgotten; /* paths in bytes' order */
    size_t n_forgotten;
};

struct qn_snapshot *qn_snapshot_new(void); /* empty, one reference */

#endif
