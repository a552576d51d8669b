/* A request's body while it arrives: in memory up to QN_BODY_MEMORY_MAX, then in a temporary file
 * that has no name. When it is complete its bytes are lent as one piece of memory either way. */
#ifndef QN_IO_BODY_H
#define QN_IO_BODY_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

enum { QN_BODY_MEMORY_MAX = 1024 * 1024 };

/* How the names of files begin, where the file system has none without. */
#define QN_BODY_NAME "quince-"

struct qn_body {
    struct qn_buf memory;
    int fd; /* -1: all in memory */
    size_t len;
    size_t max;
    const char *dir; /* lent: where the file is made; NULL: the folder of temporary files */
    char *name;      /* of a file that has one, in dir */
    void *map;       /* of the file, once complete */
};

void qn_body_init(struct qn_body *b, size_t max);
void qn_body_deinit(struct qn_body *b);
qn_err qn_body_add(struct qn_body *b, const void *p, size_t n,
                   struct qn_error *e); /* QN_ELIMIT, QN_EIO */
/* The whole body, which was collected in b->dir, gets a name on the same file system. QN_ECONFLICT:
 * the name is taken. */
qn_err qn_body_keep(struct qn_body *b, const char *path, struct qn_error *e);
/* No more bytes. Lends them until deinit; never NULL, even when n is 0. */
qn_err qn_body_finish(struct qn_body *b, const char **data, size_t *n, struct qn_error *e);

#endif
