/* The model files on this disk, in the layout of Hugging Face's cache, which huggingface_hub,
 * llama.cpp and other programs read and write at the same time:
 *
 *   models--owner--name/blobs/<sum>                      the bytes: SHA-256, or git's checksum of
 *                                                        small files
 *                      /snapshots/<commit>/<path>        links to ../../blobs/<sum>
 *                      /refs/<revision>                  the commit of a branch or tag when it was
 *                                                        last asked for
 *                      /blobs/<sum>.quince.incomplete    quince's partial file (and its .ranges)
 *                      /.quince/<sum>                    an empty file: quince has fetched this
 *                                                        blob; same modification time as the blob
 *
 * Files from Hugging Face are in the cache that all programs share. Files of other hubs are in the
 * same layout in folders of quince's own: <own>/modelscope, <own>/ollama, <own>/url. quince's
 * partial files have another name than those of huggingface_hub (<sum>.incomplete), which would
 * append to a file with gaps as if it had none.
 *
 * There are no locks. Blobs and links appear complete, by a rename after they are synced to the
 * disk; an existing blob of another program stays as it is. quince deletes only what quince has
 * fetched. Names are checked, and files are opened without leaving the cache. Any thread; two calls
 * that write the same blob must not run at the same time. */
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

/* The folder of Hugging Face's cache by the rules of its own programs: HF_HUB_CACHE,
 * HUGGINGFACE_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME/huggingface/hub, ~/.cache/huggingface/hub.
 * env: NAME=VALUE strings ending in NULL. malloc'ed. */
char *qn_store_hf_cache(const char *const *env);

/* cache: Hugging Face's cache; own: the folder for all other hubs. Both paths are copied; the
 * folders are made when the first file is stored. Never fails. */
struct qn_store *qn_store_new(const char *cache, const char *own);
void qn_store_free(struct qn_store *s); /* NULL allowed */

/* The folder that holds a hub's models--... folders; lent. */
const char *qn_store_root(const struct qn_store *s, enum qn_hub_kind hub);

/* Identifies one file of one commit in the store. */
struct qn_store_spot {
    enum qn_hub_kind hub;
    char repo[QN_REF_REPO_MAX + 1]; /* "owner/name" */
    char commit[QN_STORE_COMMIT_MAX + 1];
    char path[QN_STORE_PATH_MAX + 1]; /* in the repository */
    char blob[QN_STORE_BLOB_MAX + 1]; /* its sum, lower-case hexadecimal; "": not known yet */
};

/* Fills out for a file that a hub lists. A URL, which has no repository and no commit, gets a
 * repository named after the file and the address's checksum. QN_EINVAL: the names cannot be file
 * names. */
qn_err qn_store_spot(const struct qn_repo *repo, const struct qn_repo_file *file,
                     struct qn_store_spot *out, struct qn_error *e);

/* The absolute path of a complete file (its link in the snapshot), malloc'ed, and its size (MAY be
 * NULL). QN_ENOTFOUND: missing or incomplete. */
qn_err qn_store_find(const struct qn_store *s, const struct qn_store_spot *spot, char **path,
                     int64_t *size_bytes, struct qn_error *e);

/* True when the blob is in the store already (another revision has it): it needs no download, only
 * qn_store_publish. False when its checksum is not known. */
bool qn_store_has_blob(const struct qn_store *s, const struct qn_store_spot *spot,
                       int64_t *size_bytes);

/* The path of the file's partial, malloc'ed; its folders are created. Revisions that have the same
 * blob share the partial. */
qn_err qn_store_partial(const struct qn_store *s, const struct qn_store_spot *spot, char **path,
                        struct qn_error *e);

/* Publishes a complete and verified partial: syncs it, renames it to its blob and links it into the
 * snapshot. sum: the computed checksum, or NULL to use spot->blob (if the blob exists already, only
 * the link is made). path (MAY be NULL): as of qn_store_find. */
qn_err qn_store_publish(const struct qn_store *s, const struct qn_store_spot *spot, const char *sum,
                        char **path, struct qn_error *e);

/* Records that the revision means this commit; called when every requested file of the snapshot is
 * published. */
qn_err qn_store_set_ref(const struct qn_store *s, enum qn_hub_kind hub, const char *repo,
                        const char *revision, const char *commit, struct qn_error *e);

/* Describes a repository from the cache alone, in the form of a hub's reply: the complete files at
 * one commit. nth 0 is the commit that the revision ("" is "main") refers to, or the commit itself;
 * with "" further snapshots follow, newest first. QN_ENOTFOUND after the last one. The files' urls
 * are their absolute paths; sha256 is set if the blob's name is one. QN_EIO: the snapshot cannot be
 * read; `partial` is set if only some of it cannot. */
qn_err qn_store_cached(const struct qn_store *s, enum qn_hub_kind hub, const char *repo,
                       const char *revision, size_t nth, struct qn_repo **out, struct qn_error *e);

/* Calls fn for each repository in the folder of one hub, until fn returns false. A missing folder
 * counts as empty. QN_EIO: the folder cannot be read. */
qn_err qn_store_each(const struct qn_store *s, enum qn_hub_kind hub,
                     bool (*fn)(void *ctx, const char *repo), void *ctx, struct qn_error *e);

/* True when quince fetched the blob that this path (of qn_store_find) leads to. */
bool qn_store_fetched(const struct qn_store *s, const char *path);

/* The folder for the contents of an archive, <own>/unpacked/<checksum of the archive>, malloc'ed;
 * it may not exist. Its contents belong to quince alone and contain no links. */
qn_err qn_store_unpacked(const struct qn_store *s, const char *sum, char **path,
                         struct qn_error *e);

struct qn_store_freed {
    size_t files;       /* blobs (or other files) removed */
    int64_t size_bytes; /* their size on the disk */
    size_t kept; /* links whose blob stays: other links lead to it, or quince did not fetch it */
};

/* Removes files from the store (paths as of qn_store_find): each link that quince made, and its
 * blob when no other link leads to it and quince fetched it; then empty folders and references to
 * removed snapshots. Paths outside the store are left alone and count as kept. Files below
 * qn_store_unpacked are simply removed. *out begins at zero, and each call adds to it. */
qn_err qn_store_remove(const struct qn_store *s, const char *const *paths, size_t n,
                       struct qn_store_freed *out, struct qn_error *e);

/* What a clean-up removes. */
enum qn_store_waste {
    QN_WASTE_PARTIAL, /* a partial file of quince that no download job needs */
    QN_WASTE_BLOB,    /* fetched by quince, and no link leads to it */
    QN_WASTE_FOLDER,  /* an empty folder */
    QN_WASTE_UNPACKED /* an unpacked archive none of whose files belongs to a model */
};
struct qn_store_cleaner {
    void *ctx;
    int64_t grace_s; /* entries that changed less long ago are kept, since a download may be about
                        to link them: QN_STORE_GRACE_S */
    bool dry;        /* report only, remove nothing */
    bool (*wanted)(void *ctx, const char *partial); /* MAY be set: true keeps a partial */
    bool (*used)(void *ctx, const char *folder);    /* MAY be set: true keeps an unpacked archive */
    void (*found)(void *ctx, enum qn_store_waste what, const char *path, int64_t size_bytes);
};
/* Cleans the whole store. Missing folders are no error. */
qn_err qn_store_clean(const struct qn_store *s, const struct qn_store_cleaner *cleaner,
                      struct qn_error *e);

#endif
