/* Reads the contents of the cache without network access. See store.h. */
#include "registry/store.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/store_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SNAPSHOTS_MAX = 1000,
    ARENA_MAX = 64 * 1024 * 1024,
    ARENA_SLACK = 64,
    ARENA_REST = 16384 /* for everything that is not a file */
};

bool qn_store_is_fresh(const char *name)
{
    return name[0] == '.' && strlen(name) == 24 && qn_str_ends(name, ".quince");
}

/* One folder of the walk; its parents are on the stack. */
struct step {
    char path[QN_STORE_REL_MAX];
    bool (*fn)(void *ctx, const char *path);
    void *ctx;
    bool missed; /* something was skipped */
};

static bool walk_below(struct step *s, int at, size_t len, int depth)
{
    DIR *dir = fdopendir(at);
    if (!dir) {
        s->missed = true;
        close(at);
        return true;
    }
    bool go = true;
    for (struct dirent *d; go && (errno = 0, d = readdir(dir));) {
        struct stat st;
        size_t n = strlen(d->d_name);
        if (qn_str_eq(d->d_name, ".") || qn_str_eq(d->d_name, ".."))
            continue;
        bool fits = len + n + 2 <= sizeof s->path;
        if (!fits || fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW)) {
            s->missed = s->missed || !fits || errno != ENOENT;
            continue;
        }
        memcpy(s->path + len, d->d_name, n + 1);
        if (!S_ISDIR(st.st_mode)) {
            go = s->fn(s->ctx, s->path);
        } else if (depth < QN_STORE_DEPTH_MAX) {
            int below =
                openat(dirfd(dir), d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            memcpy(s->path + len + n, "/", 2);
            if (below >= 0)
                go = walk_below(s, below, len + n + 1, depth + 1);
            else
                s->missed = s->missed || errno != ENOENT;
        } else {
            s->missed = true;
        }
    }
    s->missed = s->missed || (go && errno);
    closedir(dir);
    return go;
}

bool qn_store_walk(int at, bool (*fn)(void *ctx, const char *path), void *ctx)
{
    struct step s = {.fn = fn, .ctx = ctx};
    walk_below(&s, at, 0, 0);
    return !s.missed;
}

bool qn_store_read_ref(int repo, const char *revision, char commit[static QN_STORE_COMMIT_MAX + 1])
{
    char rel[QN_STORE_REL_MAX], text[QN_STORE_COMMIT_MAX + 8];
    snprintf(rel, sizeof rel, "refs/%s", revision);
    int fd = qn_store_open_at(repo, rel, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, " \r\n\t")] = '\0';
    size_t len = strlen(text);
    if (len == 0 || len > QN_STORE_COMMIT_MAX || !qn_ref_path_ok(text) || strchr(text, '/'))
        return false;
    memcpy(commit, text, len + 1);
    return true;
}

