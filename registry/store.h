/* The models on this disk, in the layout of Hugging Face's cache, which huggingface_hub, llama.cpp
 * and others read and write at the same time:
 *
 *   models--owner--name/blobs/<sum>                      the bytes: SHA-256, or git's sum of small
 * files /snapshots/<commit>/<path>        links to ../../blobs/<sum> /refs/<revision> the commit
 * that a branch or tag meant last /blobs/<sum>.quince.incomplete    ours while it grows (and its
 * .ranges)
 *                      /.quince/<sum>                    an empty file: quince has fetched this
 * blob; its time is that of the blob's bytes
 *
 * What comes from Hugging Face lies in the cache that all programs share. Other hubs have the same
 * layout in folders of our own, <own>/modelscope, <own>/ollama, <own>/url. Our partial files have
 * another name than those of huggingface_hub (<sum>.incomplete): it would take a file with gaps for
 * one that it can append to.
 *
 * Nothing is locked. Blobs and links appear whole, by rename, after they are on the disk; a blob
 * that another program put there first stays as it is. What quince has not fetched it never
 * deletes. Names are checked, and files are opened without leaving the cache. Any thread; two
 * calls that write the same blob must not run at the same time. */
#ifndef QN_REGISTRY_STORE_H
#define QN_REGISTRY_STORE_H

#include "base/error.h"
#include "registry/hub.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_STORE_PATH_MAX = 1024,
    QN_STORE_COMMIT_MAX = 64,
    QN_STORE_BLOB_MAX = 64,
    QN_STORE_GRACE_S = 600
};

struct qn_store;

/* Where Hugging Face's cache is by the rules of its own programs: HF_HUB_CACHE,
 * HUGGINGFACE_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME/huggingface/hub, ~/.cache/huggingface/hub.
 * env: NAME=VALUE words ending in NULL. malloc'ed. */
char *qn_store_hf_cache(const char *const *env);

/* cache: Hugging Face's; own: for all other hubs. Both are copied, and made when something comes
 * into them. Never fails. */
struct qn_store *qn_store_new(const char *cache, const char *own);
void qn_store_free(struct qn_store *s); /* NULL allowed */

/* The folder that holds a hub's models--... folders; lent. */
const char *qn_store_root(const struct qn_store *s, enum qn_hub_kind hub);

/* The place of one file of one commit. */
struct qn_store_spot {
    enum qn_hub_kind hub;
    char repo[QN_REF_REPO_MAX + 1]; /* "owner/name" */
    char commit[QN_STORE_COMMIT_MAX + 1];
    char path[QN_STORE_PATH_MAX + 1]; /* in the repository */
    char blob[QN_STORE_BLOB_MAX + 1]; /* its sum, lower-case hexadecimal; "": not known yet */
};

/* Where a file that a hub names has its place. A URL, which has no repository and no commit, gets
 * a repository named after the file and the address's sum. QN_EINVAL: names that no cache can have.
 */
qn_err qn_store_spot(const struct qn_repo *repo, const struct qn_repo_file *file,
                     struct qn_store_spot *out, struct qn_error *e);

/* The absolute path under which a complete file is found (its link in the snapshot), malloc'ed,
 * and its size (MAY be NULL). QN_ENOTFOUND: it is not there, or not whole. */
qn_err qn_store_find(const struct qn_store *s, const struct qn_store_spot *spot, char **path,
                     int64_t *size_bytes, struct qn_error *e);

/* True when the blob is there already (another revision has it): it needs no download, only
 * qn_store_publish. False when its sum is not known. */
bool qn_store_has_blob(const struct qn_store *s, const struct qn_store_spot *spot,
                       int64_t *size_bytes);

/* The path of the file's partial, malloc'ed; the folders exist then. The same for every revision
 * that has the same blob. */
qn_err qn_store_partial(const struct qn_store *s, const struct qn_store_spot *spot, char **path,
                        struct qn_error *e);

/* The partial is complete and verified: syncs it, renames it to its blob and links it. sum: what
 * was computed, or NULL to take spot->blob (a blob that is there already is only linked). path
 * (MAY be NULL): as of qn_store_find. */
qn_err qn_store_publish(const struct qn_store *s, const struct qn_store_spot *spot, const char *sum,
                        char **path, struct qn_error *e);

/* When every file of the snapshot that was asked for is published: the revision means this commit.
 */
qn_err qn_store_set_ref(const struct qn_store *s, enum qn_hub_kind hub, const char *repo,
                        const char *revision, const char *commit, struct qn_error *e);

/* What the cache knows of a repository without asking anybody, as a hub would say it: the files
 * that are there and whole at one commit. nth 0 is what the revision ("" is "main") means, or the
 * commit itself; with "" further snapshots follow, newest first. QN_ENOTFOUND past the last one.
 * Files' urls are their absolute paths; sha256 is set where the blob's name is one. QN_EIO: what is
 * there cannot be read; `partial` is set where some of it cannot. */
qn_err qn_store_cached(const struct qn_store *s, enum qn_hub_kind hub, const char *repo,
                       const char *revision, size_t nth, struct qn_repo **out, struct qn_error *e);

/* The repositories of one hub that are in its folder. Stops when fn answers false. A folder that
 * is not there has none. QN_EIO: it cannot be read. */
qn_err qn_store_each(const struct qn_store *s, enum qn_hub_kind hub,
                     bool (*fn)(void *ctx, const char *repo), void *ctx, struct qn_error *e);

/* True when quince fetched the blob that this path (of qn_store_find) leads to. */
bool qn_store_fetched(const struct qn_store *s, const char *path);

/* The folder for what an archive holds, <own>/unpacked/<sum of the archive>, malloc'ed; it need not
 * be there. What lies in it is quince's own, without links. */
qn_err qn_store_unpacked(const struct qn_store *s, const char *sum, char **path,
                         struct qn_error *e);

struct qn_store_freed {
    size_t files;       /* blobs (or other files) that went */
    int64_t size_bytes; /* of these, on the disk */
    size_t kept;        /* links whose blob stays: others use it, or quince did not fetch it */
};

/* Takes files out of the store (paths as of qn_store_find): each link that quince made, and its
 * blob when no other link leads to it and quince fetched it; then empty folders and references to
 * snapshots that are gone. Paths outside the store are left alone and count as kept. *out adds up;
 * it begins at zero. Files below qn_store_unpacked go as they are. */
qn_err qn_store_remove(const struct qn_store *s, const char *const *paths, size_t n,
                       struct qn_store_freed *out, struct qn_error *e);

/* What a clean-up finds. */
enum qn_store_waste {
    QN_WASTE_PARTIAL, /* a partial of ours that no job wants */
    QN_WASTE_BLOB,    /* fetched by quince, and no link leads to it */
    QN_WASTE_FOLDER,  /* empty */
    QN_WASTE_UNPACKED /* what an archive held, and no model has anything of */
};
struct qn_store_cleaner {
    void *ctx;
    int64_t grace_s; /* what changed less long ago stays, since somebody may be about to link it:
                        QN_STORE_GRACE_S */
    bool dry;        /* only tell */
    bool (*wanted)(void *ctx, const char *partial); /* MAY: true keeps a partial */
    bool (*used)(void *ctx, const char *folder);    /* MAY: true keeps an unpacked archive */
    void (*found)(void *ctx, enum qn_store_waste what, const char *path, int64_t size_bytes);
};
/* Goes through the whole store. Folders that are not there are fine. */
qn_err qn_store_clean(const struct qn_store *s, const struct qn_store_cleaner *cleaner,
                      struct qn_error *e);

#endif
