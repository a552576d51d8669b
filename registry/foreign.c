/* See foreign.h. */
#include "registry/foreign.h"

#include "base/path.h"
#include "base/str.h"
#include "registry/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* followed on the way to one file, the same limit as in the kernel */

qn_err qn_foreign_open_place(struct qn_foreign *f, const char *path, uid_t user, struct qn_error *e)
{
    struct stat st;
    *f = (struct qn_foreign){.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK),
                             .user = user};
    if (f->fd < 0)
        return qn_fail_errno(e, "open the folder %s", path);
    if (fstat(f->fd, &st)) {
        qn_err err = qn_fail_errno(e, "stat the folder %s", path);
        qn_foreign_close_place(f);
        return err;
    }
    f->owner = st.st_uid;
    f->path = qn_xstrdup(path);
    return QN_OK;
}

void qn_foreign_close_place(struct qn_foreign *f)
{
    if (f->path || f->fd > 0)
        close(f->fd);
    free(f->path);
    *f = (struct qn_foreign){.fd = -1};
}

/* A path that is being resolved one component at a time. */
struct steps {
    int at; /* O_PATH: the folder reached so far */
    char rest[PATH_MAX];
    unsigned links;
    uid_t user;
};

static bool move_to(struct steps *s, int fd)
{
    if (fd < 0)
        return false;
    close(s->at);
    s->at = fd;
    return true;
}

/* Puts the link's target before the rest of the path. */
static bool take_link(struct steps *s, int link, const char *after)
{
    char text[PATH_MAX], whole[PATH_MAX];
    ssize_t n = readlinkat(link, "", text, sizeof text - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    if (++s->links > LINKS_MAX) {
        errno = ELOOP;
        return false;
    }
    if (snprintf(whole, sizeof whole, "%s/%s", text, after) >= (int)sizeof whole) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(s->rest, whole, strlen(whole) + 1);
    return *text != '/' || move_to(s, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Resolves one component. *fd receives the last one, opened with flags. */
static bool step(struct steps *s, int flags, int *fd)
{
    char part[NAME_MAX + 1];
    struct stat st;
    const char *p = s->rest + strspn(s->rest, "/");
    size_t n = strcspn(p, "/");
    const char *after = p + n + strspn(p + n, "/");
    if (n >= sizeof part) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(part, n ? p : ".", n ? n : 1);
    part[n ? n : 1] = '\0';
    int probe = openat(s->at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (probe < 0)
        return false;
    bool good = fstat(probe, &st) == 0;
    if (good && S_ISLNK(st.st_mode)) {
        bool trusted = st.st_uid == s->user || st.st_uid == 0;
        if (!trusted || (!*after && (flags & O_NOFOLLOW)))
            errno = trusted ? ELOOP : EXDEV;
        good = trusted && (*after || !(flags & O_NOFOLLOW)) && take_link(s, probe, after);
        int why = errno;
        close(probe);
        errno = why;
        return good;
    }
    if (good && *after) {
        memmove(s->rest, after, strlen(after) + 1);
        return move_to(s, probe); /* if it is not a folder, the next step fails */
    }
    close(probe);
    if (good)
        *fd = openat(s->at, part, flags | O_NOFOLLOW | O_CLOEXEC);
    return *fd >= 0;
}

/* Follows links that the trusted user or root owns, wherever they lead, and no other links. */
static int open_by_steps(const struct qn_foreign *f, const char *rel, int flags)
{
    struct steps s = {.at = fcntl(f->fd, F_DUPFD_CLOEXEC, 0), .user = f->user};
    int fd = -1;
    if (s.at < 0)
        return -1;
    snprintf(s.rest, sizeof s.rest, "%s", rel);
    while (step(&s, flags, &fd) && fd < 0)
        ;
    int why = errno;
    close(s.at);
    errno = why;
    return fd;
}

static bool climbs(const char *rel)
{
    for (const char *p = rel; *p; p += strcspn(p, "/"), p += strspn(p, "/"))
        if (p[0] == '.' && p[1] == '.' && (!p[2] || p[2] == '/'))
            return true;
    return false;
}

int qn_foreign_open(const struct qn_foreign *f, const char *path, int flags)
{
    size_t n = f->path ? strlen(f->path) : 0;
    while (n > 1 && f->path[n - 1] == '/')
        n--;
    const char *rel = path + n;
    if (!n || strncmp(path, f->path, n) != 0 || (n > 1 && *rel && *rel != '/') ||
        strlen(rel) >= PATH_MAX || climbs(rel)) {
        errno = EXDEV;
        return -1;
    }
    rel += strspn(rel, "/");
    if (!*rel)
        rel = ".";
    if (!(flags & O_PATH)) /* openat2(2) accepts few flags together with O_PATH */
        flags |= O_NONBLOCK;
    int fd = qn_store_open_at(f->fd, rel, flags);
    return fd < 0 && errno == EXDEV ? open_by_steps(f, rel, flags) : fd;
}

static qn_err not_opened(const char *path, struct qn_error *e)
{
    if (errno == EXDEV || errno == ELOOP)
        return qn_fail(e, QN_EINVAL, "%s is a link that is not followed", path);
    return qn_fail_errno(e, "open %s", path);
}

qn_err qn_foreign_stat(const struct qn_foreign *f, const char *path, struct stat *out,
                       struct qn_error *e)
{
    int fd = qn_foreign_open(f, path, O_RDONLY | O_NOCTTY);
    if (fd < 0)
        return not_opened(path, e);
    bool regular = fstat(fd, out) == 0 && S_ISREG(out->st_mode);
    close(fd);
    return regular ? QN_OK : qn_fail(e, QN_EINVAL, "%s is not a regular file", path);
}

/* folder: the folder that contains the file. */
static bool belongs(const struct qn_foreign *f, const struct stat *folder, const struct stat *file)
{
    if (file->st_uid == folder->st_uid || file->st_uid == f->owner)
        return true;
    return (file->st_uid == f->user || file->st_uid == 0) && file->st_nlink == 1;
}

qn_err qn_foreign_read(const struct qn_foreign *f, const char *path, struct qn_buf *out,
                       struct qn_error *e)
{
    struct stat folder, file;
    qn_err err = QN_OK;
    const char *base = qn_path_base(path);
    char *above = qn_xstrndup(path, (size_t)(base - path));
    int fd = -1, at = qn_foreign_open(f, above, O_PATH | O_DIRECTORY);
    if (at >= 0)
        fd = openat(at, base, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        err = not_opened(path, e);
    else if (fstat(at, &folder) || fstat(fd, &file) || !S_ISREG(file.st_mode))
        err = qn_fail(e, QN_EINVAL, "%s is not a regular file", path);
    else if (!belongs(f, &folder, &file))
        err = qn_fail(e, QN_EINVAL, "%s does not belong to the owner of its folder", path);
    else
        err = qn_fd_read(fd, path, out, e);
    if (fd >= 0)
        close(fd);
    if (at >= 0)
        close(at);
    free(above);
    return err;
}
