/* See custody.h. A deletion alternates between the loop, the catalog and a worker: cancel the
 * download, unload, remove the row, then delete the files that no other row has. */
#include "library/custody.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "catalog/used_files.h"
#include "downloads/pulls.h"
#include "http/serving.h"
#include "library/blobs.h"
#include "models/inventory.h"
#include "models/metadata_scan.h"
#include "models/models.h"
#include "settings/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_TEXT_MAX = 64 * 1024 * 1024, REPORT_MAX = 16 * 1024 * 1024, NOTE_MAX = 256 };

struct leaving {
    const struct qn_custody *with;
    struct qn_arena *arena; /* holds the strings below */
    const char *name, *keeper;
    const char **files;
    int64_t *sizes;
    size_t n_files;
    struct qn_snapshot *left; /* the remaining models; in a preview all models */
    bool preview;             /* nothing is changed */
    struct qn_custody_result result;
    char note[NOTE_MAX];
    struct qn_error error;
    qn_custody_done done;
    void *ctx;
};

static void finish(struct leaving *l)
{
    l->result.model = l->name;
    if (l->result.freed.kept && !l->note[0])
        snprintf(l->note, sizeof l->note, "%s",
                 qn_str_eq(l->keeper, QN_KEEPER_QUINCE)
                     ? "some of its files are kept: other models or programs use them"
                     : "its files are kept: quince did not download them");
    if (l->note[0])
        l->result.note = l->note;
    if (!l->error.code && !l->preview)
        qn_info("custody", "model=%s deleted=1 freed_bytes=%lld files=%zu kept=%zu", l->name,
                (long long)l->result.freed.size_bytes, l->result.freed.files, l->result.freed.kept);
    l->done(l->ctx, &l->result, l->error.code ? &l->error : NULL);
    qn_snapshot_unref(l->left);
    qn_arena_free(l->arena);
    free(l);
}

/* Runs on a worker. Deletes the files that no other model has. */
static void free_files(void *ctx)
{
    struct leaving *l = ctx;
    struct qn_used_files *used = qn_used_files_new(l->left);
    size_t n = 0;
    for (size_t i = 0; i < l->n_files; i++) {
        if (qn_used_files_has(used, l->files[i]))
            l->result.freed.kept++;
        else
            l->files[n++] = l->files[i];
    }
    qn_store_remove(l->with->store, l->files, n, &l->result.freed, &l->error);
    qn_used_files_free(used);
}

static void freed(void *ctx)
{
    finish(ctx);
}

/* The row has been removed: the files that only it had may be deleted. */
static void on_removed(void *ctx, const struct qn_error *e)
{
    struct leaving *l = ctx;
    if (e || l->with->serving->closed) {
        if (e)
            l->error = *e;
        finish(l);
        return;
    }
    qn_inventory_changed(l->with->models->inventory, l->name);
    qn_metadata_scan_again(l->with->models->metadata_scan);
    l->left = qn_catalog_snapshot(l->with->models->catalog);
    bool ours = qn_str_eq(l->keeper, QN_KEEPER_QUINCE);
    size_t n = 0; /* files that are neither blobs nor definitions of remote models */
    for (size_t i = 0; i < l->n_files; i++) {
        bool there = qn_file_exists(l->files[i]);
        qn_blob_release(l->with->blobs, l->left, l->files[i]); /* only if a client uploaded it */
        qn_remote_release(qn_inventory_config(l->with->models->inventory)->data_dir, l->left,
                          l->files[i]);
        if (there && !qn_file_exists(l->files[i])) {
            l->result.freed.files++;
            l->result.freed.size_bytes += l->sizes[i];
        } else {
            l->result.freed.kept += !ours;
            l->files[n++] = l->files[i];
        }
    }
    l->n_files = n;
    if (ours && n)
        qn_loop_work(l->with->serving->loop, free_files, freed, l);
    else
        finish(l);
}

static void on_unloaded(void *ctx)
{
    struct leaving *l = ctx;
    if (l->with->serving->closed) {
        qn_fail(&l->error, QN_EBUSY, "the server is stopping");
        finish(l);
        return;
    }
    qn_catalog_remove(l->with->models->catalog, l->name, on_removed, l);
}

