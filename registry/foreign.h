/* Files in a folder that another user of this machine may own, or write to. What lies there is read
 * with the server's permissions, so it must not lead to files that its owner could not read.
 *
 * - A link that stays below the folder is followed. One that leads out of it is followed only where
 *   the trusted user or root made the link.
 * - A description, whose text the server shows, is a regular file and no link. It belongs to the
 *   owner of the folder that it lies in or of the place; a file of the trusted user or of root
 *   counts as well while it has one name, since a hard link in a foreign folder proves nothing.
 *
 * The path of the place itself is trusted. Any thread; a place is one thread's. */
#ifndef QN_REGISTRY_FOREIGN_H
#define QN_REGISTRY_FOREIGN_H

#include "base/buf.h"
#include "base/error.h"

#include <sys/stat.h>
#include <sys/types.h>

struct qn_foreign {
    char *path; /* absolute */
    int fd;     /* < 0: not open */
    uid_t owner;
    uid_t user; /* trusted besides root: the server's own */
};

/* path is copied. QN_ENOTFOUND, QN_EIO. */
qn_err qn_foreign_open_place(struct qn_foreign *f, const char *path, uid_t user,
                             struct qn_error *e);
void qn_foreign_close_place(struct qn_foreign *f); /* zeroed ones are allowed */

/* open(2) of a path at or below the place's; O_CLOEXEC and O_NONBLOCK are added. -1 and errno:
 * EXDEV for a link that leads out and is not trusted. */
int qn_foreign_open(const struct qn_foreign *f, const char *path, int flags);

/* A regular file that can be read. QN_ENOTFOUND, QN_EINVAL, QN_EIO. */
qn_err qn_foreign_stat(const struct qn_foreign *f, const char *path, struct stat *out,
                       struct qn_error *e);

/* Appends a whole description to out, whose limit holds. QN_ENOTFOUND; QN_EINVAL: it is not one, by
 * the rules above; QN_ELIMIT, QN_EIO. */
qn_err qn_foreign_read(const struct qn_foreign *f, const char *path, struct qn_buf *out,
                       struct qn_error *e);

#endif
