/* See store.h: names, finding, publishing. store_cached.c reads the cache's contents, store_clean.c
 * removes files. */
#include "registry/store.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"
#include "digest/sha256.h"
#include "registry/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

char *qn_store_hf_cache(const char *const *env)
{
    static const struct {
        const char *name, *below;
    } ways[] = {{"HF_HUB_CACHE", NULL},
                {"HUGGINGFACE_HUB_CACHE", NULL},
                {"HF_HOME", "hub"},
                {"XDG_CACHE_HOME", "huggingface/hub"},
                {"HOME", ".cache/huggingface/hub"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const char *dir = qn_env_get(env, ways[i].name), *home = qn_env_get(env, "HOME");
        if (!dir)
            continue;
        /* Hugging Face's Python programs expand "~" in these variables themselves. */
        char *plain = dir[0] == '~' && (dir[1] == '/' || !dir[1]) && home
                          ? qn_path_join(home, dir[1] ? dir + 2 : "")
                          : qn_xstrdup(dir);
        if (!ways[i].below)
            return plain;
        char *joined = qn_path_join(plain, ways[i].below);
        free(plain);
        return joined;
    }
    return qn_xstrdup("/var/lib/quince/huggingface/hub");
}

struct qn_store *qn_store_new(const char *cache, const char *own)
{
    struct qn_store *s = qn_xcalloc(1, sizeof *s);
    size_t n = strlen(cache);
    while (n > 1 && cache[n - 1] == '/') /* paths are recognised by their prefix */
        n--;
    s->roots[QN_HUB_HF] = qn_xstrndup(cache, n);
    s->roots[QN_HUB_MODELSCOPE] = qn_path_join(own, "modelscope");
    s->roots[QN_HUB_OLLAMA] = qn_path_join(own, "ollama");
    s->roots[QN_HUB_URL] = qn_path_join(own, "url");
    s->unpacked = qn_path_join(own, "unpacked");
    return s;
}

void qn_store_free(struct qn_store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < QN_HUB_COUNT; i++)
        free(s->roots[i]);
    free(s->unpacked);
    free(s);
}

const char *qn_store_root(const struct qn_store *s, enum qn_hub_kind hub)
{
    return hub < QN_HUB_COUNT && s->roots[hub] ? s->roots[hub] : "";
}

enum qn_hub_kind qn_store_hub_of(const struct qn_store *s, const char *path, const char **rel)
{
    for (unsigned hub = 0; hub < QN_HUB_COUNT; hub++) {
        const char *root = s->roots[hub];
        size_t n = root ? strlen(root) : 0;
        if (n && !strncmp(path, root, n) && path[n] == '/' && path[n + 1]) {
            *rel = path + n + 1;
            return hub;
        }
    }
    return QN_HUB_COUNT;
}

/* ---- descriptors ---- */

qn_err qn_store_open_root(const struct qn_store *s, enum qn_hub_kind hub, bool make, int *fd,
                          struct qn_error *e)
{
    const char *root = qn_store_root(s, hub);
    *fd = -1;
    if (!*root)
        return qn_fail(e, QN_EUNSUPPORTED, "no cache is kept for this kind of source");
    qn_err err = make ? qn_mkdirs(root, 0755, e) : QN_OK;
    if (err)
        return err;
    *fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd < 0 ? qn_fail_errno(e, "open the folder of models %s", root) : QN_OK;
}

/* openat2(2) fails with EAGAIN if any rename happens on the machine while it follows a "..". */
enum { AGAIN_MAX = 64 };

/* Fallback if the kernel has no openat2 (before 5.6, or forbidden by a sandbox) or renames keep it
 * from finishing: the path of the opened file must begin with the folder's. */
static int open_checked(int root, const char *rel, int flags)
{
    char name[32], outer[PATH_MAX], inner[PATH_MAX];
    int fd = openat(root, rel, flags | O_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(name, sizeof name, "/proc/self/fd/%d", root);
    ssize_t n = readlink(name, outer, sizeof outer - 1);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t m = readlink(name, inner, sizeof inner - 1);
    if (n > 0 && m > n && !memcmp(outer, inner, (size_t)n) && inner[n] == '/')
        return fd;
    close(fd);
    errno = EXDEV;
    return -1;
}

int qn_store_open_at(int root, const char *rel, int flags)
{
    struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    long fd = -1;
    errno = EAGAIN;
    for (int i = 0; fd < 0 && errno == EAGAIN && i < AGAIN_MAX; i++)
        fd = syscall(SYS_openat2, root, rel, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN))
        return open_checked(root, rel, flags);
    return (int)fd;
}

