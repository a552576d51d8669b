/* Opens files in a folder that another user of this machine may own or write to. The server reads
 * them with its own permissions, so a path must not lead to files that the folder's owner could not
 * read. In this file a "place" is such a folder, where models are searched for.
 *
 * - A symbolic link that stays below the place is followed. One that leads out of it is followed
 *   only if the trusted user or root created the link.
 * - A description (a text that the server shows) must be a regular file and not a link. It must
 *   belong to the owner of its folder or of the place. A file of the trusted user or root is
 *   accepted too, but only while it has a single hard link: a user may be able to add a hard link
 *   to such a file in a folder of their own, so with several links it may not belong to this
 *   folder.
 *
 * The path of the place itself is trusted. Any thread, but one place is used by one thread at a
 * time. */
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
    uid_t user; /* trusted besides root: the user that the server runs as */
};

/* path is copied. QN_ENOTFOUND, QN_EIO. */
qn_err qn_foreign_open_place(struct qn_foreign *f, const char *path, uid_t user,
                             struct qn_error *e);
void qn_foreign_close_place(struct qn_foreign *f); /* a zeroed struct is allowed */

/* open(2) for a path at or below the place; O_CLOEXEC and O_NONBLOCK are added. Returns -1 and sets
 * errno on failure; EXDEV: an untrusted link leads out of the place. */
int qn_foreign_open(const struct qn_foreign *f, const char *path, int flags);

/* fstat of a regular file that can be opened for reading. QN_ENOTFOUND, QN_EINVAL, QN_EIO. */
qn_err qn_foreign_stat(const struct qn_foreign *f, const char *path, struct stat *out,
                       struct qn_error *e);

/* Appends a whole description to out, up to the limit of out. QN_ENOTFOUND; QN_EINVAL: not a
 * description by the rules above; QN_ELIMIT, QN_EIO. */
qn_err qn_foreign_read(const struct qn_foreign *f, const char *path, struct qn_buf *out,
                       struct qn_error *e);

#endif
