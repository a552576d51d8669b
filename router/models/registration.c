/* Registers models in the catalog, see registration.h. */
#include "models/registration.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "contract/backend_types.h"
#include "models/inventory.h"
#include "models/model_capabilities.h"
#include "models/model_name.h"
#include "registry/digest.h"
#include "registry/registry.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DETAILS_MAX = 64 * 1024, WISH_MAX = 64 * 1024 * 1024, RECIPE_MAX = 64 };

static qn_err put_builtin(const struct qn_registration_world *world,
                          const struct qn_registry_entry *entry, struct qn_error *e)
{
    const struct qn_backend_type *type =
        qn_backend_type_of(entry->recipe, qn_listed_capabilities(entry).has);
    if (!type)
        return qn_fail(e, QN_EUNSUPPORTED, "%s: recipe '%s' is not known", entry->name,
                       entry->recipe);
    struct qn_inspection facts;
    struct qn_buf details, said;
    struct qn_stamp stamp;
    qn_buf_init(&details, DETAILS_MAX);
    qn_buf_init(&said, QN_FACTS_MAX);
    qn_err err = qn_registry_inspect(&world->inspector, entry->file, &facts, &said, e);
    if (!err)
        err = qn_registry_stamp(entry->file, &stamp, e);
    if (err)
        goto out;
    qn_inspection_json(&facts, &details);
    const char *files[] = {entry->file};
    struct qn_model_row row = {
        .name = entry->name,
        .type = type->type,
        .recipe = entry->recipe,
        .checkpoint = entry->checkpoint,
        .files = files,
        .n_files = 1,
        .size_bytes = facts.size_bytes,
        .labels = entry->labels,
        .details = qn_buf_cstr(&details),
        .facts = qn_buf_cstr(&said),
        .modified_s = stamp.modified_s,
        .options = "{}",
        .builtin = true,
        .suggested = entry->suggested,
        .created_s = qn_wall_ms() / 1000,
    };
    struct qn_snapshot *snap = qn_catalog_snapshot(world->catalog);
    const struct qn_model_row *old = qn_snapshot_find(snap, entry->name);
    if (old) /* the user's saved options are kept */
        row.options = old->options;
    qn_catalog_put(world->catalog, &row, NULL, NULL);
    qn_snapshot_unref(snap);
out:
    qn_buf_deinit(&details);
    qn_buf_deinit(&said);
    return err;
}

qn_err qn_registration_builtin(const struct qn_registration_world *world,
                               const struct qn_registry *list, char *starter, size_t starter_size,
                               struct qn_error *e)
{
    qn_err err = QN_OK;
    *starter = '\0';
    for (size_t i = 0; i < qn_registry_count(list) && !err; i++) {
        const struct qn_registry_entry *entry = qn_registry_at(list, i);
        if (!entry->file)
            continue;
        err = put_builtin(world, entry, e);
        if (!*starter && strlen(entry->name) < starter_size)
            memcpy(starter, entry->name, strlen(entry->name) + 1);
    }
    struct qn_snapshot *snap = qn_catalog_snapshot(world->catalog);
    for (size_t i = 0; i < qn_snapshot_count(snap) && !err; i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        bool listed = false;
        for (size_t k = 0; k < qn_registry_count(list) && !listed; k++)
            listed = qn_registry_at(list, k)->file &&
                     qn_str_eq(qn_registry_at(list, k)->name, row->name);
        if (row->builtin && !listed)
            qn_catalog_remove(world->catalog, row->name, NULL, NULL);
    }
    qn_snapshot_unref(snap);
    return err;
}

/* One registration in progress: filled on the loop, inspected on a worker, written to the catalog
 * on the loop. */
struct qn_registration {
    struct qn_registration_world *world;
    struct qn_registration *next; /* in the list of waiting registrations */
    struct qn_arena *arena;
    struct qn_registration_wish wish; /* its strings are in the arena */
    struct qn_registration_origin origin;
    bool as_they_are; /* the files' paths are not resolved */
    const char **files, **roles;
    int64_t *sizes;
    size_t n_files;
    int64_t size_bytes;
    bool header; /* the main file is a GGUF, and `facts` and `said` hold its metadata */
    struct qn_inspection facts;
    struct qn_buf said;
    struct qn_stamp stamp;
    struct qn_error error;
    char *chosen; /* the caller's buffer for a name to be chosen; NULL: the name is given */
    qn_registration_done done;
    void *ctx;
};

static void registration_free(struct qn_registration *in)
{
    qn_arena_free(in->arena);
    qn_buf_deinit(&in->said);
    free(in);
}

static void on_put(void *ctx, const struct qn_error *e)
{
    struct qn_registration *in = ctx;
    if (!e)
        qn_info("registration", "model=%s registered=1", in->wish.name);
    in->done(in->ctx, e);
    registration_free(in);
}