qn_err qn_store_make_at(int root, const char *rel, int *fd, struct qn_error *e)
{
    int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
    char part[NAME_MAX + 1];
    for (const char *p = rel; at >= 0 && *p;) {
        size_t n = strcspn(p, "/");
        int next = -1;
        if (n == 0 || n >= sizeof part) {
            errno = ENAMETOOLONG;
        } else {
            memcpy(part, p, n);
            part[n] = '\0';
            if (!mkdirat(at, part, 0755) || errno == EEXIST)
                next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        int why = errno;
        close(at);
        errno = why;
        at = next;
        p += n + (p[n] == '/');
    }
    *fd = at;
    return at < 0 ? qn_fail_errno(e, "make the folder %s of the models", rel) : QN_OK;
}

/* ---- names ---- */

bool qn_store_blob_ok(const char *blob)
{
    size_t n = strspn(blob, "0123456789abcdef");
    return !blob[n] && (n == 40 || n == 64);
}

static bool commit_ok(const char *commit)
{
    size_t n = strlen(commit);
    return n > 0 && n <= QN_STORE_COMMIT_MAX &&
           strspn(commit, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-") ==
               n &&
           commit[0] != '.' && commit[0] != '-';
}

qn_err qn_store_folder(enum qn_hub_kind hub, const char *repo, char out[static QN_STORE_REL_MAX],
                       struct qn_error *e)
{
    const char *slash = strchr(repo, '/');
    /* "--" stands for the slash in folder names: inside a name it would make two repositories the
     * same. */
    if (!qn_ref_repo_ok(repo) || (hub == QN_HUB_HF && strstr(repo, "--")))
        return qn_fail(e, QN_EINVAL,
                       "'%.200s' cannot be a repository's name: OWNER/NAME, of "
                       "letters, digits and . _ -",
                       repo);
    snprintf(out, QN_STORE_REL_MAX, "models--%.*s--%s", (int)(slash - repo), repo, slash + 1);
    return QN_OK;
}

const char *qn_store_link_blob(const char *text)
{
    const char *name = qn_path_base(text);
    size_t n = (size_t)(name - text);
    return n >= 6 && !strncmp(name - 6, "blobs/", 6) && *name ? name : NULL;
}

static qn_err spot_check(const struct qn_store_spot *spot, struct qn_error *e)
{
    if (!commit_ok(spot->commit))
        return qn_fail(e, QN_EINVAL, "'%.80s' cannot be a commit", spot->commit);
    if (!qn_ref_path_ok(spot->path))
        return qn_fail(e, QN_EINVAL, "'%.200s' cannot be a file's path", spot->path);
    if (*spot->blob && !qn_store_blob_ok(spot->blob))
        return qn_fail(e, QN_EINVAL, "'%.80s' is not a checksum", spot->blob);
    return QN_OK;
}

/* Names a URL's repository: the file's name reduced to allowed characters, and the checksum of the
 * address. */
static void url_spot(const struct qn_repo *repo, struct qn_store_spot *out)
{
    static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    char name[128];
    struct qn_sha256 sum;
    qn_sha256_init(&sum);
    qn_sha256_add(&sum, repo->files[0].url, strlen(repo->files[0].url));
    qn_sha256_hex(&sum, out->commit);
    snprintf(name, sizeof name, "%s", qn_path_base(repo->id));
    for (char *p = name; *p; p++)
        if (!strchr(fine, *p) || (p == name && (*p == '.' || *p == '-')))
            *p = '_';
    snprintf(out->repo, sizeof out->repo, "%s/%.16s", *name ? name : "_", out->commit);
}

qn_err qn_store_spot(const struct qn_repo *repo, const struct qn_repo_file *file,
                     struct qn_store_spot *out, struct qn_error *e)
{
    *out = (struct qn_store_spot){.hub = repo->hub};
    if (strlen(repo->id) > QN_REF_REPO_MAX || strlen(file->path) > QN_STORE_PATH_MAX)
        return qn_fail(e, QN_ELIMIT, "the name %.100s... is too long", file->path);
    if (repo->hub == QN_HUB_URL) {
        url_spot(repo, out);
    } else {
        snprintf(out->repo, sizeof out->repo, "%s", repo->id);
        snprintf(out->commit, sizeof out->commit, "%s", repo->commit);
    }
    snprintf(out->path, sizeof out->path, "%s", file->path);
    snprintf(out->blob, sizeof out->blob, "%s", *file->sha256 ? file->sha256 : file->git_sha1);
    char folder[QN_STORE_REL_MAX];
    qn_err err = qn_store_folder(out->hub, out->repo, folder, e);
    return err ? err : spot_check(out, e);
}

/* Writes the path below the root, "FOLDER/MIDDLE/NAME". */
static qn_err rel_of(const struct qn_store_spot *spot, const char *middle, const char *name,
                     char out[static QN_STORE_REL_MAX], struct qn_error *e)
{
    char folder[QN_STORE_REL_MAX];
    qn_err err = qn_store_folder(spot->hub, spot->repo, folder, e);
    if (!err)
        err = spot_check(spot, e);
    if (err)
        return err;
    if (snprintf(out, QN_STORE_REL_MAX, "%.300s/%s%s%s", folder, middle, *name ? "/" : "", name) >=
        QN_STORE_REL_MAX)
        return qn_fail(e, QN_ELIMIT, "the name %.100s... is too long", name);
    return QN_OK;
}

static char *absolute(const struct qn_store *s, const struct qn_store_spot *spot, const char *rel)
{
    return qn_path_join(qn_store_root(s, spot->hub), rel);
}

qn_err qn_store_unpacked(const struct qn_store *s, const char *sum, char **path, struct qn_error *e)
{
    if (!qn_store_blob_ok(sum))
        return qn_fail(e, QN_EINVAL, "'%.80s' is not a checksum", sum);
    *path = qn_path_join(s->unpacked, sum);
    return QN_OK;
}

/* ---- finding ---- */

/* True for a regular file below root; *size_bytes is its size. */
static bool is_whole(int root, const char *rel, int64_t *size_bytes)
{
    struct stat st;
    int fd = qn_store_open_at(root, rel, O_PATH);
    bool whole = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);
    if (whole && size_bytes)
        *size_bytes = st.st_size;
    if (fd >= 0)
        close(fd);
    return whole;
}

static qn_err link_rel(const struct qn_store_spot *spot, char out[static QN_STORE_REL_MAX],
                       struct qn_error *e)
{
    char middle[QN_STORE_COMMIT_MAX + 16];
    snprintf(middle, sizeof middle, "snapshots/%s", spot->commit);
    return rel_of(spot, middle, spot->path, out, e);
}

qn_err qn_store_find(const struct qn_store *s, const struct qn_store_spot *spot, char **path,
                     int64_t *size_bytes, struct qn_error *e)
{
    char rel[QN_STORE_REL_MAX];
    qn_err err = link_rel(spot, rel, e);
    if (err)
        return err;
    int root;
    if ((err = qn_store_open_root(s, spot->hub, false, &root, e)))
        return err;
    if (is_whole(root, rel, size_bytes))
        *path = absolute(s, spot, rel);
    else
        err = qn_fail(e, QN_ENOTFOUND, "%.200s of %.200s is not on this disk", spot->path,
                      spot->repo);
    close(root);
    return err;
}

bool qn_store_has_blob(const struct qn_store *s, const struct qn_store_spot *spot,
                       int64_t *size_bytes)
{
    char rel[QN_STORE_REL_MAX];
    if (!*spot->blob || rel_of(spot, "blobs", spot->blob, rel, NULL))
        return false;
    int root;
    if (qn_store_open_root(s, spot->hub, false, &root, NULL))
        return false;
    bool has = is_whole(root, rel, size_bytes);
    close(root);
    return has;
}

/* ---- writing ---- */

/* Names the partial by its checksum, or by its repository, commit and path if the checksum is not
 * known. */
static void partial_name(const struct qn_store_spot *spot, char out[static 128])
{
    char key[QN_SHA256_HEX + 1];
    if (*spot->blob) {
        snprintf(out, 128, "%s%s", spot->blob, QN_STORE_PARTIAL_END);
        return;
    }
    struct qn_sha256 sum;
    qn_sha256_init(&sum);
    qn_sha256_add(&sum, spot->commit, strlen(spot->commit) + 1);
    qn_sha256_add(&sum, spot->path, strlen(spot->path));
    qn_sha256_hex(&sum, key);
    snprintf(out, 128, "%s%s", key, QN_STORE_PARTIAL_END);
}

qn_err qn_store_partial(const struct qn_store *s, const struct qn_store_spot *spot, char **path,
                        struct qn_error *e)
{
    char rel[QN_STORE_REL_MAX], name[128];
    partial_name(spot, name);
    qn_err err = rel_of(spot, "blobs", name, rel, e);
    if (err)
        return err;
    int root, fd;
    if ((err = qn_store_open_root(s, spot->hub, true, &root, e)))
        return err;
    /* Other programs treat a repository without snapshots/ as damaged. */
    static const char *const folders[] = {"snapshots", "refs", "blobs"};
    for (size_t i = 0; i < 3 && !err; i++) {
        char folder[QN_STORE_REL_MAX];
        err = rel_of(spot, folders[i], "", folder, e);
        if (!err && !(err = qn_store_make_at(root, folder, &fd, e)))
            close(fd);
    }
    if (!err)
        *path = absolute(s, spot, rel);
    close(root);
    return err;
}

/* Writes the mark that quince fetched this blob, with the blob's modification time: a blob that
 * replaces it later is then recognised as not quince's. */
static qn_err mark_fetched(int repo, const char *blob, const struct stat *bytes, struct qn_error *e)
{
    const struct timespec times[2] = {bytes->st_mtim, bytes->st_mtim};
    int marks;
    qn_err err = qn_store_make_at(repo, QN_STORE_MARKS, &marks, e);
    if (err)
        return err;
    int mark = openat(marks, blob, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (mark < 0 || futimens(mark, times))
        err = qn_fail_errno(e, "note that %.64s was fetched", blob);
    if (mark >= 0)
        close(mark);
    close(marks);
    return err;
}

/* Turns the partial into the blob, durably, unless the blob exists already. whole: the partial is
 * known to be complete, so an existing blob of another size must be damaged. */
static qn_err settle_blob(int repo, int blobs, const struct qn_store_spot *spot, const char *blob,
                          bool whole, struct qn_error *e)
{
    char name[128];
    struct stat st, there;
    partial_name(spot, name);
    bool have = fstatat(blobs, blob, &there, 0) == 0 && S_ISREG(there.st_mode);
    int fd = openat(blobs, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && have)
        return QN_OK;
    if (fd < 0)
        return qn_fail_errno(e, "open the partial file of %.200s", spot->path);
    qn_err err = QN_OK;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        err = qn_fail(e, QN_EIO, "the partial file of %.200s is not a regular file", spot->path);
    else if (have && (!whole || there.st_size == st.st_size))
        unlinkat(blobs, name, 0);
    else if (fsync(fd))
        err = qn_fail_errno(e, "sync %.200s", spot->path);
    else if (!(err = mark_fetched(repo, blob, &st, e)) &&
             (renameat(blobs, name, blobs, blob) || fsync(blobs)))
        err = qn_fail_errno(e, "keep %.200s", spot->path);
    close(fd);
    return err;
}

/* Puts a link into the snapshot by one rename, replacing an existing entry. */
static qn_err put_link(int repo, const struct qn_store_spot *spot, const char *blob,
                       struct qn_error *e)
{
    char folder[QN_STORE_REL_MAX], text[256], fresh[64], now[256];
    const char *name = qn_path_base(spot->path);
    int n = snprintf(folder, sizeof folder, "snapshots/%s/%.*s", spot->commit,
                     (int)(name - spot->path), spot->path);
    if (n > 0 && folder[n - 1] == '/')
        folder[n - 1] = '\0';
    size_t depth = 2;
    for (const char *p = spot->path; *p; p++)
        depth += *p == '/';
    if (depth > QN_STORE_DEPTH_MAX)
        return qn_fail(e, QN_ELIMIT, "%.200s is nested too deeply", spot->path);
    text[0] = '\0';
    for (size_t i = 0; i < depth; i++)
        memcpy(text + 3 * i, "../", 4);
    snprintf(text + 3 * depth, sizeof text - 3 * depth, "blobs/%s", blob);
    int fd;
    qn_err err = qn_store_make_at(repo, folder, &fd, e);
    if (err)
        return err;
    ssize_t had = readlinkat(fd, name, now, sizeof now - 1);
    if (had > 0 && (size_t)had == strlen(text) && !memcmp(now, text, (size_t)had)) {
        close(fd);
        return QN_OK;
    }
    char salt[17];
    qn_random_hex(salt, 16);
    snprintf(fresh, sizeof fresh, ".%s.quince", salt);
    if (symlinkat(text, fd, fresh))
        err = qn_fail_errno(e, "link %.200s", spot->path);
    else if (renameat(fd, fresh, fd, name)) {
        err = qn_fail_errno(e, "link %.200s", spot->path);
        unlinkat(fd, fresh, 0);
    } else if (fsync(fd))
        err = qn_fail_errno(e, "sync the folder of %.200s", spot->path);
    close(fd);
    return err;
}

qn_err qn_store_publish(const struct qn_store *s, const struct qn_store_spot *spot, const char *sum,
                        char **path, struct qn_error *e)
{
    char folder[QN_STORE_REL_MAX], rel[QN_STORE_REL_MAX];
    const char *blob = sum && *sum ? sum : spot->blob;
    int root = -1, repo = -1, blobs = -1;
    qn_err err = qn_store_folder(spot->hub, spot->repo, folder, e);
    if (!err)
        err = link_rel(spot, rel, e);
    if (!err && !qn_store_blob_ok(blob))
        err = qn_fail(e, QN_EINVAL, "'%.80s' is not a checksum", blob);
    if (!err)
        err = qn_store_open_root(s, spot->hub, true, &root, e);
    if (!err)
        err = qn_store_make_at(root, folder, &repo, e);
    if (!err)
        err = qn_store_make_at(repo, "blobs", &blobs, e);
    if (!err)
        err = settle_blob(repo, blobs, spot, blob, blob == sum, e);
    if (!err)
        err = put_link(repo, spot, blob, e);
    if (!err && path)
        *path = absolute(s, spot, rel);
    if (blobs >= 0)
        close(blobs);
    if (repo >= 0)
        close(repo);
    if (root >= 0)
        close(root);
    return err;
}

qn_err qn_store_set_ref(const struct qn_store *s, enum qn_hub_kind hub, const char *repo,
                        const char *revision, const char *commit, struct qn_error *e)
{
    char folder[QN_STORE_REL_MAX];
    qn_err err = qn_store_folder(hub, repo, folder, e);
    if (err)
        return err;
    if (!qn_ref_path_ok(revision) || strlen(revision) > QN_REF_REVISION_MAX || !commit_ok(commit))
        return qn_fail(e, QN_EINVAL, "'%.100s' cannot be a revision", revision);
    if (qn_str_eq(revision, commit)) /* a commit needs no reference */
        return QN_OK;
    const char *name = qn_path_base(revision);
    char below[QN_STORE_REL_MAX];
    int n =
        snprintf(below, sizeof below, "%.300s/refs/%.*s", folder, (int)(name - revision), revision);
    if (below[n - 1] == '/')
        below[n - 1] = '\0';
    int root, fd;
    if ((err = qn_store_open_root(s, hub, true, &root, e)))
        return err;
    err = qn_store_make_at(root, below, &fd, e);
    close(root);
    if (err)
        return err;
    char *dir = qn_path_join(qn_store_root(s, hub), below), *path = qn_path_join(dir, name);
    err = qn_file_write_atomic(path, commit, strlen(commit), 0644, e);
    free(path);
    free(dir);
    close(fd);
    return err;
}
