/* Treats folders of files, and caches in Hugging Face's layout, as repositories of models. See
 * found.h. */
#include "registry/found_private.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/repo_index.h"
#include "registry/resolve.h"
#include "registry/store_private.h"
#include "registry/variant.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_SLACK = 64 };

/* A file's name without its ending and its number in a series. */
static void stem_of(const char *path, char out[static NAME_MAX + 1])
{
    const char *base = qn_path_base(path);
    struct qn_shard shard;
    size_t n = qn_shard_of(base, &shard)      ? shard.stem_len
               : qn_has_ending(base, ".gguf") ? strlen(base) - strlen(".gguf")
                                              : strlen(base);
    snprintf(out, NAME_MAX + 1, "%.*s", (int)(n > NAME_MAX ? NAME_MAX : n), base);
}

static bool says_nothing(const char *stem)
{
    return qn_str_ieq(stem, "model") || qn_str_ieq(stem, "ggml-model") ||
           !strncasecmp(stem, "ggml-model-", 11);
}

/* Adds a model of a repository: the file, the other parts of its series, its projector. */
static void add_resolved(struct qn_finding *f, const struct qn_repo_index *index, size_t i,
                         bool projectors, const struct qn_finding_of *known)
{
    const struct qn_repo *repo = qn_repo_index_repo(index);
    struct qn_choice *choice;
    struct qn_error why = {0};
    const char *path = repo->files[i].path;
    if (qn_resolve_file(index, i, projectors, &choice, &why)) {
        qn_info("found", "file=\"%s\" not_listed=1 message=\"%s\"", repo->files[i].url,
                why.message);
        return;
    }
    char stem[NAME_MAX + 1], own[QN_REF_REPO_MAX + NAME_MAX + 8], whole[sizeof own + 8];
    const char *name = qn_path_base(repo->id);
    struct qn_finding_of of = *known;
    struct qn_buf checkpoint;
    qn_buf_init(&checkpoint, PATH_MAX * 2);
    stem_of(path, stem);
    bool nameless = says_nothing(stem);
    snprintf(own, sizeof own, "%.250s/%s", name, stem);
    snprintf(whole, sizeof whole, "%.250s/%s", repo->id, stem);
    const char *names[] = {stem, own, whole};
    for (size_t k = 0; k < QN_FOUND_NAMES; k++) {
        size_t from = k + nameless;
        of.names[k] = !*name ? (k ? NULL : stem) : from < 3 ? names[from] : NULL;
    }
    if (*of.hub)
        qn_buf_fmt(&checkpoint, "%s:%s", repo->id, path);
    else
        qn_buf_str(&checkpoint, repo->files[i].url);
    of.checkpoint = qn_buf_cstr(&checkpoint);
    of.digest = repo->files[i].sha256;
    const char **files = qn_xcalloc(choice->n, sizeof *files);
    const char **roles = qn_xcalloc(choice->n, sizeof *roles);
    for (size_t k = 0; k < choice->n; k++) {
        files[k] = choice->files[k].file->url;
        roles[k] = choice->files[k].role;
    }
    qn_finding_add(f, &of, files, roles, choice->n);
    free(files);
    free(roles);
    qn_buf_deinit(&checkpoint);
    qn_choice_free(choice);
}

/* Adds a model for each GGUF file that is a single file or the first of a series. */
static void add_repo(struct qn_finding *f, const struct qn_repo *repo, bool projectors,
                     const struct qn_finding_of *known)
{
    struct qn_repo_index *index = qn_repo_index_new(repo);
    for (size_t i = 0; i < repo->n && !qn_finding_stopped(f); i++) {
        struct qn_shard shard;
        const char *path = repo->files[i].path;
        if (qn_file_kind_of(path) == QN_FILE_GGUF &&
            (!qn_shard_of(path, &shard) || shard.number == 1))
            add_resolved(f, index, i, projectors, known);
    }
    qn_repo_index_free(index);
}

/* ---- folders ---- */

