/* GET, POST and DELETE internal/aliases: additional names of models. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/waiting.h"
#include "base/buf.h"
#include "base/str.h"
#include "models/inventory.h"
#include "models/registration.h"

#include <stdlib.h>
#include <string.h>

/* A change of the catalog cannot be cancelled, so this outlives a client that disconnects. */
struct asker {
    struct qn_waiting client;
    char *alias, *model; /* model NULL: the alias was removed */
};

static void write_one(struct qn_jw *w, const char *alias, const char *model)
{
    qn_jw_kstr(w, "alias", alias);
    if (model) {
        qn_jw_kstr(w, "model_name", model);
        qn_jw_kstr(w, "model", model);
    }
}

void qn_api_aliases(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_key(&w, "aliases");
    qn_jw_arr(&w);
    for (size_t i = 0; i < qn_snapshot_alias_count(snap); i++) {
        const struct qn_alias_row *row = qn_snapshot_alias_at(snap, i);
        qn_jw_obj(&w);
        write_one(&w, row->name, row->model);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}

static void changed(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (qn_waiting_end(&a->client, e)) {
        struct qn_buf body;
        qn_buf_init(&body, QN_API_REPLY_MAX);
        struct qn_jw w = qn_jw_to(&body);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "status", "success");
        write_one(&w, a->alias, a->model);
        qn_jw_obj_end(&w);
        qn_answer_json(a->client.http, 200, &body);
        qn_buf_deinit(&body);
    }
    free(a->alias);
    free(a->model);
    free(a);
}

static void change(const struct qn_models_api *api, struct qn_http *h, const char *alias,
                   const char *model)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->alias = qn_xstrdup(alias);
    a->model = model ? qn_xstrdup(model) : NULL;
    qn_waiting_begin(&a->client, h);
    qn_catalog_set_alias(api->models->catalog, a->alias, a->model, changed, a);
}

/* An alias must name an existing model, not another alias, and must not hide a model. */
static qn_err check(const struct qn_models_api *api, const char *alias, const char *name,
                    char **model, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    if (!qn_registration_name_ok(alias))
        return qn_fail_param(e, QN_EINVAL, "alias",
                             "'%.80s' cannot be a name: letters, digits and . _ - / : + @", alias);
    qn_err err = qn_inventory_find(api->models->inventory, name, &snap, &row, e);
    if (err)
        return err;
    const char *meant = qn_snapshot_alias(snap, alias);
    if (qn_snapshot_find(snap, alias))
        err = qn_fail_param(e, QN_ECONFLICT, "alias", "'%s' is a model's own name", alias);
    else if (meant && !qn_str_eq(meant, row->name) && qn_snapshot_find(snap, meant))
        err = qn_fail_param(e, QN_ECONFLICT, "alias",
                            "'%s' means %s already: remove it with `quince alias remove %s`", alias,
                            meant, alias);
    else
        *model = qn_xstrdup(row->name);
    qn_snapshot_unref(snap);
    return err;
}

void qn_api_alias_add(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    const char *alias = NULL, *name = NULL;
    char *model = NULL;
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "alias");
        err = qn_json_str(&v, &alias, &e);
        v = qn_json_get(&root, "model_name");
        if (qn_json_type(&v) == QN_JSON_ABSENT)
            v = qn_json_get(&root, "model");
        if (!err)
            err = qn_json_str(&v, &name, &e);
    }
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err)
        err = check(api, alias, name, &model, &e);
    if (err)
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = name});
    else
        change(api, h, alias, model);
    free(model);
    qn_json_free(doc);
}

/* The name is in the path, or in the body. */
void qn_api_alias_remove(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    const char *alias = id;
    qn_err err = id ? QN_OK : qn_api_body(h, false, &doc, &e);
    if (!err && !id) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "alias");
        err = qn_json_str(&v, &alias, &e);
    }
    if (!err && strlen(alias) > QN_MODEL_NAME_MAX)
        err = qn_fail_param(&e, QN_ENOTFOUND, "alias", "there is no alias '%.200s'", alias);
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (err)
        qn_answer_error(h, &e);
    else
        change(api, h, alias, NULL);
    qn_json_free(doc);
}
