/* What becomes of a model's files when the model is deleted, and what nothing needs any more. Loop
 * thread. */
#ifndef QN_LIBRARY_CUSTODY_H
#define QN_LIBRARY_CUSTODY_H

#include "base/buf.h"
#include "base/error.h"
#include "registry/store.h"

/* What it works with; outlives the loop. */
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
    const char *note; /* a sentence about files that stay, or NULL */
};

/* Called once, not from within; e is NULL on success. */
typedef void (*qn_custody_done)(void *ctx, const struct qn_custody_result *result,
                                const struct qn_error *e);

/* Unloads the model (running answers finish), takes it off the list and frees those of its files
 * that quince fetched and no other model has. Files of other programs stay where they are, and are
 * not listed again when they are found there. The name as it is written, but for ":latest".
 * QN_ENOTFOUND; QN_EINVAL: it ships with quince. done is not called after an error. It cannot be
 * called off: an asker that is gone must ignore the answer. */
qn_err qn_custody_delete(const struct qn_custody *with, const char *name, qn_custody_done done,
                         void *ctx, struct qn_error *e);

/* Writes {"files":[{"path","size_bytes","kind"}],"freed_bytes"} of what a clean-up removed, or
 * would remove. wanted: the sorted paths of partials that downloads still need; lent until done is
 * called. */
typedef void (*qn_custody_cleaned)(void *ctx, struct qn_buf *report, const struct qn_error *e);
void qn_custody_clean(const struct qn_custody *with, bool dry, char *const *wanted, size_t n_wanted,
                      qn_custody_cleaned done, void *ctx);

#endif