/* Files of other programs are kept, and the response says so. */
static void note_keeper(struct leaving *l)
{
    if (!l->n_files || qn_str_eq(l->keeper, QN_KEEPER_QUINCE) ||
        qn_str_eq(l->keeper, QN_KEEPER_USER))
        return;
    snprintf(l->note, sizeof l->note,
             "its files belong to %.40s and are kept; the model is removed from quince's list",
             l->keeper);
    if (l->preview)
        return;
    qn_catalog_set_forgotten(l->with->models->catalog, l->files[0], true, NULL, NULL);
}

static struct leaving *leaving_new(const struct qn_custody *with, const char *name,
                                   qn_custody_done done, void *ctx)
{
    struct leaving *l = qn_xcalloc(1, sizeof *l);
    l->with = with;
    l->arena = qn_arena_new(FILES_TEXT_MAX);
    l->name = qn_arena_strdup(l->arena, name);
    l->done = done;
    l->ctx = ctx;
    return l;
}

/* Copies what a deletion needs of the row. */
static void note_row(struct leaving *l, const struct qn_model_row *row)
{
    l->keeper = qn_arena_strdup(l->arena, row->keeper);
    l->files = qn_arena_alloc(l->arena, (row->n_files + 1) * sizeof *l->files);
    l->sizes = qn_arena_alloc(l->arena, (row->n_files + 1) * sizeof *l->sizes);
    for (size_t i = 0; i < row->n_files; i++) {
        l->sizes[i] = row->sizes[i] > 0 ? row->sizes[i] : 0;
        l->files[l->n_files++] = qn_arena_strdup(l->arena, row->files[i]);
    }
    note_keeper(l);
}

static qn_err fail_builtin(const char *name, struct qn_error *e)
{
    return qn_fail_param(e, QN_EINVAL, "model", "'%s' ships with quince and cannot be deleted",
                         name);
}

static qn_err fail_finishing(const char *name, struct qn_error *e)
{
    return qn_fail_param(e, QN_ECONFLICT, "model",
                         "the download of '%s' is just being registered: try again in "
                         "a moment",
                         name);
}

/* Deletes a model that is not downloaded yet: cancels its download. */
static qn_err delete_download(const struct qn_custody *with, const char *name, qn_custody_done done,
                              void *ctx, struct qn_error *e)
{
    if (!qn_pulls_forget_model(with->pulls, name))
        return fail_finishing(name, e);
    struct leaving *l = leaving_new(with, name, done, ctx);
    snprintf(l->note, sizeof l->note, "it was not here yet: its download is cancelled");
    if (e)
        *e = (struct qn_error){0};
    qn_loop_post(with->serving->loop, freed, l);
    return QN_OK;
}

qn_err qn_custody_delete(const struct qn_custody *with, const char *name, qn_custody_done done,
                         void *ctx, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find_exactly(with->models->inventory, name, &snap, &row, e);
    if (err == QN_ENOTFOUND && qn_pulls_wants(with->pulls, name))
        return delete_download(with, name, done, ctx, e);
    if (err)
        return err;
    if (row->builtin) {
        err = fail_builtin(row->name, e);
        qn_snapshot_unref(snap);
        return err;
    }
    if (!qn_pulls_forget_model(with->pulls, row->name)) {
        err = fail_finishing(row->name, e);
        qn_snapshot_unref(snap);
        return err;
    }
    struct leaving *l = leaving_new(with, row->name, done, ctx);
    note_row(l, row);
    /* A model that another model's process computes, or that is not loaded, counts as unloaded. */
    if (qn_inventory_computes(snap, row) != row ||
        qn_inventory_unload(with->models->inventory, l->name, on_unloaded, l, NULL))
        on_unloaded(l);
    qn_snapshot_unref(snap);
    return QN_OK;
}

/* ---- previews ---- */

/* Runs on a worker: counts the files that a deletion would free. */
static void count_files(void *ctx)
{
    struct leaving *l = ctx;
    struct qn_used_files *used = qn_used_files_without(l->left, l->name);
    bool ours = qn_str_eq(l->keeper, QN_KEEPER_QUINCE);
    for (size_t i = 0; i < l->n_files; i++) {
        bool goes = qn_blob_is(l->with->blobs, l->files[i]) ||
                    (ours && qn_store_fetched(l->with->store, l->files[i]));
        if (goes && !qn_used_files_has(used, l->files[i])) {
            l->result.freed.files++;
            l->result.freed.size_bytes += l->sizes[i];
        } else {
            l->result.freed.kept++;
        }
    }
    qn_used_files_free(used);
}

