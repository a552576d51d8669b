/* GET models and models/{id}: what can be used. */
#include "router/api/api.h"

#include "base/str.h"
#include "router/answer.h"
#include "router/inventory.h"
#include "router/residency.h"

#include <string.h>

/* The catalog keeps these as JSON text that was checked on its way in. */
static void write_json(struct qn_jw *w, const char *key, const char *json)
{
    qn_jw_key(w, key);
    qn_jw_raw(w, json, strlen(json));
}

/* Of a preset: the model that computes for it is. */
static bool is_ready(struct qn_services *sv, const struct qn_model_row *row)
{
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    size_t n = qn_inventory_loaded(sv->inventory, loaded, QN_RESIDENTS_MAX);
    struct qn_snapshot *snap = qn_catalog_snapshot(sv->catalog);
    const char *name = qn_inventory_computes(snap, row)->name;
    bool ready = false;
    for (size_t i = 0; i < n; i++)
        if (qn_str_eq(loaded[i].name, name))
            ready = loaded[i].status.state == QN_INST_READY;
    qn_snapshot_unref(snap);
    return ready;
}

void qn_api_model_write(struct qn_jw *w, struct qn_services *sv, const struct qn_model_row *row)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", row->name);
    qn_jw_kstr(w, "object", "model");
    qn_jw_ki64(w, "created", row->created_s);
    qn_jw_kstr(w, "owned_by", "lemonade");
    qn_jw_kstr(w, "checkpoint", row->checkpoint);
    qn_jw_key(w, "checkpoints");
    qn_jw_obj(w);
    qn_jw_kstr(w, "main", row->checkpoint);
    qn_jw_obj_end(w);
    qn_jw_kstr(w, "recipe", row->recipe);
    qn_jw_kstr(w, "type", row->type);
    qn_jw_kf64(w, "size", (double)row->size_bytes / 1e9);
    qn_jw_ki64(w, "size_bytes", row->size_bytes);
    qn_jw_kbool(w, "downloaded", row->n_files > 0);
    qn_jw_kbool(w, "suggested", row->suggested);
    write_json(w, "labels", row->labels);
    qn_jw_key(w, "components");
    qn_jw_arr(w);
    qn_jw_arr_end(w);
    write_json(w, "recipe_options", row->options);
    qn_jw_kstr(w, "source", row->builtin ? "builtin" : "local");
    qn_jw_kbool(w, "update_available", false);
    struct qn_json *details = NULL;
    if (qn_json_parse(row->details, strlen(row->details), &details, NULL) == QN_OK) {
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
    qn_jw_kbool(w, "loaded", is_ready(sv, row));
    qn_jw_ki64(w, "last_use", row->last_use_s);
    qn_jw_obj_end(w);
}

static bool asked_by_anthropic(const struct qn_http *h)
{
    return qn_http_header(h, "anthropic-version") != NULL;
}

void qn_api_models(struct qn_services *sv, struct qn_http *h, const char *id)
{
    if (asked_by_anthropic(h)) {
        qn_api_anthropic_models(sv, h);
        return;
    }
    struct qn_snapshot *snap = qn_catalog_snapshot(sv->catalog);
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "object", "list");
    qn_jw_key(&w, "data");
    qn_jw_arr(&w);
    for (size_t i = 0; i < qn_snapshot_count(snap); i++)
        qn_api_model_write(&w, sv, qn_snapshot_at(snap, i));
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}

void qn_api_model(struct qn_services *sv, struct qn_http *h, const char *id)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    struct qn_error e = {0};
    if (qn_inventory_find(sv->inventory, id, &snap, &row, &e)) {
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = id});
        return;
    }
    if (asked_by_anthropic(h)) {
        qn_api_anthropic_model(h, row);
        qn_snapshot_unref(snap);
        return;
    }
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_api_model_write(&w, sv, row);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}
