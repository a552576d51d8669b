/* GET internal/user_models.json, GET and POST internal/recipe_options.json: the catalog in the
 * format of the two files in which Lemonade stores the same, for moving from or to Lemonade.
 * `quince import FILE` reads the first. */
#include "api/api.h"

#include "answers/answer.h"
#include "base/buf.h"
#include "base/str.h"
#include "contract/backend_types.h"
#include "library/may_open.h"
#include "models/inventory.h"
#include "models/load_options.h"

#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 64 * 1024 };

static const char user[] = "user.";

static void write_json(struct qn_jw *w, const char *key, const char *json)
{
    qn_jw_key(w, key);
    qn_jw_raw(w, json, strlen(json));
}

static void write_definition(struct qn_jw *w, const struct qn_model_row *row)
{
    qn_jw_key(w, row->name + strlen(user));
    qn_jw_obj(w);
    if (qn_str_eq(row->checkpoints, "{}"))
        qn_jw_ksource(w, "checkpoint", row->checkpoint);
    else
        qn_jw_ksources(w, "checkpoints", row->checkpoints);
    qn_jw_kstr(w, "recipe", row->recipe);
    write_json(w, "labels", row->labels);
    qn_jw_kbool(w, "suggested", true); /* otherwise Lemonade would not show the model */
    if (row->size_bytes > 0)
        qn_jw_kf64(w, "size", (double)row->size_bytes / 1e9);
    qn_jw_members(w, row->extras);
    qn_jw_obj_end(w);
}

/* Writes one entry for each row for which `wanted` returns true. */
static void answer(const struct qn_models_api *api, struct qn_http *h,
                   bool (*wanted)(const struct qn_model_row *row),
                   void (*write)(struct qn_jw *w, const struct qn_model_row *row))
{
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    for (size_t i = 0; i < qn_snapshot_count(snap); i++)
        if (wanted(qn_snapshot_at(snap, i)))
            write(&w, qn_snapshot_at(snap, i));
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}

/* Models made of others are presets, which that file cannot express. */
static bool is_users(const struct qn_model_row *row)
{
    return qn_str_starts(row->name, user) && !*row->base;
}

void qn_api_user_models(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    (void)id;
    answer(api, h, is_users, write_definition);
}

static bool has_options(const struct qn_model_row *row)
{
    return !qn_str_eq(row->options, "{}");
}

static void write_options(struct qn_jw *w, const struct qn_model_row *row)
{
    write_json(w, row->name, row->options);
}

void qn_api_recipe_options(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    (void)id;
    answer(api, h, has_options, write_options);
}

/* An import that is running; the result of its last change is answered. */
struct importing {
    const struct qn_models_api *api;
    struct qn_http *http; /* NULL: the client has disconnected */
    struct qn_buf body;
};

static void gone(void *ctx)
{
    ((struct importing *)ctx)->http = NULL;
}

static void imported(void *ctx, const struct qn_error *e)
{
    struct importing *im = ctx;
    if (!e && !im->api->serving->closed)
        qn_inventory_options_changed(im->api->models->inventory);
    if (im->http) {
        qn_http_on_gone(im->http, NULL, NULL);
        if (e)
            qn_answer_error(im->http, e);
        else
            qn_answer_json(im->http, 200, &im->body);
    }
    qn_buf_deinit(&im->body);
    free(im);
}

/* Makes the JSON of ctx_size and the options of the model's backend type; other members are
 * ignored. */
static qn_err options_of(const struct qn_model_row *row, const struct qn_jref *given,
                         struct qn_buf *out, struct qn_error *e)
{
    const struct qn_backend_type *type = qn_backend_type_find(row->type);
    struct qn_jref context = qn_json_get(given, "ctx_size");
    int64_t tokens = -1; /* the model's own */
    if (qn_json_type(given) != QN_JSON_OBJECT)
        return qn_json_fail(given, e, "expected an object of options");
    qn_err err = qn_load_options_check(type, given, e);
    if (!err)
        err = qn_json_i64_opt(&context, -1, QN_CONTEXT_MAX, &tokens, e);
    if (err)
        return err;
    struct qn_buf known;
    qn_buf_init(&known, OPTIONS_MAX);
    if (type)
        qn_load_options_of(type, given, &known);
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    if (tokens > 0)
        qn_jw_ki64(&w, "ctx_size", tokens);
    qn_jw_members(&w, known.len ? qn_buf_cstr(&known) : "{}");
    qn_jw_obj_end(&w);
    qn_buf_deinit(&known);
    return QN_OK;
}

/* Without `im` it only checks, and counts the models; with `im` it changes them and writes the
 * names of models that are not installed. */
static qn_err take_options(const struct qn_models_api *api, const struct qn_jref *root,
                           struct qn_jw *w, struct importing *im, size_t *n, struct qn_error *e)
{
    size_t left = *n;
    struct qn_jref it;
    struct qn_buf text;
    qn_err err = QN_OK;
    qn_buf_init(&text, OPTIONS_MAX);
    for (bool more = qn_json_first(root, &it); more && !err; more = qn_json_next(&it)) {
        struct qn_snapshot *snap;
        const struct qn_model_row *row;
        if (qn_inventory_find_exactly(api->models->inventory, it.key, &snap, &row, NULL)) {
            if (im)
                qn_jw_str(w, it.key);
            continue;
        }
        qn_buf_clear(&text);
        err = options_of(row, &it, &text, e);
        if (!err && im) /* changes are made in order, so the last one reports the end */
            qn_catalog_set_options(api->models->catalog, row->name, qn_buf_cstr(&text),
                                   --left ? NULL : imported, im);
        *n += !im;
        qn_snapshot_unref(snap);
    }
    qn_buf_deinit(&text);
    return err;
}

static qn_err name_files(const struct qn_jref *root, struct qn_named_files *out, struct qn_error *e)
{
    struct qn_jref it;
    qn_err err = QN_OK;
    for (bool more = qn_json_first(root, &it); more && !err; more = qn_json_next(&it))
        err = qn_named_saved_options(out, &it, e);
    return err;
}

void qn_api_recipe_options_set(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    struct qn_named_files files = {.rule = api->open_rule};
    size_t n = 0;
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    struct qn_jref root = err ? (struct qn_jref){0} : qn_json_root(doc);
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err)
        err = take_options(api, &root, NULL, NULL, &n, &e);
    if (!err)
        err = name_files(&root, &files, &e);
    if (err) {
        qn_answer_error(h, &e);
    } else if (qn_may_open(&files, h)) {
        struct importing *im = qn_xcalloc(1, sizeof *im);
        im->api = api;
        im->http = h;
        qn_http_on_gone(h, gone, im);
        qn_buf_init(&im->body, QN_API_REPLY_MAX);
        struct qn_jw w = qn_jw_to(&im->body);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "status", "success");
        qn_jw_key(&w, "not_here");
        qn_jw_arr(&w);
        take_options(api, &root, &w, im, &n, NULL);
        qn_jw_arr_end(&w);
        qn_jw_obj_end(&w);
        if (!n)
            imported(im, NULL);
    }
    qn_json_free(doc);
}
