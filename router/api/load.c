/* POST load and unload: brings models into memory and removes them. */
#include "api/api.h"

#include "access/auth.h"
#include "access/client_id.h"
#include "answers/answer.h"
#include "api/load_warnings.h"
#include "api/pull.h"
#include "base/buf.h"
#include "base/str.h"
#include "contract/job.h"
#include "dialects/shared/keep_alive.h"
#include "downloads/pull_first.h"
#include "library/may_open.h"
#include "models/inventory.h"
#include "models/load_options.h"

#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64 * 1024 };

struct asker {
    const struct qn_models_api *api;
    struct qn_http *http;
    struct qn_lease *lease;
    char *name;      /* as the client wrote it; NULL: unload all */
    char *options;   /* options that a successful load saves, a JSON object; NULL: none */
    char *named;     /* options that the request names, a JSON object; NULL: none */
    int64_t asked;   /* context that the request names; QN_UNSET, or 0: none */
    int64_t runs;    /* context in effect; 0: the model has none */
    int64_t keep_ms; /* keep-alive time; QN_UNSET: unchanged */
    bool saving;     /* while options are saved this is not freed */
    bool replaces;   /* `options` replace all saved options instead of being added */
    struct qn_load_warnings warnings; /* strings are in the request's arena */
};

static void asker_free(struct asker *a)
{
    qn_lease_release(a->lease);
    free(a->name);
    free(a->options);
    free(a->named);
    free(a);
}

/* Writes the success of load and unload. */
static void answer(struct asker *a, const char *message)
{
    struct qn_snapshot *snap = NULL;
    const struct qn_model_row *row = NULL;
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "status", "success");
    qn_jw_kstr(&w, "message", message);
    if (a->name &&
        qn_inventory_find(a->api->models->inventory, a->name, &snap, &row, NULL) == QN_OK) {
        qn_jw_kstr(&w, "model_name", row->name);
        qn_jw_ksource(
            &w, "checkpoint",
            qn_api_shown_path(row->checkpoint, qn_api_sees_paths(a->api->serving, a->http)));
        qn_jw_kstr(&w, "recipe", row->recipe);
        struct qn_loaded loaded;
        if (a->lease && qn_inventory_ready(a->api->models->inventory, row, &loaded))
            qn_load_warn_of_engine(&a->warnings, &loaded, qn_http_arena(a->http));
    }
    qn_snapshot_unref(snap);
    if (a->runs > 0)
        qn_jw_ki64(&w, "ctx_size", a->runs);
    if (a->runs > 0 && a->asked > a->runs)
        qn_jw_ki64(&w, "requested_ctx_size", a->asked);
    qn_load_warnings_write(&a->warnings, a->http, &w);
    qn_jw_obj_end(&w);
    qn_http_on_gone(a->http, NULL, NULL);
    qn_answer_json(a->http, 200, &body);
    qn_buf_deinit(&body);
}

/* Reads the options of the model's backend type that the request names. */
static qn_err read_options(const struct qn_models_api *api, const char *name,
                           const struct qn_jref *body, struct qn_buf *out, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(api->models->inventory, name, &snap, &row, e);
    if (err)
        return err;
    const struct qn_backend_type *type = qn_backend_type_find(row->type);
    err = qn_load_options_check(type, body, e);
    if (type)
        qn_load_options_of(type, body, out);
    else
        qn_buf_str(out, "{}");
    qn_snapshot_unref(snap);
    if (err)
        return err;
    return out->overflow ? qn_fail(e, QN_ELIMIT, "the options have more than %d bytes", OPTIONS_MAX)
                         : QN_OK;
}

bool qn_api_save_options(const struct qn_models_api *api, const char *name,
                         const struct qn_load_options *asked, qn_catalog_done done, void *ctx)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    struct qn_json *old, *news;
    if (qn_inventory_find(api->models->inventory, name, &snap, &row, NULL))
        return false;
    if (qn_json_parse(asked->options, strlen(asked->options), &news, NULL)) {
        qn_snapshot_unref(snap);
        return false;
    }
    row = qn_inventory_computes(snap, row); /* that model will be loaded */
    struct qn_jref added = qn_json_root(news), it;
    struct qn_buf text;
    qn_buf_init(&text, OPTIONS_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_obj(&w);
    if (qn_json_parse(row->options, strlen(row->options), &old, NULL) == QN_OK) {
        struct qn_jref root = qn_json_root(old);
        for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
            struct qn_jref newer = qn_json_get(&added, it.key);
            if (qn_json_type(&newer) != QN_JSON_ABSENT ||
                (asked->context != QN_UNSET && qn_str_eq(it.key, "ctx_size")))
                continue;
            qn_jw_key(&w, it.key);
            qn_jw_value(&w, &it);
        }
        qn_json_free(old);
    }
    for (bool more = qn_json_first(&added, &it); more; more = qn_json_next(&it)) {
        qn_jw_key(&w, it.key);
        qn_jw_value(&w, &it);
    }
    if (asked->context != QN_UNSET)
        qn_jw_ki64(&w, "ctx_size", asked->context);
    qn_jw_obj_end(&w);
    qn_json_free(news);
    bool fits = !text.overflow;
    if (fits)
        qn_catalog_set_options(api->models->catalog, row->name, qn_buf_cstr(&text), done, ctx);
    qn_buf_deinit(&text);
    qn_snapshot_unref(snap);
    return fits;
}

