/* GET live, health and status: whether the server is alive, and which models are loaded. */
#include "api/api.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "api/server_info.h"
#include "base/clock.h"
#include "base/str.h"
#include "models/inventory.h"
#include "models/residency.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void qn_api_live(const struct qn_watch_api *api, struct qn_http *h, const char *id)
{
    static const char body[] = "{\"status\":\"ok\"}";
    (void)api;
    (void)id;
    qn_http_reply(h, 200, "application/json", body, sizeof body - 1);
}

/* The pool in which the model competes for memory, in Lemonade's terms; a group is a pool of its
 * own. */
static void write_pool(struct qn_jw *w, const struct qn_loaded *m)
{
    char pool[QN_GROUP_NAME_MAX + 16];
    if (m->group)
        snprintf(pool, sizeof pool, "group/%s", m->group);
    else
        snprintf(pool, sizeof pool, "standard/%s", qn_kind_name(m->kind));
    qn_jw_kstr(w, "residency_class", m->group ? "group" : "standard");
    qn_jw_kstr(w, "slot_pool", pool);
}

/* How much internal data a client is shown. */
enum view { STRANGER, USER, ADMIN };

static enum view view_of(const struct qn_watch_api *api, const struct qn_http *h)
{
    struct qn_caller caller;
    qn_auth_caller(api->serving->auth, h, &caller);
    return caller.admin ? ADMIN : qn_auth_is_stranger(api->serving->auth, h) ? STRANGER : USER;
}

/* Writes where the model's process is and how it was started. */
static void write_inside(struct qn_jw *w, const struct qn_loaded *m, const struct qn_model_row *row,
                         bool admin)
{
    qn_jw_ksource(w, "checkpoint", row ? qn_api_shown_path(row->checkpoint, admin) : NULL);
    qn_jw_key(w, "recipe_options");
    qn_jw_obj(w);
    if (m->status.state == QN_INST_READY)
        qn_jw_ki64(w, "ctx_size", m->status.context);
    qn_api_options_write(w, m->options, admin);
    qn_jw_obj_end(w);
    if (admin) {
        qn_jw_kstr(w, "backend_url", m->status.url);
        qn_jw_ki64(w, "pid", m->status.pid);
    }
    qn_jw_kstr(w, "reason", *m->reason ? m->reason : NULL);
}

/* Writes the memory that the process actually uses, besides its planned memory. */
static void write_resident(struct qn_jw *w, const struct qn_loaded *m)
{
    int64_t bytes = qn_process_memory(m->status.pid);
    if (bytes >= 0)
        qn_jw_ki64(w, "resident_bytes", bytes);
}

/* row is NULL for a model that was removed from the catalog while it is loaded. */
static void write_loaded(struct qn_jw *w, const struct qn_loaded *m, const struct qn_model_row *row,
                         enum view view)
{
    bool ready = m->status.state == QN_INST_READY;
    int64_t ago_ms = qn_now_ms() - m->status.last_use_ms;
    qn_jw_obj(w);
    qn_jw_kstr(w, "model_name", m->name);
    qn_jw_kf64(w, "last_use", (double)(qn_wall_ms() - ago_ms) / 1000);
    qn_jw_kstr(w, "type", qn_kind_name(m->kind));
    qn_jw_kstr(w, "device", m->device);
    qn_jw_kstr(w, "recipe", row ? row->recipe : NULL);
    if (view != STRANGER)
        write_inside(w, m, row, view == ADMIN);
    qn_jw_kstr(w, "status", m->state);
    qn_jw_kbool(w, "loaded", ready);
    qn_jw_kf64(w, "progress", ready ? 1 : m->status.progress);
    qn_jw_kbool(w, "pinned", m->pinned);
    write_pool(w, m);
    if (m->stays_ms >= 0)
        qn_jw_kf64(w, "unloads_in_seconds", (double)m->stays_ms / 1000);
    else
        qn_jw_knull(w, "unloads_in_seconds");
    qn_jw_kbool(w, "is_busy", m->holders > 0);
    qn_jw_ki64(w, "requests_running", m->status.jobs);
    qn_jw_ki64(w, "requests_waiting", (int64_t)m->waiting);
    if (ready) {
        qn_jw_ki64(w, "max_context_window", m->status.context);
        qn_jw_ki64(w, "memory_bytes", m->status.memory_bytes);
        write_resident(w, m);
        qn_jw_ki64(w, "slots", m->status.slots);
        qn_jw_ki64(w, "threads", m->status.threads);
        qn_jw_ki64(w, "load_ms", m->status.load_ms);
    }
    qn_jw_obj_end(w);
}

/* Several APIs define these paths; two paths have one form for all, otherwise the profile
 * decides. */
