/* Removal from the store: deleted models, and leftovers. See store.h. */
#include "registry/store.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/ranges.h"
#include "registry/store_private.h"
#include "registry/unpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A parsed path of the store. */
struct place {
    char folder[NAME_MAX + 1]; /* models--owner--name */
    char commit[QN_STORE_COMMIT_MAX + 1];
    const char *link; /* below the repository's folder: "snapshots/<commit>/<path>", lent */
};

static bool take_apart(const char *rel, struct place *out)
{
    size_t n = strcspn(rel, "/");
    if (n >= sizeof out->folder || !qn_str_starts(rel, "models--") || !qn_ref_path_ok(rel))
        return false;
    memcpy(out->folder, rel, n);
    out->folder[n] = '\0';
    out->link = rel + n + (rel[n] == '/');
    if (!qn_str_starts(out->link, "snapshots/"))
        return false;
    const char *commit = out->link + strlen("snapshots/");
    size_t m = strcspn(commit, "/");
    if (m == 0 || m > QN_STORE_COMMIT_MAX || commit[m] != '/' || !commit[m + 1])
        return false;
    memcpy(out->commit, commit, m);
    out->commit[m] = '\0';
    return true;
}

/* Finds the blob that a link of the repository leads to; false: it is no link into blobs/. */
static bool blob_of(int repo, const char *link, char out[static QN_STORE_BLOB_MAX + 1])
{
    char text[QN_STORE_REL_MAX];
    ssize_t n = readlinkat(repo, link, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    const char *blob = qn_store_link_blob(text);
    if (!blob || !qn_store_blob_ok(blob))
        return false;
    memcpy(out, blob, strlen(blob) + 1);
    return true;
}

/* True if quince fetched the blob. A mark older than its blob was made for an earlier blob that
 * another program has replaced. */
static bool is_marked(int repo, const char *blob)
{
    char rel[QN_STORE_REL_MAX];
    struct stat mark, st;
    snprintf(rel, sizeof rel, QN_STORE_MARKS "/%s", blob);
    if (fstatat(repo, rel, &mark, AT_SYMLINK_NOFOLLOW))
        return false;
    snprintf(rel, sizeof rel, "blobs/%s", blob);
    if (fstatat(repo, rel, &st, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT;
    return st.st_mtim.tv_sec < mark.st_mtim.tv_sec ||
           (st.st_mtim.tv_sec == mark.st_mtim.tv_sec && st.st_mtim.tv_nsec <= mark.st_mtim.tv_nsec);
}

/* State of the search for a link to a blob in all snapshots. */
struct search {
    int repo;
    const char *blob;
    bool found;
};

static bool see_link(void *ctx, const char *path)
{
    struct search *s = ctx;
    char rel[QN_STORE_REL_MAX], blob[QN_STORE_BLOB_MAX + 1];
    s->found = snprintf(rel, sizeof rel, "snapshots/%s", path) >= (int)sizeof rel ||
               (blob_of(s->repo, rel, blob) && qn_str_eq(blob, s->blob));
    return !s->found;
}

static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Also true when some snapshot cannot be examined, because it may contain a link. */
static bool is_linked(int repo, const char *blob)
{
    struct search s = {.repo = repo, .blob = blob};
    int fd = open_folder(repo, "snapshots");
    if (fd < 0)
        return errno != ENOENT;
    bool all = qn_store_walk(fd, see_link, &s);
    return s.found || !all;
}

static void unlink_below(int repo, const char *folder, const char *name)
{
    char rel[QN_STORE_REL_MAX];
    snprintf(rel, sizeof rel, "%s/%s", folder, name);
    unlinkat(repo, rel, 0);
}

/* Removes the folder of a file, its parent and so on while they are empty; never the top one
 * (snapshots/, refs/). */
static void prune_up(int repo, const char *link)
{
    char rel[QN_STORE_REL_MAX];
    snprintf(rel, sizeof rel, "%s", link);
    for (char *slash = strrchr(rel, '/'); slash && slash != strchr(rel, '/');
         slash = strrchr(rel, '/')) {
        *slash = '\0';
        if (unlinkat(repo, rel, AT_REMOVEDIR))
            return;
    }
}

/* Removes references to missing snapshots. */
struct refs {
    int repo;
};

static bool drop_stale_ref(void *ctx, const char *path)
{
    const struct refs *r = ctx;
    char commit[QN_STORE_COMMIT_MAX + 1], rel[QN_STORE_REL_MAX];
    struct stat st;
    if (!qn_store_read_ref(r->repo, path, commit))
        return true;
    snprintf(rel, sizeof rel, "snapshots/%s", commit);
    if (fstatat(r->repo, rel, &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT) {
        snprintf(rel, sizeof rel, "refs/%s", path);
        unlinkat(r->repo, rel, 0);
        prune_up(r->repo, rel);
    }
    return true;
}

/* Removes the folders of a repository without files; rmdir keeps those that are not empty. */
static void prune_repo(int root, const char *folder, int repo)
{
    static const char *const parts[] = {QN_STORE_MARKS, "blobs", "snapshots"};
    struct refs refs = {repo};
    int fd = open_folder(repo, "refs");
    if (fd >= 0)
        qn_store_walk(fd, drop_stale_ref, &refs);
    /* Other programs treat a repository without snapshots/ as damaged. */
    if (unlinkat(repo, "blobs", AT_REMOVEDIR) && errno != ENOENT)
        return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (unlinkat(repo, parts[i], AT_REMOVEDIR) && errno != ENOENT)
            return;
    unlinkat(repo, "refs", AT_REMOVEDIR);
    unlinkat(root, folder, AT_REMOVEDIR);
}

/* Removes the blob when no link leads to it. */
static qn_err free_blob(int repo, const char *blob, struct qn_store_freed *out, struct qn_error *e)
{
    char rel[QN_STORE_REL_MAX];
    struct stat st;
    if (is_linked(repo, blob)) {
        out->kept++;
        return QN_OK;
    }
    snprintf(rel, sizeof rel, "blobs/%s", blob);
    if (fstatat(repo, rel, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (unlinkat(repo, rel, 0))
            return qn_fail_errno(e, "remove %s", rel);
        out->files++;
        out->size_bytes += st.st_size;
    }
    unlink_below(repo, QN_STORE_MARKS, blob);
    return QN_OK;
}

static qn_err remove_one(int root, const struct place *p, struct qn_store_freed *out,
                         struct qn_error *e)
{
    char blob[QN_STORE_BLOB_MAX + 1];
    int repo = open_folder(root, p->folder);
    if (repo < 0 && errno == ENOENT)
        return QN_OK; /* already removed */
    if (repo < 0)
        return qn_fail_errno(e, "open %s", p->folder);
    qn_err err = QN_OK;
    struct stat st;
    if (fstatat(repo, p->link, &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT) {
        /* already removed */
    } else if (!blob_of(repo, p->link, blob) || !is_marked(repo, blob)) {
        out->kept++;
    } else if (unlinkat(repo, p->link, 0)) {
        err = qn_fail_errno(e, "remove %s", p->link);
    } else {
        err = free_blob(repo, blob, out, e);
        prune_up(repo, p->link);
        prune_repo(root, p->folder, repo);
    }
    close(repo);
    return err;
}

/* The part of a path below the folder of unpacked archives, or NULL. */
static const char *unpacked_rel(const struct qn_store *s, const char *path)
{
    size_t n = strlen(s->unpacked);
    bool below = !strncmp(path, s->unpacked, n) && path[n] == '/' && qn_ref_path_ok(path + n + 1);
    return below ? path + n + 1 : NULL;
}

static qn_err remove_unpacked(const struct qn_store *s, const char *rel, struct qn_store_freed *out,
                              struct qn_error *e)
{
    struct stat st;
    char parent[QN_STORE_REL_MAX];
    const char *name = qn_path_base(rel);
    int root = open(s->unpacked, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return errno == ENOENT ? QN_OK : qn_fail_errno(e, "open %s", s->unpacked);
    snprintf(parent, sizeof parent, "%.*s", (int)(name - rel), rel);
    int at = qn_store_open_at(root, *parent ? parent : ".", O_RDONLY | O_DIRECTORY);
    qn_err err = QN_OK;
    if (at >= 0 && !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW)) {
        if (!S_ISREG(st.st_mode) || unlinkat(at, name, 0)) {
            err = qn_fail(e, QN_EIO, "%s/%s cannot be removed", s->unpacked, rel);
        } else {
            out->files++;
            out->size_bytes += st.st_size;
        }
    }
    if (at >= 0)
        close(at);
    for (char *slash; !err && *parent; *slash = '\0') { /* remove folders that have become empty */
        slash = strrchr(parent, '/');
        if (slash && !slash[1]) {
            *slash = '\0';
            slash = strrchr(parent, '/');
        }
        if (unlinkat(root, parent, AT_REMOVEDIR) || !slash)
            break;
    }
    close(root);
    return err;
}

qn_err qn_store_remove(const struct qn_store *s, const char *const *paths, size_t n,
                       struct qn_store_freed *out, struct qn_error *e)
{
    qn_err err = QN_OK;
    for (size_t i = 0; i < n && !err; i++) {
        const char *rel = unpacked_rel(s, paths[i]);
        struct place p;
        int root;
        if (rel) {
            err = remove_unpacked(s, rel, out, e);
            continue;
        }
        enum qn_hub_kind hub = qn_store_hub_of(s, paths[i], &rel);
        if (hub == QN_HUB_COUNT || !take_apart(rel, &p)) {
            out->kept++;
            continue;
        }
        err = qn_store_open_root(s, hub, false, &root, e);
        if (!err) {
            err = remove_one(root, &p, out, e);
            close(root);
        } else if (err == QN_ENOTFOUND) {
            err = QN_OK; /* already removed */
        }
    }
    return err;
}

bool qn_store_fetched(const struct qn_store *s, const char *path)
{
    const char *rel;
    struct place p;
    int root;
    char blob[QN_STORE_BLOB_MAX + 1];
    enum qn_hub_kind hub = qn_store_hub_of(s, path, &rel);
    if (hub == QN_HUB_COUNT || !take_apart(rel, &p) ||
        qn_store_open_root(s, hub, false, &root, NULL))
        return false;
    int repo = open_folder(root, p.folder);
    bool fetched = repo >= 0 && blob_of(repo, p.link, blob) && is_marked(repo, blob);
    if (repo >= 0)
        close(repo);
    close(root);
    return fetched;
}

/* ---- cleaning up ---- */

struct cleaning {
    const struct qn_store_cleaner *c;
    int64_t now_s;
    const char *root; /* of the hub */
    const char *folder;
};

static bool is_old(const struct cleaning *k, const struct stat *st)
{
    int64_t last = st->st_mtime > st->st_ctime ? st->st_mtime : st->st_ctime;
    return k->now_s - last >= k->c->grace_s;
}

static void tell(const struct cleaning *k, enum qn_store_waste what, const char *below,
                 int64_t size_bytes)
{
    struct qn_buf path;
    qn_buf_init(&path, QN_STORE_REL_MAX * 2);
    qn_buf_fmt(&path, "%s/%s%s%s", k->root, k->folder, *below ? "/" : "", below);
    k->c->found(k->c->ctx, what, qn_buf_cstr(&path), size_bytes);
    qn_buf_deinit(&path);
}

static bool is_wanted(const struct cleaning *k, const char *name)
{
    struct qn_buf path;
    if (!k->c->wanted)
        return false;
    qn_buf_init(&path, QN_STORE_REL_MAX * 2);
    qn_buf_fmt(&path, "%s/%s/blobs/%s", k->root, k->folder, name);
    bool wanted = k->c->wanted(k->c->ctx, qn_buf_cstr(&path));
    qn_buf_deinit(&path);
    return wanted;
}

/* True when another quince with the same cache is downloading this partial. */
static bool is_locked(int blobs, const char *partial)
{
    int fd = openat(blobs, partial, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return locked;
}

static void cut_end(char *name, const char *end)
{
    if (qn_str_ends(name, end))
        name[strlen(name) - strlen(end)] = '\0';
}

/* Finds the partial that a file of blobs/ belongs to: itself, or the one whose ranges it holds
 * (also as a temporary file). */
static bool partial_of(const char *name, char out[static NAME_MAX + 1])
{
    snprintf(out, NAME_MAX + 1, "%s", name);
    cut_end(out, QN_RANGES_TEMP);
    cut_end(out, ".ranges");
    return qn_str_ends(out, QN_STORE_PARTIAL_END);
}

static void clean_blobs(const struct cleaning *k, int repo)
{
    int fd = open_folder(repo, "blobs");
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir));) {
        char partial[NAME_MAX + 1], below[NAME_MAX + 16];
        struct stat st;
        if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
            !is_old(k, &st))
            continue;
        bool part = partial_of(d->d_name, partial);
        if (part ? is_wanted(k, partial) || is_locked(dirfd(dir), partial)
                 : !qn_store_blob_ok(d->d_name) || !is_marked(repo, d->d_name) ||
                       is_linked(repo, d->d_name))
            continue;
        snprintf(below, sizeof below, "blobs/%s", d->d_name);
        /* A partial has gaps: its size is the space it takes on the disk. */
        tell(k, part ? QN_WASTE_PARTIAL : QN_WASTE_BLOB, below,
             part ? (int64_t)st.st_blocks * 512 : st.st_size);
        if (k->c->dry)
            continue;
        unlinkat(dirfd(dir), d->d_name, 0);
        if (!part)
            unlink_below(repo, QN_STORE_MARKS, d->d_name);
    }
    closedir(dir);
}

/* Removes marks whose blobs are gone (removed by another program). */
static void clean_marks(const struct cleaning *k, int repo)
{
    int fd = k->c->dry ? -1 : open_folder(repo, QN_STORE_MARKS);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir));) {
        char rel[NAME_MAX + 16];
        struct stat st;
        snprintf(rel, sizeof rel, "blobs/%s", d->d_name);
        if (qn_store_blob_ok(d->d_name) && fstatat(repo, rel, &st, AT_SYMLINK_NOFOLLOW) &&
            errno == ENOENT && !fstatat(dirfd(dir), d->d_name, &st, 0) && is_old(k, &st))
            unlinkat(dirfd(dir), d->d_name, 0);
    }
    closedir(dir);
}

