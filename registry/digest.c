/* See digest.h. */
#include "registry/digest.h"

#include "base/buf.h"
#include "formats/gguf_name.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1024 * 1024 };

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

static qn_err add_file(struct qn_sha256 *sum, const char *path, char *chunk,
                       const atomic_bool *stop, struct qn_error *e)
{
    struct stat st;
    /* O_NONBLOCK: a named pipe in a model's place must not hold a thread up. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return qn_fail_errno(e, "open %s", path);
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return qn_fail(e, QN_EIO, "%s is not a regular file", path);
    }
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* advice: nothing depends on it */
    qn_err err = QN_OK;
    for (ssize_t n = 1; n > 0 && !err;) {
        if (atomic_load_explicit(stop, memory_order_relaxed))
            err = qn_fail(e, QN_ECANCELLED, "the sum of %s was given up", path);
        else if ((n = read(fd, chunk, CHUNK)) < 0)
            err = qn_fail_errno(e, "read %s", path);
        else
            qn_sha256_add(sum, chunk, (size_t)n);
    }
    close(fd);
    return err;
}

qn_err qn_registry_digest(const char *path, const atomic_bool *stop,
                          char out[static QN_SHA256_HEX + 1], struct qn_error *e)
{
    size_t n = qn_gguf_parts_of(path);
    struct qn_sha256 sum;
    char *chunk = qn_xmalloc(CHUNK);
    qn_err err = QN_OK;
    qn_sha256_init(&sum);
    for (size_t i = 0; i < n && !err; i++) {
        char part[PATH_MAX];
        err = part_path(path, i, n, part, e);
        if (!err)
            err = add_file(&sum, part, chunk, stop, e);
    }
    free(chunk);
    if (!err)
        qn_sha256_hex(&sum, out);
    return err;
}
