/* GET models and models/{id}: installed models and, with show_all, models that can be pulled. */
#include "api/api.h"

#include "answers/answer.h"
#include "base/str.h"
#include "contract/backend_types.h"
#include "downloads/updates.h"
#include "models/inventory.h"
#include "models/model_capabilities.h"
#include "models/no_engine.h"
#include "models/residency.h"
#include "registry/registry.h"
#include "settings/kinds.h"

#include <string.h>

/* The catalog and the registry store these as JSON text that was checked when it was stored. */
static void write_json(struct qn_jw *w, const char *key, const char *json)
{
    qn_jw_key(w, key);
    qn_jw_raw(w, json, strlen(json));
}

/* Members of every entry, installed or not. */
struct entry {
    const char *name, *checkpoint, *checkpoints, *recipe, *labels, *options, *extras;
    unsigned capabilities; /* known capabilities */
    const char
        /* Where the model came from: "builtin", "local", or the program that it was discovered
         * with. */
        *source;
    const char *registry; /* the hub; NULL: none */
    int64_t created_s, size_bytes;
    bool downloaded, suggested, update;
    const struct qn_model_view *view;
};

static void write_capabilities(struct qn_jw *w, const struct entry *x)
{
    struct qn_json *doc;
    if (qn_json_parse(x->labels, strlen(x->labels), &doc, NULL))
        return;
    struct qn_jref labels = qn_json_root(doc);
    qn_jw_key(w, "labels");
    qn_capabilities_write_labels(w, &labels, x->capabilities);
    qn_jw_key(w, "capabilities");
    qn_capabilities_write(w, x->capabilities);
    qn_json_free(doc);
}

/* Whether one of the checkpoints is a file of this machine. */
static bool names_file(const char *checkpoints)
{
    struct qn_json *doc;
    bool any = false;
    if (qn_json_parse(checkpoints, strlen(checkpoints), &doc, NULL))
        return false;
    struct qn_jref root = qn_json_root(doc), it;
    for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it))
        any = any || *qn_json_raw_str(&it) == '/';
    qn_json_free(doc);
    return any;
}

static void write_entry(struct qn_jw *w, const struct entry *x)
{
    qn_jw_kstr(w, "id", x->name);
    qn_jw_kstr(w, "object", "model");
    qn_jw_ki64(w, "created", x->created_s);
    qn_jw_kstr(w, "owned_by", x->view->owned_by);
    const char *checkpoint = qn_api_shown_path(x->checkpoint, x->view->paths);
    qn_jw_ksource(w, "checkpoint", checkpoint);
    if (qn_str_eq(x->checkpoints, "{}") || (!x->view->paths && names_file(x->checkpoints))) {
        qn_jw_key(w, "checkpoints");
        qn_jw_obj(w);
        qn_jw_ksource(w, "main", checkpoint);
        qn_jw_obj_end(w);
    } else {
        qn_jw_ksources(w, "checkpoints", x->checkpoints);
    }
    qn_jw_kstr(w, "recipe", x->recipe);
    qn_jw_kstr(w, "type", qn_kind_name(qn_kind_of(x->capabilities)));
    if (x->size_bytes > 0) {
        qn_jw_kf64(w, "size", (double)x->size_bytes / 1e9);
        qn_jw_ki64(w, "size_bytes", x->size_bytes);
    }
    qn_jw_kbool(w, "downloaded", x->downloaded);
    qn_jw_kbool(w, "suggested", x->suggested);
    write_capabilities(w, x);
    qn_jw_key(w, "components");
    qn_jw_arr(w);
    qn_jw_arr_end(w);
    qn_jw_key(w, "recipe_options");
    qn_jw_obj(w);
    qn_api_options_write(w, x->options, x->view->paths);
    qn_jw_obj_end(w);
    qn_jw_kstr(w, "source", x->source);
    qn_jw_kstr(w, "registry_source", x->registry);
    qn_jw_kbool(w, "update_available", x->update);
    qn_jw_members(w, x->extras);
}

