/* The last step of a download: all its files are there and are registered as a model of the
 * catalog; see pull_world.h. */
#include "downloads/pull_world_private.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "catalog/used_files.h"
#include "downloads/pull_preset.h"
#include "downloads/pull_request.h"
#include "downloads/pull_unpack.h"
#include "models/metadata_scan.h"
#include "models/registration.h"

#include <stdlib.h>

/* A registration in progress. */
struct finishing {
    const struct qn_pull_world *w;
    const struct qn_pull_order *order;
    const struct qn_download_file *files;
    size_t n;
    const atomic_bool *stop;
    struct qn_arena *arena;      /* holds the strings below */
    const char **paths, **roles; /* of the model's files */
    size_t n_paths;
    const char *archive; /* the archive that contained them, NULL: none */
    const char **old;    /* the model's earlier files, which an update makes obsolete */
    size_t n_old;
    struct qn_snapshot *models; /* catalog after the registration */
    struct qn_buf preset;       /* "": none */
    struct qn_error error;
    void (*done)(void *arg, const struct qn_error *e);
    void *arg;
};

static void finishing_free(struct finishing *f)
{
    qn_snapshot_unref(f->models);
    qn_arena_free(f->arena);
    qn_buf_deinit(&f->preset);
    free(f);
}

/* Finds the path of one file, and records the commit that the requested revision means now. */
static qn_err find_file(struct finishing *f, size_t i, const char **out)
{
    const struct qn_download_file *file = &f->files[i];
    struct qn_store_spot spot;
    char *path = NULL;
    if (qn_pull_is_local(file)) {
        *out = file->path;
        return QN_OK;
    }
    qn_err err = qn_pull_spot(file, &spot, &f->error);
    if (!err)
        err = qn_store_find(f->w->store, &spot, &path, NULL, &f->error);
    if (path)
        *out = qn_arena_strdup(f->arena, path);
    free(path);
    bool again = i && qn_str_eq(file->repo, f->files[i - 1].repo);
    if (!err && !again && *file->revision && *file->commit && !f->order->local)
        err = qn_store_set_ref(f->w->store, spot.hub, file->repo, file->revision, file->commit,
                               &f->error);
    return err;
}

/* Runs on a worker. */
static void find_files(void *ctx)
{
    struct finishing *f = ctx;
    qn_err err = QN_OK;
    for (size_t i = 0; i < f->n && !err; i++) {
        f->roles[i] = f->files[i].role;
        if (!(err = find_file(f, i, &f->paths[i])) && qn_str_eq(f->roles[i], QN_PULL_ARCHIVE))
            f->archive = f->paths[i];
    }
    f->n_paths = f->n;
    if (!err && f->archive) {
        struct qn_pull_inside inside;
        err = qn_pull_unpack(f->w->store, f->w->unpacker, f->archive, f->stop, f->arena, &inside,
                             &f->error);
        f->paths = inside.paths;
        f->roles = inside.roles;
        f->n_paths = inside.n;
    } else if (!err) {
        qn_pull_preset(f->files, f->paths, f->n, &f->preset);
    }
}

/* Runs on a worker. Removes files that no model uses any more: the earlier ones, and an archive,
 * since the model has its contents and a URL does not tell whether it has changed. */
static void remove_old(void *ctx)
{
    struct finishing *f = ctx;
    struct qn_store_freed freed = {0};
    struct qn_error e = {0};
    struct qn_used_files *used = qn_used_files_new(f->models);
    size_t n = 0;
    for (size_t i = 0; i < f->n_old; i++)
        if (!qn_used_files_has(used, f->old[i]))
            f->old[n++] = f->old[i];
    qn_used_files_free(used);
    if (qn_store_remove(f->w->store, f->old, n, &freed, &e))
        qn_warn("pulls", "model=%s old_files=not_removed message=\"%s\"", f->order->model,
                e.message);
    else if (freed.files)
        qn_info("pulls", "model=%s old_files=%zu freed_bytes=%lld", f->order->model, freed.files,
                (long long)freed.size_bytes);
}

static void old_removed(void *ctx)
{
    struct finishing *f = ctx;
    f->done(f->arg, NULL);
    finishing_free(f);
}

/* What the name means now: the checkpoint of the model that has it, or "" if none has. An order
 * that does not redefine the name may only keep this meaning. NULL, with an error: the name has
 * become another model since the order. */
static const char *meaning_of(struct finishing *f)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(f->w->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, f->order->model);
    const char *was = NULL;
    if (row && !qn_pull_same_source(row, f->order))
        qn_fail_param(&f->error, QN_ECONFLICT, "model_name",
                      "'%s' has become another model since its download began: choose another name",
                      f->order->model);
    else
        was = qn_arena_strdup(f->arena, row ? row->checkpoint : "");
    qn_snapshot_unref(snap);
    return was;
}

