/* Engines, as Kolosal's API calls models: POST engines loads a file by its path, GET lists, DELETE
 * removes, engines/{id}/status shows one. The engine "x" is the model "user.x"; built-in models are
 * engines, too. */
#include "api/api.h"

#include "access/client_id.h"
#include "answers/answer.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "contract/job.h"
#include "library/blobs.h"
#include "library/may_open.h"
#include "models/inventory.h"
#include "models/registration.h"
#include "models/residency.h"

#include <stdlib.h>
#include <string.h>

enum {
    CONTEXT_MIN = 128,
    CONTEXT_MAX = 16 * 1024 * 1024,
    CONTEXT_PRESET = 4096,
    LAYERS_PRESET = 100,
    OPTIONS_MAX = 4096
};

static const char user_prefix[] = "user.";

static const char *engine_id(const char *model)
{
    return qn_str_starts(model, user_prefix) ? model + strlen(user_prefix) : model;
}

static bool is_engine(const struct qn_model_row *row)
{
    return qn_str_eq(row->type, "llm") && row->n_files > 0 && !*row->base;
}

static const struct qn_loaded *find_loaded(const struct qn_loaded *loaded, size_t n,
                                           const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (qn_str_eq(loaded[i].name, name))
            return &loaded[i];
    return NULL;
}

static const char *state_name(const struct qn_loaded *m)
{
    if (m && m->status.state == QN_INST_READY)
        return "loaded";
    return m && m->status.state == QN_INST_LOADING ? "loading" : "unloaded";
}

void qn_api_engines_write(const struct qn_models *models, struct qn_jw *w, bool files, bool paths)
{
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    size_t n = qn_inventory_loaded(models->inventory, loaded, QN_RESIDENTS_MAX);
    struct qn_snapshot *snap = qn_catalog_snapshot(models->catalog);
    qn_jw_arr(w);
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        if (!is_engine(row))
            continue;
        qn_jw_obj(w);
        qn_jw_kstr(w, "engine_id", engine_id(row->name));
        qn_jw_kstr(w, "status", state_name(find_loaded(loaded, n, row->name)));
        if (files)
            qn_jw_kstr(w, "model_path", qn_api_shown_path(row->files[0], paths));
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
    qn_snapshot_unref(snap);
}

void qn_api_engines_count(const struct qn_models *models, int64_t *ready, int64_t *total)
{
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    size_t n = qn_inventory_loaded(models->inventory, loaded, QN_RESIDENTS_MAX);
    struct qn_snapshot *snap = qn_catalog_snapshot(models->catalog);
    *ready = *total = 0;
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        const struct qn_loaded *m = find_loaded(loaded, n, row->name);
        *total += is_engine(row);
        *ready += is_engine(row) && m && m->status.state == QN_INST_READY;
    }
    qn_snapshot_unref(snap);
}

