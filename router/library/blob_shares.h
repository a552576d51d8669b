/* Accounts for the blobs that belong to no model, per owner (access/owner.h), so that one owner's
 * uploads cannot fill the shared disk. Kept in memory: blobs that exist when the server starts
 * count for no owner, and are removed after QN_BLOB_UNUSED_S. Loop thread only. */
#ifndef QN_LIBRARY_BLOB_SHARES_H
#define QN_LIBRARY_BLOB_SHARES_H

#include "access/owner.h"
#include "catalog/catalog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_BLOB_OWNER_FILES = 500 }; /* limit of one owner's blobs that belong to no model */

/* One blob. */
struct qn_blob_share {
    struct qn_blob_share *next;
    char owner[QN_OWNER_MAX + 1];
    char *path;
    int64_t bytes;
    bool pending; /* its checksum is being computed: the file does not have its final name yet */
};

/* Initialise with {0}. */
struct qn_blob_shares {
    struct qn_blob_share *first;
};

/* Adds a pending blob; strings are copied. Lent until it is dropped. */
struct qn_blob_share *qn_blob_share_add(struct qn_blob_shares *s, const char *owner,
                                        const char *path, int64_t bytes);
void qn_blob_share_drop(struct qn_blob_shares *s, struct qn_blob_share *share);
/* Stops accounting for the blobs whose file no longer exists or belongs to a model in `snap`.
 * Deletes no file. */
void qn_blob_shares_prune(struct qn_blob_shares *s, const struct qn_snapshot *snap);
/* Bytes that the owner may still send if all blobs of an owner may have max bytes in all; < 0: the
 * owner has QN_BLOB_OWNER_FILES blobs. */
int64_t qn_blob_shares_left(const struct qn_blob_shares *s, const char *owner, int64_t max);
void qn_blob_shares_deinit(struct qn_blob_shares *s);

#endif