static unsigned parts_of(const struct qn_profile *profile, const char *path)
{
    if (qn_str_starts(path, "/api/"))
        return QN_HEALTH_MODELS;
    if (qn_str_eq(path, "/status"))
        return QN_HEALTH_SYSTEM | QN_HEALTH_MODELS | QN_HEALTH_HEALTHY | QN_HEALTH_SERVER;
    return qn_path_unversioned(path) ? profile->health_versioned : profile->health;
}

/* Models whose processes end unrequested, with their crash reports. */
static void write_crashed(struct qn_jw *w, const struct qn_watch_api *api)
{
    struct qn_crashed crashed[QN_RESIDENTS_MAX];
    size_t n = qn_inventory_crashed(api->models->inventory, crashed, QN_RESIDENTS_MAX);
    qn_jw_key(w, "failed_models");
    qn_jw_arr(w);
    for (size_t i = 0; i < n; i++) {
        const struct qn_child_status *s = &crashed[i].status;
        char time[25];
        qn_wall_format(s->crash_report->wall_ms, time);
        qn_jw_obj(w);
        qn_jw_kstr(w, "model_name", crashed[i].name);
        qn_jw_kstr(w, "status", qn_inst_state_name(s->state));
        qn_jw_kbool(w, "crash_loop", s->crash_loop);
        qn_jw_ki64(w, "crashes", s->crashes);
        if (s->state == QN_INST_BACKOFF)
            qn_jw_ki64(w, "restart_in_ms", s->restart_ms);
        qn_jw_kstr(w, "timestamp", time);
        qn_jw_kstr(w, "message", s->crash_report->error.message);
        qn_crash_report_members(s->crash_report, w);
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
}

/* Writes a number for each kind, under its current and its former names. */
static void write_kinds(struct qn_jw *w, const char *key, const int64_t of[static QN_KIND_COUNT])
{
    static const char *const names[] = {"llm",           "embedding", "reranking", "audio",
                                        "transcription", "image",     "tts"};
    qn_jw_key(w, key);
    qn_jw_obj(w);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        qn_jw_ki64(w, names[i], of[qn_kind_parse(names[i])]);
    qn_jw_obj_end(w);
}

static void write_models(struct qn_jw *w, const struct qn_watch_api *api,
                         const struct qn_loaded *loaded, size_t n, enum view view)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    int64_t pinned[QN_KIND_COUNT] = {0};
    qn_jw_kstr(w, "model_loaded", qn_inventory_last_used(api->models->inventory));
    qn_jw_key(w, "all_models_loaded");
    qn_jw_arr(w);
    for (size_t i = 0; i < n; i++)
        write_loaded(w, &loaded[i], qn_snapshot_find(snap, loaded[i].name), view);
    qn_jw_arr_end(w);
    if (view == ADMIN) /* including lines of models' logs */
        write_crashed(w, api);
    write_kinds(w, "max_models", qn_inventory_config(api->models->inventory)->max_loaded.of);
    for (size_t i = 0; i < n; i++)
        pinned[loaded[i].kind] += loaded[i].pinned;
    write_kinds(w, "pinned_models", pinned);
    qn_jw_ki64(w, "websocket_port", api->websocket_port);
    qn_jw_kbool(w, "stopping", api->serving->stopping);
    qn_snapshot_unref(snap);
}

static void write_system(struct qn_jw *w, const struct qn_watch_api *api, bool counts)
{
    int64_t ready, total, used = qn_used_memory();
    qn_api_engines_count(api->models, &ready, &total);
    qn_jw_ki64(w, "timestamp", qn_wall_ms() / 1000);
    if (counts) {
        qn_jw_key(w, "engines");
        qn_jw_obj(w);
        qn_jw_ki64(w, "loaded", ready);
        qn_jw_ki64(w, "unloaded", total - ready);
        qn_jw_ki64(w, "total", total);
        qn_jw_obj_end(w);
    }
    qn_jw_key(w, "system");
    qn_jw_obj(w);
    qn_jw_ki64(w, "uptime_seconds", (qn_now_ms() - api->serving->started_ms) / 1000);
    qn_jw_ki64(w, "memory_usage_mb", used < 0 ? 0 : used / 1048576);
    qn_jw_kf64(w, "cpu_usage_percent", qn_cpu_percent(&api->telemetry->cpu, qn_now_ms()));
    qn_jw_obj_end(w);
    qn_jw_key(w, "engines_summary");
    qn_api_engines_write(api->models, w, false, false);
}