void qn_api_engines(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_key(&w, "engines");
    qn_api_engines_write(api->models, &w, true, qn_api_sees_paths(api->serving, h));
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

typedef qn_err (*finder)(struct qn_inventory *inv, const char *name, struct qn_snapshot **snap,
                         const struct qn_model_row **row, struct qn_error *e);

/* Finds the model of an engine's id: the user's own model takes precedence. */
static qn_err find(const struct qn_models_api *api, finder by_name, const char *id,
                   struct qn_snapshot **snap, const struct qn_model_row **row, struct qn_error *e)
{
    struct qn_buf name;
    struct qn_error why;
    qn_buf_init(&name, QN_MODEL_NAME_MAX);
    qn_buf_fmt(&name, "%s%s", user_prefix, id);
    qn_err err = by_name(api->models->inventory, qn_buf_cstr(&name), snap, row, &why);
    if (err)
        err = by_name(api->models->inventory, id, snap, row, &why);
    qn_buf_deinit(&name);
    if (err)
        return qn_fail_param(e, QN_ENOTFOUND, "engine_id", "Engine '%.200s' not found", id);
    return QN_OK;
}

/* ---- one engine ---- */

static int64_t saved(const struct qn_jref *options, const char *key, int64_t preset)
{
    struct qn_jref v = qn_json_get(options, key);
    return qn_json_type(&v) == QN_JSON_NUMBER ? (int64_t)qn_json_raw_f64(&v) : preset;
}

/* Writes the members "engine_id" to "parameters". context: of the running model, 0: not running. */
static void write_engine(struct qn_jw *w, const struct qn_model_row *row, const char *status,
                         int64_t context, bool paths)
{
    struct qn_json *doc = NULL;
    struct qn_jref options = {0};
    if (qn_json_parse(row->options, strlen(row->options), &doc, NULL) == QN_OK)
        options = qn_json_root(doc);
    qn_jw_kstr(w, "engine_id", engine_id(row->name));
    qn_jw_kstr(w, "status", status);
    qn_jw_kstr(w, "model_path", row->n_files ? qn_api_shown_path(row->files[0], paths) : "");
    qn_jw_key(w, "parameters");
    qn_jw_obj(w);
    qn_jw_ki64(w, "n_ctx", context ? context : saved(&options, "ctx_size", CONTEXT_PRESET));
    qn_jw_ki64(w, "n_gpu_layers", saved(&options, "n_gpu_layers", LAYERS_PRESET));
    qn_jw_ki64(w, "main_gpu_id", saved(&options, "main_gpu_id", 0));
    qn_jw_obj_end(w);
    qn_json_free(doc);
}

void qn_api_engine(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    struct qn_error e = {0};
    struct qn_buf body;
    if (find(api, qn_inventory_find, id, &snap, &row, &e)) {
        qn_answer_error(h, &e);
        return;
    }
    size_t n = qn_inventory_loaded(api->models->inventory, loaded, QN_RESIDENTS_MAX);
    const struct qn_loaded *m = find_loaded(loaded, n, row->name);
    bool ready = m && m->status.state == QN_INST_READY;
    int64_t more = ready ? m->status.memory_bytes - row->size_bytes : 0;
    struct qn_model_count count = qn_inventory_count(api->models->inventory, row->name);
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    write_engine(&w, row, state_name(m), ready ? m->status.context : 0,
                 qn_api_sees_paths(api->serving, h));
    qn_jw_key(&w, "memory_usage");
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "model_size_mb", row->size_bytes / 1048576);
    qn_jw_ki64(&w, "context_size_mb", more > 0 ? more / 1048576 : 0);
    qn_jw_obj_end(&w);
    qn_jw_key(&w, "performance");
    qn_jw_obj(&w);
    qn_jw_kf64(&w, "last_inference_tps", count.last_tokens_s);
    qn_jw_ki64(&w, "total_requests", count.requests);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}

/* ---- adding ---- */

struct asker {
    const struct qn_models_api *api;
    struct qn_http *http; /* NULL: the client has disconnected */
    struct qn_lease *lease;
    char *name; /* name of the model */
    char *file; /* file of a model that is being removed */
    char *options;
    int64_t context;
    bool is_new;         /* no model had this name before */
    struct qn_error why; /* the reason why it could not be loaded */
    bool tried;          /* the model's process had begun to load it */
};

static void asker_free(struct asker *a)
{
    qn_lease_release(a->lease);
    free(a->name);
    free(a->file);
    free(a->options);
    free(a);
}

static void refuse(struct asker *a, const struct qn_error *e, bool loading)
{
    qn_http_on_gone(a->http, NULL, NULL);
    qn_answer_problem(
        a->http,
        &(struct qn_problem){
            .error = e,
            .loading = loading,
            .crash_report =
                a->name ? qn_inventory_crash_report(a->api->models->inventory, a->name, e) : NULL,
        });
    asker_free(a);
}

/* Writes {"engine_id","status"} and, for an existing engine, the other members. */
static void answer(struct asker *a, int status, const char *state)
{
    struct qn_snapshot *snap = NULL;
    const struct qn_model_row *row = NULL;
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    if (qn_inventory_find(a->api->models->inventory, a->name, &snap, &row, NULL) == QN_OK) {
        write_engine(&w, row, state, a->context, true);
    } else {
        qn_jw_kstr(&w, "engine_id", engine_id(a->name));
        qn_jw_kstr(&w, "status", state);
    }
    qn_snapshot_unref(snap);
    qn_jw_obj_end(&w);
    qn_http_on_gone(a->http, NULL, NULL);
    qn_answer_json(a->http, status, &body);
    qn_buf_deinit(&body);
    asker_free(a);
}

