/* See discovery.h. One pass: a worker searches, the loop compares the result with the catalog, and
 * new models go through the registration one after another. */
#include "library/discovery.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "dialects/ollama/ollama.h"
#include "http/serving.h"
#include "models/inventory.h"
#include "models/metadata_scan.h"
#include "models/models.h"
#include "models/registration.h"
#include "registry/found.h"
#include "registry/inodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_TRIES = 1000, SLICE = 256 /* models per turn of the loop */ };

struct waiter {
    struct waiter *next;
    qn_discovery_done done;
    void *ctx;
};

struct qn_discovery {
    struct qn_discovery_config config;
    atomic_bool stop;
    bool running, again;
    /* Callers that wait for this pass, and for the next one. */
    struct waiter *waiting, *next_waiting;
    /* state of this pass: */
    struct qn_arena *arena; /* holds the paths below, and presets */
    const char **paths;     /* main files of models in the catalog that were not discovered */
    size_t n_paths;
    struct qn_found *found;
    const char **mains;               /* main files of `found`, sorted */
    struct qn_snapshot *before;       /* the catalog when the first of `found` is compared */
    const struct qn_model_row **rows; /* its discovered models, sorted by main file */
    size_t n_rows;
    struct qn_error error;
    size_t leaving; /* rows whose removal is in progress */
    size_t at;      /* index of the model being registered */
    size_t registered;
};

static void pass(struct qn_discovery *d);
static void next(struct qn_discovery *d);

static bool is_found_row(const struct qn_model_row *row)
{
    return qn_str_starts(row->name, QN_EXTRA_PREFIX) && !*row->base;
}

/* Runs on a worker. Drops models that the catalog has under another name. */
static void drop_known(struct qn_discovery *d)
{
    struct qn_inodes known = {0};
    size_t n = 0;
    for (size_t i = 0; i < d->n_paths; i++) {
        struct stat st;
        if (!stat(d->paths[i], &st))
            qn_inodes_add(&known, st.st_dev, st.st_ino);
    }
    for (size_t i = 0; i < d->found->n; i++) {
        const struct qn_found_model *m = &d->found->v[i];
        if (!qn_inodes_has(&known, m->device, m->inode))
            d->found->v[n++] = *m;
    }
    d->found->n = n;
    qn_inodes_deinit(&known);
}

/* Runs on a worker. Keeps the system message and the valid parameters: invalid ones would make
 * every request to the model fail. NULL: not JSON. */
static const char *good_preset(struct qn_arena *arena, const char *preset)
{
    struct qn_json *doc;
    struct qn_buf out;
    if (qn_json_parse(preset, strlen(preset), &doc, NULL))
        return NULL;
    struct qn_jref root = qn_json_root(doc), system = qn_json_get(&root, "system");
    struct qn_jref parameters = qn_json_get(&root, "parameters");
    qn_buf_init(&out, QN_FOUND_PRESET_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_obj(&w);
    if (qn_json_type(&system) == QN_JSON_STRING)
        qn_jw_kstr(&w, "system", qn_json_raw_str(&system));
    if (qn_json_count(&parameters)) {
        qn_jw_key(&w, "parameters");
        qn_ollama_good_options(&parameters, &w);
    }
    qn_jw_obj_end(&w);
    const char *good = qn_arena_take(arena, &out);
    qn_buf_deinit(&out);
    qn_json_free(doc);
    return good;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void scan(void *ctx)
{
    struct qn_discovery *d = ctx;
    struct qn_found_places places = {.env = d->config.env,
                                     .store = d->config.store,
                                     .folders = d->config.folders,
                                     .programs = d->config.programs};
    if (qn_found_scan(&places, &d->stop, &d->found, &d->error))
        return;
    drop_known(d);
    for (size_t i = 0; i < d->found->n; i++)
        if (d->found->v[i].preset)
            d->found->v[i].preset = good_preset(d->arena, d->found->v[i].preset);
    d->mains = qn_xcalloc(d->found->n + 1, sizeof *d->mains);
    for (size_t i = 0; i < d->found->n; i++)
        d->mains[i] = d->found->v[i].files[0];
    qsort(d->mains, d->found->n, sizeof *d->mains, by_text);
}

static bool is_found(const struct qn_discovery *d, const char *path)
{
    return bsearch(&path, d->mains, d->found->n, sizeof *d->mains, by_text) != NULL;
}

static void one_less(struct qn_discovery *d)
{
    if (--d->leaving == 0)
        next(d);
}

/* A row that is being removed. */
struct drop {
    struct qn_discovery *d;
    char *name;
};

/* A row that was removed by another request meanwhile counts as removed as well. */
static void on_dropped(void *ctx, const struct qn_error *e)
{
    struct drop *drop = ctx;
    struct qn_discovery *d = drop->d;
    (void)e;
    if (!d->config.serving->closed)
        qn_inventory_changed(d->config.models->inventory, drop->name); /* it may be loaded */
    free(drop->name);
    free(drop);
    one_less(d);
}

/* Runs on the loop. Removes rows whose files are gone, or are in the catalog under another name.
 * Rows in places that the search did not reach (a disk that is not mounted, a folder beyond the
 * search limits) are kept, with their saved options. */
static void drop_gone(struct qn_discovery *d)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(d->config.models->catalog);
    size_t kept = 0;
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        if (!is_found_row(row) || !row->n_files || is_found(d, row->files[0]))
            continue;
        if (qn_found_unseen(d->found, row->files[0])) {
            kept++;
            continue;
        }
        qn_info("discovery", "model=%s gone=1", row->name);
        struct drop *drop = qn_xcalloc(1, sizeof *drop);
        *drop = (struct drop){d, qn_xstrdup(row->name)};
        d->leaving++;
        qn_catalog_remove(d->config.models->catalog, row->name, on_dropped, drop);
    }
    if (kept)
        qn_info("discovery",
                "models_kept=%zu message=\"their files were not found, in folders that are "
                "missing or could not be searched completely\"",
                kept);
    qn_snapshot_unref(snap);
}

