/* See unpack.h. */
#include "registry/unpack.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"
#include "registry/helper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
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

enum { REPORT_MAX = 16 * 1024, WALK_FDS = 16, WALK_DEPTH = 32, WORD = 24 };
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

/* A number in the helper's report, 0 if there is none. The helper has read untrusted bytes, so its
 * report is untrusted too. */
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
        return qn_helper_died("unpacking", status, e);
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "code");
    struct qn_jref text = qn_json_get(&root, "error"), lacking = qn_json_get(&root, "lacking");
    qn_err err = qn_json_type(&v) == QN_JSON_STRING ? qn_err_parse(qn_json_raw_str(&v)) : QN_OK;
    if (err)
        qn_fail(e, err, "%s", qn_json_raw_str(&text));
    else if (!WIFEXITED(status) || WEXITSTATUS(status))
        err = qn_helper_died("unpacking", status, e);
    v = qn_json_get(&root, "files");
    out->files = number_of(&v);
    v = qn_json_get(&root, "size_bytes");
    out->size_bytes = number_of(&v);
    if (*qn_json_raw_str(&lacking))
        qn_info("unpack",
                "sandbox_without=%s message=\"this kernel does not have it; the other restrictions "
                "are in force\"",
                qn_json_raw_str(&lacking));
    qn_json_free(doc);
    return err;
}

/* Runs the helper. most_bytes: limit of the unpacked size. */
static qn_err run(const char *program, const int fds[2], int64_t most_bytes, bool links,
                  const atomic_bool *stop, struct qn_unpacked *out, struct qn_error *e)
{
    char files[WORD], bytes[WORD], ratio[WORD];
    int status;
    struct qn_buf report;
    snprintf(files, sizeof files, "%d", QN_UNPACK_FILES_MAX);
    snprintf(bytes, sizeof bytes, "%lld", (long long)most_bytes);
    snprintf(ratio, sizeof ratio, "%d", QN_UNPACK_RATIO_MAX);
    const char *args[] = {files, bytes, ratio, links ? "links" : NULL, NULL};
    const struct qn_helper helper = {
        .program = program, .args = args, .fds = fds, .n_fds = 2, .stop = stop};
    qn_buf_init(&report, REPORT_MAX);
    qn_err err = qn_helper_run(&helper, &report, &status, e);
    if (err == QN_ECANCELLED)
        qn_fail(e, err, "unpacking was cancelled");
    if (!err)
        err = understand(&report, status, out, e);
    qn_buf_deinit(&report);
    return err;
}

static qn_err run_helper(const char *helper, enum qn_unpack_kind kind, const char *archive,
                         const char *folder, const atomic_bool *stop, struct qn_unpacked *out,
                         struct qn_error *e)
{
    struct statvfs disk;
    qn_err err = QN_OK;
    const int fds[2] = {open(archive, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
                        open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (fds[0] < 0)
        err = qn_fail_errno(e, "open %s", archive);
    else if (fds[1] < 0 || fstatvfs(fds[1], &disk))
        err = qn_fail_errno(e, "prepare to unpack into %s", folder);
    int64_t most =
        kind == QN_UNPACK_PROGRAM ? QN_UNPACK_PROGRAM_BYTES_MAX : QN_UNPACK_MODEL_BYTES_MAX;
    if (!err && (int64_t)(disk.f_bavail * disk.f_frsize) < most)
        most = (int64_t)(disk.f_bavail * disk.f_frsize);
    if (!err && most < 1)
        err = qn_fail_param(e, QN_EIO, "disk_full", "the disk of %s is full", folder);
    if (!err)
        err = run(helper, fds, most, kind == QN_UNPACK_PROGRAM, stop, out, e);
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
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

/* Adds the sizes of all files in the folder. Takes ownership of the descriptor. */
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

/* True for names of the form ".<16 digits>.unpacking". */
static bool is_fresh(const char *name)
{
    return name[0] == '.' && strspn(name + 1, "0123456789abcdef") == SALT &&
           qn_str_eq(name + 1 + SALT, UNPACKING);
}

/* Removes old, unlocked temporary folders that a killed server left in this parent folder. */
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

/* Creates the folder and locks it until *lock, which may be -1, is closed. On file systems without
 * locks (NFS) no process can lock such folders, and the sweep leaves them alone. */
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
        err = qn_fail(e, QN_ECONFLICT, "%s exists already", dest);
    if (!err)
        sweep(*parent ? parent : ".");
    if (!err && !(err = make_fresh(qn_buf_cstr(&fresh), &lock, e))) {
        err = run_helper(helper, kind, archive, qn_buf_cstr(&fresh), stop, out, e);
        if (!err && renameat2(AT_FDCWD, qn_buf_cstr(&fresh), AT_FDCWD, dest, RENAME_NOREPLACE))
            err = errno == EEXIST ? qn_fail(e, QN_ECONFLICT, "%s exists already", dest)
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