static void load_gone(void *ctx)
{
    asker_free(ctx); /* releases the waiting lease; a running load continues */
}

static void registration_gone(void *ctx)
{
    ((struct asker *)ctx)->http = NULL; /* the registration cannot be cancelled */
}

/* Called when a new model has been removed again. */
static void taken_back(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (e)
        qn_warn("engines", "model=%s could not be removed: %s", a->name, e->message);
    else if (!a->api->serving->closed)
        qn_inventory_changed(a->api->models->inventory, a->name);
    if (a->http)
        refuse(a, &a->why, a->tried);
    else
        asker_free(a);
}

/* An engine that cannot be loaded is removed if it is new; one that existed before stays. */
static void give_up(struct asker *a, const struct qn_error *e, bool tried)
{
    if (!a->is_new) {
        refuse(a, e, tried);
        return;
    }
    a->why = *e;
    a->tried = tried;
    qn_http_on_gone(a->http, registration_gone, a);
    qn_catalog_remove(a->api->models->catalog, a->name, taken_back, a);
}

static void loaded(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (!e) {
        answer(a, 201, "loaded");
        return;
    }
    a->lease = NULL;
    give_up(a, e, true);
}

/* Replaces errors of the registration by this API's messages. */
static void translate(const struct qn_error *from, struct qn_error *to)
{
    const char *param = qn_str_eq(from->param, "checkpoint") ? "model_path" : "engine_id";
    qn_err code =
        from->code == QN_ENOTFOUND || from->code == QN_ECONFLICT || from->code == QN_EUNSUPPORTED
            ? QN_EINVAL
            : from->code;
    if (*from->param)
        qn_fail_param(to, code, param, "%s", from->message);
    else
        *to = *from;
}

/* Called when its options are in the catalog, or could not be saved; the latter is logged, and the
 * model is loaded in both cases. */
static void load(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    struct qn_error why = {0};
    if (!a->http) {
        asker_free(a);
        return;
    }
    if (e)
        qn_warn("engines", "model=%s saving its options failed: %s", a->name, e->message);
    struct qn_load_options options = {.context = a->context, .anew = true};
    if (qn_inventory_acquire(a->api->models->inventory, a->name, &options, qn_client_owner(a->http),
                             loaded, a, &a->lease, &why))
        give_up(a, &why, false);
    else
        qn_http_on_gone(a->http, load_gone, a);
}

static void registered(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    struct qn_error why = {0};
    if (!a->http) {
        asker_free(a);
        return;
    }
    if (e) {
        translate(e, &why);
        refuse(a, &why, false);
        return;
    }
    struct qn_load_options options = {.context = a->context, .options = a->options};
    if (!qn_api_save_options(a->api, a->name, &options, load, a))
        load(a, NULL);
}

struct wish {
    const char *id, *path;
    int64_t context, layers, gpu;
};

static qn_err read_wish(const struct qn_jref *root, struct wish *out, struct qn_error *e)
{
    const struct {
        const char *key;
        int64_t min, max, *value;
    } numbers[] = {
        {"n_ctx", CONTEXT_MIN, CONTEXT_MAX, &out->context},
        {"n_gpu_layers", 0, INT32_MAX, &out->layers},
        {"main_gpu_id", 0, INT32_MAX, &out->gpu},
    };
    struct qn_jref v = qn_json_get(root, "engine_id");
    qn_err err = qn_json_str(&v, &out->id, e);
    v = qn_json_get(root, "model_path");
    if (!err)
        err = qn_json_str(&v, &out->path, e);
    for (size_t i = 0; !err && i < sizeof numbers / sizeof *numbers; i++) {
        v = qn_json_get(root, numbers[i].key);
        err = qn_json_i64_opt(&v, numbers[i].min, numbers[i].max, numbers[i].value, e);
    }
    return err;
}

static char *write_options(const struct wish *wish)
{
    struct qn_buf out;
    qn_buf_init(&out, OPTIONS_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "n_gpu_layers", wish->layers);
    qn_jw_ki64(&w, "main_gpu_id", wish->gpu);
    qn_jw_obj_end(&w);
    return qn_buf_take(&out);
}

/* An engine's id is unique: one that is in memory is not replaced. One that is stored from an
 * earlier run and is not in memory is replaced, because clients of this API create their engines at
 * each start. */