static void end_pass(struct qn_discovery *d)
{
    struct waiter *w = d->waiting;
    size_t n = d->found ? d->found->n : 0;
    if (d->found)
        qn_info("discovery", "found=%zu registered=%zu", n, d->registered);
    qn_found_free(d->found);
    d->found = NULL;
    free(d->mains);
    d->mains = NULL;
    free(d->rows);
    d->rows = NULL;
    qn_snapshot_unref(d->before);
    d->before = NULL;
    qn_arena_free(d->arena);
    d->arena = NULL;
    d->waiting = NULL;
    d->running = false;
    if (d->registered && !d->config.serving->closed)
        qn_metadata_scan_again(d->config.models->metadata_scan);
    while (w) {
        struct waiter *after = w->next;
        w->done(w->ctx, n);
        free(w);
        w = after;
    }
    if (d->again && !d->config.serving->closed && !atomic_load(&d->stop)) {
        d->again = false;
        d->waiting = d->next_waiting;
        d->next_waiting = NULL;
        pass(d);
    }
}

static int by_main_file(const void *a, const void *b)
{
    const struct qn_model_row *const *one = a, *const *two = b;
    return strcmp((*one)->files[0], (*two)->files[0]);
}

/* Indexes the catalog before models are registered: comparing a model changes only its own row. */
static void note_rows(struct qn_discovery *d)
{
    d->before = qn_catalog_snapshot(d->config.models->catalog);
    d->rows = qn_xcalloc(qn_snapshot_count(d->before) + 1, sizeof *d->rows);
    d->n_rows = 0;
    for (size_t i = 0; i < qn_snapshot_count(d->before); i++) {
        const struct qn_model_row *row = qn_snapshot_at(d->before, i);
        if (is_found_row(row) && row->n_files)
            d->rows[d->n_rows++] = row;
    }
    qsort(d->rows, d->n_rows, sizeof *d->rows, by_main_file);
}

static int to_main_file(const void *path, const void *row)
{
    return strcmp(path, (*(const struct qn_model_row *const *)row)->files[0]);
}

/* The existing row with this main file, or NULL. */
static const struct qn_model_row *row_of(const struct qn_discovery *d,
                                         const struct qn_found_model *m)
{
    const struct qn_model_row *const *at =
        bsearch(m->files[0], d->rows, d->n_rows, sizeof *d->rows, to_main_file);
    return at ? *at : NULL;
}

static bool is_as_it_was(const struct qn_model_row *row, const struct qn_found_model *m)
{
    bool same = row->n_files == m->n_files && row->size_bytes == m->size_bytes;
    for (size_t i = 0; same && i < m->n_files; i++)
        same = qn_str_eq(row->files[i], m->files[i]);
    return same && row->modified_s == m->modified_s;
}

/* Chooses the first of the model's names that is free. */
static bool choose_name(const struct qn_snapshot *snap, const struct qn_found_model *m,
                        char out[static QN_MODEL_NAME_MAX + 1])
{
    for (size_t i = 0; i < m->n_names; i++)
        if (snprintf(out, QN_MODEL_NAME_MAX + 1, QN_EXTRA_PREFIX "%s", m->names[i]) <=
                QN_MODEL_NAME_MAX &&
            qn_registration_name_ok(out) && !qn_snapshot_find(snap, out))
            return true;
    for (int k = 2; m->n_names && k < NAME_TRIES; k++)
        if (snprintf(out, QN_MODEL_NAME_MAX + 1, QN_EXTRA_PREFIX "%.150s-%d", m->names[0], k) > 0 &&
            qn_registration_name_ok(out) && !qn_snapshot_find(snap, out))
            return true;
    return false;
}

static void on_registered(void *ctx, const struct qn_error *e)
{
    struct qn_discovery *d = ctx;
    if (e)
        qn_info("discovery", "file=\"%s\" not_listed=1 message=\"%s\"", d->found->v[d->at].files[0],
                e->message);
    else
        d->registered++;
    d->at++;
    next(d);
}

