/* See found.h: the list that grows, folders of files, caches in Hugging Face's layout. */
#include "registry/found.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/found_private.h"
#include "registry/resolve.h"
#include "registry/variant.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_LEN_MAX = 150, ARENA_SLACK = 64 };

bool qn_finding_stopped(const struct qn_finding *f)
{
    return atomic_load(f->stop) || f->full || f->found->n >= QN_FOUND_MAX ||
           f->n_entries >= QN_FOUND_ENTRIES_MAX;
}

const char *qn_finding_env(const struct qn_found_places *places, const char *name)
{
    size_t n = strlen(name);
    for (const char *const *env = places->env; env && *env; env++)
        if (!strncmp(*env, name, n) && (*env)[n] == '=' && (*env)[n + 1])
            return *env + n + 1;
    return NULL;
}

char *qn_finding_home(const struct qn_found_places *places, const char *below)
{
    const char *home = qn_finding_env(places, "HOME");
    return home ? qn_path_join(home, below) : NULL;
}

/* ---- listing ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct qn_finding_entry *)a)->name,
                  ((const struct qn_finding_entry *)b)->name);
}

/* What an entry is, links followed. False: neither a regular file nor a folder. */
static bool kind_of(const struct qn_finding *f, int dir, const char *path, const char *name,
                    bool *folder, size_t *led_out)
{
    struct stat st;
    bool known = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (known && S_ISLNK(st.st_mode)) {
        char *whole = qn_path_join(path, name);
        int fd = qn_foreign_open(&f->place, whole, O_PATH);
        known = fd >= 0 && fstat(fd, &st) == 0;
        *led_out += fd < 0 && errno == EXDEV;
        if (fd >= 0)
            close(fd);
        free(whole);
    }
    *folder = known && S_ISDIR(st.st_mode);
    return known && (*folder || S_ISREG(st.st_mode));
}

size_t qn_finding_list(struct qn_finding *f, const char *path, struct qn_finding_entry **out)
{
    *out = NULL;
    if (qn_finding_stopped(f))
        return 0;
    int fd = qn_foreign_open(&f->place, path, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (errno != ENOENT && errno != ENOTDIR)
            qn_warn("found", "folder=\"%s\" not_read=1 message=\"%s\"", path, strerror(errno));
        return 0;
    }
    size_t n = 0, cap = 0, led_out = 0;
    for (struct dirent *d; (d = readdir(dir)) && f->n_entries < QN_FOUND_ENTRIES_MAX;) {
        bool folder;
        if (d->d_name[0] == '.' || !kind_of(f, dirfd(dir), path, d->d_name, &folder, &led_out))
            continue;
        if (n == cap) {
            cap = cap ? 2 * cap : 32;
            *out = qn_xrealloc(*out, cap * sizeof **out);
        }
        (*out)[n++] = (struct qn_finding_entry){qn_xstrdup(d->d_name), folder};
        f->n_entries++;
    }
    closedir(dir);
    if (led_out)
        qn_info("found",
                "folder=\"%s\" links_not_followed=%zu message=\"they lead out of it, and another "
                "user made them\"",
                path, led_out);
    if (n)
        qsort(*out, n, sizeof **out, by_name);
    return n;
}

void qn_finding_unlist(struct qn_finding_entry *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i].name);
    free(list);
}

/* ---- the models ---- */

