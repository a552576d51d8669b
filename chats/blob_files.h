/* Removal of files that no message has; for sweep.c. On the database's thread. */
#ifndef QN_CHATS_BLOB_FILES_H
#define QN_CHATS_BLOB_FILES_H

#include "chats/blobs.h"
#include "chats/rows.h"

/* Rows that have been deleted, whose files are deleted after the commit. */
enum { QN_CHATS_DOOMED_MAX = 64 };
struct qn_chats_doomed {
    char ids[QN_CHATS_DOOMED_MAX][QN_CHATS_BLOB_DIGITS + 1];
    size_t n;
};

/* Deletes rows of unused files, in a transaction of the caller. */
qn_err qn_chats_remove_blobs(struct qn_database *d, struct qn_chats_doomed *doomed,
                             struct qn_error *e);
/* After its commit: deletes those files that have no row any more. */
void qn_chats_unlink_blobs(struct qn_chats *c, struct qn_database *d,
                           const struct qn_chats_doomed *doomed);
/* Deletes what a crash has left in the folder: files without a row, incomplete files of an earlier
 * day. */
void qn_chats_clean_blobs(struct qn_chats *c, struct qn_database *d);

#endif
