/* See log_file.h. */
#include "telemetry/log_file.h"

#include "base/buf.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct qn_log_file {
    char *path, *previous;
    int64_t limit;
    _Atomic int64_t size;
    atomic_flag rotating; /* set by the one thread that rotates; other threads go on writing */
};

static bool goes_to(int fd, const struct stat *file)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == file->st_dev &&
           st.st_ino == file->st_ino;
}

struct qn_log_file *qn_log_file_watch(const char *path, int64_t limit)
{
    struct stat st;
    if (stat(path, &st) != 0 || !goes_to(STDERR_FILENO, &st))
        return NULL;
    struct qn_log_file *f = qn_xcalloc(1, sizeof *f);
    size_t n = strlen(path);
    f->path = qn_xstrdup(path);
    f->previous = qn_xmalloc(n + 3);
    memcpy(f->previous, path, n);
    memcpy(f->previous + n, ".1", 3);
    f->limit = limit;
    atomic_init(&f->size, st.st_size);
    return f;
}

void qn_log_file_free(struct qn_log_file *f)
{
    if (!f)
        return;
    free(f->path);
    free(f->previous);
    free(f);
}

/* Returns the name of the call that failed, or NULL. Descriptors are redirected to the new file
 * last, so that at every moment they refer to a file that has a name. */
static const char *rotate(struct qn_log_file *f)
{
    struct stat old;
    if (fstat(STDERR_FILENO, &old) != 0)
        return "stat";
    if (rename(f->path, f->previous) != 0)
        return "rename";
    int fd = open(f->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return "open";
    if (goes_to(STDOUT_FILENO, &old))
        dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
    return NULL;
}

void qn_log_file_add(struct qn_log_file *f, size_t bytes)
{
    if (!f || atomic_fetch_add(&f->size, (int64_t)bytes) + (int64_t)bytes <= f->limit ||
        atomic_flag_test_and_set(&f->rotating))
        return;
    const char *failed = NULL;
    int why = 0;
    if (atomic_load(&f->size) > f->limit) { /* another thread may have rotated meanwhile */
        failed = rotate(f);
        why = errno;
        /* so after a failure the next attempt comes after another f->limit bytes */
        atomic_store(&f->size, (int64_t)bytes);
    }
    atomic_flag_clear(&f->rotating);
    if (failed)
        qn_warn("log", "file=%s %s failed: %s", f->path, failed, strerror(why));
}