/* Treats the GGUF files of one folder as a repository with the given id. */
static void add_folder(struct qn_finding *f, const char *path, const struct qn_finding_entry *list,
                       size_t n, const struct qn_finding_of *known, const char *id, bool top)
{
    struct qn_arena *a = qn_arena_new(QN_FOUND_BYTES_MAX); /* for the files' paths */
    struct qn_repo_file *files = qn_xcalloc(n + 1, sizeof *files);
    struct qn_repo repo = {.hub = QN_HUB_LOCAL, .id = id, .revision = "", .files = files};
    size_t models = 0, path_len = strlen(path);
    for (size_t i = 0; i < n; i++) {
        struct qn_shard shard;
        if (path_len + strlen(list[i].name) + ARENA_SLACK > QN_FOUND_BYTES_MAX - qn_arena_used(a)) {
            qn_warn("found",
                    "folder=\"%s\" message=\"limit reached: some files were not examined\"", path);
            qn_finding_unseen(f, path);
            break;
        }
        enum qn_file_kind kind = qn_file_kind_of(list[i].name);
        if (list[i].folder || kind == QN_FILE_OTHER)
            continue;
        models += kind == QN_FILE_GGUF && (!qn_shard_of(list[i].name, &shard) || shard.number == 1);
        files[repo.n++] = (struct qn_repo_file){
            .path = list[i].name, .url = qn_arena_fmt(a, "%s/%s", path, list[i].name)};
    }
    /* In the top folder, with several unrelated models, it is unknown which one a projector belongs
     * to. */
    add_repo(f, &repo, !top || models == 1, known);
    free(files);
    qn_arena_free(a);
}

/* The last two components of a path. */
static const char *last_two(const char *path)
{
    const char *p = qn_path_base(path);
    if (p > path + 1)
        p--;
    while (p > path && p[-1] != '/')
        p--;
    return p;
}

struct walking {
    struct qn_finding *f;
    struct qn_finding_of known, outside; /* outside: for files above PUBLISHER/REPO */
    bool owners;
};

static void walk(struct walking *w, const char *path, int depth)
{
    struct qn_finding_entry *list;
    if (!qn_finding_enter(w->f, path))
        return; /* visited already: links form a cycle or lead here by several paths */
    size_t n = qn_finding_list(w->f, path, &list);
    bool repo = w->owners && depth >= 2;
    if (n)
        add_folder(w->f, path, list, n, repo ? &w->known : &w->outside,
                   depth == 0 ? ""
                   : repo     ? last_two(path)
                              : qn_path_base(path),
                   depth == 0);
    for (size_t i = 0; i < n && depth < QN_FOUND_DEPTH_MAX && !qn_finding_stopped(w->f); i++) {
        if (!list[i].folder)
            continue;
        char *below = qn_path_join(path, list[i].name);
        walk(w, below, depth + 1);
        free(below);
    }
    qn_finding_unlist(list, n);
}

void qn_finding_folder(struct qn_finding *f, const char *path, const char *program, bool owners)
{
    struct walking w = {.f = f,
                        .known = {.program = program, .hub = "huggingface"},
                        .outside = {.program = program, .hub = ""},
                        .owners = owners};
    walk(&w, path, 0);
}

/* ---- caches ---- */

struct cache {
    struct qn_finding *f;
    const struct qn_store *store;
    enum qn_hub_kind hub;
};

static void unseen_repo(const struct cache *c, const char *id)
{
    char folder[QN_STORE_REL_MAX];
    if (qn_store_folder(c->hub, id, folder, NULL))
        return;
    char *path = qn_path_join(qn_store_root(c->store, c->hub), folder);
    qn_finding_unseen(c->f, path);
    free(path);
}

static bool add_cached(void *ctx, const char *id)
{
    const struct cache *c = ctx;
    bool any = false;
    qn_err err = QN_OK;
    c->f->n_entries++;
    for (size_t nth = 0; !any && !err; nth++) {
        struct qn_repo *repo = NULL;
        err = qn_store_cached(c->store, c->hub, id, "", nth, &repo, NULL);
        if (err)
            break;
        struct qn_finding_of known = {.program = "huggingface",
                                      .hub = qn_hub_kind_name(c->hub),
                                      .revision = nth ? "" : repo->revision,
                                      .commit = repo->commit};
        any = repo->n > 0;
        c->f->n_entries += repo->n;
        if (repo->partial)
            unseen_repo(c, id);
        add_repo(c->f, repo, true, &known);
        qn_repo_free(repo);
    }
    if (err && err != QN_ENOTFOUND)
        unseen_repo(c, id);
    return !qn_finding_stopped(c->f);
}

void qn_finding_store(struct qn_finding *f, const struct qn_store *store, enum qn_hub_kind hub)
{
    struct cache c = {f, store, hub};
    struct qn_error why = {0};
    if (!qn_store_each(store, hub, add_cached, &c, &why))
        return;
    qn_warn("found", "folder=\"%s\" not_read=1 message=\"%s\"", qn_store_root(store, hub),
            why.message);
    qn_finding_unseen(f, qn_store_root(store, hub));
}