/* The file must be regular and readable. */
static qn_err measure(const char *path, int64_t *size_bytes, struct qn_error *e)
{
    struct stat st;
    if (stat(path, &st) || access(path, R_OK))
        return qn_fail_param(e, QN_ENOTFOUND, "checkpoint", QN_NOT_READABLE, path);
    if (!S_ISREG(st.st_mode))
        return qn_fail_param(e, QN_EINVAL, "checkpoint", "%s is not a regular file", path);
    *size_bytes = st.st_size;
    return QN_OK;
}

/* The backend type of the recipe for the purpose that the labels name. */
static const struct qn_backend_type *type_of(const struct qn_registration *in)
{
    return qn_backend_type_of(in->wish.recipe,
                              qn_labelled_capabilities(in->wish.recipe, in->origin.labels).has);
}

/* Files of models other than language models need not be GGUF: only their backends read them. */
static qn_err read_header(struct qn_registration *in, const char *path, struct qn_error *e)
{
    qn_err err = qn_registry_inspect(&in->world->inspector, path, &in->facts, &in->said, e);
    if (err == QN_EFORMAT && !(type_of(in)->offers & QN_CAN_TALK))
        return QN_OK;
    in->header = !err;
    return err;
}

/* Runs on the worker: checks that the files exist and are a model. */
static void inspect(void *ctx)
{
    struct qn_registration *in = ctx;
    struct qn_error why = {0};
    char *real = NULL;
    if (in->error.code)
        return;
    for (size_t i = 0; i < in->n_files; i++) {
        if (measure(in->files[i], &in->sizes[i], &in->error))
            return;
        in->size_bytes += in->sizes[i];
    }
    if (!in->as_they_are && !(real = qn_path_absolute(in->files[0], &why))) {
        qn_fail_param(&in->error, QN_EINVAL, "checkpoint", "%s", why.message);
        return;
    }
    if (real)
        in->files[0] = in->wish.path = qn_arena_strdup(in->arena, real);
    free(real);
    if (read_header(in, in->wish.path, &why) ||
        qn_registry_stamp(in->wish.path, &in->stamp, &why)) {
        qn_fail_param(&in->error, QN_EINVAL, "checkpoint", "%s", why.message);
        return;
    }
    /* For the user's own split file, whose path was resolved, the size is that of all parts that
     * the header's reader found. */
    if (!in->as_they_are && in->header)
        in->size_bytes = in->facts.size_bytes;
}

static bool same_files(const struct qn_registration *in, const struct qn_model_row *old)
{
    bool same = old->n_files == in->n_files;
    for (size_t i = 0; same && i < in->n_files; i++)
        same = qn_str_eq(old->files[i], in->files[i]);
    return same;
}

/* A row without files is known but not downloaded: the name is free for any files. */
static qn_err check_name(const struct qn_registration *in, const struct qn_model_row *old,
                         struct qn_error *e)
{
    if (in->wish.was && !qn_str_eq(in->wish.was, old ? old->checkpoint : ""))
        return qn_fail_param(e, QN_ECONFLICT, "model_name",
                             "'%s' has been replaced by another model meanwhile", in->wish.name);
    if (!old || !old->n_files)
        return QN_OK;
    if (in->wish.replace)
        return old->builtin
                   ? qn_fail_param(e, QN_ECONFLICT, "model",
                                   "'%s' ships with quince: choose another name", in->wish.name)
                   : QN_OK;
    return same_files(in, old)
               ? QN_OK
               : qn_fail_param(e, QN_ECONFLICT, "model_name",
                               "the name '%s' belongs to another file (%s): choose another one",
                               in->wish.name, old->files[0]);
}

static const char *first(const char *a, const char *b)
{
    return a ? a : b;
}

static void put_row(struct qn_registration *in, const struct qn_model_row *old)
{
    const struct qn_registration_origin *o = &in->origin;
    /* Registering the same file again keeps the user's changes to its row. */
    bool again = old && !in->wish.replace;
    struct qn_buf details;
    qn_buf_init(&details, DETAILS_MAX);
    if (in->header)
        qn_inspection_json(&in->facts, &details);
    struct qn_model_row row = {
        .name = in->wish.name,
        .type = type_of(in)->type,
        .recipe = in->wish.recipe,
        .checkpoint = first(o->checkpoint, in->wish.path),
        .files = in->files,
        .roles = in->roles,
        .sizes = in->sizes,
        .n_files = in->n_files,
        .size_bytes = in->size_bytes,
        .labels = o->labels ? o->labels
                  : again   ? old->labels
                            : "[\"custom\"]",
        .base = again ? old->base : NULL,
        .details = in->header ? qn_buf_cstr(&details) : NULL,
        .facts = in->header ? qn_buf_cstr(&in->said) : NULL,
        .modified_s = in->stamp.modified_s,
        .options = o->options ? o->options
                   : old      ? old->options
                              : "{}",
        .preset = again && !in->wish.preset ? old->preset : in->wish.preset,
        .digest = in->wish.digest,
        .digest_of = in->wish.digest ? in->stamp.text : NULL,
        .checkpoints = o->checkpoints,
        .hub = o->hub,
        .revision = o->revision,
        .commit = o->commit,
        .keeper = o->keeper,
        .extras = o->extras ? o->extras
                  : again   ? old->extras
                            : NULL,
        .suggested = o->suggested || (again && old->suggested),
        .created_s = qn_wall_ms() / 1000,
    };
    qn_catalog_put(in->world->catalog, &row, on_put, in);
    qn_buf_deinit(&details);
}

