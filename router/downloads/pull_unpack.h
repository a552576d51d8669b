/* Models that come in archives: taken apart into a folder of the store, and which of the files
 * there are the model. */
#ifndef QN_DOWNLOADS_PULL_UNPACK_H
#define QN_DOWNLOADS_PULL_UNPACK_H

#include "base/arena.h"
#include "base/error.h"
#include "registry/store.h"

#include <stdatomic.h>
#include <stddef.h>

/* All files of the folder, the arena's: absolute paths, and roles as of registry/resolve.h; "other"
 * for what is no part of the model but came with it. */
struct qn_pull_inside {
    const char **paths, **roles;
    size_t n;
};

/* archive: a file of the store. helper: the program quince-unpack. What has been unpacked before is
 * taken as it is. QN_EFORMAT, QN_ELIMIT, QN_ENOTFOUND with what is wrong with it; QN_ECANCELLED.
 * Blocking, any thread. */
qn_err qn_pull_unpack(const struct qn_store *store, const char *helper, const char *archive,
                      const atomic_bool *stop, struct qn_arena *a, struct qn_pull_inside *out,
                      struct qn_error *e);

#endif
