/* Which bytes of a file that is being downloaded are there: a small file beside it.
 *
 * The file is cut into chunks, each filled from its beginning. A chunk has one slot of 8 bytes with
 * how many of its bytes are there and a check of them, and it is written by one pwrite of 8
 * aligned bytes after the bytes themselves: whatever instruction a kill falls upon, each slot is
 * the old or the new one. (A shared mapping would do the same without a system call, but a full
 * disk or a file cut short by somebody would then be a fatal signal.)
 *
 * After the machine has gone down, which is seen by the kernel's boot number, only bytes before
 * the last qn_ranges_synced count: others may have been in memory alone. A file in which anything
 * is out of order is refused as a whole. Not shared between threads. */
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

/* size: of the whole file; etag: what the server calls these bytes, or "". Nothing is there yet.
 * Replaces what was at path. QN_ELIMIT: more than QN_RANGES_CHUNKS_MAX chunks; QN_EIO. */
qn_err qn_ranges_create(const char *path, int64_t size, const char *etag, struct qn_ranges **out,
                        struct qn_error *e);

#define QN_RANGES_TEMP ".new" /* behind its name: what it is written to before it takes its place  \
                               */

/* QN_ENOTFOUND; QN_EFORMAT: out of order; QN_EIO. */
qn_err qn_ranges_open(const char *path, struct qn_ranges **out, struct qn_error *e);
void qn_ranges_close(struct qn_ranges *r); /* NULL allowed; the file stays */

int64_t qn_ranges_size(const struct qn_ranges *r);
const char *qn_ranges_etag(const struct qn_ranges *r);
size_t qn_ranges_count(const struct qn_ranges *r);
int64_t qn_ranges_begin(const struct qn_ranges *r, size_t i);  /* a chunk's first byte */
int64_t qn_ranges_length(const struct qn_ranges *r, size_t i); /* its bytes when it is full */
int64_t qn_ranges_done(const struct qn_ranges *r, size_t i);   /* that are there */
size_t qn_ranges_at(const struct qn_ranges *r, int64_t byte);  /* the chunk that byte is in */
int64_t qn_ranges_front(struct qn_ranges *r); /* all bytes before this one are there */
int64_t qn_ranges_total(const struct qn_ranges *r);

/* n more bytes from `begin` on have been written; they begin where their chunk ends now, and may go
 * on into following chunks that are empty. QN_EIO. */
qn_err qn_ranges_add(struct qn_ranges *r, int64_t begin, int64_t n, struct qn_error *e);

/* All bytes before front are on the disk itself. QN_EIO. */
qn_err qn_ranges_synced(struct qn_ranges *r, int64_t front, struct qn_error *e);

#endif
