/* /upstream/MODEL/PATH: requests PATH of one model, which is loaded first. If a server of another
 * project runs the model, the requests of admins are forwarded to that server. Models of quince's
 * own engines serve the inference routes, with MODEL in place of the model in the body, and report
 * their state.
 *
 * A server of another project reuses cached prompts without regard to their owners, and its
 * response times show which prompts are cached. So inference requests of other clients are served
 * as jobs, which keep owners apart, and once an admin has used the server directly, jobs reuse no
 * cached prompts. */
#include "api/api.h"

#include "access/auth.h"
#include "access/client_id.h"
#include "answers/answer.h"
#include "base/str.h"
#include "infer/infer.h"
#include "infer/proxy.h"
#include "models/inventory.h"
#include "models/residency.h"
#include "router/routes.h"

#include <stdlib.h>
#include <string.h>

static const char no_model[] = "No model is loaded: load one first (POST /v1/load)";

struct visit {
    const struct qn_models_api *api;
    struct qn_http *http;
    const char *model, *path; /* in the request's arena; path begins with a slash */
    struct qn_lease *lease;
};

/* Splits id into model and path. Names of models may contain slashes, so the model is the shortest
 * prefix that names one. The search stops at QN_MODEL_NAME_MAX bytes or at two adjacent slashes,
 * which no name has, because paths may have thousands of slashes. */
static bool split(struct visit *v, const char *id)
{
    struct qn_arena *arena = qn_http_arena(v->http);
    for (const char *slash = strchrnul(id, '/');; slash = strchrnul(slash + 1, '/')) {
        if (slash - id > QN_MODEL_NAME_MAX)
            return false;
        const char *name = qn_arena_strndup(arena, id, (size_t)(slash - id));
        struct qn_snapshot *snap;
        const struct qn_model_row *row;
        if (qn_inventory_find(v->api->models->inventory, name, &snap, &row, NULL) == QN_OK) {
            v->model = qn_arena_strdup(arena, row->name);
            v->path = *slash ? slash : "/";
            qn_snapshot_unref(snap);
            return true;
        }
        if (!*slash || slash[1] == '/')
            return false;
    }
}

static void say_health(struct visit *v, const struct qn_child_status *s)
{
    static const char ok[] = "{\"status\":\"ok\"}";
    (void)s;
    qn_http_reply(v->http, 200, "application/json", ok, sizeof ok - 1);
}

static void say_slots(struct visit *v, const struct qn_child_status *s)
{
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_api_slots_write(&w, s);
    qn_answer_json(v->http, 200, &body);
    qn_buf_deinit(&body);
}

static void say_models(struct visit *v, const struct qn_child_status *s)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(v->api->models->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, v->model);
    const struct qn_model_view view = qn_api_model_view(v->api->serving, v->http);
    struct qn_buf body;
    (void)s;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "object", "list");
    qn_jw_key(&w, "data");
    qn_jw_arr(&w);
    if (row)
        qn_api_model_write(&w, v->api, row, &view);
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_answer_json(v->http, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}

/* The routes by which quince's own models report their state. */
static const struct {
    const char *path;
    void (*say)(struct visit *v, const struct qn_child_status *s);
} facts[] = {
    {"/", say_health},     {"/health", say_health}, {"/v1/health", say_health},
    {"/slots", say_slots}, {"/models", say_models}, {"/v1/models", say_models},
};

static void answer_error(struct visit *v, const struct qn_error *e, bool loading)
{
    struct qn_problem p = {.error = e, .loading = loading, .model = v->model};
    if (v->model)
        p.crash_report = qn_inventory_crash_report(v->api->models->inventory, v->model, e);
    qn_answer_problem(v->http, &p);
}

static bool is_get(const struct qn_http *h)
{
    return qn_str_eq(qn_http_method(h), "GET") || qn_str_eq(qn_http_method(h), "HEAD");
}

/* Whether the request is inference. Other routes of a foreign server (its slots, its settings)
 * would show other clients' requests or change their processing, so only admins may use them. */
static bool is_inference(const struct visit *v)
{
    struct qn_route_hit hit;
    return qn_route_find(qn_http_method(v->http), v->path, &hit) == QN_ROUTE_FOUND &&
           hit.row->dialect;
}

