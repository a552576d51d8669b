/* POST models/register: registers a GGUF file on this disk as a model, or a hub's model to be
 * pulled later. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/remote.h"
#include "api/waiting.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "contract/backend_types.h"
#include "downloads/pull_request.h"
#include "library/may_open.h"
#include "models/inventory.h"
#include "models/metadata_scan.h"
#include "models/model_capabilities.h"
#include "models/registration.h"
#include "registry/ref.h"

#include <stdlib.h>

enum { ORDER_BYTES_MAX = 1024 * 1024, SIZE_GB_MAX = 1000000 };

/* The registration cannot be cancelled, so this outlives a client that disconnects. */
struct asker {
    const struct qn_models_api *api;
    struct qn_waiting client;
    char *name;
};

void qn_api_registered(const struct qn_models_api *api, struct qn_http *h, const char *name)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, name);
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "status", "success");
    qn_jw_kstr(&w, "message", "Model registered");
    qn_jw_kstr(&w, "model_name", name);
    qn_jw_kstr(&w, "canonical_model_name", name);
    if (row) {
        qn_jw_key(&w, "model");
        const struct qn_model_view view = qn_api_model_view(api->serving, h);
        qn_api_model_write(&w, api, row, &view);
    }
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}

static void done(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (!e && !a->api->serving->closed)
        qn_metadata_scan_again(a->api->models->metadata_scan);
    if (qn_waiting_end(&a->client, e))
        qn_api_registered(a->api, a->client.http, a->name);
    free(a->name);
    free(a);
}

static struct asker *asker_new(const struct qn_models_api *api, struct qn_http *h, const char *name)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->api = api;
    a->name = qn_xstrdup(name);
    qn_waiting_begin(&a->client, h);
    return a;
}

/* Whether there are several checkpoints, or one that is not a file of this machine. */
static bool is_of_hub(const struct qn_jref *root)
{
    struct qn_jref one = qn_json_get(root, "checkpoint"), many = qn_json_get(root, "checkpoints");
    struct qn_ref ref;
    if (qn_json_type(&one) != QN_JSON_STRING)
        return qn_json_type(&many) == QN_JSON_OBJECT;
    return qn_ref_parse(qn_json_raw_str(&one), QN_HUB_HF, &ref, NULL) == QN_OK &&
           ref.hub != QN_HUB_LOCAL;
}

/* The size that a definition states, in GB; pull finds the exact size. */
static qn_err read_size(const struct qn_jref *root, int64_t *bytes, struct qn_error *e)
{
    double gb = 0;
    struct qn_jref v = qn_json_get(root, "size");
    qn_err err = qn_json_f64_opt(&v, 0, SIZE_GB_MAX, &gb, e);
    *bytes = (int64_t)(gb * 1e9);
    return err;
}

static void put_order(const struct qn_models_api *api, struct qn_http *h,
                      const struct qn_pull_order *o, int64_t size_bytes)
{
    struct qn_buf checkpoints;
    qn_buf_init(&checkpoints, QN_PULL_ORDER_MAX);
    qn_pull_order_write_checkpoints(o, &checkpoints);
    const char *recipe = *o->recipe ? o->recipe : "llamacpp";
    const struct qn_backend_type *type =
        qn_backend_type_of(recipe, qn_labelled_capabilities(recipe, o->labels).has);
    struct qn_model_row row = {
        .name = o->model,
        .type = type ? type->type : "llm",
        .recipe = recipe,
        .checkpoint = o->checkpoints[0].ref,
        .checkpoints = qn_buf_cstr(&checkpoints),
        .size_bytes = size_bytes,
        .labels = o->labels,
        .options = *o->options ? o->options : "{}",
        .extras = *o->extras ? o->extras : "{}",
        .keeper = QN_KEEPER_QUINCE,
        .created_s = qn_wall_ms() / 1000,
    };
    qn_catalog_put(api->models->catalog, &row, done, asker_new(api, h, o->model));
    qn_buf_deinit(&checkpoints);
}

/* A model whose files are installed keeps them: it is registered already, or its name is taken. */
static bool is_here(const struct qn_models_api *api, const struct qn_pull_order *o, bool *same)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, o->model);
    bool here = row && row->n_files;
    *same = here && qn_str_eq(row->checkpoint, o->checkpoints[0].ref);
    qn_snapshot_unref(snap);
    return here;
}