void qn_api_engine_name(const struct qn_loaded *m, struct qn_engine_name *out)
{
    size_t n = 0;
    for (; m->device[n] && n + 1 < sizeof out->backend; n++)
        out->backend[n] = (char)toupper((unsigned char)m->device[n]);
    out->backend[n] = '\0';
    snprintf(out->key, sizeof out->key, "%.*s_%lld_%s", QN_MODEL_NAME_MAX, m->name,
             (long long)m->status.context, out->backend);
}

/* Writes the single load attempt that a model here always has. */
static void write_attempt(struct qn_jw *w, const struct qn_loaded *m)
{
    struct qn_engine_name name;
    qn_api_engine_name(m, &name);
    qn_jw_obj(w);
    qn_jw_kstr(w, "key", name.key);
    qn_jw_kstr(w, "backend", name.backend);
    qn_jw_key(w, "attempts");
    qn_jw_arr(w);
    qn_jw_obj(w);
    qn_jw_kstr(w, "backend", name.backend);
    qn_jw_kstr(w, "result", "ok");
    qn_jw_ki64(w, "duration_ms", m->status.load_ms);
    qn_jw_obj_end(w);
    qn_jw_arr_end(w);
    qn_jw_obj_end(w);
}

static void write_engines(struct qn_jw *w, const struct qn_loaded *loaded, size_t n)
{
    size_t waiting = 0, ready = 0;
    for (size_t i = 0; i < n; i++) {
        waiting += loaded[i].waiting;
        ready += loaded[i].status.state == QN_INST_READY;
    }
    qn_jw_kstr(w, "service", "quince");
    qn_jw_ki64(w, "queue_depth", (int64_t)waiting);
    qn_jw_ki64(w, "engines_loaded", (int64_t)ready);
    qn_jw_key(w, "engines");
    qn_jw_arr(w);
    for (size_t i = 0; i < n; i++)
        if (loaded[i].status.state == QN_INST_READY)
            write_attempt(w, &loaded[i]);
    qn_jw_arr_end(w);
    qn_jw_key(w, "aicore"); /* a service of Android's */
    qn_jw_obj(w);
    qn_jw_knull(w, "status_code");
    qn_jw_kstr(w, "status", "unavailable");
    qn_jw_kstr(w, "model_id", "gemini-nano-aicore");
    qn_jw_kbool(w, "is_default", true);
    qn_jw_kstr(w, "error", "AICore is part of Android and does not exist on this system");
    qn_jw_obj_end(w);
}

/* Writes who the client is to this server: its rights, and the name of its key. */
static void write_client(struct qn_jw *w, const struct qn_http *h, enum view view)
{
    const struct qn_key *key = qn_auth_key(h);
    qn_jw_key(w, "client");
    qn_jw_obj(w);
    qn_jw_kbool(w, "admin", view == ADMIN);
    qn_jw_kstr(w, "key", key ? key->name : NULL);
    qn_jw_obj_end(w);
}

void qn_api_health(const struct qn_watch_api *api, struct qn_http *h, const char *id)
{
    unsigned parts = parts_of(qn_request_profile(h), qn_http_path(h));
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    enum view view = view_of(api, h);
    struct qn_buf body;
    (void)id;
    if (parts & QN_HEALTH_SILENT) {
        qn_http_reply(h, qn_inventory_last_used(api->models->inventory) ? 200 : 503, NULL, "", 0);
        return;
    }
    size_t n = qn_inventory_loaded(api->models->inventory, loaded, QN_RESIDENTS_MAX);
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "status", parts & QN_HEALTH_HEALTHY ? "healthy" : "ok");
    if (parts & QN_HEALTH_OK)
        qn_jw_kbool(&w, "ok", true);
    qn_jw_kstr(&w, "version", QN_VERSION);
    if (parts & QN_HEALTH_ENGINES)
        write_engines(&w, loaded, n);
    if (parts & QN_HEALTH_SYSTEM)
        write_system(&w, api, !(parts & QN_HEALTH_ENGINES));
    if (parts & QN_HEALTH_SERVER && !qn_auth_is_stranger(api->serving->auth, h)) {
        qn_api_server_info_write(&w, api);
        write_client(&w, h, view);
    }
    if (parts & QN_HEALTH_MODELS)
        write_models(&w, api, loaded, n, view);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

/* A browser is redirected to the page, programs get the report. */
void qn_api_status(const struct qn_watch_api *api, struct qn_http *h, const char *id)
{
    const char *accept = qn_http_header(h, "Accept");
    const char *html = accept ? strstr(accept, "text/html") : NULL;
    const char *json = accept ? strstr(accept, "application/json") : NULL;
    if (html && (!json || html < json)) {
        qn_http_set_header(h, "Location", "/");
        qn_http_reply(h, 302, NULL, "", 0);
    } else {
        qn_api_health(api, h, id);
    }
}
