/* POST internal/pin and internal/simulate-vram-pressure: excludes models from eviction, and
 * simulates memory pressure. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/waiting.h"
#include "base/str.h"
#include "contract/job.h"
#include "models/inventory.h"

#include <stdlib.h>

/* The change cannot be cancelled, so this outlives a client that disconnects. */
struct asker {
    const struct qn_models_api *api;
    struct qn_waiting client;
    char *name;
    bool pinned;
};

static void answer(struct asker *a)
{
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "status", "success");
    qn_jw_kstr(&w, "model_name", a->name);
    qn_jw_kbool(&w, "pinned", a->pinned);
    qn_jw_obj_end(&w);
    qn_answer_json(a->client.http, 200, &body);
    qn_buf_deinit(&body);
}

static void saved(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (!e && !a->api->serving->closed)
        qn_inventory_options_changed(a->api->models->inventory);
    if (qn_waiting_end(&a->client, e))
        answer(a);
    free(a->name);
    free(a);
}

static qn_err read_pin(const struct qn_jref *root, const char **name, bool *pinned,
                       struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "model_name"), p = qn_json_get(root, "pinned");
    if (qn_json_type(&v) <= QN_JSON_NULL)
        v = qn_json_get(root, "model");
    if (qn_json_type(&v) <= QN_JSON_NULL)
        return qn_fail_param(e, QN_EINVAL, "model_name",
                             "Parameter 'model' or 'model_name' is required");
    if (qn_json_type(&p) != QN_JSON_BOOL)
        return qn_fail_param(e, QN_EINVAL, "pinned",
                             "Parameter 'pinned' is required and must be a boolean");
    *pinned = qn_json_raw_bool(&p);
    return qn_json_str(&v, name, e);
}

void qn_api_pin(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    struct qn_error e = {0};
    const char *name = NULL;
    bool pinned = false;
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = read_pin(&root, &name, &pinned, &e);
    }
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err)
        err = qn_inventory_find(api->models->inventory, name, &snap, &row, &e);
    if (err) {
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = name});
    } else {
        struct asker *a = qn_xcalloc(1, sizeof *a);
        const struct qn_load_options options = {
            .context = QN_UNSET, .options = pinned ? "{\"pinned\":true}" : "{\"pinned\":false}"};
        a->api = api;
        a->name = qn_xstrdup(row->name);
        a->pinned = pinned;
        qn_waiting_begin(&a->client, h);
        if (!qn_api_save_options(api, a->name, &options, saved, a)) {
            qn_fail(&e, QN_ELIMIT, "the model has too many saved options already");
            saved(a, &e);
        }
        qn_snapshot_unref(snap);
    }
    qn_json_free(doc);
}

/* The reply is sent when the evicted model has been told to stop; its process may still be
 * running. */
void qn_api_simulate_pressure(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    static const char body[] = "{\"status\":\"ok\"}";
    struct qn_json *doc;
    struct qn_error e = {0};
    double share = 0;
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "pct");
        err = qn_json_f64_opt(&v, -1, 1, &share, &e);
    }
    qn_json_free(doc);
    if (err) {
        qn_answer_error(h, &e);
        return;
    }
    /* -1: only models that have been idle for too long, which timers evict anyway. */
    qn_inventory_press(api->models->inventory, share);
    qn_http_reply(h, 200, "application/json", body, sizeof body - 1);
}