static void register_hub(const struct qn_models_api *api, struct qn_http *h,
                         const struct qn_jref *root)
{
    struct qn_error e = {0};
    struct qn_pull_asked asked;
    struct qn_arena *arena = qn_arena_new(ORDER_BYTES_MAX);
    struct qn_named_files files = {.rule = api->open_rule};
    int64_t size_bytes = 0;
    bool same = false;
    qn_err err = qn_pull_by_request(api->puller, root, true, arena, &asked, &e);
    if (!err)
        err = read_size(root, &size_bytes, &e);
    if (!err && is_here(api, &asked.order, &same) && !same)
        err = qn_fail_param(&e, QN_ECONFLICT, "model_name",
                            "the name '%s' belongs to another model: choose another one, or delete "
                            "that one first",
                            asked.order.model);
    if (!err && !same)
        err = qn_named_order(&files, &asked.order, &e);
    if (err)
        qn_answer_error(h, &e);
    else if (same)
        done(asker_new(api, h, asked.order.model), NULL);
    else if (qn_may_open(&files, h))
        put_order(api, h, &asked.order, size_bytes);
    qn_arena_free(arena);
}

static bool says(const struct qn_jref *root, const char *member)
{
    struct qn_jref v = qn_json_get(root, member);
    return qn_json_type(&v) != QN_JSON_ABSENT && qn_json_type(&v) != QN_JSON_NULL;
}

/* Registers a file of this machine, and its projector if one is named. For a registered model,
 * members that the request does not have stay unchanged. */
static qn_err register_file(const struct qn_models_api *api, struct qn_http *h,
                            const struct qn_jref *root, struct qn_error *e)
{
    static const char *const labels[] = {"labels", "reasoning", "vision", "embedding", "reranking"};
    struct qn_arena *a = qn_http_arena(h);
    struct qn_pull_order said = {.recipe = "", .labels = "", .extras = "", .options = ""};
    const char *name = NULL, *path = NULL, *recipe = "llamacpp", *mmproj = "";
    struct qn_jref v = qn_json_get(root, "model_name"), p = qn_json_get(root, "mmproj");
    struct qn_named_files named = {.rule = api->open_rule};
    bool labelled = false;
    qn_err err = qn_json_str_opt(&v, &name, e);
    v = qn_json_get(root, "checkpoint");
    if (!err)
        err = qn_json_str(&v, &path, e);
    v = qn_json_get(root, "recipe");
    if (!err)
        err = qn_json_str_opt(&v, &recipe, e);
    if (!err)
        err = qn_json_str_opt(&p, &mmproj, e);
    if (!err && *mmproj && *mmproj != '/')
        err = qn_json_fail(&p, e, "the projector of a local file must be an absolute path, too");
    said.recipe = recipe;
    if (!err)
        err = qn_pull_describe(root, a, &said, e);
    v = qn_json_get(root, "recipe_options");
    if (!err) {
        qn_named_file(&named, path);
        if (*mmproj)
            qn_named_file(&named, mmproj);
        err = qn_named_saved_options(&named, &v, e);
    }
    if (err || !qn_may_open(&named, h))
        return err;
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        labelled = labelled || says(root, labels[i]);
    const char *files[] = {path, mmproj};
    static const char *const roles[] = {"main", "mmproj"};
    struct qn_registration_origin origin = {
        .files = files,
        .roles = roles,
        .n_files = *mmproj ? 2 : 0,
        .labels = labelled ? said.labels : NULL,
        .extras = *said.extras ? said.extras : NULL,
        .options = *said.options ? said.options : NULL,
    };
    if (name) {
        qn_registration_file(api->models->registration, name, path, recipe, &origin, done,
                             asker_new(api, h, name));
        return QN_OK;
    }
    struct asker *unnamed = asker_new(api, h, "");
    free(unnamed->name);
    unnamed->name = qn_xcalloc(1, QN_MODEL_NAME_MAX + 1);
    qn_registration_unnamed(api->models->registration, path, recipe, &origin, unnamed->name, done,
                            unnamed);
    return QN_OK;
}

void qn_api_register(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (err) {
        qn_answer_error(h, &e);
    } else {
        struct qn_jref root = qn_json_root(doc);
        if (qn_api_is_remote(&root))
            qn_api_remote(api, h, &root);
        else if (is_of_hub(&root))
            register_hub(api, h, &root);
        else if (register_file(api, h, &root, &e))
            qn_answer_error(h, &e);
    }
    qn_json_free(doc);
}
