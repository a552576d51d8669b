/* See data_folder.h. */
#include "settings/data_folder.h"

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
enum { FOR_OTHERS = 077 };

/* Files by which a data folder is recognised, and entries that a fresh file system has. */
static const char *const ours[] = {"catalog.db", "quinced.lock", "config.json", "server.log",
                                   "history"};
static const char *const nothing[] = {".", "..", "lost+found"};

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (qn_str_eq(name, list[i]))
            return true;
    return false;
}

/* Whether the folder is empty or a server's data folder. Closes fd. */
static bool is_ours(int fd)
{
    bool empty = true, known = false;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return false;
    }
    for (struct dirent *d; !known && (d = readdir(dir));) {
        known = is_one_of(d->d_name, ours, COUNT(ours));
        empty = empty && is_one_of(d->d_name, nothing, COUNT(nothing));
    }
    closedir(dir);
    return empty || known;
}

/* Sets the folder's mode to 0700 if it belongs to this user and is empty or a data folder. The
 * modes of folders with other content, such as /tmp or a home folder, must not be changed. */
static qn_err close_to_others(const char *dir, struct qn_error *e)
{
    struct stat st;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return qn_fail_errno(e, "open the data folder %s", dir);
    qn_err err = QN_OK;
    if (fstat(fd, &st))
        err = qn_fail_errno(e, "stat the data folder %s", dir);
    else if (!(st.st_mode & FOR_OTHERS))
        err = QN_OK;
    else if (st.st_uid != geteuid())
        err = qn_fail_param(e, QN_EINVAL, "data-dir",
                            "the data folder %s belongs to another user, and more than one user "
                            "may read it: give another one with --data-dir DIR",
                            dir);
    else if ((st.st_mode & S_ISVTX) || !is_ours(dup(fd)))
        err = qn_fail_param(
            e, QN_EINVAL, "data-dir",
            "other users may read the folder %s, which has files that are not a server's: close it "
            "with chmod 700, or give another one with --data-dir DIR",
            dir);
    else if (fchmod(fd, 0700))
        err = qn_fail_errno(e, "close the data folder %s to other users", dir);
    else
        qn_warn("main", "data_dir=\"%s\" closed=1 message=\"others could read it\"", dir);
    close(fd);
    return err;
}

/* O_NONBLOCK: opening must not block if the path is a named pipe. */
static qn_err lock(const char *dir, int *fd, struct qn_error *e)
{
    struct stat st;
    qn_err err = QN_OK;
    char *path = qn_path_join(dir, "quinced.lock");
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (*fd < 0)
        err = qn_fail_errno(e, "open %s", path);
    else if (fstat(*fd, &st) || !S_ISREG(st.st_mode))
        err = qn_fail(e, QN_EINVAL, "%s is not a regular file: remove it", path);
    else if (flock(*fd, LOCK_EX | LOCK_NB))
        err = errno == EWOULDBLOCK
                  ? qn_fail(e, QN_ECONFLICT,
                            "another quinced uses the data folder %s: stop it, or give this one "
                            "another folder with --data-dir DIR",
                            dir)
                  : qn_fail_errno(e, "lock %s", path);
    if (err && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    free(path);
    return err;
}

qn_err qn_data_folder_take(const char *dir, int *lock_fd, struct qn_error *e)
{
    *lock_fd = -1;
    qn_err err = qn_mkdirs(dir, 0700, e);
    if (!err)
        err = close_to_others(dir, e);
    return err ? err : lock(dir, lock_fd, e);
}
