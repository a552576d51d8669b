/* GET, POST and DELETE models/{id}/options: the options that a model is loaded with, by layers,
 * without loading it. The automatic context is -1 in replies and 0 internally. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/waiting.h"
#include "base/str.h"
#include "contract/backend_types.h"
#include "library/may_open.h"
#include "models/inventory.h"
#include "models/load_options.h"
#include "models/residency.h"

#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64 * 1024, CONTEXT_MAX = 16 * 1024 * 1024 };
#define CONTEXT "ctx_size"

/* The data that a reply shows of a model. */
struct view {
    const struct qn_model_row *row;     /* the row that the request names */
    const struct qn_backend_type *type; /* of the model that computes for it */
    const char *saved;                  /* JSON objects, strongest first */
    const char *wanted;                 /* the saved options with the changes of a dry run */
    const char *defaults;               /* from the settings */
    int64_t default_context;
};

/* Writes the value of an option in a JSON object, unchanged. False: the option is absent. */
static bool write_value(struct qn_jw *w, const char *json, const char *name)
{
    struct qn_json *doc;
    if (qn_json_parse(json, strlen(json), &doc, NULL))
        return false;
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, name);
    bool there = qn_json_type(&v) > QN_JSON_NULL;
    struct qn_buf text;
    qn_buf_init(&text, OPTIONS_MAX);
    if (there && qn_json_print(&v, &text) == QN_OK) {
        qn_jw_key(w, name);
        qn_jw_raw(w, qn_buf_cstr(&text), text.len);
    }
    qn_buf_deinit(&text);
    qn_json_free(doc);
    return there;
}

/* Returns the context that a JSON object has; QN_UNSET: none. */
static int64_t context_of(const char *json)
{
    struct qn_json *doc;
    int64_t out = QN_UNSET;
    if (qn_json_parse(json, strlen(json), &doc, NULL))
        return out;
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, CONTEXT);
    qn_json_i64_opt(&v, 0, CONTEXT_MAX, &out, NULL);
    qn_json_free(doc);
    return out;
}

static int64_t shown_context(int64_t context)
{
    return context > 0 ? context : -1;
}

/* Writes a complete body for POST load: each option from the stronger of two layers, null if the
 * model's process decides. */
static void write_layers(struct qn_jw *w, const char *key, const struct view *v, const char *layer)
{
    int64_t context = context_of(layer);
    qn_jw_key(w, key);
    qn_jw_obj(w);
    qn_jw_kstr(w, "model_name", v->row->name);
    qn_jw_ki64(w, CONTEXT, shown_context(context != QN_UNSET ? context : v->default_context));
    for (const struct qn_load_option *o = v->type->load_options; o->name; o++)
        if (!write_value(w, layer, o->name) && !write_value(w, v->defaults, o->name))
            qn_jw_knull(w, o->name);
    qn_jw_obj_end(w);
}

static void write_saved(struct qn_jw *w, const struct view *v)
{
    int64_t context = context_of(v->saved);
    qn_jw_key(w, "saved");
    qn_jw_obj(w);
    if (context != QN_UNSET)
        qn_jw_ki64(w, CONTEXT, shown_context(context));
    for (const struct qn_load_option *o = v->type->load_options; o->name; o++)
        write_value(w, v->saved, o->name);
    qn_jw_obj_end(w);
}

/* The context of a load: the requested one, else the one it runs with, else the trained context if
 * known. */
static int64_t resolved_context(const struct qn_models_api *api, const struct view *v)
{
    int64_t wanted = context_of(v->wanted), trained = 0;
    if (wanted == QN_UNSET)
        wanted = v->default_context;
    if (wanted > 0)
        return wanted;
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    size_t n = qn_inventory_loaded(api->models->inventory, loaded, QN_RESIDENTS_MAX);
    for (size_t i = 0; i < n; i++)
        if (qn_str_eq(loaded[i].name, v->row->name) && loaded[i].status.state == QN_INST_READY)
            return loaded[i].status.context;
    struct qn_json *details;
    if (qn_json_parse(v->row->details, strlen(v->row->details), &details, NULL) == QN_OK) {
        struct qn_jref root = qn_json_root(details), length = qn_json_get(&root, "context_length");
        qn_json_i64_opt(&length, 0, INT64_C(1) << 40, &trained, NULL);
        qn_json_free(details);
    }
    return trained;
}

