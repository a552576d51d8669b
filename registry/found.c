/* See found.h: the places to search, the limits of each, and the list of models found. */
#include "registry/found.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/found_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME_LEN_MAX = 150,
    ARENA_SLACK = 64,
    UNSEEN_MAX = 64 /* folders of one place; with more, the whole place is recorded */
};

bool qn_finding_stopped(const struct qn_finding *f)
{
    return atomic_load(f->stop) || f->full || f->found->n >= f->models_until ||
           f->n_entries >= QN_FOUND_ENTRIES_MAX;
}

static void note_unseen(struct qn_found *found, const char *path)
{
    for (size_t i = found->n_unseen; i > 0; i--)
        if (qn_str_eq(found->unseen[i - 1], path))
            return;
    found->unseen = qn_xrealloc(found->unseen, (found->n_unseen + 1) * sizeof *found->unseen);
    found->unseen[found->n_unseen++] = qn_xstrdup(path);
}

void qn_finding_unseen(struct qn_finding *f, const char *path)
{
    bool whole = f->scattered || f->n_unseen >= UNSEEN_MAX;
    note_unseen(f->found, whole ? f->place.path : path);
    f->n_unseen += !whole;
}

bool qn_found_unseen(const struct qn_found *found, const char *path)
{
    for (size_t i = 0; i < found->n_unseen; i++) {
        size_t n = strlen(found->unseen[i]);
        while (n > 1 && found->unseen[i][n - 1] == '/')
            n--;
        if (!strncmp(path, found->unseen[i], n) && (n == 1 || !path[n] || path[n] == '/'))
            return true;
    }
    return false;
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

/* The type of an entry, after following links. False: neither a regular file nor a folder. */
static bool kind_of(struct qn_finding *f, int dir, const char *path, const char *name, bool *folder,
                    size_t *led_out)
{
    struct stat st;
    bool known = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!known &&
        errno != ENOENT) { /* a folder that may be listed but not entered, a failing disk */
        char *whole = qn_path_join(path, name);
        qn_warn("found", "entry=\"%s\" not_read=1 message=\"%s\"", whole, strerror(errno));
        qn_finding_unseen(f, whole);
        free(whole);
    }
    if (known && S_ISLNK(st.st_mode)) {
        char *whole = qn_path_join(path, name);
        int fd = qn_foreign_open(&f->place, whole, O_PATH);
        known = fd >= 0 && fstat(fd, &st) == 0;
        *led_out += fd < 0 && errno == EXDEV;
        if (fd < 0 && errno != EXDEV)
            qn_finding_unseen(f, whole); /* the link may lead to a disk that is not mounted */
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
        int why = errno;
        if (fd >= 0)
            close(fd);
        if (why == ENOENT || why == ENOTDIR)
            return 0;
        qn_warn("found", "folder=\"%s\" not_read=1 message=\"%s\"", path, strerror(why));
        qn_finding_unseen(f, path);
        return 0;
    }
    size_t n = 0, cap = 0, led_out = 0;
    for (struct dirent *d; !qn_finding_stopped(f) && (errno = 0, d = readdir(dir));) {
        bool folder;
        f->n_entries++;
        if (d->d_name[0] == '.' || !kind_of(f, dirfd(dir), path, d->d_name, &folder, &led_out))
            continue;
        if (n == cap) {
            cap = cap ? 2 * cap : 32;
            *out = qn_xrealloc(*out, cap * sizeof **out);
        }
        (*out)[n++] = (struct qn_finding_entry){qn_xstrdup(d->d_name), folder};
    }
    if (errno)
        qn_finding_unseen(f, path);
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

bool qn_finding_bare(const struct qn_finding *f, const char *path)
{
    bool bare = true;
    int fd = qn_foreign_open(&f->place, path, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return true;
    }
    for (struct dirent *d; bare && (d = readdir(dir));)
        bare = qn_str_eq(d->d_name, ".") || qn_str_eq(d->d_name, "..");
    closedir(dir);
    return bare;
}

bool qn_finding_enter(struct qn_finding *f, const char *path)
{
    struct stat st;
    int fd = qn_foreign_open(&f->place, path, O_PATH | O_DIRECTORY);
    bool known = fd >= 0 && fstat(fd, &st) == 0;
    if (fd >= 0)
        close(fd);
    /* A folder that cannot be opened is reported when it is listed. */
    return !known || qn_inodes_add(&f->folders, st.st_dev, st.st_ino);
}

/* ---- the models ---- */

/* Replaces characters that model names may not have by a dash. */
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

/* The bytes that the strings and lists of a model take in the arena. */
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

/* Fills in size, time and inode from the files. False: a file cannot be read, or the model is known
 * already. */
static bool measure(struct qn_finding *f, struct qn_found_model *m, const char *const *files,
                    const char *const *roles, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        struct qn_error why = {0};
        qn_err err = qn_foreign_stat(&f->place, files[i], &st, &why);
        if (err) {
            qn_warn("found", "not_read=1 message=\"%s\"", why.message);
            if (err != QN_ENOTFOUND && err != QN_EINVAL)
                qn_finding_unseen(f, files[0]);
            return false;
        }
        if (i == 0) {
            m->device = st.st_dev;
            m->inode = st.st_ino;
            if (qn_inodes_has(&f->mains, m->device, m->inode))
                return false;
        }
        m->size_bytes += st.st_size;
        if (!qn_str_eq(roles[i], "mmproj") && st.st_mtime > m->modified_s)
            m->modified_s = st.st_mtime;
    }
    return true;
}

