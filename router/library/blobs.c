/* See blobs.h. An uploaded file has a name that marks it as unchecked until it is verified; files
 * that a crash leaves under such a name, or under that of an incomplete body (io/body.c), are
 * removed when the server starts next. */
#include "library/blobs.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"
#include "catalog/used_files.h"
#include "io/body.h"
#include "library/blob_shares.h"
#include "registry/digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANDOM_DIGITS = 16, SWEEP_MAX = 1000 };
static const char unchecked[] = "unchecked-";

struct qn_blobs {
    struct qn_loop *loop;
    char *dir;
    bool made;
    atomic_bool stop;
    struct qn_catalog *catalog; /* NULL: the clean-up has not been started */
    struct qn_timer *timer;
    struct sweep *sweep; /* the running one; NULL: none */
    struct qn_blob_shares shares;
};

struct put {
    struct qn_blobs *blobs;
    char *from, *to;
    char wanted[QN_SHA256_HEX + 1];
    struct qn_blob_share *share; /* NULL: not counted */
    struct qn_error error;
    qn_blob_done done;
    void *ctx;
};

static void remove_left(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *f = d ? readdir(d) : NULL; f; f = readdir(d))
        if (qn_str_starts(f->d_name, unchecked) || qn_str_starts(f->d_name, QN_BODY_NAME))
            unlinkat(dirfd(d), f->d_name, 0);
    if (d)
        closedir(d);
}

struct qn_blobs *qn_blobs_new(struct qn_loop *l, const char *dir)
{
    struct qn_blobs *b = qn_xcalloc(1, sizeof *b);
    b->loop = l;
    b->dir = qn_xstrdup(dir);
    atomic_init(&b->stop, false);
    remove_left(dir);
    return b;
}

void qn_blobs_stop(struct qn_blobs *b)
{
    if (!b)
        return;
    atomic_store(&b->stop, true);
    qn_timer_stop(b->timer);
    b->timer = NULL;
}

void qn_blobs_free(struct qn_blobs *b)
{
    if (!b)
        return;
    qn_blob_shares_deinit(&b->shares);
    free(b->dir);
    free(b);
}

const char *qn_blobs_dir(struct qn_blobs *b)
{
    struct qn_error e = {0};
    if (b->made)
        return b->dir;
    if (qn_mkdirs(b->dir, 0700, &e)) {
        qn_error_log("blobs", "%s", e.message);
        return NULL;
    }
    b->made = true;
    return b->dir;
}

/* The digits of a digest in a client's notation, or NULL. */
static const char *digits_of(const char *digest)
{
    const char *p = digest + QN_BLOB_PREFIX;
    if (!qn_str_starts(digest, "sha256:") && !qn_str_starts(digest, "sha256-"))
        return NULL;
    return strspn(p, "0123456789abcdef") == QN_SHA256_HEX && strlen(p) == QN_SHA256_HEX ? p : NULL;
}

/* A new unused name, malloc'ed; a file left under it by a crash is removed at the next start. */
static char *unchecked_path(const struct qn_blobs *b)
{
    char name[sizeof unchecked + RANDOM_DIGITS], digits[RANDOM_DIGITS + 1];
    qn_random_hex(digits, RANDOM_DIGITS);
    snprintf(name, sizeof name, "%s%s", unchecked, digits);
    return qn_path_join(b->dir, name);
}

/* ---- blobs without a model ---- */

/* One clean-up: a worker lists the old files, the loop renames those that no model has, a worker
 * deletes them, which takes a while for large files. */
struct sweep {
    struct qn_blobs *blobs;
    char *paths[SWEEP_MAX];
    size_t n;
};

/* False also for a file that is not regular or does not exist. */
static bool is_old(const char *path)
{
    struct stat st;
    const int64_t until_s = qn_wall_ms() / 1000 - QN_BLOB_UNUSED_S;
    return !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_mtime < until_s &&
           st.st_atime < until_s;
}

