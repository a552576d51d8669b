/* GET live and health: is the server there, what is loaded. */
#include "router/api/api.h"

#include "base/clock.h"
#include "router/answer.h"
#include "router/inventory.h"
#include "router/residency.h"

void qn_api_live(struct qn_services *sv, struct qn_http *h, const char *id)
{
    static const char body[] = "{\"status\":\"ok\"}";
    (void)sv;
    (void)id;
    qn_http_reply(h, 200, "application/json", body, sizeof body - 1);
}

/* row is NULL for a model that has left the catalog while it is loaded. */
static void write_loaded(struct qn_jw *w, const struct qn_loaded *m, const struct qn_model_row *row)
{
    bool ready = m->status.state == QN_INST_READY;
    int64_t ago_ms = qn_now_ms() - m->status.last_use_ms;
    qn_jw_obj(w);
    qn_jw_kstr(w, "model_name", m->name);
    qn_jw_kstr(w, "checkpoint", row ? row->checkpoint : NULL);
    qn_jw_kf64(w, "last_use", (double)(qn_wall_ms() - ago_ms) / 1000);
    qn_jw_kstr(w, "type", m->type);
    qn_jw_kstr(w, "device", "cpu");
    qn_jw_kstr(w, "recipe", row ? row->recipe : NULL);
    qn_jw_key(w, "recipe_options");
    qn_jw_obj(w);
    if (ready)
        qn_jw_ki64(w, "ctx_size", m->status.context);
    qn_jw_obj_end(w);
    qn_jw_kstr(w, "backend_url", m->status.url);
    qn_jw_ki64(w, "pid", m->status.pid);
    qn_jw_kstr(w, "status", qn_inst_state_name(m->status.state));
    qn_jw_kbool(w, "loaded", ready);
    qn_jw_kf64(w, "progress", ready ? 1 : m->status.progress);
    qn_jw_kbool(w, "pinned", false);
    qn_jw_kbool(w, "is_busy", m->holders > 0);
    qn_jw_ki64(w, "requests_running", m->status.jobs);
    qn_jw_ki64(w, "requests_waiting", (int64_t)m->waiting);
    if (ready) {
        qn_jw_ki64(w, "max_context_window", m->status.context);
        qn_jw_ki64(w, "memory_bytes", m->status.memory_bytes);
        qn_jw_ki64(w, "slots", m->status.slots);
        qn_jw_ki64(w, "threads", m->status.threads);
        qn_jw_ki64(w, "load_ms", m->status.load_ms);
    }
    qn_jw_obj_end(w);
}

void qn_api_health(struct qn_services *sv, struct qn_http *h, const char *id)
{
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    size_t n = qn_inventory_loaded(sv->inventory, loaded, QN_RESIDENTS_MAX);
    struct qn_snapshot *snap = qn_catalog_snapshot(sv->catalog);
    const struct qn_backend_type *type;
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "status", "ok");
    qn_jw_kstr(&w, "version", QN_VERSION);
    qn_jw_kstr(&w, "model_loaded", qn_inventory_last_used(sv->inventory));
    qn_jw_key(&w, "all_models_loaded");
    qn_jw_arr(&w);
    for (size_t i = 0; i < n; i++)
        write_loaded(&w, &loaded[i], qn_snapshot_find(snap, loaded[i].name));
    qn_jw_arr_end(&w);
    qn_jw_key(&w, "max_models");
    qn_jw_obj(&w);
    for (unsigned i = 0; (type = qn_backend_type_at(i)); i++)
        qn_jw_ki64(&w, type->type, qn_inventory_config(sv->inventory)->max_loaded);
    qn_jw_obj_end(&w);
    qn_jw_kbool(&w, "stopping", sv->stopping);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}