/* Writes the metadata of the file. */
static void write_details(struct qn_jw *w, const struct qn_model_row *row)
{
    struct qn_json *details;
    if (qn_json_parse(row->details, strlen(row->details), &details, NULL))
        return;
    struct qn_jref root = qn_json_root(details), v = qn_json_get(&root, "parameters");
    qn_jw_ki64(w, "parameters", (int64_t)qn_json_raw_f64(&v));
    v = qn_json_get(&root, "quantization");
    qn_jw_kstr(w, "quantization", qn_json_raw_str(&v));
    v = qn_json_get(&root, "context_length");
    if (qn_json_type(&v) == QN_JSON_NUMBER) {
        qn_jw_ki64(w, "context_length", (int64_t)qn_json_raw_f64(&v));
        qn_jw_ki64(w, "max_context_window", (int64_t)qn_json_raw_f64(&v));
    }
    write_json(w, "details", row->details);
    qn_json_free(details);
}

/* Returns the built-in list's entry for a model that came from a hub under the same name; NULL:
 * none. */
static const struct qn_registry_entry *listed_of(const struct qn_models_api *api,
                                                 const struct qn_model_row *row)
{
    return *row->hub ? qn_registry_find(api->models->registry, row->name) : NULL;
}

static const char *source_of(const struct qn_models_api *api, const struct qn_model_row *row)
{
    if (row->builtin || listed_of(api, row))
        return "builtin";
    bool ours = qn_str_eq(row->keeper, QN_KEEPER_QUINCE) || qn_str_eq(row->keeper, QN_KEEPER_USER);
    return ours ? "local" : row->keeper;
}

/* Writes whether the model is loaded, and details of its process. */
static void write_loaded(struct qn_jw *w, const struct qn_models_api *api,
                         const struct qn_model_row *row)
{
    struct qn_loaded loaded;
    bool ready = qn_inventory_ready(api->models->inventory, row, &loaded);
    qn_jw_kbool(w, "loaded", ready);
    if (ready && loaded.status.template_warning[0])
        qn_jw_kstr(w, "template_warning", loaded.status.template_warning);
}

/* name: the row's, or an alias of it. */
static void write_row(struct qn_jw *w, const struct qn_models_api *api,
                      const struct qn_model_row *row, const char *name,
                      const struct qn_model_view *view)
{
    const struct qn_registry_entry *listed = listed_of(api, row);
    const char *why = qn_no_engine_for_row(row);
    const struct entry x = {
        .name = name,
        .checkpoint = row->checkpoint,
        .checkpoints = row->checkpoints,
        .recipe = row->recipe,
        .labels = row->labels,
        .capabilities = qn_model_capabilities(row).has,
        .options = row->options,
        .extras = row->extras,
        .source = source_of(api, row),
        .registry = *row->hub ? row->hub : NULL,
        .created_s = row->created_s,
        .size_bytes = row->size_bytes,
        .downloaded = row->n_files > 0,
        .suggested = row->suggested || (listed && listed->suggested),
        .update = qn_updates_has(api->updates, row),
        .view = view,
    };
    qn_jw_obj(w);
    write_entry(w, &x);
    if (name != row->name)
        qn_jw_kstr(w, "alias_of", row->name);
    write_details(w, row);
    if (why)
        qn_jw_kstr(w, "unsupported", why);
    write_loaded(w, api, row);
    qn_jw_ki64(w, "last_use", qn_catalog_last_use(api->models->catalog, row));
    qn_jw_obj_end(w);
}

struct qn_model_view qn_api_model_view(const struct qn_serving *serving, struct qn_http *h)
{
    return (struct qn_model_view){.paths = qn_api_sees_paths(serving, h),
                                  .owned_by = qn_request_profile(h)->owned_by};
}

void qn_api_model_write(struct qn_jw *w, const struct qn_models_api *api,
                        const struct qn_model_row *row, const struct qn_model_view *view)
{
    write_row(w, api, row, row->name, view);
}