void qn_finding_add(struct qn_finding *f, const struct qn_finding_of *of, const char *const *files,
                    const char *const *roles, size_t n)
{
    struct qn_arena *a = f->found->arena;
    struct qn_found_model m = {.program = of->program, .n_files = n};
    if (n > QN_FOUND_FILES_MAX ||
        (of->preset && strnlen(of->preset, QN_FOUND_PRESET_MAX + 1) > QN_FOUND_PRESET_MAX)) {
        qn_info("found",
                "file=\"%s\" not_listed=1 message=\"more than %d files, or %d bytes of "
                "system message and parameters\"",
                files[0], QN_FOUND_FILES_MAX, QN_FOUND_PRESET_MAX);
        return;
    }
    if (!measure(f, &m, files, roles, n))
        return;
    if (f->found->n >= f->models_until ||
        qn_arena_used(a) + bytes_of(of, files, roles, n) > f->bytes_until) {
        f->full = true;
        return;
    }
    qn_inodes_add(&f->mains, m.device, m.inode);
    const char **paths = qn_arena_alloc(a, n * sizeof *paths);
    const char **kinds = qn_arena_alloc(a, n * sizeof *kinds);
    for (size_t i = 0; i < n; i++) {
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
    all->v[all->n++] = (struct qn_finding_place){.path = qn_xstrndup(path, n), .look = look};
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

/* Sets the limits of a place: an equal share of what remains for it and all later places. No place
 * can use up what the others need, and what one leaves unused goes to the later ones. */
static void begin_place(struct qn_finding *f, size_t places_left)
{
    size_t bytes = qn_arena_used(f->found->arena);
    f->models_until = f->found->n + (QN_FOUND_MAX - f->found->n) / places_left;
    f->bytes_until = bytes + (QN_FOUND_BYTES_MAX - bytes) / places_left;
    f->n_entries = f->n_unseen = 0;
    f->full = f->scattered = false;
}

/* Searches one place. A missing folder of the user's is a warning, since it is probably a mistake;
 * other programs need not be installed. Either may be on a disk that is not mounted, which leaves a
 * missing or empty folder. */
static void look_at(struct qn_finding *f, const struct qn_finding_place *place)
{
    struct qn_error e = {0};
    qn_err err = qn_foreign_open_place(&f->place, place->path, geteuid(), &e);
    const char *word = place->look == look_folder ? "extra_models_dir" : "folder";
    if (!err && qn_finding_bare(f, place->path)) {
        note_unseen(f->found, place->path);
        qn_info("found", "%s=\"%s\" empty=1", word, place->path);
    } else if (!err) {
        place->look(f, place->path);
        if (qn_finding_stopped(f) && !atomic_load(f->stop)) {
            note_unseen(f->found, place->path);
            qn_warn("found", "%s=\"%s\" message=\"limit reached: some files were not examined\"",
                    word, place->path);
        }
    } else {
        note_unseen(f->found, place->path);
        if (err != QN_ENOTFOUND || place->look == look_folder)
            qn_warn("found", "%s=\"%s\" not_read=1 message=\"%s\"", word, place->path, e.message);
    }
    qn_foreign_close_place(&f->place);
    qn_inodes_deinit(&f->folders);
}

qn_err qn_found_scan(const struct qn_found_places *places, const atomic_bool *stop,
                     struct qn_found **out, struct qn_error *e)
{
    struct qn_found *found = qn_xcalloc(1, sizeof *found);
    struct qn_finding f = {.places = places, .stop = stop, .found = found};
    struct qn_finding_places all = {0};
    size_t there = 0;
    found->arena = qn_arena_new(QN_FOUND_BYTES_MAX);
    list_places(places, &all);
    for (size_t i = 0; i < all.n; i++)
        there += all.v[i].there = qn_file_exists(all.v[i].path);
    for (size_t i = 0; i < all.n && !atomic_load(stop); i++) {
        begin_place(&f, there ? there : 1);
        look_at(&f, &all.v[i]);
        there -= all.v[i].there;
    }
    for (size_t i = 0; i < all.n; i++)
        free(all.v[i].path);
    free(all.v);
    qn_inodes_deinit(&f.mains);
    if (atomic_load(stop)) {
        qn_found_free(found);
        return qn_fail(e, QN_ECANCELLED, "the search for models was cancelled");
    }
    *out = found;
    return QN_OK;
}

void qn_found_free(struct qn_found *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_unseen; i++)
        free(f->unseen[i]);
    free(f->unseen);
    free(f->v);
    qn_arena_free(f->arena);
    free(f);
}