static qn_err check_free(const struct qn_models_api *api, const char *name, struct qn_error *e)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, name);
    struct qn_loaded loaded;
    qn_err err = QN_OK;
    if (row && qn_inventory_ready(api->models->inventory, row, &loaded))
        err = qn_fail_param(e, QN_EINVAL, "engine_id",
                            "Engine '%.200s' exists already: remove it first (DELETE "
                            "/engines/%.200s), or take another engine_id",
                            engine_id(name), engine_id(name));
    qn_snapshot_unref(snap);
    return err;
}

static bool is_new(const struct qn_models_api *api, const char *name)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    bool none = !qn_snapshot_find(snap, name);
    qn_snapshot_unref(snap);
    return none;
}

void qn_api_engine_add(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    struct wish wish = {.context = CONTEXT_PRESET, .layers = LAYERS_PRESET};
    struct qn_named_files files = {.rule = api->open_rule};
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = read_wish(&root, &wish, &e);
    }
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err)
        qn_named_file(&files, wish.path);
    if (err) {
        qn_answer_error(h, &e);
    } else if (qn_may_open(&files, h)) {
        struct asker *a = qn_xcalloc(1, sizeof *a);
        struct qn_buf name;
        qn_buf_init(&name, 2 * QN_MODEL_NAME_MAX);
        qn_buf_fmt(&name, "%s%s", user_prefix, engine_id(wish.id));
        a->api = api;
        a->http = h;
        a->name = name.overflow ? qn_xstrdup(wish.id) : qn_xstrdup(qn_buf_cstr(&name));
        a->options = write_options(&wish);
        a->context = wish.context;
        a->is_new = is_new(api, a->name);
        qn_buf_deinit(&name);
        if (check_free(api, a->name, &e)) {
            qn_answer_error(h, &e);
            asker_free(a);
            qn_json_free(doc);
            return;
        }
        qn_http_on_gone(h, registration_gone, a);
        qn_registration_file(api->models->registration, a->name, wish.path, "llamacpp", NULL,
                             registered, a);
    }
    qn_json_free(doc);
}

/* ---- removing ---- */

static void removed(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (!e && !a->api->serving->closed) {
        qn_inventory_changed(a->api->models->inventory,
                             a->name); /* another client may have loaded it meanwhile */
        if (a->file) {
            struct qn_snapshot *snap = qn_catalog_snapshot(a->api->models->catalog);
            qn_blob_release(a->api->custody->blobs, snap, a->file);
            qn_snapshot_unref(snap);
        }
    }
    if (!a->http)
        asker_free(a);
    else if (e)
        refuse(a, e, false);
    else
        answer(a, 200, "removed");
}

/* Removes the unloaded model from the catalog. Its file stays, unless a client uploaded it. */
static void forget(void *ctx)
{
    struct asker *a = ctx;
    qn_http_on_gone(a->http, registration_gone, a);
    qn_catalog_remove(a->api->models->catalog, a->name, removed, a);
}

static void unload_gone(void *ctx)
{
    struct asker *a = ctx;
    qn_inventory_forget(a->api->models->inventory, a);
    asker_free(a);
}

void qn_api_engine_remove(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    struct qn_error e = {0};
    qn_err err = find(api, qn_inventory_find_exactly, id, &snap, &row, &e);
    if (!err && !is_engine(row)) {
        err = qn_fail_param(&e, QN_ENOTFOUND, "engine_id", "Engine '%.200s' not found", id);
        qn_snapshot_unref(snap);
    }
    if (!err && row->builtin) {
        err = qn_fail_param(&e, QN_EINVAL, "engine_id",
                            "'%s' ships with quince and cannot be removed: POST /v1/unload takes "
                            "it out of memory",
                            row->name);
        qn_snapshot_unref(snap);
    }
    if (err) {
        qn_answer_error(h, &e);
        return;
    }
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->api = api;
    a->http = h;
    a->name = qn_xstrdup(row->name);
    a->file = qn_xstrdup(row->files[0]);
    qn_snapshot_unref(snap);
    qn_http_on_gone(h, unload_gone, a);
    if (qn_inventory_unload(api->models->inventory, a->name, forget, a, &e))
        forget(a); /* the model was not loaded */
}
