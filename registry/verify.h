/* Computes checksums of files that are still growing. One thread reads each file behind its writer,
 * so that the checksum is ready soon after the last byte. Bytes written a moment ago are read from
 * memory (the page cache); after a restart the beginning is read from the disk.
 *
 * The same thread syncs a file: from time to time while it grows, and at its end before its
 * checksum is reported. */
#ifndef QN_REGISTRY_VERIFY_H
#define QN_REGISTRY_VERIFY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_VERIFY_HEX_MAX = 64 };

enum qn_verify_kind { QN_VERIFY_SHA256, QN_VERIFY_GIT_SHA1 };

struct qn_verify;     /* the thread */
struct qn_verify_sum; /* one file */

/* wake is called on the thread, and never after qn_verify_free has begun, when qn_verify_poll of a
 * file may have a new result. sync_ms: how often a growing file is synced. */
qn_err qn_verify_new(void (*wake)(void *ctx), void *ctx, int64_t sync_ms, struct qn_verify **out,
                     struct qn_error *e);
/* Ends all checksums and the thread, without waiting for the disk: if a sync is in progress, the
 * thread frees its memory when the sync returns. NULL allowed. */
void qn_verify_free(struct qn_verify *v);

/* Begins the checksum of a file of `size` bytes of which none can be read yet. fd is duplicated.
 * QN_EIO. */
qn_err qn_verify_begin(struct qn_verify *v, int fd, int64_t size, enum qn_verify_kind kind,
                       struct qn_verify_sum **out, struct qn_error *e);
/* Reports that all bytes before front can be read; front never decreases. */
void qn_verify_front(struct qn_verify *v, struct qn_verify_sum *s, int64_t front);
/* True when all bytes are in the checksum and synced, or when that has failed. *synced, in either
 * case: the number of bytes from the beginning that are on the disk. hex: the checksum; *err:
 * QN_EIO with e filled. */
bool qn_verify_poll(struct qn_verify *v, struct qn_verify_sum *s, int64_t *synced,
                    char hex[static QN_VERIFY_HEX_MAX + 1], qn_err *err, struct qn_error *e);
/* Frees a checksum, finished or not, without waiting. NULL allowed. */
void qn_verify_end(struct qn_verify *v, struct qn_verify_sum *s);

#endif