/* Removes empty folders of snapshots, the innermost first. True when `at` is empty afterwards (or
 * would be, in a dry run). Takes ownership of `at`. */
static bool clean_folders(const struct cleaning *k, int at, const char *below, int depth)
{
    DIR *dir = fdopendir(at);
    bool empty = true;
    if (!dir) {
        close(at);
        return false;
    }
    for (struct dirent *d; (d = readdir(dir));) {
        char inner[QN_STORE_REL_MAX];
        struct stat st;
        if (qn_str_eq(d->d_name, ".") || qn_str_eq(d->d_name, ".."))
            continue;
        if (snprintf(inner, sizeof inner, "%s/%s", below, d->d_name) >= (int)sizeof inner ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
            depth > QN_STORE_DEPTH_MAX) {
            empty = false;
            continue;
        }
        if (S_ISLNK(st.st_mode) && qn_store_is_fresh(d->d_name) && is_old(k, &st)) {
            if (!k->c->dry)
                unlinkat(dirfd(dir), d->d_name, 0);
            continue;
        }
        int fd = S_ISDIR(st.st_mode) ? open_folder(dirfd(dir), d->d_name) : -1;
        if (fd < 0 || !clean_folders(k, fd, inner, depth + 1) || !is_old(k, &st)) {
            empty = false;
            continue;
        }
        tell(k, QN_WASTE_FOLDER, inner, 0);
        if (!k->c->dry)
            unlinkat(dirfd(dir), d->d_name, AT_REMOVEDIR);
    }
    closedir(dir);
    return empty;
}