static bool has_snapshot(int repo, const char *commit, int64_t *modified_s)
{
    char rel[QN_STORE_REL_MAX];
    struct stat st;
    snprintf(rel, sizeof rel, "snapshots/%s", commit);
    if (fstatat(repo, rel, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
        return false;
    *modified_s = st.st_mtime;
    return true;
}

struct snapshots {
    struct {
        char commit[QN_STORE_COMMIT_MAX + 1];
        int64_t modified_s;
    } v[SNAPSHOTS_MAX];
    size_t n;
};

static int newer(const void *a, const void *b)
{
    int64_t x, y;
    memcpy(&x, (const char *)a + offsetof(struct snapshots, v[0].modified_s), sizeof x);
    memcpy(&y, (const char *)b + offsetof(struct snapshots, v[0].modified_s), sizeof y);
    return x == y ? strcmp(a, b) : x < y ? 1 : -1;
}

static bool add_snapshot(struct snapshots *all, int repo, const char *commit)
{
    size_t len = strlen(commit);
    for (size_t i = 0; i < all->n; i++)
        if (qn_str_eq(all->v[i].commit, commit))
            return false;
    if (all->n == SNAPSHOTS_MAX || len > QN_STORE_COMMIT_MAX || commit[0] == '.' ||
        !has_snapshot(repo, commit, &all->v[all->n].modified_s))
        return false;
    memcpy(all->v[all->n++].commit, commit, len + 1);
    return true;
}

/* Lists the candidate commits, the best first. False: the folder of snapshots cannot be read. */
static bool list_snapshots(int repo, const char *revision, struct snapshots *all)
{
    char commit[QN_STORE_COMMIT_MAX + 1];
    all->n = 0;
    if (qn_store_read_ref(repo, *revision ? revision : "main", commit))
        add_snapshot(all, repo, commit);
    if (*revision) {
        if (!strchr(revision, '/'))
            add_snapshot(all, repo, revision);
        return true;
    }
    size_t first = all->n;
    int fd = openat(repo, "snapshots", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return false;
    }
    for (struct dirent *d; (errno = 0, d = readdir(dir));)
        add_snapshot(all, repo, d->d_name);
    bool whole = !errno;
    closedir(dir);
    qsort(all->v + first, all->n - first, sizeof *all->v, newer);
    return whole;
}

/* Collects the files of one snapshot for a struct qn_repo. */
struct reading {
    int at;                    /* the hub's root */
    const char *root, *prefix; /* prefix: from the root to the snapshot, with a slash */
    struct qn_arena *arena;
    struct qn_repo_file *v;
    size_t n, cap;
    bool full;   /* one more file would exceed the arena's limit */
    bool missed; /* a file could not be examined */
};

static bool read_file(void *ctx, const char *path)
{
    struct reading *r = ctx;
    char rel[QN_STORE_REL_MAX], text[QN_STORE_REL_MAX];
    struct stat st;
    if (!qn_ref_path_ok(path) || strlen(path) > QN_STORE_PATH_MAX ||
        qn_store_is_fresh(qn_path_base(path)) ||
        snprintf(rel, sizeof rel, "%s%s", r->prefix, path) >= (int)sizeof rel)
        return true;
    int fd = qn_store_open_at(r->at, rel, O_PATH);
    bool whole = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);
    r->missed = r->missed || (fd < 0 && errno != ENOENT && errno != EXDEV);
    if (fd >= 0)
        close(fd);
    if (!whole)
        return true;
    size_t bytes = 2 * (strlen(path) + ARENA_SLACK) + strlen(r->root) + strlen(rel) +
                   (r->n + 2) * sizeof *r->v; /* the list is copied at the end */
    r->full = bytes + ARENA_REST > ARENA_MAX - qn_arena_used(r->arena);
    if (r->full)
        return false;
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 16;
        r->v = qn_xrealloc(r->v, r->cap * sizeof *r->v);
    }
    struct qn_repo_file *f = &r->v[r->n++];
    *f = (struct qn_repo_file){.path = qn_arena_strdup(r->arena, path), .size_bytes = st.st_size};
    f->url = qn_arena_fmt(r->arena, "%s/%s", r->root, rel);
    ssize_t n = readlinkat(r->at, rel, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    const char *blob = qn_store_link_blob(text);
    if (blob && qn_store_blob_ok(blob)) {
        if (strlen(blob) == 64)
            memcpy(f->sha256, blob, 65);
        else
            memcpy(f->git_sha1, blob, 41);
    }
    return r->n < QN_REPO_FILES_MAX;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct qn_repo_file *)a)->path, ((const struct qn_repo_file *)b)->path);
}

