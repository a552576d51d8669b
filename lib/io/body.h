/* The body of a request while it is received: in memory up to QN_BODY_MEMORY_MAX, then in an
 * unnamed temporary file. A complete body is lent as one piece of memory in either case.
 *
 * Adding bytes does not block. When memory is full (qn_body_full), and at the end
 * (qn_body_unstored), qn_body_store moves the bytes to the file. It blocks, so a worker thread
 * calls it; until it returns, no other thread may use the body. */
#ifndef QN_IO_BODY_H
#define QN_IO_BODY_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_BODY_MEMORY_MAX = 1024 * 1024, QN_BODY_TEMPORARY_SHARE = 10 };

/* Prefix of file names, used on file systems that do not support unnamed files. */
#define QN_BODY_NAME "quince-"

struct qn_body {
    struct qn_buf memory; /* bytes that are not in the file yet */
    int fd;               /* -1: everything is in memory */
    size_t len;
    size_t max;
    const char *dir; /* folder of the file, borrowed. Set: the body is to be kept under a name in
                        this folder, and the file's size is not limited to a share of the disk.
                        NULL: the folder of temporary files */
    int64_t reserve_bytes; /* free space to be left on the file's disk; for a temporary file at most
                              1/QN_BODY_TEMPORARY_SHARE of that disk */
    size_t announced;      /* length of the whole body from Content-Length; 0: not known */
    char *name;            /* path of a file that has a name, in dir */
    void *map;             /* mapping of the file, once the body is complete */
};

void qn_body_init(struct qn_body *b, size_t max);
/* A complete body in memory, of bytes that are taken over. */
void qn_body_of(struct qn_body *b, struct qn_buf *bytes);
void qn_body_deinit(struct qn_body *b);
/* n is at most QN_BODY_MEMORY_MAX, and qn_body_full(b, n) must be false. QN_ELIMIT: more than max
 * bytes in all. */
qn_err qn_body_add(struct qn_body *b, const void *p, size_t n, struct qn_error *e);
/* True when memory has no space for n more bytes: qn_body_store must be called first. */
bool qn_body_full(const struct qn_body *b, size_t n);
/* True when a complete body has to be stored before qn_body_finish or qn_body_keep. */
bool qn_body_unstored(const struct qn_body *b);
/* Blocking. QN_ELIMIT: less than reserve_bytes would stay free on the disk, now or when the rest of
 * the announced bytes has been stored. QN_EIO. */
qn_err qn_body_store(struct qn_body *b, struct qn_error *e);
/* Gives the whole body, which was received in b->dir, a name on the same file system. QN_ECONFLICT:
 * the name exists. */
qn_err qn_body_keep(struct qn_body *b, const char *path, struct qn_error *e);
/* Ends the body; no more bytes may be added. Lends the bytes until qn_body_deinit; *data is never
 * NULL, even when n is 0. */
qn_err qn_body_finish(struct qn_body *b, const char **data, size_t *n, struct qn_error *e);

#endif
