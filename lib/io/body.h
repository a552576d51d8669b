/* A request's body while it arrives: in memory up to QN_BODY_MEMORY_MAX, then in a temporary file
 * that has no name. When it is complete its bytes are lent as one piece of memory either way.
 *
 * Bytes are added without blocking. When memory is full (qn_body_full), and at the end
 * (qn_body_unstored), qn_body_store takes them to the file: it blocks, so a worker calls it, and
 * until it is back, no other thread may touch the body. */
#ifndef QN_IO_BODY_H
#define QN_IO_BODY_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_BODY_MEMORY_MAX = 1024 * 1024, QN_BODY_TEMPORARY_SHARE = 10 };

/* How the names of files begin, where the file system has none without. */
#define QN_BODY_NAME "quince-"

struct qn_body {
    struct qn_buf memory; /* what is not in the file yet */
    int fd;               /* -1: all in memory */
    size_t len;
    size_t max;
    const char *dir; /* lent: where the file is made, of any size because it shall be kept; NULL:
                        the folder of temporary files */
    int64_t reserve_bytes; /* to stay free on the file's disk; for a temporary file at most
                              1/QN_BODY_TEMPORARY_SHARE of that disk */
    size_t announced;      /* length of the whole body; 0: not known */
    char *name;            /* of a file that has one, in dir */
    void *map;             /* of the file, once complete */
};

void qn_body_init(struct qn_body *b, size_t max);
void qn_body_deinit(struct qn_body *b);
/* n at most QN_BODY_MEMORY_MAX, and not when it is full for n. QN_ELIMIT: more than max. */
qn_err qn_body_add(struct qn_body *b, const void *p, size_t n, struct qn_error *e);
/* True when memory has no room for n bytes more: store first. */
bool qn_body_full(const struct qn_body *b, size_t n);
/* True when the complete body has to be stored before it is finished or kept. */
bool qn_body_unstored(const struct qn_body *b);
/* Blocking. QN_ELIMIT: the disk would have less left than the reserve, now or when all that was
 * announced has come. QN_EIO. */
qn_err qn_body_store(struct qn_body *b, struct qn_error *e);
/* The whole body, which was collected in b->dir, gets a name on the same file system. QN_ECONFLICT:
 * the name is taken. */
qn_err qn_body_keep(struct qn_body *b, const char *path, struct qn_error *e);
/* No more bytes. Lends them until deinit; never NULL, even when n is 0. */
qn_err qn_body_finish(struct qn_body *b, const char **data, size_t *n, struct qn_error *e);

#endif
