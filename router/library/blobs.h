/* Files that clients have uploaded to make models from: DATA_DIR/blobs/sha256-<64 hexadecimal
 * digits>, each with the checksum in its name. */
#ifndef QN_LIBRARY_BLOBS_H
#define QN_LIBRARY_BLOBS_H

#include "base/error.h"
#include "catalog/catalog.h"
#include "io/http_server.h"
#include "io/loop.h"

#include <stdbool.h>

enum {
    QN_BLOB_PREFIX = 7,               /* length of "sha256:" before the digits */
    QN_BLOB_UNUSED_S = 24 * 60 * 60,  /* age at which a blob without a model is removed */
    QN_BLOB_SWEEP_MS = 60 * 60 * 1000 /* interval of the clean-up, which also runs at start */
};

struct qn_blobs;

/* dir is copied, and created with the first file; files left there by a crash are removed. Blocks:
 * call before the loop runs. */
struct qn_blobs *qn_blobs_new(struct qn_loop *l, const char *dir);
/* Starts the clean-up, which also runs at once: removes blobs that no row of the catalog has and
 * that no client has sent or asked for within QN_BLOB_UNUSED_S. The catalog is lent. */
void qn_blobs_watch(struct qn_blobs *b, struct qn_catalog *catalog);
void qn_blobs_stop(struct qn_blobs *b); /* cancels checksums; call before the loop is freed */
void qn_blobs_free(struct qn_blobs *b); /* NULL allowed */

/* The folder, created if necessary; lent. NULL: it cannot be created. */
const char *qn_blobs_dir(struct qn_blobs *b);

/* The path for "sha256:..." or "sha256-...", malloc'ed, whether or not the file exists; NULL: not a
 * digest. */
char *qn_blob_path(const struct qn_blobs *b, const char *digest);

/* True when the file exists; also restarts its time until removal. */
bool qn_blob_ask(const struct qn_blobs *b, const char *path);

/* Bytes that this owner may still send if the blobs of one owner that belong to no model may have
 * max bytes in all; < 0: the owner has QN_BLOB_OWNER_FILES of them. If less than `wanted` is left,
 * the account is first updated from the disk and the catalog. */
int64_t qn_blobs_left(struct qn_blobs *b, const char *owner, int64_t max, int64_t wanted);

/* Called once on the loop; e is NULL on success. */
typedef void (*qn_blob_done)(void *ctx, const struct qn_error *e);

/* Stores the request's body, which was collected in qn_blobs_dir, under its digest after verifying
 * it. QN_EINVAL: the checksum differs. The request may end before the checksum is known. owner: the
 * owner whose account the blob counts for (access/owner.h). */
void qn_blob_put(struct qn_blobs *b, struct qn_http *h, const char *digest, const char *owner,
                 qn_blob_done done, void *ctx);

/* Whether this file of a row is a blob that a client uploaded. */
bool qn_blob_is(const struct qn_blobs *b, const char *path);

/* To be called when a row with this file has been removed from the catalog: deletes the file if it
 * is a blob that no other row has. */
void qn_blob_release(const struct qn_blobs *b, const struct qn_snapshot *snap, const char *path);

#endif