qn_err qn_custody_preview(const struct qn_custody *with, const char *name, qn_custody_done done,
                          void *ctx, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find_exactly(with->models->inventory, name, &snap, &row, e);
    if (err)
        return err;
    if (row->builtin) {
        err = fail_builtin(row->name, e);
        qn_snapshot_unref(snap);
        return err;
    }
    struct leaving *l = leaving_new(with, row->name, done, ctx);
    l->preview = true;
    l->left = snap;
    note_row(l, row);
    qn_loop_work(with->serving->loop, count_files, freed, l);
    return QN_OK;
}

/* ---- clean-up ---- */

struct cleaning {
    struct qn_store *store;
    struct qn_snapshot *models;
    struct qn_used_files *used; /* by the models */
    bool dry;
    char *const *wanted;
    size_t n_wanted;
    struct qn_buf report;
    struct qn_jw w;
    int64_t size_bytes;
    struct qn_error error;
    qn_custody_cleaned done;
    void *ctx;
};

static int compare(const void *key, const void *path)
{
    return strcmp(key, *(char *const *)path);
}

static bool is_wanted(void *ctx, const char *partial)
{
    const struct cleaning *c = ctx;
    return c->n_wanted && bsearch(partial, c->wanted, c->n_wanted, sizeof *c->wanted, compare);
}

static bool is_used(void *ctx, const char *folder)
{
    const struct cleaning *c = ctx;
    return qn_used_files_below(c->used, folder);
}

static void on_waste(void *ctx, enum qn_store_waste what, const char *path, int64_t size_bytes)
{
    static const char *const kinds[] = {[QN_WASTE_PARTIAL] = "partial",
                                        [QN_WASTE_BLOB] = "blob",
                                        [QN_WASTE_FOLDER] = "folder",
                                        [QN_WASTE_UNPACKED] = "unpacked"};
    struct cleaning *c = ctx;
    c->size_bytes += size_bytes;
    qn_jw_obj(&c->w);
    qn_jw_kstr(&c->w, "path", path);
    qn_jw_ki64(&c->w, "size_bytes", size_bytes);
    qn_jw_kstr(&c->w, "kind", kinds[what]);
    qn_jw_obj_end(&c->w);
}

/* Runs on a worker. */
static void clean(void *ctx)
{
    struct cleaning *c = ctx;
    struct qn_store_cleaner cleaner = {.ctx = c,
                                       .dry = c->dry,
                                       .grace_s = QN_STORE_GRACE_S,
                                       .wanted = is_wanted,
                                       .used = is_used,
                                       .found = on_waste};
    c->used = qn_used_files_new(c->models);
    qn_jw_obj(&c->w);
    qn_jw_key(&c->w, "files");
    qn_jw_arr(&c->w);
    qn_store_clean(c->store, &cleaner, &c->error);
    qn_jw_arr_end(&c->w);
    qn_jw_ki64(&c->w, "freed_bytes", c->size_bytes);
    qn_jw_kbool(&c->w, "dry_run", c->dry);
    qn_jw_kstr(&c->w, "status", "success");
    qn_jw_obj_end(&c->w);
    qn_used_files_free(c->used);
    if (!c->error.code && c->report.overflow)
        qn_fail(&c->error, QN_ELIMIT, "there is more to clean up than fits in a response");
}

static void cleaned(void *ctx)
{
    struct cleaning *c = ctx;
    if (!c->error.code && !c->dry)
        qn_info("custody", "cleaned=1 freed_bytes=%lld", (long long)c->size_bytes);
    c->done(c->ctx, &c->report, c->error.code ? &c->error : NULL);
    qn_buf_deinit(&c->report);
    qn_snapshot_unref(c->models);
    free(c);
}

void qn_custody_clean(const struct qn_custody *with, bool dry, char *const *wanted, size_t n_wanted,
                      qn_custody_cleaned done, void *ctx)
{
    struct cleaning *c = qn_xcalloc(1, sizeof *c);
    c->store = with->store;
    c->models = qn_catalog_snapshot(with->models->catalog);
    c->dry = dry;
    c->wanted = wanted;
    c->n_wanted = n_wanted;
    c->done = done;
    c->ctx = ctx;
    qn_buf_init(&c->report, REPORT_MAX);
    c->w = qn_jw_to(&c->report);
    qn_loop_work(with->serving->loop, clean, cleaned, c);
}
