/* See unpack.h. */
#include "registry/unpack.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    REPORT_MAX = 16 * 1024,
    POLL_MS = 100,
    EXIT_MS = 10000,
    WALK_FDS = 16,
    WALK_DEPTH = 32,
    WORD = 24
};
enum { SALT = 16, YOUNG_S = 60 };
#define UNPACKING ".unpacking"

bool qn_unpack_is_archive(const char *path)
{
    static const char *const endings[] = {".zip", ".7z",      ".tar",    ".tar.gz",
                                          ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2"};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t k = strlen(endings[i]);
        if (n > k && !strcasecmp(path + n - k, endings[i]))
            return true;
    }
    return false;
}

/* Nothing but the three descriptors: the files of the server are none of the helper's business. */
static qn_err start_helper(const char *helper, int archive, int folder, int pipe_end,
                           int64_t most_bytes, bool links, pid_t *pid, struct qn_error *e)
{
    char files[WORD], bytes[WORD], ratio[WORD];
    snprintf(files, sizeof files, "%d", QN_UNPACK_FILES_MAX);
    snprintf(bytes, sizeof bytes, "%lld", (long long)most_bytes);
    snprintf(ratio, sizeof ratio, "%d", QN_UNPACK_RATIO_MAX);
    char *argv[] = {
        (char *)(uintptr_t)qn_path_base(helper), files, bytes, ratio, links ? "links" : NULL, NULL};
    char *env[] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    /* The descriptors are above 5, so none of these overwrites one that is still needed. */
    posix_spawn_file_actions_adddup2(&actions, archive, 3);
    posix_spawn_file_actions_adddup2(&actions, folder, 4);
    posix_spawn_file_actions_adddup2(&actions, pipe_end, 5);
    posix_spawn_file_actions_addclosefrom_np(&actions, 6);
    posix_spawnattr_t attr;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    int why = posix_spawn(pid, helper, &actions, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return why ? qn_fail(e, QN_EIO, "%s cannot be started: %s", helper, strerror(why)) : QN_OK;
}

/* Reads the helper's line until it closes its end; kills it when it is told to stop. */
static qn_err read_report(int fd, pid_t pid, const atomic_bool *stop, struct qn_buf *out,
                          struct qn_error *e)
{
    for (;;) {
        char chunk[1024];
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (atomic_load(stop)) {
            kill(pid, SIGKILL);
            return qn_fail(e, QN_ECANCELLED, "unpacking was called off");
        }
        if (poll(&p, 1, POLL_MS) <= 0)
            continue;
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n > 0 && !qn_buf_add(out, chunk, (size_t)n))
            continue;
        if (n > 0) { /* it says more than it has to: it is not what it was */
            kill(pid, SIGKILL);
            qn_buf_clear(out);
        }
        return QN_OK;
    }
}

/* The helper has said its last word, and has nothing left to do. */
static int wait_for(pid_t pid)
{
    int status = 0;
    for (int tick = 0;; tick++) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return status;
        if (tick * POLL_MS >= EXIT_MS)
            kill(pid, SIGKILL);
        poll(NULL, 0, tick ? POLL_MS : 1);
    }
}

static qn_err died(int status, struct qn_error *e)
{
    return qn_fail(e, QN_ECHILD, "unpacking ended unexpectedly (%s %d)",
                   WIFSIGNALED(status) ? "signal" : "status",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* The helper has read hostile bytes: whatever it says may be theirs. 0: no number. */
static int64_t number_of(const struct qn_jref *v)
{
    int64_t n = 0;
    return qn_json_i64_opt(v, 0, QN_UNPACK_MODEL_BYTES_MAX, &n, NULL) ? 0 : n;
}

static qn_err understand(struct qn_buf *report, int status, struct qn_unpacked *out,
                         struct qn_error *e)
{
    struct qn_json *doc;
    if (!report->len || qn_json_parse(report->data, report->len, &doc, NULL))
        return died(status, e);
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "code");
    struct qn_jref text = qn_json_get(&root, "error"), lacking = qn_json_get(&root, "lacking");
    qn_err err = qn_json_type(&v) == QN_JSON_STRING ? qn_err_parse(qn_json_raw_str(&v)) : QN_OK;
    if (err)
        qn_fail(e, err, "%s", qn_json_raw_str(&text));
    else if (!WIFEXITED(status) || WEXITSTATUS(status))
        err = died(status, e);
    v = qn_json_get(&root, "files");
    out->files = number_of(&v);
    v = qn_json_get(&root, "size_bytes");
    out->size_bytes = number_of(&v);
    if (*qn_json_raw_str(&lacking))
        qn_info("unpack",
                "sandbox_without=%s message=\"this kernel does not have it; the other "
                "guards hold\"",
                qn_json_raw_str(&lacking));
    qn_json_free(doc);
    return err;
}

/* A descriptor that is out of the way of those the helper gets. */
static int out_of_the_way(int fd)
{
    int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10);
    if (fd >= 0)
        close(fd);
    return moved;
}