/* Makes the options for save_options: `options` and the context that the request names, in place of
 * all saved options. The saved `pinned` stays if the request does not name it. */
static char *write_saved(const struct qn_models_api *api, const char *name,
                         const struct qn_load_options *asked)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    struct qn_json *docs[2] = {0};
    struct qn_buf text;
    struct qn_jref it;
    qn_buf_init(&text, 2 * OPTIONS_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_obj(&w);
    qn_json_parse(asked->options, strlen(asked->options), &docs[0], NULL);
    struct qn_jref news = qn_json_root(docs[0]), pinned = qn_json_get(&news, "pinned");
    for (bool more = qn_json_first(&news, &it); more; more = qn_json_next(&it)) {
        qn_jw_key(&w, it.key);
        qn_jw_value(&w, &it);
    }
    if (asked->context != QN_UNSET)
        qn_jw_ki64(&w, "ctx_size", asked->context);
    if (qn_json_type(&pinned) == QN_JSON_ABSENT &&
        qn_inventory_find(api->models->inventory, name, &snap, &row, NULL) == QN_OK) {
        row = qn_inventory_computes(snap, row);
        if (qn_json_parse(row->options, strlen(row->options), &docs[1], NULL) == QN_OK) {
            struct qn_jref old = qn_json_root(docs[1]);
            pinned = qn_json_get(&old, "pinned");
        }
        if (qn_json_type(&pinned) == QN_JSON_BOOL)
            qn_jw_kbool(&w, "pinned", qn_json_raw_bool(&pinned));
        qn_snapshot_unref(snap);
    }
    qn_jw_obj_end(&w);
    qn_json_free(docs[0]);
    qn_json_free(docs[1]);
    return qn_buf_take(&text);
}

/* Saves the result of write_saved. False: the model has been removed, and done is not called. */
static bool replace_options(const struct qn_models_api *api, const char *name, const char *saved,
                            qn_catalog_done done, void *ctx)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    if (qn_inventory_find(api->models->inventory, name, &snap, &row, NULL))
        return false;
    row = qn_inventory_computes(snap, row); /* that model has been loaded */
    qn_catalog_set_options(api->models->catalog, row->name, saved, done, ctx);
    qn_snapshot_unref(snap);
    return true;
}

/* The waiting lease is released; a running load continues. */
static void load_gone(void *ctx)
{
    struct asker *a = ctx;
    a->http = NULL;
    qn_lease_release(a->lease);
    a->lease = NULL;
    if (!a->saving)
        asker_free(a);
}

static void load_answer(struct asker *a)
{
    if (a->http)
        answer(a, qn_arena_fmt(qn_http_arena(a->http), "Loaded model: %s", a->name));
    asker_free(a);
}

/* The model is loaded even if `pinned` could not be saved. */
static void load_saved(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (!e && !a->api->serving->closed)
        qn_inventory_options_changed(a->api->models->inventory);
    if (e && a->http) {
        qn_http_on_gone(a->http, NULL, NULL);
        qn_answer_error(a->http, e);
        a->http = NULL;
    }
    load_answer(a);
}

static void load_done(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (e) {
        a->lease = NULL;
        qn_http_on_gone(a->http, NULL, NULL);
        qn_answer_problem(
            a->http,
            &(struct qn_problem){
                .error = e,
                /* An error about an option that this request names is the request's error. */
                .loading = !qn_load_options_name(a->named, e->param),
                .model = a->name,
                .crash_report = qn_inventory_crash_report(a->api->models->inventory, a->name, e),
            });
        asker_free(a);
        return;
    }
    a->runs = qn_child_status(qn_lease_child(a->lease)).context;
    if (a->keep_ms != QN_UNSET)
        qn_lease_keep(a->lease, a->keep_ms);
    const struct qn_load_options options = {.context = QN_UNSET, .options = a->options};
    /* The lease is held until options are saved, so that a model that is to be pinned is not
     * evicted before. */
    a->saving =
        a->options && (a->replaces ? replace_options(a->api, a->name, a->options, load_saved, a)
                                   : qn_api_save_options(a->api, a->name, &options, load_saved, a));
    if (!a->saving)
        load_answer(a);
}

/* A load whose model is being downloaded. */
struct installer {
    const struct qn_models_api *api;
    struct qn_http *http;
    struct qn_pull_first *first;
};

static void install_gone(void *ctx)
{
    struct installer *in = ctx;
    qn_pull_first_leave(in->first);
    free(in);
}

