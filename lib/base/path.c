/* See path.h. */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

qn_err qn_fd_read(int fd, const char *path, struct qn_buf *out, struct qn_error *e)
{
    char chunk[16384];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return qn_fail_errno(e, "read %s", path);
        if (n == 0)
            return QN_OK;
        if (qn_buf_add(out, chunk, (size_t)n))
            return qn_fail(e, QN_ELIMIT, "%s is larger than %zu bytes", path, out->limit);
    }
}

qn_err qn_file_read(const char *path, struct qn_buf *out, struct qn_error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return qn_fail_errno(e, "open %s", path);
    qn_err err;
    struct stat st;
    if (fstat(fd, &st) != 0)
        err = qn_fail_errno(e, "stat %s", path);
    else if (!S_ISREG(st.st_mode))
        err = qn_fail(e, QN_EINVAL, "%s is not a regular file", path);
    else
        err = qn_fd_read(fd, path, out, e);
    close(fd);
    return err;
}

static qn_err write_all(int fd, const char *p, size_t n, const char *path, struct qn_error *e)
{
    while (n) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return qn_fail_errno(e, "write %s", path);
        p += w;
        n -= (size_t)w;
    }
    if (fsync(fd) != 0)
        return qn_fail_errno(e, "sync %s", path);
    return QN_OK;
}

/* Writes data to temp, which is open as fd, and renames it to path. */
static qn_err put(int fd, const char *temp, const char *path, const void *data, size_t n,
                  unsigned mode, struct qn_error *e)
{
    if (fd < 0)
        return qn_fail_errno(e, "create %s", temp);
    qn_err err = QN_OK;
    if (fchmod(fd, (mode_t)mode) != 0)
        err = qn_fail_errno(e, "chmod %s", temp);
    if (!err)
        err = write_all(fd, data, n, temp, e);
    close(fd);
    if (!err && rename(temp, path) != 0)
        err = qn_fail_errno(e, "rename %s to %s", temp, path);
    if (err)
        unlink(temp);
    return err;
}

qn_err qn_file_write_atomic(const char *path, const void *data, size_t n, unsigned mode,
                            struct qn_error *e)
{
    char temp[PATH_MAX];
    if ((size_t)snprintf(temp, sizeof temp, "%s.XXXXXX", path) >= sizeof temp)
        return qn_fail(e, QN_ELIMIT, "path %s is too long", path);
    return put(mkostemp(temp, O_CLOEXEC), temp, path, data, n, mode, e);
}

qn_err qn_file_write_alone(const char *path, const char *temp, const void *data, size_t n,
                           unsigned mode, struct qn_error *e)
{
    int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
    return put(fd, temp, path, data, n, mode, e);
}

qn_err qn_mkdirs(const char *path, unsigned mode, struct qn_error *e)
{
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof part)
        return qn_fail(e, QN_EINVAL, "bad directory name '%s'", path);
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, (mode_t)mode) != 0 && errno != EEXIST)
            return qn_fail_errno(e, "create directory %s", part);
    }
    struct stat st;
    if (stat(path, &st) != 0)
        return qn_fail_errno(e, "stat %s", path);
    if (!S_ISDIR(st.st_mode))
        return qn_fail(e, QN_EINVAL, "%s is not a directory", path);
    return QN_OK;
}

bool qn_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

char *qn_path_join(const char *dir, const char *name)
{
    struct qn_buf b;
    qn_buf_init(&b, PATH_MAX * 2);
    size_t n = strlen(dir);
    bool slash = n == 0 || dir[n - 1] == '/';
    qn_buf_fmt(&b, "%s%s%s", dir, slash ? "" : "/", name);
    return qn_buf_take(&b);
}

char *qn_path_absolute(const char *path, struct qn_error *e)
{
    char *p = realpath(path, NULL);
    if (!p)
        qn_fail_errno(e, "%s", path);
    return p;
}

const char *qn_path_home(void)
{
    const char *home = getenv("HOME");
    if (home && home[0] == '/')
        return home;
    const struct passwd *user = getpwuid(geteuid());
    if (!user || !user->pw_dir || user->pw_dir[0] != '/' || setenv("HOME", user->pw_dir, 1) != 0)
        return NULL;
    return getenv("HOME");
}

char *qn_path_data_dir(void)
{
    const char *xdg = getenv("XDG_DATA_HOME");
    if (xdg && xdg[0] == '/')
        return qn_path_join(xdg, "quince");
    const char *home = qn_path_home();
    return home ? qn_path_join(home, ".local/share/quince") : NULL;
}

char *qn_path_self_dir(void)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return qn_xstrdup(".");
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    return qn_xstrndup(self, slash && slash != self ? (size_t)(slash - self) : 1);
}

const char *qn_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
