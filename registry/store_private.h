/* What the store's files share: opening beneath its folders, and the names in them. */
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
    char *roots[QN_HUB_COUNT]; /* NULL: a hub that keeps nothing here */
    char *unpacked;
};

/* A descriptor of the hub's root; made when `make` is set. QN_ENOTFOUND: there is none. *fd is -1
 * after an error. */
qn_err qn_store_open_root(const struct qn_store *s, enum qn_hub_kind hub, bool make, int *fd,
                          struct qn_error *e);

/* openat2(2) with RESOLVE_BENEATH: rel never leaves the folder, whatever links lie in it. flags as
 * for open(2), O_CLOEXEC is added. -1 and errno. */
int qn_store_open_at(int root, const char *rel, int flags);

/* Opens the folder rel below root and makes what is missing of it; no component may be a link. *fd
 * is -1 after an error. */
qn_err qn_store_make_at(int root, const char *rel, int *fd, struct qn_error *e);

/* "models--owner--name"; QN_EINVAL for names that are none. */
qn_err qn_store_folder(enum qn_hub_kind hub, const char *repo, char out[static QN_STORE_REL_MAX],
                       struct qn_error *e);

/* The hub's root that a path lies in and the path below it; QN_HUB_COUNT: none. */
enum qn_hub_kind qn_store_hub_of(const struct qn_store *s, const char *path, const char **rel);

/* A sum as blobs are named by: 40 or 64 lower-case hexadecimal digits. */
bool qn_store_blob_ok(const char *blob);

/* The blob's name that a link's text ends in, or NULL: it does not lead to blobs/. Lent from text.
 */
const char *qn_store_link_blob(const char *text);

/* True for the name of a link that is on its way into a snapshot. */
bool qn_store_is_fresh(const char *name);

/* Calls fn for every file and link below the folder `at`, with its path from there, until it
 * answers false. False: something could not be looked at (a folder that cannot be read, what lies
 * deeper than QN_STORE_DEPTH_MAX); it is passed over. Takes at. */
bool qn_store_walk(int at, bool (*fn)(void *ctx, const char *path), void *ctx);

/* The commit that refs/<revision> holds; false: there is none. repo: descriptor of its folder. */
bool qn_store_read_ref(int repo, const char *revision, char commit[static QN_STORE_COMMIT_MAX + 1]);

#endif