static qn_err run_helper(const char *helper, enum qn_unpack_kind kind, const char *archive,
                         const char *folder, const atomic_bool *stop, struct qn_unpacked *out,
                         struct qn_error *e)
{
    int ends[2] = {-1, -1}, status = 0;
    struct qn_buf report;
    struct statvfs disk;
    pid_t pid;
    qn_err err = QN_OK;
    qn_buf_init(&report, REPORT_MAX);
    int in = out_of_the_way(open(archive, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    int to = out_of_the_way(open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (in < 0)
        err = qn_fail_errno(e, "open %s", archive);
    else if (to < 0 || fstatvfs(to, &disk) || pipe2(ends, O_CLOEXEC))
        err = qn_fail_errno(e, "prepare to unpack into %s", folder);
    ends[0] = out_of_the_way(ends[0]);
    ends[1] = out_of_the_way(ends[1]);
    int64_t most =
        kind == QN_UNPACK_PROGRAM ? QN_UNPACK_PROGRAM_BYTES_MAX : QN_UNPACK_MODEL_BYTES_MAX;
    if (!err && (int64_t)(disk.f_bavail * disk.f_frsize) < most)
        most = (int64_t)(disk.f_bavail * disk.f_frsize);
    if (!err && most < 1)
        err = qn_fail_param(e, QN_EIO, "disk_full", "the disk of %s is full", folder);
    if (!err)
        err = start_helper(helper, in, to, ends[1], most, kind == QN_UNPACK_PROGRAM, &pid, e);
    if (ends[1] >= 0)
        close(ends[1]);
    if (!err) {
        err = read_report(ends[0], pid, stop, &report, e);
        status = wait_for(pid);
        if (!err)
            err = understand(&report, status, out, e);
    }
    if (ends[0] >= 0)
        close(ends[0]);
    if (in >= 0)
        close(in);
    if (to >= 0)
        close(to);
    qn_buf_deinit(&report);
    return err;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

void qn_unpack_discard(const char *folder)
{
    if (nftw(folder, remove_entry, WALK_FDS, FTW_DEPTH | FTW_PHYS))
        qn_warn("unpack", "folder=\"%s\" not_removed=1 message=\"%s\"", folder, strerror(errno));
}

/* Takes the descriptor. */
static void add_size(int folder, int64_t *sum, int depth)
{
    DIR *dir = fdopendir(folder);
    if (!dir) {
        close(folder);
        return;
    }
    for (struct dirent *d; (d = readdir(dir));) {
        struct stat st;
        if (qn_str_eq(d->d_name, ".") || qn_str_eq(d->d_name, "..") ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        int below =
            S_ISDIR(st.st_mode) && depth < WALK_DEPTH
                ? openat(dirfd(dir), d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                : -1;
        if (below >= 0)
            add_size(below, sum, depth + 1);
        else if (S_ISREG(st.st_mode))
            *sum += st.st_size;
    }
    closedir(dir);
}

int64_t qn_unpack_size(const char *folder)
{
    int64_t sum = 0;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        add_size(fd, &sum, 0);
    return sum;
}

/* ".<16 digits>.unpacking" */
static bool is_fresh(const char *name)
{
    return name[0] == '.' && strspn(name + 1, "0123456789abcdef") == SALT &&
           qn_str_eq(name + 1 + SALT, UNPACKING);
}

/* Folders that a server which was killed has left beside the one that comes: old, and unlocked. */
static void sweep(const char *parent)
{
    DIR *dir = opendir(parent);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        struct stat st;
        if (!is_fresh(d->d_name))
            continue;
        int fd = openat(dirfd(dir), d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && !fstat(fd, &st) && time(NULL) - st.st_mtime >= YOUNG_S &&
            !flock(fd, LOCK_EX | LOCK_NB)) {
            char *path = qn_path_join(parent, d->d_name);
            qn_unpack_discard(path);
            free(path);
        }
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
}

/* Makes the folder and locks it until *lock, which may be -1, is closed. Where folders cannot be
 * locked (NFS), nobody else can lock them either, and they are left alone. */
static qn_err make_fresh(const char *path, int *lock, struct qn_error *e)
{
    if (mkdir(path, 0755))
        return qn_fail_errno(e, "make %s", path);
    *lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*lock >= 0)
        (void)flock(*lock, LOCK_EX | LOCK_NB);
    return QN_OK;
}

qn_err qn_unpack(const char *helper, enum qn_unpack_kind kind, const char *archive,
                 const char *dest, const atomic_bool *stop, struct qn_unpacked *out,
                 struct qn_error *e)
{
    char salt[SALT + 1];
    int lock = -1;
    struct qn_buf fresh;
    char *parent = qn_xstrndup(dest, (size_t)(qn_path_base(dest) - dest));
    *out = (struct qn_unpacked){0};
    qn_random_hex(salt, SALT);
    qn_buf_init(&fresh, 8192);
    qn_buf_fmt(&fresh, "%s.%s" UNPACKING, parent, salt);
    qn_err err = *parent ? qn_mkdirs(parent, 0755, e) : QN_OK;
    if (!err && qn_file_exists(dest))
        err = qn_fail(e, QN_ECONFLICT, "%s is there already", dest);
    if (!err)
        sweep(*parent ? parent : ".");
    if (!err && !(err = make_fresh(qn_buf_cstr(&fresh), &lock, e))) {
        err = run_helper(helper, kind, archive, qn_buf_cstr(&fresh), stop, out, e);
        if (!err && renameat2(AT_FDCWD, qn_buf_cstr(&fresh), AT_FDCWD, dest, RENAME_NOREPLACE))
            err = errno == EEXIST ? qn_fail(e, QN_ECONFLICT, "%s is there already", dest)
                                  : qn_fail_errno(e, "rename the unpacked files to %s", dest);
        if (err)
            qn_unpack_discard(qn_buf_cstr(&fresh));
        if (lock >= 0)
            close(lock);
    }
    free(parent);
    qn_buf_deinit(&fresh);
    return err;
}