/* Returns the options without those that contain paths. */
static const char *public_options(struct qn_http *h, const char *json)
{
    struct qn_buf text;
    qn_buf_init(&text, OPTIONS_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_obj(&w);
    qn_api_options_write(&w, json, false);
    qn_jw_obj_end(&w);
    const char *out = qn_arena_strdup(qn_http_arena(h), qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    return out;
}

/* What a value of an option may be, for forms. */
static void write_field(struct qn_jw *w, const struct qn_load_option *o)
{
    static const char *const types[] = {[QN_JSON_BOOL] = "bool",
                                        [QN_JSON_NUMBER] = "number",
                                        [QN_JSON_STRING] = "string",
                                        [QN_JSON_ARRAY] = "array"};
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", o->name);
    qn_jw_kstr(w, "type", types[o->type]);
    if (o->max > o->min) {
        qn_jw_ki64(w, "min", o->min);
        qn_jw_ki64(w, "max", o->max);
    }
    if (o->type == QN_JSON_NUMBER)
        qn_jw_kbool(w, "whole", o->whole);
    if (o->words) {
        qn_jw_key(w, "words");
        qn_jw_arr(w);
        for (const char *const *word = o->words; *word; word++)
            qn_jw_str(w, *word);
        qn_jw_arr_end(w);
    }
    qn_jw_kbool(w, "admin", o->admin);
    qn_jw_obj_end(w);
}

static void write_fields(struct qn_jw *w, const struct qn_backend_type *type)
{
    static const struct qn_load_option context = {
        .name = CONTEXT, .type = QN_JSON_NUMBER, .min = 1, .max = CONTEXT_MAX, .whole = true};
    qn_jw_key(w, "fields");
    qn_jw_arr(w);
    write_field(w, &context);
    for (const struct qn_load_option *o = type->load_options; o->name; o++)
        write_field(w, o);
    qn_jw_arr_end(w);
}

/* Writes the memory that a load would take now; null if it would be refused for an option. */
static void write_memory(struct qn_jw *w, const struct qn_models_api *api, const struct view *v)
{
    struct qn_forecast f;
    if (qn_inventory_forecast(api->models->inventory, v->row, v->wanted, &f, NULL)) {
        qn_jw_knull(w, "memory");
        return;
    }
    qn_jw_key(w, "memory");
    qn_jw_obj(w);
    qn_jw_ki64(w, "needed_bytes", f.needed_bytes);
    if (f.may_bytes > 0)
        qn_jw_ki64(w, "may_use_bytes", f.may_bytes);
    else
        qn_jw_knull(w, "may_use_bytes");
    qn_jw_ki64(w, "ctx_size", shown_context(f.context));
    qn_jw_kbool(w, "fits", f.loads);
    qn_jw_kstr(w, "reason", f.loads ? NULL : f.why.message);
    qn_jw_key(w, "evicts");
    qn_jw_arr(w);
    for (size_t i = 0; i < f.n_evicts; i++)
        qn_jw_str(w, f.evicts[i]);
    qn_jw_arr_end(w);
    qn_jw_obj_end(w);
}

static void answer(const struct qn_models_api *api, struct qn_http *h, const struct view *all)
{
    struct qn_buf body;
    struct view shown = *all;
    const struct view *v = &shown;
    if (!qn_api_sees_paths(api->serving, h)) {
        shown.saved = public_options(h, all->saved);
        shown.wanted = public_options(h, all->wanted);
        shown.defaults = public_options(h, all->defaults);
    }
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model_name", v->row->name);
    qn_jw_kstr(&w, "recipe", v->row->recipe);
    write_saved(&w, v);
    write_layers(&w, "effective", v, v->wanted);
    write_layers(&w, "defaults", v, "{}");
    qn_jw_ki64(&w, "resolved_ctx_size", resolved_context(api, v));
    write_memory(&w, api, all);
    write_fields(&w, v->type);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

/* For a preset, the options are those of the model that computes for it. */
static qn_err find(const struct qn_models_api *api, const char *id, struct qn_snapshot **snap,
                   struct view *v, struct qn_error *e)
{
    qn_err err = qn_inventory_find(api->models->inventory, id, snap, &v->row, e);
    if (err)
        return err;
    const struct qn_inventory_config *config = qn_inventory_config(api->models->inventory);
    v->row = qn_inventory_computes(*snap, v->row);
    v->type = qn_backend_type_find(v->row->type);
    v->saved = v->wanted = v->row->options;
    v->defaults = config->load_options;
    v->default_context = config->context;
    if (v->type)
        return QN_OK;
    qn_snapshot_unref(*snap);
    return qn_fail_param(e, QN_EUNSUPPORTED, "model", "models of the type '%.40s' have no options",
                         v->row->type);
}

void qn_api_options(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_snapshot *snap;
    struct view v;
    struct qn_error e = {0};
    if (find(api, id, &snap, &v, &e)) {
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = id});
        return;
    }
    answer(api, h, &v);
    qn_snapshot_unref(snap);
}

static const struct qn_load_option *option_find(const struct qn_backend_type *type,
                                                const char *name)
{
    for (const struct qn_load_option *o = type->load_options; o->name; o++)
        if (qn_str_eq(o->name, name))
            return o;
    return NULL;
}

static qn_err check_member(const struct qn_backend_type *type, const struct qn_jref *v,
                           struct qn_error *e)
{
    static const char *const beside[] = {"model_name", "dry_run"};
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if (qn_str_eq(v->key, beside[i]))
            return QN_OK;
    if (qn_json_type(v) == QN_JSON_NULL &&
        (qn_str_eq(v->key, CONTEXT) || option_find(type, v->key)))
        return QN_OK;
    if (qn_str_eq(v->key, CONTEXT)) {
        int64_t context;
        qn_err err = qn_json_i64(v, -1, CONTEXT_MAX, &context, e);
        return !err && context == 0
                   ? qn_json_fail(v, e,
                                  "must be a number of tokens, or -1 for the model's own choice")
                   : err;
    }
    const struct qn_load_option *o = option_find(type, v->key);
    if (!o) {
        const char *why = qn_load_option_idle(v->key);
        return qn_json_fail(v, e, "%s", why ? why : "is not an option of models of this kind");
    }
    return qn_load_option_check(o, v, e);
}

/* Merges the request's changes into the saved options: null removes an option. */
static void merge(const struct qn_backend_type *type, const char *saved,
                  const struct qn_jref *changes, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    struct qn_jref c = qn_json_get(changes, CONTEXT);
    int64_t context = context_of(saved), asked;
    if (qn_json_type(&c) == QN_JSON_NULL)
        context = QN_UNSET;
    else if (qn_json_i64(&c, -1, CONTEXT_MAX, &asked, NULL) == QN_OK)
        context = asked < 0 ? 0 : asked;
    qn_jw_obj(&w);
    if (context != QN_UNSET)
        qn_jw_ki64(&w, CONTEXT, context);
    for (const struct qn_load_option *o = type->load_options; o->name; o++) {
        struct qn_jref v = qn_json_get(changes, o->name);
        struct qn_buf text;
        qn_buf_init(&text, OPTIONS_MAX);
        if (qn_json_type(&v) == QN_JSON_ABSENT) {
            write_value(&w, saved, o->name);
        } else if (qn_json_type(&v) != QN_JSON_NULL && qn_json_print(&v, &text) == QN_OK) {
            qn_jw_key(&w, o->name);
            qn_jw_raw(&w, qn_buf_cstr(&text), text.len);
        }
        qn_buf_deinit(&text);
    }
    qn_jw_obj_end(&w);
}

/* The change cannot be cancelled, so this outlives a client that disconnects. */
struct asker {
    const struct qn_models_api *api;
    struct qn_waiting client;
    char *name;
};

static void saved(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (!e && !a->api->serving->closed)
        qn_inventory_options_changed(a->api->models->inventory);
    if (qn_waiting_end(&a->client, e))
        qn_api_options(a->api, a->client.http, a->name);
    free(a->name);
    free(a);
}

static void save(const struct qn_models_api *api, struct qn_http *h, const char *name,
                 const char *options)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->api = api;
    a->name = qn_xstrdup(name);
    qn_waiting_begin(&a->client, h);
    qn_catalog_set_options(api->models->catalog, name, options, saved, a);
}

