/* Models in archives: unpacks them into a folder of the store and determines which of the files are
 * the model. */
#ifndef QN_DOWNLOADS_PULL_UNPACK_H
#define QN_DOWNLOADS_PULL_UNPACK_H

#include "base/arena.h"
#include "base/error.h"
#include "registry/store.h"

#include <stdatomic.h>
#include <stddef.h>

/* All files of the folder, in the arena: absolute paths, and roles as in registry/resolve.h;
 * "other" for files that came with the model but are no part of it. */
struct qn_pull_inside {
    const char **paths, **roles;
    size_t n;
};

/* archive: a file of the store. helper: the program quince-unpack. An archive that has been
 * unpacked before is not unpacked again. QN_EFORMAT, QN_ELIMIT, QN_ENOTFOUND: the archive is
 * invalid; QN_ECANCELLED. Blocking, any thread. */
qn_err qn_pull_unpack(const struct qn_store *store, const char *helper, const char *archive,
                      const atomic_bool *stop, struct qn_arena *a, struct qn_pull_inside *out,
                      struct qn_error *e);

#endif