static bool is_empty(int at, const char *folder)
{
    int fd = open_folder(at, folder);
    if (fd < 0)
        return errno == ENOENT;
    DIR *dir = fdopendir(fd);
    size_t n = 0;
    for (struct dirent *d; dir && (d = readdir(dir));)
        n += !qn_str_eq(d->d_name, ".") && !qn_str_eq(d->d_name, "..");
    if (dir)
        closedir(dir);
    else
        close(fd);
    return dir && n == 0;
}

static void clean_repo(const struct cleaning *k, int root)
{
    struct stat st;
    int repo = open_folder(root, k->folder);
    if (repo < 0)
        return;
    /* A download that has just begun has only created empty folders. */
    bool old = !fstat(repo, &st) && is_old(k, &st) &&
               (fstatat(repo, "blobs", &st, AT_SYMLINK_NOFOLLOW) || is_old(k, &st));
    clean_blobs(k, repo);
    clean_marks(k, repo);
    int snapshots = open_folder(repo, "snapshots");
    if (snapshots >= 0)
        clean_folders(k, snapshots, "snapshots", 0);
    if (old && is_empty(repo, "snapshots") && is_empty(repo, "blobs")) {
        tell(k, QN_WASTE_FOLDER, "", 0);
        if (!k->c->dry)
            prune_repo(root, k->folder, repo);
    }
    close(repo);
}

