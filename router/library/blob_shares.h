/* How much of the blobs that no model has each owner (access/owner.h) has sent: so that one owner's
 * uploads do not take the disk that all share. Kept in memory: what lies there when the server
 * starts is counted for no owner, and goes by itself after QN_BLOB_UNUSED_S. Loop thread only. */
#ifndef QN_LIBRARY_BLOB_SHARES_H
#define QN_LIBRARY_BLOB_SHARES_H

#include "access/owner.h"
#include "catalog/catalog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_BLOB_OWNER_FILES = 500 }; /* blobs of one owner that no model has */

/* One blob. */
struct qn_blob_share {
    struct qn_blob_share *next;
    char owner[QN_OWNER_MAX + 1];
    char *path;
    int64_t bytes;
    bool pending; /* its sum is still being made: the file does not have its name yet */
};

/* Begin with {0}. */
struct qn_blob_shares {
    struct qn_blob_share *first;
};

/* A blob that is pending; strings are copied. Lent until it is dropped. */
struct qn_blob_share *qn_blob_share_add(struct qn_blob_shares *s, const char *owner,
                                        const char *path, int64_t bytes);
void qn_blob_share_drop(struct qn_blob_shares *s, struct qn_blob_share *share);
/* Drops those whose file has gone or is a model's in snap. */
void qn_blob_shares_prune(struct qn_blob_shares *s, const struct qn_snapshot *snap);
/* Bytes that the owner may still send where max are allowed; < 0: it has QN_BLOB_OWNER_FILES. */
int64_t qn_blob_shares_left(const struct qn_blob_shares *s, const char *owner, int64_t max);
void qn_blob_shares_deinit(struct qn_blob_shares *s);

#endif