/* Writes a model of the built-in list that is not installed. */
static void write_listed(struct qn_jw *w, const struct qn_registry_entry *listed, int64_t created_s,
                         const struct qn_model_view *view)
{
    const char *why = qn_no_engine_for_listed(listed);
    const struct entry x = {
        .name = listed->name,
        .checkpoint = listed->checkpoint,
        .checkpoints = listed->checkpoints,
        .recipe = listed->recipe,
        .labels = listed->labels,
        .capabilities = qn_listed_capabilities(listed).has,
        .options = listed->options,
        .extras = listed->extras,
        .source = "builtin",
        .registry = *listed->hub ? listed->hub : NULL,
        .created_s = created_s,
        .size_bytes = listed->size_bytes,
        .suggested = listed->suggested && !why,
        .view = view,
    };
    qn_jw_obj(w);
    write_entry(w, &x);
    if (why)
        qn_jw_kstr(w, "unsupported", why);
    qn_jw_kbool(w, "loaded", false);
    qn_jw_ki64(w, "last_use", 0);
    qn_jw_obj_end(w);
}

static bool asked_by_anthropic(const struct qn_http *h)
{
    return qn_http_header(h, "anthropic-version") != NULL;
}

static bool is_true(const char *text)
{
    return text && (qn_str_ieq(text, "true") || qn_str_eq(text, "1"));
}

static void write_all(struct qn_jw *w, const struct qn_models_api *api,
                      const struct qn_snapshot *snap, bool all, const struct qn_model_view *view)
{
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        if (all || row->n_files > 0)
            qn_api_model_write(w, api, row, view);
    }
    for (size_t i = 0; i < qn_snapshot_alias_count(snap); i++) {
        const struct qn_alias_row *alias = qn_snapshot_alias_at(snap, i);
        const struct qn_model_row *row = qn_snapshot_find(snap, alias->model);
        if (row && (all || row->n_files > 0) && !qn_snapshot_find(snap, alias->name))
            write_row(w, api, row, alias->name, view);
    }
    for (size_t i = 0; all && i < qn_registry_count(api->models->registry); i++) {
        const struct qn_registry_entry *listed = qn_registry_at(api->models->registry, i);
        if (!listed->file && !qn_snapshot_find(snap, listed->name))
            write_listed(w, listed, qn_registry_modified_s(api->models->registry), view);
    }
}

void qn_api_models(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    if (asked_by_anthropic(h)) {
        qn_api_anthropic_models(api, h);
        return;
    }
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    const struct qn_model_view view = qn_api_model_view(api->serving, h);
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "object", "list");
    qn_jw_key(&w, "data");
    qn_jw_arr(&w);
    write_all(&w, api, snap, is_true(qn_http_query(h, "show_all")), &view);
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}

/* With the text and the type of Lemonade's document, followed by what can be done. */
static void answer_not_found(struct qn_http *h, const char *id, const struct qn_error *e)
{
    struct qn_error words = *e;
    qn_fail_param(&words, QN_ENOTFOUND, "model", "Model %.200s has not been found: %s", id,
                  e->message);
    qn_answer_problem(h, &(struct qn_problem){.error = &words, .type = "not_found", .model = id});
}

void qn_api_model(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_snapshot *snap = NULL;
    const struct qn_model_row *row;
    const struct qn_registry_entry *listed = NULL;
    struct qn_error e = {0};
    struct qn_buf body;
    if (qn_inventory_find(api->models->inventory, id, &snap, &row, &e)) {
        row = NULL;
        listed = qn_registry_find(api->models->registry, id);
    }
    if (!row && (!listed || asked_by_anthropic(h))) {
        answer_not_found(h, id, &e);
        return;
    }
    if (row && asked_by_anthropic(h)) {
        qn_api_anthropic_model(h, row);
        qn_snapshot_unref(snap);
        return;
    }
    const struct qn_model_view view = qn_api_model_view(api->serving, h);
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    if (row)
        qn_api_model_write(&w, api, row, &view);
    else
        write_listed(&w, listed, qn_registry_modified_s(api->models->registry), &view);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}