/* Chooses "user.NAME", or that with a number appended if the name is taken. */
static void take_free_name(struct qn_registration *in, const struct qn_snapshot *snap,
                           const char *slug)
{
    struct qn_error taken;
    for (unsigned n = 1;; n++) {
        char number[16] = "";
        if (n > 1)
            snprintf(number, sizeof number, "-%u", n);
        snprintf(in->chosen, QN_MODEL_NAME_MAX + 1, "user.%s%s", slug, number);
        in->wish.name = in->chosen;
        if (!check_name(in, qn_snapshot_find(snap, in->chosen), &taken))
            return;
    }
}

static void choose_name(struct qn_registration *in, const struct qn_snapshot *snap)
{
    char slug[QN_MODEL_SLUG_MAX + 1];
    qn_model_slug(in->files[0], in->header ? in->facts.title : "", slug);
    take_free_name(in, snap, slug);
}

static void finish(struct qn_registration *in)
{
    if (*in->world->closed)
        qn_fail(&in->error, QN_EBUSY, "the server is stopping");
    if (in->error.code) {
        on_put(in, &in->error);
        return;
    }
    struct qn_snapshot *snap = qn_catalog_snapshot(in->world->catalog);
    if (in->chosen)
        choose_name(in, snap);
    const struct qn_model_row *old = qn_snapshot_find(snap, in->wish.name);
    if (check_name(in, old, &in->error))
        on_put(in, &in->error);
    else
        put_row(in, old);
    qn_snapshot_unref(snap);
}

/* True when a part between slashes is empty, "." or "..": HTTP clients normalise such paths, and
 * they must never be used as a folder's name. */
static bool steps_aside(const char *name)
{
    for (const char *p = name;; p++) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return true;
        p += n;
        if (!*p)
            return false;
    }
}

/* Names appear in URLs, command lines and log lines. */
bool qn_registration_name_ok(const char *name)
{
    if (!*name || strlen(name) > QN_MODEL_NAME_MAX)
        return false;
    for (const char *p = name; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              strchr("._-/:+@", *p)))
            return false;
    return !qn_str_ends(name, ":latest") && !qn_str_ends(name, "/") && !steps_aside(name);
}

static const char *copy(struct qn_arena *a, const char *s)
{
    return s ? qn_arena_strdup(a, s) : NULL;
}

/* A client's string may be as long as a request body. */
static const char *bounded(struct qn_registration *in, const char *s, size_t max, const char *param)
{
    if (strnlen(s, max + 1) <= max)
        return qn_arena_strdup(in->arena, s);
    qn_fail_param(&in->error, QN_EINVAL, param, "%s: '%.80s...' has more than %zu characters",
                  param, s, max);
    return "";
}

static void copy_files(struct qn_registration *in, const struct qn_registration_origin *o)
{
    in->as_they_are = o && o->n_files > 0;
    in->n_files = in->as_they_are ? o->n_files : 1;
    in->files = qn_arena_alloc(in->arena, in->n_files * sizeof *in->files);
    in->roles = qn_arena_alloc(in->arena, in->n_files * sizeof *in->roles);
    in->sizes = qn_arena_alloc(in->arena, in->n_files * sizeof *in->sizes);
    for (size_t i = 0; i < in->n_files; i++) {
        in->files[i] =
            in->as_they_are ? bounded(in, o->files[i], PATH_MAX, "checkpoint") : in->wish.path;
        in->roles[i] = in->as_they_are ? copy(in->arena, o->roles[i]) : "main";
    }
}

