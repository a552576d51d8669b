/* See pull_unpack.h. */
#include "downloads/pull_unpack.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/resolve.h"
#include "registry/unpack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 16 };

/* The files below a folder, in the form of a hub's listing. */
struct walk {
    struct qn_arena *arena;
    const char *root;
    struct qn_repo_file *files;
    size_t n;
};

static qn_err add_file(struct walk *w, const char *rel, int64_t size_bytes, struct qn_error *e)
{
    if (w->n == QN_UNPACK_FILES_MAX)
        return qn_fail(e, QN_ELIMIT, "the archive has more than %d files", QN_UNPACK_FILES_MAX);
    w->files[w->n++] = (struct qn_repo_file){.path = qn_arena_strdup(w->arena, rel),
                                             .size_bytes = size_bytes,
                                             .url = qn_arena_fmt(w->arena, "%s/%s", w->root, rel)};
    return QN_OK;
}

static qn_err walk_folder(struct walk *w, const char *rel, int depth, struct qn_error *e)
{
    char *path = *rel ? qn_path_join(w->root, rel) : qn_xstrdup(w->root);
    DIR *d = opendir(path);
    qn_err err = d ? QN_OK : qn_fail_errno(e, "open %s", path);
    struct dirent *entry;
    while (!err && (entry = readdir(d))) {
        struct stat st;
        if (qn_str_eq(entry->d_name, ".") || qn_str_eq(entry->d_name, ".."))
            continue;
        char *inner = *rel ? qn_path_join(rel, entry->d_name) : qn_xstrdup(entry->d_name);
        if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
            err = qn_fail_errno(e, "look at %s/%s", path, entry->d_name);
        else if (S_ISDIR(st.st_mode) && depth == DEPTH_MAX)
            err = qn_fail(e, QN_ELIMIT, "the archive has folders more than %d deep", DEPTH_MAX);
        else if (S_ISDIR(st.st_mode))
            err = walk_folder(w, inner, depth + 1, e);
        else if (S_ISREG(st.st_mode))
            err = add_file(w, inner, st.st_size, e);
        free(inner);
    }
    if (d)
        closedir(d);
    free(path);
    return err;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct qn_repo_file *)a)->path, ((const struct qn_repo_file *)b)->path);
}

/* Chooses the model among the files: by the rules for repositories, else the first variant. */
static qn_err choose(const struct qn_repo *repo, struct qn_choice **out, struct qn_error *e)
{
    qn_err err = qn_resolve(repo, "", "auto", out, e);
    if (err != QN_ENOTFOUND && err != QN_EUNSUPPORTED)
        return err;
    struct qn_variants *v;
    qn_variants(repo, &v);
    if (v->n)
        err = qn_resolve(repo, v->v[0].files[0]->path, "", out, e);
    else
        err = qn_fail(e, QN_ENOTFOUND, "there is no model in the archive %s", repo->id);
    qn_variants_free(v);
    return err;
}

static void note_roles(const struct walk *w, const struct qn_choice *choice,
                       struct qn_pull_inside *out)
{
    out->paths = qn_arena_alloc(w->arena, w->n * sizeof *out->paths);
    out->roles = qn_arena_alloc(w->arena, w->n * sizeof *out->roles);
    for (size_t i = 0; i < choice->n; i++) { /* the model's own files first, in their order */
        out->paths[out->n] = choice->files[i].file->url;
        out->roles[out->n++] = choice->files[i].role;
    }
    for (size_t i = 0; i < w->n; i++) {
        bool chosen = false;
        for (size_t k = 0; k < choice->n && !chosen; k++)
            chosen = choice->files[k].file == &w->files[i];
        if (chosen)
            continue;
        out->paths[out->n] = w->files[i].url;
        out->roles[out->n++] = "other";
    }
}

static qn_err look_inside(const char *folder, const char *archive, struct qn_arena *a,
                          struct qn_pull_inside *out, struct qn_error *e)
{
    struct walk w = {.arena = a, .root = folder};
    struct qn_choice *choice = NULL;
    w.files = qn_arena_alloc(a, QN_UNPACK_FILES_MAX * sizeof *w.files);
    qn_err err = walk_folder(&w, "", 0, e);
    if (err)
        return err;
    qsort(w.files, w.n, sizeof *w.files, by_path);
    struct qn_repo repo = {.hub = QN_HUB_LOCAL,
                           .id = qn_path_base(archive),
                           .revision = "",
                           .files = w.files,
                           .n = w.n,
                           .arena = a};
    err = choose(&repo, &choice, e);
    if (!err)
        note_roles(&w, choice, out);
    qn_choice_free(choice);
    return err;
}

qn_err qn_pull_unpack(const struct qn_store *store, const char *helper, const char *archive,
                      const atomic_bool *stop, struct qn_arena *a, struct qn_pull_inside *out,
                      struct qn_error *e)
{
    struct qn_unpacked unpacked;
    bool fresh = false;
    char *folder = NULL, *blob = qn_path_absolute(archive, e);
    *out = (struct qn_pull_inside){0};
    if (!blob)
        return e->code;
    qn_err err = qn_store_unpacked(store, qn_path_base(blob), &folder, e);
    /* The folder is created complete, by a rename: an existing one is from an earlier attempt. */
    if (!err && !qn_file_exists(folder)) {
        err = qn_unpack(helper, QN_UNPACK_MODEL, archive, folder, stop, &unpacked, e);
        fresh = !err;
        if (err == QN_ECONFLICT)
            err = QN_OK;
    }
    if (!err)
        err = look_inside(folder, archive, a, out, e);
    if (err && fresh) /* no model refers to its files */
        qn_unpack_discard(folder);
    free(folder);
    free(blob);
    return err;
}