/* What names of models may not have becomes a dash. */
static const char *fit_name(struct qn_arena *a, const char *text)
{
    static const char fine[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:";
    char *name = qn_arena_strndup(a, text, strnlen(text, NAME_LEN_MAX));
    for (char *p = name; *p; p++)
        if (!strchr(fine, *p))
            *p = '-';
    size_t n = strlen(name);
    if (qn_str_ends(name, ":latest"))
        name[n - strlen(":latest")] = '\0';
    return name;
}

static bool is_known(const struct qn_finding *f, const struct stat *st)
{
    for (size_t i = 0; i < f->found->n; i++)
        if (f->found->v[i].device == st->st_dev && f->found->v[i].inode == st->st_ino)
            return true;
    return false;
}

/* Bytes that the strings and lists of a model take. */
static size_t bytes_of(const struct qn_finding_of *of, const char *const *files,
                       const char *const *roles, size_t n)
{
    const char *const texts[] = {of->checkpoint, of->hub,    of->revision,
                                 of->commit,     of->digest, of->preset};
    size_t sum = QN_FOUND_NAMES * (NAME_LEN_MAX + ARENA_SLACK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        sum += (texts[i] ? strlen(texts[i]) : 0) + ARENA_SLACK;
    for (size_t i = 0; i < n; i++)
        sum += strlen(files[i]) + strlen(roles[i]) + 4 * ARENA_SLACK;
    return sum;
}

void qn_finding_add(struct qn_finding *f, const struct qn_finding_of *of, const char *const *files,
                    const char *const *roles, size_t n)
{
    struct qn_arena *a = f->found->arena;
    struct qn_found_model m = {.program = of->program, .n_files = n};
    if (f->found->n >= QN_FOUND_MAX)
        return;
    if (n > QN_FOUND_FILES_MAX ||
        (of->preset && strnlen(of->preset, QN_FOUND_PRESET_MAX + 1) > QN_FOUND_PRESET_MAX)) {
        qn_info("found",
                "file=\"%s\" not_listed=1 message=\"more than %d files, or %d bytes of "
                "system message and parameters\"",
                files[0], QN_FOUND_FILES_MAX, QN_FOUND_PRESET_MAX);
        return;
    }
    if (bytes_of(of, files, roles, n) > QN_FOUND_BYTES_MAX - qn_arena_used(a)) {
        f->full = true;
        return;
    }
    const char **paths = qn_arena_alloc(a, n * sizeof *paths);
    const char **kinds = qn_arena_alloc(a, n * sizeof *kinds);
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        struct qn_error why = {0};
        if (qn_foreign_stat(&f->place, files[i], &st, &why)) {
            qn_warn("found", "not_read=1 message=\"%s\"", why.message);
            return;
        }
        if (i == 0 && is_known(f, &st))
            return;
        if (i == 0) {
            m.device = st.st_dev;
            m.inode = st.st_ino;
        }
        m.size_bytes += st.st_size;
        if (!qn_str_eq(roles[i], "mmproj") && st.st_mtime > m.modified_s)
            m.modified_s = st.st_mtime;
        paths[i] = qn_arena_strdup(a, files[i]);
        kinds[i] = qn_arena_strdup(a, roles[i]);
    }
    m.fetched = qn_store_fetched(f->places->store, files[0]);
    m.files = paths;
    m.roles = kinds;
    m.checkpoint = qn_arena_strdup(a, of->checkpoint);
    m.hub = qn_arena_strdup(a, of->hub ? of->hub : "");
    m.revision = qn_arena_strdup(a, of->revision ? of->revision : "");
    m.commit = qn_arena_strdup(a, of->commit ? of->commit : "");
    m.digest = qn_arena_strdup(a, of->digest && n == 1 ? of->digest : "");
    m.preset = of->preset ? qn_arena_strdup(a, of->preset) : NULL;
    for (size_t i = 0; i < QN_FOUND_NAMES; i++)
        if (of->names[i] && *of->names[i])
            m.names[m.n_names++] = fit_name(a, of->names[i]);
    if (f->found->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 64;
        f->found->v = qn_xrealloc(f->found->v, f->cap * sizeof *f->found->v);
    }
    f->found->v[f->found->n++] = m;
}

/* A file's name without what says that it is a file: its ending and its number in a series. */
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

/* A model of a repository: the file, the rest of its series, its projector. */
static void add_resolved(struct qn_finding *f, const struct qn_repo *repo, size_t i,
                         bool projectors, const struct qn_finding_of *known)
{
    struct qn_choice *choice;
    struct qn_error why = {0};
    const char *path = repo->files[i].path;
    if (qn_resolve(repo, path, projectors ? "auto" : NULL, &choice, &why)) {
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

/* Every file of a repository that a model begins with. */
static void add_repo(struct qn_finding *f, const struct qn_repo *repo, bool projectors,
                     const struct qn_finding_of *known)
{
    for (size_t i = 0; i < repo->n && !qn_finding_stopped(f); i++) {
        struct qn_shard shard;
        const char *path = repo->files[i].path;
        if (qn_file_kind_of(path) == QN_FILE_GGUF &&
            (!qn_shard_of(path, &shard) || shard.number == 1))
            add_resolved(f, repo, i, projectors, known);
    }
}

/* ---- folders ---- */

/* The GGUF files that lie in one folder, as a repository of that name. */
static void add_folder(struct qn_finding *f, const char *path, const struct qn_finding_entry *list,
                       size_t n, const struct qn_finding_of *known, const char *id, bool top)
{
    struct qn_arena *a = qn_arena_new(QN_FOUND_BYTES_MAX); /* of the files' paths */
    struct qn_repo_file *files = qn_xcalloc(n + 1, sizeof *files);
    struct qn_repo repo = {.hub = QN_HUB_LOCAL, .id = id, .revision = "", .files = files};
    size_t models = 0, path_len = strlen(path);
    for (size_t i = 0; i < n; i++) {
        struct qn_shard shard;
        if (path_len + strlen(list[i].name) + ARENA_SLACK > QN_FOUND_BYTES_MAX - qn_arena_used(a)) {
            qn_warn("found", "folder=\"%s\" message=\"there is more than is looked at\"", path);
            break;
        }
        enum qn_file_kind kind = qn_file_kind_of(list[i].name);
        if (list[i].folder || kind == QN_FILE_OTHER)
            continue;
        models += kind == QN_FILE_GGUF && (!qn_shard_of(list[i].name, &shard) || shard.number == 1);
        files[repo.n++] = (struct qn_repo_file){
            .path = list[i].name, .url = qn_arena_fmt(a, "%s/%s", path, list[i].name)};
    }
    /* In a folder of unrelated models nobody knows whose the projector is. */
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
    struct qn_finding_of known, outside; /* outside: above PUBLISHER/REPO */
    bool owners;
};

static void walk(struct walking *w, const char *path, int depth)
{
    struct qn_finding_entry *list;
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

static bool add_cached(void *ctx, const char *id)
{
    const struct cache *c = ctx;
    struct qn_repo *repo = NULL;
    for (size_t nth = 0; !qn_store_cached(c->store, c->hub, id, "", nth, &repo, NULL); nth++) {
        struct qn_finding_of known = {.program = "huggingface",
                                      .hub = qn_hub_kind_name(c->hub),
                                      .revision = nth ? "" : repo->revision,
                                      .commit = repo->commit};
        bool any = repo->n > 0;
        add_repo(c->f, repo, true, &known);
        qn_repo_free(repo);
        if (any)
            break;
    }
    return !qn_finding_stopped(c->f);
}

void qn_finding_store(struct qn_finding *f, const struct qn_store *store, enum qn_hub_kind hub)
{
    struct cache c = {f, store, hub};
    struct qn_error why = {0};
    if (qn_store_each(store, hub, add_cached, &c, &why))
        qn_warn("found", "folder=\"%s\" not_read=1 message=\"%s\"", qn_store_root(store, hub),
                why.message);
}

/* ---- places ---- */

void qn_finding_place(struct qn_finding_places *all, const char *path,
                      void (*look)(struct qn_finding *f, const char *path))
{
    size_t n = path ? strlen(path) : 0;
    while (n > 1 && path[n - 1] == '/')
        n--;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].look == look && strlen(all->v[i].path) == n &&
            !memcmp(all->v[i].path, path, n))
            return;
    if (!n)
        return;
    if (all->n == all->cap) {
        all->cap = all->cap ? 2 * all->cap : 16;
        all->v = qn_xrealloc(all->v, all->cap * sizeof *all->v);
    }
    all->v[all->n++] = (struct qn_finding_place){qn_xstrndup(path, n), look};
}

static void look_hf(struct qn_finding *f, const char *path)
{
    (void)path;
    qn_finding_store(f, f->places->store, QN_HUB_HF);
}

static void look_modelscope(struct qn_finding *f, const char *path)
{
    (void)path;
    qn_finding_store(f, f->places->store, QN_HUB_MODELSCOPE);
}

static void look_folder(struct qn_finding *f, const char *path)
{
    qn_finding_folder(f, path, "folder", false);
}

static void list_places(const struct qn_found_places *places, struct qn_finding_places *out)
{
    qn_finding_place(out, qn_store_root(places->store, QN_HUB_HF), look_hf);
    qn_finding_place(out, qn_store_root(places->store, QN_HUB_MODELSCOPE), look_modelscope);
    if (places->programs)
        qn_finding_programs(places, out);
    for (const char *p = places->folders; p && *p;) {
        char *path = qn_xstrndup(p, strcspn(p, ":"));
        qn_finding_place(out, path, look_folder);
        free(path);
        p += strcspn(p, ":");
        p += *p == ':';
    }
}

/* One of the user's folders that is not there is a mistake to be told of; programs need not be
 * installed. */
static void look_at(struct qn_finding *f, const struct qn_finding_place *place)
{
    struct qn_error e = {0};
    qn_err err = qn_foreign_open_place(&f->place, place->path, geteuid(), &e);
    if (!err)
        place->look(f, place->path);
    else if (place->look == look_folder)
        qn_warn("found", "extra_models_dir=\"%s\" not_read=1 message=\"%s\"", place->path,
                e.message);
    else if (err != QN_ENOTFOUND)
        qn_warn("found", "folder=\"%s\" not_read=1 message=\"%s\"", place->path, e.message);
    qn_foreign_close_place(&f->place);
}

qn_err qn_found_scan(const struct qn_found_places *places, const atomic_bool *stop,
                     struct qn_found **out, struct qn_error *e)
{
    struct qn_found *found = qn_xcalloc(1, sizeof *found);
    struct qn_finding f = {.places = places, .stop = stop, .found = found};
    struct qn_finding_places all = {0};
    found->arena = qn_arena_new(QN_FOUND_BYTES_MAX);
    list_places(places, &all);
    for (size_t i = 0; i < all.n; i++) {
        look_at(&f, &all.v[i]);
        free(all.v[i].path);
    }
    free(all.v);
    if (atomic_load(stop)) {
        qn_found_free(found);
        return qn_fail(e, QN_ECANCELLED, "the search for models was called off");
    }
    if (qn_finding_stopped(&f))
        qn_warn("found", "models=%zu entries=%zu message=\"there is more than is looked at\"",
                found->n, f.n_entries);
    *out = found;
    return QN_OK;
}

void qn_found_free(struct qn_found *f)
{
    if (!f)
        return;
    free(f->v);
    qn_arena_free(f->arena);
    free(f);
}