static void installed(void *ctx, const struct qn_error *e)
{
    struct installer in = *(struct installer *)ctx;
    free(ctx);
    qn_http_on_gone(in.http, NULL, NULL);
    if (e)
        qn_api_pull_refuse(in.api->puller, in.http, NULL, e);
    else
        qn_api_load(in.api, in.http, NULL);
}

/* True if the model must be downloaded first; the request is then handled here. */
static bool install_first(const struct qn_models_api *api, struct qn_http *h, const char *name)
{
    struct qn_error e = {0};
    struct installer *in = qn_xcalloc(1, sizeof *in);
    in->api = api;
    in->http = h;
    struct qn_caller caller;
    qn_auth_caller(api->serving->auth, h, &caller);
    qn_err err = qn_pull_first(api->puller, name, caller.owner, installed, in, &in->first, &e);
    if (in->first) {
        qn_http_on_gone(h, install_gone, in);
        return true;
    }
    free(in);
    if (err)
        qn_api_pull_refuse(api->puller, h, name, &e);
    return err != QN_OK;
}

/* Whether a model is pinned is always saved. NULL: the request does not name it. */
static char *pin_to_save(const struct qn_json *doc)
{
    struct qn_jref root = qn_json_root(doc), pinned = qn_json_get(&root, "pinned");
    if (qn_json_type(&pinned) != QN_JSON_BOOL)
        return NULL;
    return qn_xstrdup(qn_json_raw_bool(&pinned) ? "{\"pinned\":true}" : "{\"pinned\":false}");
}

void qn_api_load(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    const char *name = NULL;
    struct qn_load_options options = {.context = QN_UNSET, .anew = true};
    int64_t keep_ms = QN_UNSET;
    bool save = false;
    struct asker *a = NULL;
    struct qn_buf named;
    struct qn_named_files files = {.rule = api->open_rule};
    (void)id;
    qn_buf_init(&named, OPTIONS_MAX);
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "model_name");
        err = qn_json_str(&v, &name, &e);
        v = qn_json_get(&root, "ctx_size");
        if (!err)
            err = qn_json_i64_opt(&v, -1, QN_CONTEXT_MAX, &options.context, &e);
        if (!err && qn_json_type(&v) == QN_JSON_NUMBER && options.context < 0)
            options.context = 0; /* newer clients write this for the model's own choice */
        v = qn_json_get(&root, "save_options");
        if (!err)
            err = qn_json_bool_opt(&v, &save, &e);
        if (!err)
            err = qn_keep_alive_of(&root, &keep_ms, &e);
        if (!err && (save || qn_load_options_for_admins(&root)) &&
            !qn_api_need_admin(api->serving, h))
            goto out;
        if (!err && !api->serving->stopping && install_first(api, h, name))
            goto out;
        if (!err)
            err = read_options(api, name, &root, &named, &e);
        options.options = qn_buf_cstr(&named);
    }
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err =
            save ? qn_named_saved_options(&files, &root, &e) : qn_named_options(&files, &root, &e);
    }
    if (!err && !qn_may_open(&files, h))
        goto out;
    if (!err) {
        a = qn_xcalloc(1, sizeof *a);
        a->api = api;
        a->http = h;
        a->name = qn_xstrdup(name);
        a->named = qn_xstrdup(options.options);
        a->asked = options.context;
        a->options = save ? write_saved(api, name, &options) : pin_to_save(doc);
        a->replaces = save;
        a->keep_ms = keep_ms;
        options.saved = save ? a->options : NULL;
        struct qn_jref root = qn_json_root(doc);
        qn_load_warn_of_idle(&a->warnings, &root, qn_http_arena(h));
        err = qn_inventory_acquire(api->models->inventory, name, &options, qn_client_owner(h),
                                   load_done, a, &a->lease, &e);
    }
    if (err) {
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = name});
        if (a)
            asker_free(a);
    } else {
        qn_http_on_gone(h, load_gone, a);
    }
out:
    qn_buf_deinit(&named);
    qn_json_free(doc);
}

static void unload_gone(void *ctx)
{
    struct asker *a = ctx;
    qn_inventory_forget(a->api->models->inventory, a);
    asker_free(a);
}

static void unload_done(void *ctx)
{
    struct asker *a = ctx;
    answer(a, a->name ? "Model unloaded successfully" : "All models unloaded successfully");
    asker_free(a);
}

void qn_api_unload(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    const char *name = NULL;
    (void)id;
    qn_err err = qn_api_body(h, true, &doc, &e);
    if (!err && doc) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "model_name");
        err = qn_json_str_opt(&v, &name, &e);
    }
    if (!err) {
        struct asker *a = qn_xcalloc(1, sizeof *a);
        a->api = api;
        a->http = h;
        a->name = name ? qn_xstrdup(name) : NULL;
        err = qn_inventory_unload(api->models->inventory, name, unload_done, a, &e);
        if (err)
            asker_free(a);
        else
            qn_http_on_gone(h, unload_gone, a);
    }
    if (err)
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = name});
    qn_json_free(doc);
}
