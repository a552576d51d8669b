/* Records, in a small file beside it, which bytes of a file being downloaded are present.
 *
 * The download is divided into chunks, each filled from its beginning. Each chunk has one slot of 8
 * bytes with the number of bytes present and a check of that number. A slot is written by one
 * aligned pwrite of 8 bytes after the bytes themselves, so a kill at any instruction leaves either
 * the old or the new slot. (A shared mapping would do the same without a system call, but a full
 * disk or a truncated file would then raise a fatal signal.)
 *
 * After a crash of the machine, which is detected by the kernel's boot ID, only bytes before the
 * last qn_ranges_synced count: the others may have been in memory alone. A file with any
 * inconsistency is rejected as a whole. Not shared between threads. */
#ifndef QN_REGISTRY_RANGES_H
#define QN_REGISTRY_RANGES_H

#include "base/error.h"
#include "registry/web.h"

#include <stddef.h>
#include <stdint.h>

enum {
    QN_RANGES_CHUNK = 16 * 1024 * 1024, /* bytes; the last one may be shorter */
    QN_RANGES_CHUNKS_MAX = 1 << 19      /* 8 TiB */
};

struct qn_ranges;

/* size: of the whole file; etag: the server's ETag for it, or "". No bytes are present yet.
 * Replaces an existing file at path. QN_ELIMIT: more than QN_RANGES_CHUNKS_MAX chunks; QN_EIO. */
qn_err qn_ranges_create(const char *path, int64_t size, const char *etag, struct qn_ranges **out,
                        struct qn_error *e);

#define QN_RANGES_TEMP ".new" /* suffix of the temporary file before its rename */

/* QN_ENOTFOUND; QN_EFORMAT: inconsistent; QN_EIO. */
qn_err qn_ranges_open(const char *path, struct qn_ranges **out, struct qn_error *e);
void qn_ranges_close(struct qn_ranges *r); /* NULL allowed; the file stays */

int64_t qn_ranges_size(const struct qn_ranges *r);
const char *qn_ranges_etag(const struct qn_ranges *r);
size_t qn_ranges_count(const struct qn_ranges *r);
int64_t qn_ranges_begin(const struct qn_ranges *r, size_t i);  /* a chunk's first byte */
int64_t qn_ranges_length(const struct qn_ranges *r, size_t i); /* bytes in a full chunk */
int64_t qn_ranges_done(const struct qn_ranges *r, size_t i);   /* those that are present */
size_t qn_ranges_at(const struct qn_ranges *r, int64_t byte);  /* the chunk with this byte */
int64_t qn_ranges_front(struct qn_ranges *r); /* all bytes before this one are present */
int64_t qn_ranges_total(const struct qn_ranges *r);

/* Records that n more bytes from `begin` on have been written. They must follow the bytes that are
 * present in their chunk, and may continue into following chunks that are empty. QN_EIO. */
qn_err qn_ranges_add(struct qn_ranges *r, int64_t begin, int64_t n, struct qn_error *e);

/* Records that all bytes before front are synced to the disk. QN_EIO. */
qn_err qn_ranges_synced(struct qn_ranges *r, int64_t front, struct qn_error *e);

#endif
