/* Shared by the store's files: opening files beneath its folders, and the names in them. */
#ifndef QN_REGISTRY_STORE_PRIVATE_H
#define QN_REGISTRY_STORE_PRIVATE_H

#include "registry/store.h"

#include <limits.h>

enum {
    QN_STORE_REL_MAX = PATH_MAX, /* of a path below a root, with its NUL */
    QN_STORE_DEPTH_MAX = 12      /* folders within a snapshot */
};
#define QN_STORE_PARTIAL_END ".quince.incomplete"
#define QN_STORE_MARKS ".quince"

struct qn_store {
    char *roots[QN_HUB_COUNT]; /* NULL: files of this hub are not stored */
    char *unpacked;
};

/* Opens the hub's root; creates it when `make` is set. QN_ENOTFOUND: it does not exist. *fd is -1
 * after an error. */
qn_err qn_store_open_root(const struct qn_store *s, enum qn_hub_kind hub, bool make, int *fd,
                          struct qn_error *e);

/* openat2(2) with RESOLVE_BENEATH: rel never leaves the folder, whatever links it contains. flags
 * as for open(2), O_CLOEXEC is added. Returns -1 and sets errno on failure. */
int qn_store_open_at(int root, const char *rel, int flags);

/* Opens the folder rel below root and creates missing folders of the path; no component may be a
 * link. *fd is -1 after an error. */
qn_err qn_store_make_at(int root, const char *rel, int *fd, struct qn_error *e);

/* "models--owner--name"; QN_EINVAL: repo is not a valid name. */
qn_err qn_store_folder(enum qn_hub_kind hub, const char *repo, char out[static QN_STORE_REL_MAX],
                       struct qn_error *e);

/* The hub whose root contains a path, and the path below that root; QN_HUB_COUNT: none. */
enum qn_hub_kind qn_store_hub_of(const struct qn_store *s, const char *path, const char **rel);

/* True for a blob's name: a checksum of 40 or 64 lower-case hexadecimal digits. */
bool qn_store_blob_ok(const char *blob);

/* The blob's name at the end of a link's text, lent from text. NULL: the link does not lead to
 * blobs/. */
const char *qn_store_link_blob(const char *text);

/* True for the temporary name of a link before its rename into a snapshot. */
bool qn_store_is_fresh(const char *name);

/* Calls fn for every file and link below the folder `at`, with its path from there, until fn
 * returns false. Returns false if something was skipped: a folder that cannot be read, or entries
 * deeper than QN_STORE_DEPTH_MAX. Takes ownership of `at`. */
bool qn_store_walk(int at, bool (*fn)(void *ctx, const char *path), void *ctx);

/* Reads the commit from refs/<revision>. False: there is none. repo: descriptor of the repository's
 * folder. */
bool qn_store_read_ref(int repo, const char *revision, char commit[static QN_STORE_COMMIT_MAX + 1]);

#endif
