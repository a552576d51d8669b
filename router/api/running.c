/* GET running: the running models in the form of llama-swap. GET slots: the slots of the model used
 * last, in the form of llama-server. */
#include "api/api.h"

#include "answers/answer.h"
#include "base/str.h"
#include "models/inventory.h"
#include "models/residency.h"

/* The state of a model's process in llama-swap's words. */
static const char *state_word(const struct qn_loaded *m)
{
    switch (m->status.state) {
    case QN_INST_READY:
        return "ready";
    case QN_INST_LOADING:
    case QN_INST_BACKOFF:
        return "starting";
    case QN_INST_DRAINING:
        return "stopping";
    default:
        return qn_inst_state_name(m->status.state);
    }
}

/* inside: the address of its process may be shown. */
static void write_running(struct qn_jw *w, const struct qn_loaded *m, bool inside)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "model", m->name);
    qn_jw_kstr(w, "state", state_word(m));
    qn_jw_kstr(w, "type", m->type);
    qn_jw_kstr(w, "proxy", inside ? m->status.url : "");
    qn_jw_ki64(w, "ttl", m->stays_ms < 0 ? 0 : (m->stays_ms + 999) / 1000); /* 0: no limit */
    if (inside)
        qn_jw_ki64(w, "pid", m->status.pid);
    qn_jw_ki64(w, "requests_running", (int64_t)m->holders);
    qn_jw_ki64(w, "requests_waiting", (int64_t)m->waiting);
    qn_jw_obj_end(w);
}

void qn_api_running(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    size_t n = qn_inventory_loaded(api->models->inventory, loaded, QN_RESIDENTS_MAX);
    struct qn_buf body;
    bool inside = qn_api_sees_paths(api->serving, h);
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_key(&w, "running");
    qn_jw_arr(&w);
    for (size_t i = 0; i < n; i++)
        write_running(&w, &loaded[i], inside);
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

/* Only the number of busy slots is known, not which ones; so the first ones are shown as busy. */
void qn_api_slots_write(struct qn_jw *w, const struct qn_child_status *s)
{
    qn_jw_arr(w);
    for (int64_t i = 0; i < s->slots; i++) {
        qn_jw_obj(w);
        qn_jw_ki64(w, "id", i);
        qn_jw_ki64(w, "n_ctx", s->context);
        qn_jw_kbool(w, "is_processing", i < s->jobs);
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
}

void qn_api_slots(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    const char *last = qn_inventory_last_used(api->models->inventory);
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    size_t n = last ? qn_inventory_loaded(api->models->inventory, loaded, QN_RESIDENTS_MAX) : 0;
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    for (size_t i = 0; i < n; i++)
        if (qn_str_eq(loaded[i].name, last))
            qn_api_slots_write(&w, &loaded[i].status);
    if (body.len)
        qn_answer_json(h, 200, &body);
    else
        qn_answer_plain(h, 400, "no_model_loaded",
                        "No model is loaded: load one first (POST /v1/load)");
    qn_buf_deinit(&body);
}