/* Serves a request to a loaded model of quince's own engines. */
static void serve(struct visit *v, const struct qn_child_status *s)
{
    struct qn_route_hit hit;
    if (qn_route_find(qn_http_method(v->http), v->path, &hit) == QN_ROUTE_FOUND &&
        hit.row->dialect) {
        qn_infer_as(v->api->inference, v->http, hit.row->dialect, v->model, v->path);
        return;
    }
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (is_get(v->http) && qn_str_eq(facts[i].path, v->path)) {
            facts[i].say(v, s);
            return;
        }
    }
    if (qn_str_starts(v->path, "/slots/")) {
        qn_answer_plain(v->http, 400, "unsupported",
                        "This model runs on quince's own engine, which manages its cache by "
                        "itself: its slots cannot be saved, restored or erased");
        return;
    }
    qn_answer_plain(v->http, 404, "not_found",
                    "This model runs on quince's own engine: it serves the inference routes, "
                    "/health, /slots and /v1/models");
}

static bool is_admin(const struct visit *v)
{
    struct qn_caller caller;
    qn_auth_caller(v->api->serving->auth, v->http, &caller);
    return caller.admin;
}

static void gone(void *ctx)
{
    struct visit *v = ctx;
    qn_lease_release(v->lease);
    free(v);
}

static void granted(void *ctx, const struct qn_error *why)
{
    struct visit *v = ctx;
    qn_http_on_gone(v->http, NULL, NULL);
    if (why) {
        answer_error(v, why, true);
    } else {
        struct qn_child *c = qn_lease_child(v->lease);
        struct qn_child_status s = qn_child_status(c);
        if (*s.upstream && !is_inference(v) && !qn_api_need_admin(v->api->serving, v->http)) {
            qn_lease_release(v->lease);
        } else if (*s.upstream && is_admin(v)) {
            qn_child_ask_directly(c);
            qn_proxy(v->api->serving->loop, qn_child_client(c), v->http, v->lease, s.upstream,
                     s.upstream_key, v->path);
        } else {
            qn_lease_release(v->lease);
            serve(v, &s);
        }
    }
    free(v);
}

/* Whether the model is loaded and runs on quince's own engine, so that no lease is needed. */
static bool runs(const struct visit *v, struct qn_child_status *s)
{
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    size_t n = qn_inventory_loaded(v->api->models->inventory, loaded, QN_RESIDENTS_MAX);
    for (size_t i = 0; i < n; i++) {
        *s = loaded[i].status;
        if (s->state == QN_INST_READY && qn_str_eq(loaded[i].name, v->model))
            return !*s->upstream;
    }
    return false;
}

/* Serves the request, or waits until the model is loaded. Takes ownership of v. */
static void begin(struct visit *v)
{
    struct qn_child_status s;
    struct qn_error e = {0};
    if (runs(v, &s)) {
        serve(v, &s);
    } else if (qn_inventory_acquire(v->api->models->inventory, v->model, NULL,
                                    qn_client_owner(v->http), granted, v, &v->lease, &e)) {
        answer_error(v, &e, false);
    } else {
        qn_http_on_gone(v->http, gone, v);
        return;
    }
    free(v);
}

void qn_api_upstream(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct visit *v = qn_xcalloc(1, sizeof *v);
    struct qn_error e = {0};
    *v = (struct visit){.api = api, .http = h};
    if (split(v, id)) {
        begin(v);
        return;
    }
    qn_fail_param(
        &e, QN_ENOTFOUND, "model",
        "'%.200s' does not begin with a model's name: /upstream/MODEL/PATH requests PATH of MODEL",
        id);
    answer_error(v, &e, false);
    free(v);
}

/* llama-server's actions on a slot, for the model that was used last. */
void qn_api_slot(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    static const char *const actions[] = {"save", "restore", "erase"};
    const char *action = qn_http_query(h, "action");
    const char *last = qn_inventory_last_used(api->models->inventory);
    bool known = false;
    int64_t slot;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        known |= action && qn_str_eq(action, actions[i]);
    if (!known || !qn_parse_i64(id, &slot) || slot < 0) {
        qn_answer_plain(h, 400, "invalid_request_error",
                        "POST slots/N needs a slot's number, and action=save, restore or erase");
    } else if (!last) {
        qn_answer_plain(h, 400, "no_model_loaded", no_model);
    } else {
        struct qn_arena *arena = qn_http_arena(h);
        struct visit *v = qn_xcalloc(1, sizeof *v);
        *v = (struct visit){.api = api,
                            .http = h,
                            .model = qn_arena_strdup(arena, last),
                            .path = qn_arena_fmt(arena, "/slots/%lld", (long long)slot)};
        begin(v);
    }
}
