/* See digest.h. */
#include "registry/digest.h"

#include "base/buf.h"
#include "formats/gguf_name.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1024 * 1024 };

/* Holes are read as zeros at the speed of the hash and take no disk space, so a file of a few bytes
 * can claim any size. */
#define HOLES_MAX (INT64_C(16) * 1024 * 1024 * 1024)

static qn_err part_path(const char *path, size_t i, size_t n, char out[static PATH_MAX],
                        struct qn_error *e)
{
    int wrote = n == 1 ? snprintf(out, PATH_MAX, "%s", path) : 0;
    bool ok = n == 1 ? wrote < PATH_MAX : qn_gguf_part_path(path, i, n, out, PATH_MAX);
    return ok ? QN_OK : qn_fail(e, QN_EINVAL, "%.200s: the path is too long", path);
}

qn_err qn_registry_stamp(const char *path, struct qn_stamp *out, struct qn_error *e)
{
    size_t n = qn_gguf_parts_of(path);
    unsigned long long size = 0, changed = 0;
    *out = (struct qn_stamp){.modified_s = 0};
    for (size_t i = 0; i < n; i++) {
        char part[PATH_MAX];
        struct stat st;
        qn_err err = part_path(path, i, n, part, e);
        if (err)
            return err;
        if (stat(part, &st))
            return qn_fail_errno(e, "stat %s", part);
        size += (unsigned long long)st.st_size;
        changed = changed * 31 + (unsigned long long)st.st_mtim.tv_sec * 1000000000 +
                  (unsigned long long)st.st_mtim.tv_nsec;
        if (st.st_mtim.tv_sec > out->modified_s)
            out->modified_s = st.st_mtim.tv_sec;
    }
    snprintf(out->text, sizeof out->text, "%zu:%llu:%llu", n, size, changed);
    return QN_OK;
}

/* A checksum in progress, over all parts of a model. */
struct adding {
    struct qn_sha256 sum;
    char *chunk;
    int64_t holes; /* bytes */
    const atomic_bool *stop;
};

/* Adds the holes before `until` to a->holes; *at is the position examined so far. On file systems
 * that do not report holes there are none. */
static bool too_hollow(struct adding *a, int fd, off_t *at, off_t until, off_t size)
{
    while (*at < until && a->holes <= HOLES_MAX) {
        off_t data = lseek(fd, *at, SEEK_DATA);
        if (data < 0)
            data = errno == ENXIO ? size : *at; /* ENXIO: nothing but a hole is left */
        data = data < size ? data : size;
        off_t end = data < size ? lseek(fd, data, SEEK_HOLE) : size;
        a->holes += data - *at;
        *at = end > data ? end : size;
    }
    return a->holes > HOLES_MAX;
}

/* Hashes the `size` bytes that the file had when it was opened; bytes appended later are ignored.
 */
static qn_err add_bytes(struct adding *a, int fd, off_t size, const char *path, struct qn_error *e)
{
    off_t looked = 0;
    for (off_t at = 0; at < size;) {
        size_t want = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
        if (atomic_load_explicit(a->stop, memory_order_relaxed))
            return qn_fail(e, QN_ECANCELLED, "the checksum of %s was cancelled", path);
        if (too_hollow(a, fd, &looked, at + (off_t)want, size))
            return qn_fail(e, QN_EFORMAT, "%s has more than %lld GiB of holes: no model has", path,
                           (long long)(HOLES_MAX >> 30));
        ssize_t n = pread(fd, a->chunk, want, at);
        if (n < 0)
            return qn_fail_errno(e, "read %s", path);
        if (n == 0)
            return qn_fail(e, QN_EIO, "%s became shorter while it was read", path);
        qn_sha256_add(&a->sum, a->chunk, (size_t)n);
        at += n;
    }
    return QN_OK;
}

static qn_err add_file(struct adding *a, const char *path, struct qn_error *e)
{
    struct stat st;
    /* O_NONBLOCK: open() must not block if the path is a named pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return qn_fail_errno(e, "open %s", path);
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return qn_fail(e, QN_EIO, "%s is not a regular file", path);
    }
    /* A hint: a failure does not matter. */
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    qn_err err = add_bytes(a, fd, st.st_size, path, e);
    close(fd);
    return err;
}

qn_err qn_registry_digest(const char *path, const atomic_bool *stop,
                          char out[static QN_SHA256_HEX + 1], struct qn_error *e)
{
    size_t n = qn_gguf_parts_of(path);
    struct adding a = {.chunk = qn_xmalloc(CHUNK), .stop = stop};
    qn_err err = QN_OK;
    qn_sha256_init(&a.sum);
    for (size_t i = 0; i < n && !err; i++) {
        char part[PATH_MAX];
        err = part_path(path, i, n, part, e);
        if (!err)
            err = add_file(&a, part, e);
    }
    free(a.chunk);
    if (!err)
        qn_sha256_hex(&a.sum, out);
    return err;
}
