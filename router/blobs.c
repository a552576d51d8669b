/* See blobs.h. A file first has a name that says it has not been checked; what a crash leaves under
 * such a name, or under that of a body on its way (io/body.c), is removed when the next server
 * starts. */
#include "router/blobs.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"
#include "io/body.h"
#include "registry/digest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANDOM_DIGITS = 16 };
static const char unchecked[] = "unchecked-";

struct qn_blobs {
    struct qn_loop *loop;
    char *dir;
    bool made;
    atomic_bool stop;
};

struct put {
    struct qn_blobs *blobs;
    char *from, *to;
    char wanted[QN_SHA256_HEX + 1];
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
    if (b)
        atomic_store(&b->stop, true);
}

void qn_blobs_free(struct qn_blobs *b)
{
    if (!b)
        return;
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

/* The digits of a digest as clients write it, or NULL. */
static const char *digits_of(const char *digest)
{
    const char *p = digest + QN_BLOB_PREFIX;
    if (!qn_str_starts(digest, "sha256:") && !qn_str_starts(digest, "sha256-"))
        return NULL;
    return strspn(p, "0123456789abcdef") == QN_SHA256_HEX && strlen(p) == QN_SHA256_HEX ? p : NULL;
}

char *qn_blob_path(const struct qn_blobs *b, const char *digest)
{
    char name[QN_BLOB_PREFIX + QN_SHA256_HEX + 1];
    const char *digits = digits_of(digest);
    if (!digits)
        return NULL;
    snprintf(name, sizeof name, "sha256-%s", digits);
    return qn_path_join(b->dir, name);
}

/* Worker: the sum is right, the bytes are on the disk, the file gets its name. */
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
    p->done(p->ctx, p->error.code ? &p->error : NULL);
    free(p->from);
    free(p->to);
    free(p);
}

void qn_blob_put(struct qn_blobs *b, struct qn_http *h, const char *digest, qn_blob_done done,
                 void *ctx)
{
    struct put *p = qn_xcalloc(1, sizeof *p);
    char name[sizeof unchecked + RANDOM_DIGITS], digits[RANDOM_DIGITS + 1];
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
        qn_random_hex(digits, RANDOM_DIGITS);
        snprintf(name, sizeof name, "%s%s", unchecked, digits);
        p->from = qn_path_join(b->dir, name);
        (void)qn_http_body_keep(h, p->from, &p->error); /* the worker sees it */
    }
    qn_loop_work(b->loop, check, checked, p);
}

/* Rows name files by paths without links. */
static bool is_blob(const struct qn_blobs *b, const char *path)
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
    if (!is_blob(b, path))
        return;
    for (size_t i = 0; i < qn_snapshot_count(snap); i++)
        if (has_file(qn_snapshot_at(snap, i), path))
            return;
    if (unlink(path))
        qn_warn("blobs", "cannot remove %s: %s", path, strerror(errno));
}