static void sweep_free(struct sweep *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->paths[i]);
    free(s);
}

/* Runs on a worker. */
static void list_old(void *ctx)
{
    struct sweep *s = ctx;
    DIR *d = opendir(s->blobs->dir);
    for (struct dirent *f = d ? readdir(d) : NULL; f && s->n < SWEEP_MAX; f = readdir(d)) {
        char *path = digits_of(f->d_name) ? qn_path_join(s->blobs->dir, f->d_name) : NULL;
        if (path && is_old(path))
            s->paths[s->n++] = path;
        else
            free(path);
    }
    if (d)
        closedir(d);
}

/* Runs on a worker. */
static void remove_swept(void *ctx)
{
    struct sweep *s = ctx;
    for (size_t i = 0; i < s->n; i++)
        if (unlink(s->paths[i]))
            qn_warn("blobs", "cannot remove %s: %s", s->paths[i], strerror(errno));
}

static void removed(void *ctx)
{
    struct sweep *s = ctx;
    s->blobs->sweep = NULL;
    sweep_free(s);
}

/* Runs on the loop, so that no request can begin to use a file between the check and the
 * renaming. */
static void listed(void *ctx)
{
    struct sweep *s = ctx;
    struct qn_blobs *b = s->blobs;
    size_t kept = 0;
    struct qn_snapshot *snap = atomic_load(&b->stop) ? NULL : qn_catalog_snapshot(b->catalog);
    for (size_t i = 0; i < s->n; i++) {
        char *from = s->paths[i], *to = unchecked_path(b);
        if (snap && is_old(from) && !qn_file_is_used(snap, from) && !rename(from, to)) {
            qn_info("blobs", "blob=%s removed=1 message=\"no model has it\"", qn_path_base(from));
            s->paths[kept++] = to;
        } else {
            free(to);
        }
        free(from);
    }
    s->n = kept;
    if (snap)
        qn_blob_shares_prune(&b->shares, snap);
    qn_snapshot_unref(snap);
    if (kept)
        qn_loop_work(b->loop, remove_swept, removed, s);
    else
        removed(s);
}

static void sweep(void *ctx)
{
    struct qn_blobs *b = ctx;
    if (b->sweep || atomic_load(&b->stop))
        return;
    b->sweep = qn_xcalloc(1, sizeof *b->sweep);
    b->sweep->blobs = b;
    qn_loop_work(b->loop, list_old, listed, b->sweep);
}

void qn_blobs_watch(struct qn_blobs *b, struct qn_catalog *catalog)
{
    b->catalog = catalog;
    b->timer = qn_timer_start(b->loop, QN_BLOB_SWEEP_MS, QN_BLOB_SWEEP_MS, sweep, b);
    sweep(b);
}

/* The times of a file that belongs to a model are left alone, because the model's stored metadata
 * depend on them. */
bool qn_blob_ask(const struct qn_blobs *b, const char *path)
{
    static const struct timespec now_and_then[2] = {{.tv_nsec = UTIME_NOW},
                                                    {.tv_nsec = UTIME_OMIT}};
    struct qn_snapshot *snap = qn_catalog_snapshot(b->catalog);
    bool there = qn_file_exists(path);
    if (there && !qn_file_is_used(snap, path))
        /* If setting the times fails, the file is only removed sooner. */
        (void)utimensat(AT_FDCWD, path, now_and_then, AT_SYMLINK_NOFOLLOW);
    qn_snapshot_unref(snap);
    return there;
}

int64_t qn_blobs_left(struct qn_blobs *b, const char *owner, int64_t max, int64_t wanted)
{
    int64_t left = qn_blob_shares_left(&b->shares, owner, max);
    if (left >= wanted)
        return left;
    struct qn_snapshot *snap = qn_catalog_snapshot(b->catalog);
    qn_blob_shares_prune(&b->shares, snap);
    qn_snapshot_unref(snap);
    return qn_blob_shares_left(&b->shares, owner, max);
}