/* Removes unpacked archives none of whose files belongs to a model. They remain when the server is
 * killed before it has registered the model, or after only some of a model's files have been
 * deleted. */
static void clean_unpacked(const struct qn_store *s, const struct qn_store_cleaner *c)
{
    struct cleaning k = {.c = c, .now_s = (int64_t)time(NULL), .root = s->unpacked};
    DIR *dir = c->used ? opendir(s->unpacked) : NULL;
    for (struct dirent *d; dir && (d = readdir(dir));) {
        struct stat st;
        char *path = qn_path_join(s->unpacked, d->d_name);
        if (qn_store_blob_ok(d->d_name) &&
            !fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode) &&
            is_old(&k, &st) && !c->used(c->ctx, path)) {
            k.folder = d->d_name;
            tell(&k, QN_WASTE_UNPACKED, "", qn_unpack_size(path));
            if (!c->dry)
                qn_unpack_discard(path);
        }
        free(path);
    }
    if (dir)
        closedir(dir);
}

qn_err qn_store_clean(const struct qn_store *s, const struct qn_store_cleaner *cleaner,
                      struct qn_error *e)
{
    clean_unpacked(s, cleaner);
    for (unsigned hub = 0; hub < QN_HUB_COUNT; hub++) {
        int root;
        struct qn_error why = {0};
        if (!s->roots[hub])
            continue;
        qn_err err = qn_store_open_root(s, hub, false, &root, &why);
        if (err == QN_ENOTFOUND)
            continue;
        DIR *dir = err ? NULL : fdopendir(root);
        if (!dir)
            return qn_fail(e, QN_EIO, "%s", err ? why.message : "a folder cannot be read");
        for (struct dirent *d; (d = readdir(dir));) {
            struct cleaning k = {.c = cleaner,
                                 .now_s = (int64_t)time(NULL),
                                 .root = s->roots[hub],
                                 .folder = d->d_name};
            if (qn_str_starts(d->d_name, "models--"))
                clean_repo(&k, dirfd(dir));
        }
        closedir(dir);
    }
    return QN_OK;
}
