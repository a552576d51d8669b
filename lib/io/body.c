/* Stores a body: bytes beyond the memory limit move to an unlinked file under $TMPDIR or /tmp,
 * which is mapped when the body is complete, so that the kernel can write it back under memory
 * pressure. */
#include "io/body.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

void qn_body_init(struct qn_body *b, size_t max)
{
    *b = (struct qn_body){.fd = -1, .max = max};
    qn_buf_init(&b->memory, QN_BODY_MEMORY_MAX);
}

void qn_body_of(struct qn_body *b, struct qn_buf *bytes)
{
    *b = (struct qn_body){.fd = -1, .max = bytes->len, .len = bytes->len, .memory = *bytes};
    *bytes = (struct qn_buf){.limit = bytes->limit};
}

void qn_body_deinit(struct qn_body *b)
{
    if (b->map)
        munmap(b->map, b->len);
    if (b->fd >= 0)
        close(b->fd);
    if (b->name)
        unlink(b->name);
    free(b->name);
    qn_buf_deinit(&b->memory);
}

static qn_err spill(struct qn_body *b, const char *p, size_t n, struct qn_error *e)
{
    while (n > 0) {
        ssize_t done = write(b->fd, p, n);
        if (done < 0) {
            if (errno == EINTR)
                continue;
            return errno == ENOSPC ? qn_fail(e, QN_ELIMIT, "the disk is full")
                                   : qn_fail_errno(e, "store the request body");
        }
        p += done;
        n -= (size_t)done;
    }
    return QN_OK;
}

static qn_err open_spool(struct qn_body *b, struct qn_error *e)
{
    const char *dir = b->dir ? b->dir : getenv("TMPDIR");
    if (!dir || !*dir)
        dir = "/tmp";
    b->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (b->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        /* The file system has no unnamed files: make a named one and unlink it at once. */
        char path[4096];
        int n = snprintf(path, sizeof path, "%s/" QN_BODY_NAME "XXXXXX", dir);
        if (n < 0 || (size_t)n >= sizeof path)
            return qn_fail(e, QN_EIO, "TMPDIR is too long a path");
        b->fd = mkostemp(path, O_CLOEXEC);
        if (b->fd >= 0 && b->dir)
            b->name = qn_xstrdup(path); /* it may be kept under another name */
        else if (b->fd >= 0)
            unlink(path);
    }
    /* If the process may not create files, the body stays in memory. */
    if (b->fd < 0 && !b->dir && (errno == EACCES || errno == EROFS))
        b->fd = memfd_create(QN_BODY_NAME, MFD_CLOEXEC);
    if (b->fd < 0)
        return qn_fail_errno(e, "create a temporary file in %s", dir);
    return QN_OK;
}

/* Checks the free space, so that bodies do not fill the disk. */
static qn_err check_disk(const struct qn_body *b, struct qn_error *e)
{
    struct statvfs fs;
    if (fstatvfs(b->fd, &fs))
        return qn_fail_errno(e, "check the free space for request bodies");
    int64_t block = (int64_t)fs.f_frsize, reserve = b->reserve_bytes;
    if (!b->dir && fs.f_blocks == 0)
        return QN_OK; /* a file system in memory without a size limit */
    /* The reserve that is set may exceed a small file system for temporary files: there it is at
     * most a share of the whole. */
    int64_t part = (int64_t)fs.f_blocks * block / QN_BODY_TEMPORARY_SHARE;
    if (!b->dir && reserve > part)
        reserve = part;
    size_t whole = b->announced > b->len ? b->announced : b->len;
    int64_t more = (int64_t)(whole - (b->len - b->memory.len));
    int64_t left = (int64_t)fs.f_bavail * block - more;
    if (left < reserve)
        return qn_fail(e, QN_ELIMIT,
                       "the disk of %s would have %lld MiB left, and %lld must stay free",
                       b->dir ? b->dir : "temporary files", (long long)(left >> 20),
                       (long long)(reserve >> 20));
    return QN_OK;
}

qn_err qn_body_store(struct qn_body *b, struct qn_error *e)
{
    qn_err err = b->fd < 0 ? open_spool(b, e) : QN_OK;
    if (!err)
        err = check_disk(b, e);
    if (!err)
        err = spill(b, b->memory.data, b->memory.len, e);
    qn_buf_clear(&b->memory);
    return err;
}

bool qn_body_full(const struct qn_body *b, size_t n)
{
    return n > QN_BODY_MEMORY_MAX - b->memory.len;
}

bool qn_body_unstored(const struct qn_body *b)
{
    return b->fd >= 0 ? b->memory.len > 0 : b->dir != NULL;
}

qn_err qn_body_add(struct qn_body *b, const void *p, size_t n, struct qn_error *e)
{
    assert(!qn_body_full(b, n));
    if (n > b->max - b->len)
        return qn_fail(e, QN_ELIMIT, "the request body is larger than %zu bytes", b->max);
    b->len += n;
    return qn_buf_add(&b->memory, p, n);
}

qn_err qn_body_keep(struct qn_body *b, const char *path, struct qn_error *e)
{
    char link[64];
    assert(b->fd >= 0);
    if (b->name) {
        if (rename(b->name, path))
            return qn_fail_errno(e, "rename %s to %s", b->name, path);
        free(b->name);
        b->name = NULL;
        return QN_OK;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", b->fd);
    if (linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW)) {
        if (errno == EEXIST)
            return qn_fail(e, QN_ECONFLICT, "%s exists already", path);
        return qn_fail_errno(e, "keep the request body as %s", path);
    }
    return QN_OK;
}

qn_err qn_body_finish(struct qn_body *b, const char **data, size_t *n, struct qn_error *e)
{
    *n = b->len;
    if (b->fd < 0 || b->len == 0) {
        *data = b->fd < 0 ? qn_buf_cstr(&b->memory) : "";
        return QN_OK;
    }
    void *map = mmap(NULL, b->len, PROT_READ, MAP_PRIVATE, b->fd, 0);
    if (map == MAP_FAILED)
        return qn_fail_errno(e, "map the request body");
    b->map = map;
    *data = map;
    return QN_OK;
}