/* ---- uploads ---- */

char *qn_blob_path(const struct qn_blobs *b, const char *digest)
{
    char name[QN_BLOB_PREFIX + QN_SHA256_HEX + 1];
    const char *digits = digits_of(digest);
    if (!digits)
        return NULL;
    snprintf(name, sizeof name, "sha256-%s", digits);
    return qn_path_join(b->dir, name);
}

/* Runs on a worker: verifies the checksum, flushes the file to the disk and gives it its name. */
static void check(void *ctx)
{
    struct put *p = ctx;
    char sum[QN_SHA256_HEX + 1];
    if (p->error.code || qn_registry_digest(p->from, &p->blobs->stop, sum, &p->error))
        return;
    if (!qn_str_eq(sum, p->wanted)) {
        qn_fail_param(&p->error, QN_EINVAL, "digest",
                      "digest mismatch, expected \"sha256:%s\", got \"sha256:%s\"", p->wanted, sum);
        return;
    }
    int fd = open(p->from, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd))
        qn_fail_errno(&p->error, "write %s to the disk", p->from);
    else if (rename(p->from, p->to))
        qn_fail_errno(&p->error, "rename %s", p->from);
    if (fd >= 0)
        close(fd);
}

static void checked(void *ctx)
{
    struct put *p = ctx;
    if (p->error.code && p->from && unlink(p->from) && errno != ENOENT)
        qn_error_log("blobs", "cannot remove %s: %s", p->from, strerror(errno));
    if (p->share && p->error.code)
        qn_blob_share_drop(&p->blobs->shares, p->share);
    else if (p->share)
        p->share->pending = false;
    p->done(p->ctx, p->error.code ? &p->error : NULL);
    free(p->from);
    free(p->to);
    free(p);
}

void qn_blob_put(struct qn_blobs *b, struct qn_http *h, const char *digest, const char *owner,
                 qn_blob_done done, void *ctx)
{
    size_t bytes;
    struct put *p = qn_xcalloc(1, sizeof *p);
    p->blobs = b;
    p->done = done;
    p->ctx = ctx;
    p->to = qn_blob_path(b, digest);
    if (!p->to) {
        qn_fail_param(&p->error, QN_EINVAL, "digest",
                      "'%.100s' is not a digest: expected sha256: and 64 hexadecimal digits",
                      digest);
    } else if (!qn_blobs_dir(b)) {
        qn_fail(&p->error, QN_EIO, "the folder %s cannot be made", b->dir);
    } else {
        memcpy(p->wanted, digits_of(digest), QN_SHA256_HEX + 1);
        (void)qn_http_body(h, &bytes);
        p->share = qn_blob_share_add(&b->shares, owner, p->to, (int64_t)bytes);
        p->from = unchecked_path(b);
        (void)qn_http_body_keep(h, p->from, &p->error); /* the worker reports the error */
    }
    qn_loop_work(b->loop, check, checked, p);
}

/* Paths are compared after resolving symbolic links, because the catalog's rows have resolved
 * paths. */
bool qn_blob_is(const struct qn_blobs *b, const char *path)
{
    char *dir = realpath(b->dir, NULL);
    size_t n = dir ? strlen(dir) : 0;
    bool is = dir && strncmp(path, dir, n) == 0 && path[n] == '/';
    free(dir);
    return is;
}

static bool has_file(const struct qn_model_row *row, const char *path)
{
    for (size_t i = 0; i < row->n_files; i++)
        if (qn_str_eq(row->files[i], path))
            return true;
    return false;
}

void qn_blob_release(const struct qn_blobs *b, const struct qn_snapshot *snap, const char *path)
{
    if (!qn_blob_is(b, path))
        return;
    for (size_t i = 0; i < qn_snapshot_count(snap); i++)
        if (has_file(qn_snapshot_at(snap, i), path))
            return;
    if (unlink(path))
        qn_warn("blobs", "cannot remove %s: %s", path, strerror(errno));
}
