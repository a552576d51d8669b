/* Files that clients have sent to make models of: DATA_DIR/blobs/sha256-<64 hexadecimal digits>,
 * each with the sum that its name says. */
#ifndef QN_LIBRARY_BLOBS_H
#define QN_LIBRARY_BLOBS_H

#include "base/error.h"
#include "catalog/catalog.h"
#include "io/http_server.h"
#include "io/loop.h"

#include <stdbool.h>

enum {
    QN_BLOB_PREFIX = 7,               /* of "sha256:" before the digits */
    QN_BLOB_UNUSED_S = 24 * 60 * 60,  /* then a blob that no model has goes */
    QN_BLOB_SWEEP_MS = 60 * 60 * 1000 /* how often that is looked at, besides at start */
};

struct qn_blobs;

/* dir is copied and made when the first file comes; what a crash has left in it is removed.
 * Blocking: before the loop runs. */
struct qn_blobs *qn_blobs_new(struct qn_loop *l, const char *dir);
/* From now on, and at once, blobs that no row of the catalog has are removed when nobody has sent
 * or asked for them within QN_BLOB_UNUSED_S. The catalog is lent. */
void qn_blobs_watch(struct qn_blobs *b, struct qn_catalog *catalog);
void qn_blobs_stop(struct qn_blobs *b); /* gives sums up; before the loop is freed */
void qn_blobs_free(struct qn_blobs *b); /* NULL allowed */

/* The folder, which exists then; lent. NULL: it cannot be made. */
const char *qn_blobs_dir(struct qn_blobs *b);

/* The path of "sha256:..." or "sha256-...", malloc'ed, whether or not it is there; NULL: that is no
 * digest. */
char *qn_blob_path(const struct qn_blobs *b, const char *digest);

/* True when the file is there; its time until it goes unused begins anew. */
bool qn_blob_ask(const struct qn_blobs *b, const char *path);

/* Bytes that this owner may still send, where it may have max in blobs that no model has; < 0: it
 * has QN_BLOB_OWNER_FILES of them. Where less than wanted is left, the disk and the catalog are
 * asked whether what it has sent is still there and no model's. */
int64_t qn_blobs_left(struct qn_blobs *b, const char *owner, int64_t max, int64_t wanted);

/* Called once on the loop; e is NULL on success. */
typedef void (*qn_blob_done)(void *ctx, const struct qn_error *e);

/* Keeps the request's body, which was collected in qn_blobs_dir, under its digest when it has it.
 * QN_EINVAL: it has another one. The request may go meanwhile. owner: of whose uploads it is one
 * (access/owner.h). */
void qn_blob_put(struct qn_blobs *b, struct qn_http *h, const char *digest, const char *owner,
                 qn_blob_done done, void *ctx);

/* A row with this file has left the catalog: the file goes, too, if it is a blob that no row has.
 */
void qn_blob_release(const struct qn_blobs *b, const struct qn_snapshot *snap, const char *path);

#endif