static struct qn_repo *read_snapshot(const struct qn_store *s, enum qn_hub_kind hub, int root,
                                     const char *folder, const char *repo, const char *revision,
                                     const char *commit)
{
    char prefix[QN_STORE_REL_MAX];
    struct qn_arena *a = qn_arena_new(ARENA_MAX);
    struct qn_repo *out = qn_arena_alloc(a, sizeof *out);
    struct reading r = {.at = root, .root = qn_store_root(s, hub), .prefix = prefix, .arena = a};
    snprintf(prefix, sizeof prefix, "%.300s/snapshots/%s/", folder, commit);
    int fd = qn_store_open_at(root, prefix, O_RDONLY | O_DIRECTORY);
    bool partial = fd < 0 || !qn_store_walk(fd, read_file, &r) || r.missed || r.full ||
                   r.n >= QN_REPO_FILES_MAX;
    if (r.full)
        qn_warn("store",
                "repo=%s files=%zu message=\"limit reached: some files were not examined\"", repo,
                r.n);
    if (r.n)
        qsort(r.v, r.n, sizeof *r.v, by_path);
    struct qn_repo_file *files = qn_arena_alloc(a, (r.n + 1) * sizeof *files);
    if (r.n)
        memcpy(files, r.v, r.n * sizeof *files);
    free(r.v);
    *out = (struct qn_repo){.hub = hub,
                            .id = qn_arena_strdup(a, repo),
                            .revision = qn_arena_strdup(a, *revision ? revision : "main"),
                            .files = files,
                            .n = r.n,
                            .partial = partial,
                            .arena = a};
    snprintf(out->commit, sizeof out->commit, "%s", commit);
    return out;
}

qn_err qn_store_cached(const struct qn_store *s, enum qn_hub_kind hub, const char *repo,
                       const char *revision, size_t nth, struct qn_repo **out, struct qn_error *e)
{
    char folder[QN_STORE_REL_MAX];
    int root;
    qn_err err = qn_store_folder(hub, repo, folder, e);
    if (!err && *revision && !qn_ref_path_ok(revision))
        err = qn_fail(e, QN_EINVAL, "'%.100s' cannot be a revision", revision);
    if (!err)
        err = qn_store_open_root(s, hub, false, &root, e);
    if (err)
        return err;
    struct snapshots *all = qn_xcalloc(1, sizeof *all);
    int at = qn_store_open_at(root, folder, O_RDONLY | O_DIRECTORY);
    bool read = at >= 0 || errno == ENOENT;
    if (at >= 0) {
        read = list_snapshots(at, revision, all);
        close(at);
    }
    if (nth < all->n)
        *out = read_snapshot(s, hub, root, folder, repo, revision, all->v[nth].commit);
    else if (!read)
        err = qn_fail(e, QN_EIO, "%.200s cannot be read in the folder of models", repo);
    else
        err = qn_fail(e, QN_ENOTFOUND, "%.200s%s%.100s is not on this disk", repo,
                      *revision ? " at " : "", revision);
    free(all);
    close(root);
    return err;
}

qn_err qn_store_each(const struct qn_store *s, enum qn_hub_kind hub,
                     bool (*fn)(void *ctx, const char *repo), void *ctx, struct qn_error *e)
{
    int root;
    struct qn_error why = {0};
    qn_err err = qn_store_open_root(s, hub, false, &root, &why);
    if (err == QN_ENOTFOUND)
        return QN_OK;
    DIR *dir = err ? NULL : fdopendir(root);
    if (!dir)
        return qn_fail(e, QN_EIO, "%s", err ? why.message : "the folder of models cannot be read");
    bool go = true;
    for (struct dirent *d; go && (errno = 0, d = readdir(dir));) {
        char repo[NAME_MAX + 1];
        if (!qn_str_starts(d->d_name, "models--"))
            continue;
        snprintf(repo, sizeof repo, "%s", d->d_name + strlen("models--"));
        char *dashes = strstr(repo, "--");
        if (!dashes)
            continue; /* an early repository of the hub, without an owner */
        *dashes = '/';
        memmove(dashes + 1, dashes + 2, strlen(dashes + 2) + 1);
        if (qn_ref_repo_ok(repo))
            go = fn(ctx, repo);
    }
    if (go && errno)
        err = qn_fail_errno(e, "read the folder of models");
    closedir(dir);
    return err;
}