/* Notes the model's earlier files, only if quince keeps them, and an archive. */
static void note_old(struct finishing *f)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(f->w->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, f->order->model);
    size_t n = row && qn_str_eq(row->keeper, QN_KEEPER_QUINCE) ? row->n_files : 0;
    f->old = qn_arena_alloc(f->arena, (n + 1) * sizeof *f->old);
    for (size_t i = 0; i < n; i++)
        f->old[f->n_old++] = qn_arena_strdup(f->arena, row->files[i]);
    if (f->archive)
        f->old[f->n_old++] = f->archive;
    qn_snapshot_unref(snap);
}

static void on_registered(void *ctx, const struct qn_error *e)
{
    struct finishing *f = ctx;
    if (!e)
        qn_metadata_scan_again(f->w->metadata_scan);
    if (!e && f->n_old && !*f->w->closed) {
        f->models = qn_catalog_snapshot(f->w->catalog);
        qn_loop_work(f->w->loop, remove_old, old_removed, f);
        return;
    }
    f->done(f->arg, e);
    finishing_free(f);
}

/* The index of a role among the model's files; n_paths: none. */
static size_t place_of(const struct finishing *f, const char *role)
{
    size_t i = 0;
    while (i < f->n_paths && !qn_str_eq(f->roles[i], role))
        i++;
    return i;
}

/* The hub's checksum of the main file, if known and if that file is the whole model. */
static const char *digest_of(const struct finishing *f, size_t at)
{
    bool whole = !f->archive && place_of(f, "shard") == f->n_paths;
    return whole && *f->files[at].sha256 ? f->files[at].sha256 : NULL;
}

static void register_files(void *ctx)
{
    struct finishing *f = ctx;
    const struct qn_pull_order *o = f->order;
    size_t at = place_of(f, "main");
    if (*f->w->closed)
        qn_fail(&f->error, QN_EBUSY, "the server is stopping");
    else if (at == f->n_paths && !f->error.code)
        qn_fail(&f->error, QN_EFORMAT, "%s has no file to load", o->model);
    const char *was = f->error.code || o->redefines ? NULL : meaning_of(f);
    if (f->error.code) {
        f->done(f->arg, &f->error);
        finishing_free(f);
        return;
    }
    note_old(f);
    struct qn_buf checkpoints;
    qn_buf_init(&checkpoints, QN_PULL_ORDER_MAX);
    qn_pull_order_write_checkpoints(o, &checkpoints);
    const struct qn_download_file *first = &f->files[f->archive ? 0 : at];
    bool local = qn_pull_is_local(first);
    struct qn_registration_origin origin = {
        .files = f->paths,
        .roles = f->roles,
        .n_files = local && f->n == 1 ? 0 : f->n_paths,
        .checkpoint = o->checkpoints[0].ref,
        .checkpoints = qn_buf_cstr(&checkpoints),
        .hub = local ? "" : first->hub,
        .revision = first->revision,
        .commit = first->commit,
        .keeper = local ? QN_KEEPER_USER : QN_KEEPER_QUINCE,
        .labels = *o->labels ? o->labels : NULL,
        .extras = *o->extras ? o->extras : NULL,
        .options = *o->options ? o->options : NULL,
    };
    struct qn_registration_wish wish = {
        .name = o->model,
        .path = f->paths[at],
        .origin = &origin,
        .recipe = o->recipe,
        .preset = f->preset.len ? qn_buf_cstr(&f->preset) : NULL,
        .digest = digest_of(f, at),
        .replace = true,
        .was = was,
    };
    qn_registration_model(f->w->registration, &wish, on_registered, f);
    qn_buf_deinit(&checkpoints);
}

void qn_pull_world_finish(void *ctx, const struct qn_pull_order *order,
                          const struct qn_download_file *files, size_t n, const atomic_bool *stop,
                          void (*done)(void *arg, const struct qn_error *e), void *arg)
{
    struct qn_pull_world *w = ctx;
    struct finishing *f = qn_xcalloc(1, sizeof *f);
    *f = (struct finishing){
        .w = w, .order = order, .files = files, .n = n, .stop = stop, .done = done, .arg = arg};
    qn_buf_init(&f->preset, QN_PULL_PRESET_MAX);
    f->arena = qn_arena_new(QN_PULL_PLAN_BYTES_MAX);
    f->paths = qn_arena_alloc(f->arena, (n + 1) * sizeof(char *));
    f->roles = qn_arena_alloc(f->arena, (n + 1) * sizeof(char *));
    qn_loop_work(w->loop, find_files, register_files, f);
}
