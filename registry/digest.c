/* See digest.h. */
#include "registry/digest.h"

#include "base/buf.h"
#include "formats/gguf_split.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1024 * 1024 };

/* How many files there are by the name's end, "-00001-of-00003.gguf". */
static size_t parts_of(const char *path)
{
    const char *of = strstr(path, "-of-");
    for (const char *next = of; next; next = strstr(next + 1, "-of-"))
        of = next;
    char again[PATH_MAX];
    unsigned n = 0;
    if (!of || sscanf(of, "-of-%5u.gguf", &n) != 1 || n < 1 || n > QN_GGUF_PARTS_MAX ||
        !qn_gguf_part_path(path, 0, n, again, sizeof again) || strcmp(again, path) != 0)
        return 1;
    return n;
}

static qn_err part_path(const char *path, size_t i, size_t n, char out[static PATH_MAX],
                        struct qn_error *e)
{
    int wrote = n == 1 ? snprintf(out, PATH_MAX, "%s", path) : 0;
    bool ok = n == 1 ? wrote < PATH_MAX : qn_gguf_part_path(path, i, n, out, PATH_MAX);
    return ok ? QN_OK : qn_fail(e, QN_EINVAL, "%.200s: the path is too long", path);
}

qn_err qn_registry_stamp(const char *path, struct qn_stamp *out, struct qn_error *e)
{
    size_t n = parts_of(path);
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
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return qn_fail_errno(e, "open %s", path);
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
    size_t n = parts_of(path);
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