static struct qn_registration *registration_new(struct qn_registration_world *world,
                                                const struct qn_registration_wish *wish,
                                                qn_registration_done done, void *ctx)
{
    struct qn_registration *in = qn_xcalloc(1, sizeof *in);
    struct qn_arena *a = in->arena = qn_arena_new(WISH_MAX);
    in->world = world;
    in->wish =
        (struct qn_registration_wish){.name = bounded(in, wish->name, QN_MODEL_NAME_MAX, "model"),
                                      .path = bounded(in, wish->path, PATH_MAX, "checkpoint"),
                                      .recipe = bounded(in, wish->recipe, RECIPE_MAX, "recipe"),
                                      .preset = copy(a, wish->preset),
                                      .digest = copy(a, wish->digest),
                                      .replace = wish->replace,
                                      .was = copy(a, wish->was)};
    const struct qn_registration_origin *o = wish->origin;
    if (o)
        in->origin = (struct qn_registration_origin){.checkpoint = copy(a, o->checkpoint),
                                                     .checkpoints = copy(a, o->checkpoints),
                                                     .hub = copy(a, o->hub),
                                                     .revision = copy(a, o->revision),
                                                     .commit = copy(a, o->commit),
                                                     .keeper = copy(a, o->keeper),
                                                     .labels = copy(a, o->labels),
                                                     .extras = copy(a, o->extras),
                                                     .options = copy(a, o->options),
                                                     .suggested = o->suggested};
    copy_files(in, o);
    in->done = done;
    in->ctx = ctx;
    qn_buf_init(&in->said, QN_FACTS_MAX);
    return in;
}

static void unknown_recipe(const char *recipe, struct qn_error *e)
{
    qn_fail_param(e, QN_EUNSUPPORTED, "recipe",
                  "recipe '%.40s' is not supported in this version: llamacpp is", recipe);
}

static void inspected(void *ctx);

/* Inspecting a file may block a worker for long, so that only QN_REGISTRATIONS_MAX run at a
 * time. */
static void begin_next(struct qn_registration_world *w)
{
    struct qn_registration *in;
    while ((in = w->waiting) && (w->running < QN_REGISTRATIONS_MAX || *w->closed)) {
        w->waiting = in->next;
        if (*w->closed) {
            finish(in);
            continue;
        }
        w->running++;
        qn_loop_work(w->loop, inspect, inspected, in);
    }
}

static void inspected(void *ctx)
{
    struct qn_registration *in = ctx;
    struct qn_registration_world *w = in->world;
    w->running--;
    finish(in);
    begin_next(w);
}

static void begin(struct qn_registration *in)
{
    struct qn_registration **last = &in->world->waiting;
    while (*last)
        last = &(*last)->next;
    *last = in;
    begin_next(in->world);
}

void qn_registration_model(struct qn_registration_world *world,
                           const struct qn_registration_wish *wish, qn_registration_done done,
                           void *ctx)
{
    struct qn_registration *in = registration_new(world, wish, done, ctx);
    if (!qn_registration_name_ok(wish->name))
        qn_fail_param(&in->error, QN_EINVAL, "model", "'%.80s' cannot be a model's name",
                      wish->name);
    else if (!qn_backend_type_of(wish->recipe, 0))
        unknown_recipe(wish->recipe, &in->error);
    begin(in);
}

/* Checks the path and the recipe that a user gave. */
static void check_file(const char *path, const char *recipe, struct qn_error *e)
{
    if (*path != '/')
        qn_fail_param(e, QN_EINVAL, "checkpoint",
                      "'%.200s' is neither the absolute path of a GGUF file nor a model of a hub "
                      "(owner/repo:VARIANT)",
                      path);
    else if (!qn_backend_type_of(recipe, 0))
        unknown_recipe(recipe, e);
}

void qn_registration_file(struct qn_registration_world *world, const char *name, const char *path,
                          const char *recipe, const struct qn_registration_origin *origin,
                          qn_registration_done done, void *ctx)
{
    const struct qn_registration_wish wish = {
        .name = name, .path = path, .recipe = recipe, .origin = origin};
    struct qn_registration *in = registration_new(world, &wish, done, ctx);
    if (!qn_str_starts(name, "user.") || !qn_registration_name_ok(name + 5) ||
        strlen(name) > QN_MODEL_NAME_MAX)
        qn_fail_param(
            &in->error, QN_EINVAL, "model_name",
            "'%.80s' cannot be a model's name: it must be user. and then letters, "
            "digits or . _ - / : + @, and nothing between two slashes may be empty, . or ..",
            name);
    else
        check_file(path, recipe, &in->error);
    begin(in);
}

void qn_registration_unnamed(struct qn_registration_world *world, const char *path,
                             const char *recipe, const struct qn_registration_origin *origin,
                             char *chosen, qn_registration_done done, void *ctx)
{
    const struct qn_registration_wish wish = {
        .name = "", .path = path, .recipe = recipe, .origin = origin};
    struct qn_registration *in = registration_new(world, &wish, done, ctx);
    chosen[0] = '\0';
    in->chosen = chosen;
    check_file(path, recipe, &in->error);
    begin(in);
}
