/* Deletion of models with their files, and clean-up of files that nothing needs. Loop thread. */
#ifndef QN_LIBRARY_CUSTODY_H
#define QN_LIBRARY_CUSTODY_H

#include "base/buf.h"
#include "base/error.h"
#include "registry/store.h"

/* Its environment; outlives the loop. */
struct qn_custody {
    const struct qn_serving *serving;
    const struct qn_models *models;
    struct qn_pulls *pulls;
    struct qn_blobs *blobs;
    struct qn_store *store;
};

struct qn_custody_result {
    const char *model;
    struct qn_store_freed freed;
    const char *note; /* a sentence about files that are kept, or NULL */
};

/* Called once, never from within the function that takes it; e is NULL on success. */
typedef void (*qn_custody_done)(void *ctx, const struct qn_custody_result *result,
                                const struct qn_error *e);

/* Unloads the model (running requests finish), removes it from the catalog and deletes those of its
 * files that quince downloaded and no other model uses. Files of other programs are kept, and are
 * not listed again when discovery finds them. name: exact, except for ":latest". QN_ENOTFOUND;
 * QN_EINVAL: it ships with quince. done is not called after an error. Cannot be cancelled: a caller
 * whose client has gone must ignore the result. */
qn_err qn_custody_delete(const struct qn_custody *with, const char *name, qn_custody_done done,
                         void *ctx, struct qn_error *e);

/* What qn_custody_delete would free now; nothing is changed. A file that a snapshot of another
 * program leads to counts as freed here, although it will be kept. */
qn_err qn_custody_preview(const struct qn_custody *with, const char *name, qn_custody_done done,
                          void *ctx, struct qn_error *e);

/* Writes {"files":[{"path","size_bytes","kind"}],"freed_bytes"}: what a clean-up removed, or would
 * remove. wanted: the sorted paths of partial files that downloads still need; lent until done is
 * called. */
typedef void (*qn_custody_cleaned)(void *ctx, struct qn_buf *report, const struct qn_error *e);
void qn_custody_clean(const struct qn_custody *with, bool dry, char *const *wanted, size_t n_wanted,
                      qn_custody_cleaned done, void *ctx);

#endif