static void register_found(struct qn_discovery *d, const struct qn_found_model *m, const char *name)
{
    struct qn_buf checkpoints;
    qn_buf_init(&checkpoints, 16 * 1024);
    struct qn_jw w = qn_jw_to(&checkpoints);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "main", m->checkpoint);
    qn_jw_obj_end(&w);
    bool sees = m->n_files > 1 && qn_str_eq(m->roles[m->n_files - 1], "mmproj");
    struct qn_registration_origin origin = {
        .files = m->files,
        .roles = m->roles,
        .n_files = m->n_files,
        .checkpoint = m->checkpoint,
        .checkpoints = checkpoints.overflow ? NULL : qn_buf_cstr(&checkpoints),
        .hub = m->hub,
        .revision = m->revision,
        .commit = m->commit,
        .keeper = m->fetched ? QN_KEEPER_QUINCE : m->program,
        .labels = sees ? "[\"vision\"]" : "[]",
    };
    struct qn_registration_wish wish = {.name = name,
                                        .path = m->files[0],
                                        .recipe = "llamacpp",
                                        .preset = m->preset,
                                        .digest = *m->digest ? m->digest : NULL,
                                        .origin = &origin,
                                        .replace = true};
    qn_registration_model(d->config.models->registration, &wish, on_registered, d);
    qn_buf_deinit(&checkpoints);
}

static void next_turn(void *ctx)
{
    next(ctx);
}

/* Registers the next model that is new or has changed. */
static void next(struct qn_discovery *d)
{
    size_t until = d->at + SLICE;
    if (!d->rows && !d->config.serving->closed)
        note_rows(d);
    for (; !d->config.serving->closed && !atomic_load(&d->stop) && d->at < d->found->n; d->at++) {
        const struct qn_found_model *m = &d->found->v[d->at];
        char name[QN_MODEL_NAME_MAX + 1];
        if (d->at == until) { /* lets other work of the loop run */
            qn_loop_post(d->config.serving->loop, next_turn, d);
            return;
        }
        struct qn_snapshot *snap = qn_catalog_snapshot(d->config.models->catalog);
        const struct qn_model_row *row = row_of(d, m);
        bool wanted = !qn_snapshot_forgotten(snap, m->files[0]) && !(row && is_as_it_was(row, m));
        if (wanted && row)
            snprintf(name, sizeof name, "%s", row->name);
        else if (wanted)
            wanted = choose_name(snap, m, name);
        qn_snapshot_unref(snap);
        if (wanted) {
            register_found(d, m, name);
            return;
        }
    }
    end_pass(d);
}

static void scanned(void *ctx)
{
    struct qn_discovery *d = ctx;
    if (d->error.code || d->config.serving->closed) {
        end_pass(d);
        return;
    }
    d->leaving = 1; /* counts for this function itself */
    drop_gone(d);
    one_less(d);
}

static void pass(struct qn_discovery *d)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(d->config.models->catalog);
    size_t n = qn_snapshot_count(snap);
    d->running = true;
    d->at = d->registered = d->n_paths = 0;
    d->error = (struct qn_error){0};
    d->arena = qn_arena_new(SIZE_MAX); /* rows were bounded when they were written */
    d->paths = qn_arena_alloc(d->arena, (n + 1) * sizeof *d->paths);
    for (size_t i = 0; i < n; i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        if (!is_found_row(row) && !*row->base && row->n_files)
            d->paths[d->n_paths++] = qn_arena_strdup(d->arena, row->files[0]);
    }
    qn_snapshot_unref(snap);
    qn_loop_work(d->config.serving->loop, scan, scanned, d);
}

struct qn_discovery *qn_discovery_new(const struct qn_discovery_config *config)
{
    struct qn_discovery *d = qn_xcalloc(1, sizeof *d);
    d->config = *config;
    atomic_init(&d->stop, false);
    pass(d);
    return d;
}

void qn_discovery_again(struct qn_discovery *d, qn_discovery_done done, void *ctx)
{
    if (done) {
        struct waiter *w = qn_xcalloc(1, sizeof *w);
        *w = (struct waiter){d->running ? d->next_waiting : d->waiting, done, ctx};
        *(d->running ? &d->next_waiting : &d->waiting) = w;
    }
    if (d->running)
        d->again = true;
    else
        pass(d);
}

void qn_discovery_stop(struct qn_discovery *d)
{
    if (d)
        atomic_store(&d->stop, true);
}

void qn_discovery_free(struct qn_discovery *d)
{
    if (!d)
        return;
    while (d->next_waiting) {
        struct waiter *w = d->next_waiting;
        d->next_waiting = w->next;
        free(w);
    }
    qn_found_free(d->found);
    free(d->mains);
    free(d->rows);
    qn_snapshot_unref(d->before);
    qn_arena_free(d->arena);
    free(d);
}