void qn_api_options_set(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_snapshot *snap = NULL;
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    struct qn_buf merged;
    struct view v;
    struct qn_named_files files = {.rule = api->open_rule};
    bool dry = false, later = false;
    qn_buf_init(&merged, OPTIONS_MAX);
    qn_err err = find(api, id, &snap, &v, &e);
    if (err)
        snap = NULL;
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err)
        err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), it, d = qn_json_get(&root, "dry_run");
        err = qn_json_bool_opt(&d, &dry, &e);
        for (bool more = qn_json_first(&root, &it); more && !err; more = qn_json_next(&it))
            err = check_member(v.type, &it, &e);
        if (!err)
            err = qn_named_saved_options(&files, &root, &e);
        later = !err && !qn_may_open(&files, h);
        if (!err && !later)
            merge(v.type, v.saved, &root, &merged);
    }
    if (!err && merged.overflow)
        err = qn_fail(&e, QN_ELIMIT, "the options have more than %d bytes", OPTIONS_MAX);
    v.wanted = qn_buf_cstr(&merged);
    if (err)
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = id});
    else if (!later && dry)
        answer(api, h, &v);
    else if (!later)
        save(api, h, v.row->name, v.wanted);
    qn_snapshot_unref(snap);
    qn_buf_deinit(&merged);
    qn_json_free(doc);
}

void qn_api_options_reset(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_snapshot *snap;
    struct view v;
    struct qn_error e = {0};
    if (find(api, id, &snap, &v, &e)) {
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = id});
        return;
    }
    save(api, h, v.row->name, "{}");
    qn_snapshot_unref(snap);
}
