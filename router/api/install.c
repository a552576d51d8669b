/* POST install, install/dry-run and uninstall: engines of other projects. An installation is
 * answered once at its end or, with "stream": true, by server-sent events in the form of POST pull;
 * it continues if its client disconnects. */
#include "api/api.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "api/pull.h"
#include "api/waiting.h"
#include "base/buf.h"
#include "base/str.h"
#include "downloads/pack_jobs.h"
#include "http/watchers.h"
#include "models/devices.h"
#include "models/inventory.h"
#include "models/recipes.h"
#include "registry/web.h"

#include <stdlib.h>

enum { EVENT_MAX = 64 * 1024, ALIVE_TICKS = 1000 / QN_PACK_TICK_MS };

enum what { INSTALL, DRY_RUN, UNINSTALL };

/* A client that waits for quince-probe's report of the machine, and then for a job. */
struct asker {
    const struct qn_engines_api *api;
    struct qn_waiting client;
    struct qn_pack_client *job;
    struct qn_watcher counted;
    struct qn_stream *stream; /* NULL: the reply has not begun */
    char *recipe, *backend;
    enum what what;
    bool events, force;
    int quiet; /* ticks since the last event */
};

static void asker_free(struct asker *a)
{
    qn_watchers_remove(&a->counted);
    free(a->recipe);
    free(a->backend);
    free(a);
}

/* ---- answers ---- */

static void write_success(struct qn_jw *w, const struct asker *a, const struct qn_engine *en)
{
    struct qn_buf message;
    qn_buf_init(&message, EVENT_MAX);
    qn_buf_fmt(&message, "%s backend: %s:%s", a->what == UNINSTALL ? "Removed" : "Installed",
               a->recipe, a->backend);
    qn_jw_kstr(w, "status", "success");
    qn_jw_kstr(w, "recipe", a->recipe);
    qn_jw_kstr(w, "backend", a->backend);
    qn_jw_kstr(w, "message", qn_buf_cstr(&message));
    if (en && *en->version)
        qn_jw_kstr(w, "version", en->version);
    qn_buf_deinit(&message);
}

static struct qn_recipes recipes_of(const struct qn_engines_api *api, const struct qn_json *devices)
{
    return (struct qn_recipes){
        .backend_dir = qn_inventory_config(api->models->inventory)->backend_dir,
        .packs = api->packs,
        .devices = devices,
        .no_fetch = api->no_fetch_executables,
    };
}

static void answer_success(struct asker *a, const struct qn_engine *en)
{
    struct qn_buf body;
    qn_buf_init(&body, EVENT_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    write_success(&w, a, en);
    qn_jw_obj_end(&w);
    qn_answer_json(a->client.http, 200, &body);
    qn_buf_deinit(&body);
}

/* A failed installation has the status of a failed load, not 4xx, because the request is not at
 * fault. If the server is offline, the reply has the status and code that Lemonade's clients expect
 * for that. */
static void answer_failure(struct asker *a, const struct qn_error *e)
{
    if (qn_api_pull_offline(a->api->puller, e))
        qn_answer_plain(a->client.http, 400, "lemond_offline", e->message);
    else
        qn_answer_problem(a->client.http, &(struct qn_problem){.error = e, .loading = true});
}

/* ---- events ---- */

static void begin_stream(struct asker *a)
{
    if (a->stream)
        return;
    qn_http_set_header(a->client.http, "Cache-Control", "no-cache");
    a->stream = qn_http_stream(a->client.http, 200, "text/event-stream", NULL, NULL);
}

static void send_event(struct asker *a, const char *name, const struct qn_buf *object)
{
    struct qn_buf text;
    qn_buf_init(&text, EVENT_MAX);
    qn_buf_fmt(&text, "event: %s\ndata: ", name);
    qn_buf_add(&text, object->data, object->len);
    qn_buf_str(&text, "\n\n");
    begin_stream(a);
    if (!text.overflow)
        qn_stream_write(a->stream, text.data, text.len);
    qn_buf_deinit(&text);
    a->quiet = 0;
}

static void send_progress(struct asker *a, const struct qn_pull_view *v)
{
    struct qn_buf object;
    qn_buf_init(&object, EVENT_MAX);
    struct qn_jw w = qn_jw_to(&object);
    qn_jw_obj(&w);
    qn_pull_view_progress(v, 0, &w);
    qn_jw_kstr(&w, "phase", v->phase);
    qn_jw_obj_end(&w);
    send_event(a, "progress", &object);
    qn_buf_deinit(&object);
}

static void send_complete(struct asker *a, const struct qn_pull_view *v, const struct qn_engine *en)
{
    struct qn_buf object;
    int64_t total = v ? v->total_bytes : 0;
    qn_buf_init(&object, EVENT_MAX);
    struct qn_jw w = qn_jw_to(&object);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "file_index", v ? 1 : 0);
    qn_jw_ki64(&w, "total_files", v ? 1 : 0);
    qn_jw_ki64(&w, "percent", 100);
    qn_jw_ki64(&w, "total_download_size", total < 0 ? 0 : total);
    qn_jw_kbool(&w, "complete", true);
    write_success(&w, a, en);
    qn_jw_obj_end(&w);
    send_event(a, "complete", &object);
    qn_buf_deinit(&object);
}

static void send_error(struct asker *a, const struct qn_error *e)
{
    struct qn_buf object;
    qn_buf_init(&object, EVENT_MAX);
    struct qn_jw w = qn_jw_to(&object);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "error", e->message);
    qn_jw_kstr(&w, "status", "error");
    qn_jw_kstr(&w, "message", e->message);
    qn_jw_kstr(&w, "code", qn_api_pull_code(a->api->puller, e));
    qn_jw_kstr(&w, "recipe", a->recipe);
    qn_jw_kstr(&w, "backend", a->backend);
    qn_jw_obj_end(&w);
    send_event(a, "error", &object);
    qn_buf_deinit(&object);
}

static void on_progress(void *ctx, const struct qn_pull_view *v)
{
    struct asker *a = ctx;
    if (!a->events || (a->stream && qn_stream_full(a->stream)))
        return;
    if (qn_str_eq(v->phase, "fetching")) {
        send_progress(a, v);
    } else if (++a->quiet >= ALIVE_TICKS) {
        a->quiet = 0;
        begin_stream(a);
        qn_stream_write(a->stream, ": waiting\n\n", 11);
    }
}

static void on_end(void *ctx, const struct qn_pull_view *v, const struct qn_error *e)
{
    struct asker *a = ctx;
    struct qn_engine en;
    struct qn_recipes r = recipes_of(a->api, NULL);
    bool known = !e && !qn_recipes_find(&r, a->recipe, a->backend, &en, NULL);
    qn_http_on_gone(a->client.http, NULL, NULL);
    if (!a->events && e) {
        answer_failure(a, e);
    } else if (!a->events) {
        answer_success(a, known ? &en : NULL);
    } else if (e && !a->stream) { /* no event has been sent, so the error can be a status */
        answer_failure(a, e);
    } else {
        if (e) {
            send_error(a, e);
        } else {
            send_progress(a, v);
            send_complete(a, v, known ? &en : NULL);
        }
        qn_stream_end(a->stream);
    }
    asker_free(a);
}

static const struct qn_pack_events events = {.progress = on_progress, .end = on_end};

static void gone(void *ctx)
{
    struct asker *a = ctx;
    qn_pack_leave(a->job);
    asker_free(a);
}

/* ---- what is to be done ---- */

/* Checks whether the engine may be installed. */
static qn_err may_install(const struct asker *a, const struct qn_engine *en, struct qn_error *e)
{
    if (!en->pack)
        return qn_fail_param(e, QN_EUNSUPPORTED, "backend", "%s:%s cannot be installed: %s",
                             a->recipe, a->backend, en->message);
    if (a->api->no_fetch_executables)
        return qn_fail(e, QN_EUNSUPPORTED,
                       "the setting no-fetch-executables forbids downloading programs");
    if (en->state == QN_ENGINE_UNSUPPORTED && !(en->hardware && a->force))
        return qn_fail_param(e, QN_EUNSUPPORTED, "backend", "%s:%s cannot be installed: %s%s",
                             a->recipe, a->backend, en->message,
                             en->hardware ? " (\"force\": true installs it anyway)" : "");
    return qn_web_online(a->api->puller->web, en->pack->url, e);
}

static bool needs_nothing(const struct asker *a, const struct qn_engine *en)
{
    return en->state == QN_ENGINE_INSTALLED && (en->own || !a->force);
}

static void answer_dry_run(struct asker *a, const struct qn_engine *en, const struct qn_error *e)
{
    struct qn_buf body;
    bool needed = !needs_nothing(a, en);
    qn_buf_init(&body, EVENT_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "status", "success");
    qn_jw_kstr(&w, "recipe", a->recipe);
    qn_jw_kstr(&w, "backend", a->backend);
    qn_jw_kstr(&w, "state", qn_engine_state_name(en->state));
    qn_jw_kbool(&w, "would_install", needed && !e);
    qn_jw_kstr(&w, "message", needed && e ? e->message : en->message);
    if (*en->version)
        qn_jw_kstr(&w, "installed_version", en->version);
    if (en->pack) {
        qn_jw_kstr(&w, "version", en->pack->version);
        qn_jw_kstr(&w, "url", en->pack->url);
        qn_jw_kstr(&w, "sha256", *en->pack->sha256 ? en->pack->sha256 : NULL);
        qn_jw_kstr(&w, "digests", en->pack->digest_url);
        if (en->pack->size_bytes > 0)
            qn_jw_ki64(&w, "size_bytes", en->pack->size_bytes);
    }
    qn_jw_obj_end(&w);
    qn_answer_json(a->client.http, 200, &body);
    qn_buf_deinit(&body);
}

static void install(struct asker *a, const struct qn_engine *en)
{
    struct qn_error e = {0};
    qn_err err = needs_nothing(a, en) ? QN_OK : may_install(a, en, &e);
    if (a->what == DRY_RUN) {
        answer_dry_run(a, en, err ? &e : NULL);
    } else if (err && qn_web_is_offline(a->api->puller->web)) {
        answer_failure(a, &e);
    } else if (err) {
        qn_answer_error(a->client.http, &e);
    } else if (needs_nothing(a, en)) {
        if (a->events) {
            send_complete(a, NULL, en);
            qn_stream_end(a->stream);
        } else {
            answer_success(a, en);
        }
    } else if (qn_pack_jobs_install(a->api->pack_jobs, en->pack, &events, a, &a->job, &e)) {
        qn_answer_error(a->client.http, &e);
    } else {
        qn_http_on_gone(a->client.http, gone, a);
        return;
    }
    asker_free(a);
}

static void removed(void *ctx)
{
    struct asker *a = ctx;
    if (qn_waiting_end(&a->client, NULL))
        answer_success(a, NULL);
    asker_free(a);
}

static void uninstall(struct asker *a, const struct qn_engine *en)
{
    struct qn_error e = {0};
    qn_err err;
    if (en->own)
        err = qn_fail_param(&e, QN_EUNSUPPORTED, "backend",
                            "%s:%s is quince's own engine and cannot be removed by itself",
                            a->recipe, a->backend);
    else if (!en->pack || en->state == QN_ENGINE_UNSUPPORTED || en->state == QN_ENGINE_INSTALLABLE)
        err = qn_fail_param(&e, QN_ENOTFOUND, "backend", "%s:%s is not installed", a->recipe,
                            a->backend);
    else {
        qn_waiting_begin(&a->client, a->client.http);
        err = qn_pack_jobs_remove(a->api->pack_jobs, en->pack, removed, a, &e);
        if (!err)
            return;
        if (err == QN_ENOTFOUND && en->system)
            qn_fail_param(&e, err, "backend",
                          "%s is a program of this system, which quince did not install",
                          en->pack->program);
    }
    qn_waiting_end(&a->client, &e);
    asker_free(a);
}

static void on_devices(void *ctx, const struct qn_devices_view *view)
{
    struct asker *a = ctx;
    struct qn_recipes r = recipes_of(a->api, view->doc);
    struct qn_engine en;
    struct qn_error e = {0};
    if (!qn_waiting_end(&a->client, NULL)) {
        asker_free(a);
    } else if (qn_recipes_find(&r, a->recipe, a->backend, &en, &e)) {
        qn_answer_error(a->client.http, &e);
        asker_free(a);
    } else if (a->what == UNINSTALL) {
        uninstall(a, &en);
    } else {
        install(a, &en);
    }
}

/* ---- the request ---- */

static qn_err read_request(const struct qn_jref *root, struct asker *a, struct qn_error *e)
{
    const char *recipe = "", *backend = "";
    struct qn_jref v = qn_json_get(root, "recipe");
    qn_err err = qn_json_str_opt(&v, &recipe, e);
    v = qn_json_get(root, "backend");
    if (!err)
        err = qn_json_str_opt(&v, &backend, e);
    if (!err && (!*recipe || !*backend))
        err = qn_fail_param(e, QN_EINVAL, *recipe ? "backend" : "recipe",
                            "both recipe and backend are needed, as \"llamacpp\" and \"vulkan\"");
    v = qn_json_get(root, "stream");
    if (!err)
        err = qn_json_bool_opt(&v, &a->events, e);
    v = qn_json_get(root, "force");
    if (!err)
        err = qn_json_bool_opt(&v, &a->force, e);
    a->recipe = qn_xstrdup(recipe);
    a->backend = qn_xstrdup(backend);
    return err;
}

static qn_err count(struct asker *a, struct qn_http *h, struct qn_error *e)
{
    struct qn_caller caller;
    qn_auth_caller(a->api->serving->auth, h, &caller);
    return qn_watchers_add(a->api->serving->watchers, caller.owner,
                           "an installation that has begun goes on, and GET /v1/engines "
                           "shows what is installed",
                           &a->counted, e);
}

static void take(const struct qn_engines_api *api, struct qn_http *h, enum what what)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->api = api;
    a->what = what;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = read_request(&root, a, &e);
    }
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err && what == INSTALL)
        err = count(a, h, &e);
    if (err) {
        qn_answer_error(h, &e);
        asker_free(a);
    } else {
        qn_waiting_begin(&a->client, h);
        qn_devices_ask(api->devices, on_devices, a);
    }
    qn_json_free(doc);
}

void qn_api_install(const struct qn_engines_api *api, struct qn_http *h, const char *id)
{
    (void)id;
    take(api, h, INSTALL);
}

void qn_api_install_dry_run(const struct qn_engines_api *api, struct qn_http *h, const char *id)
{
    (void)id;
    take(api, h, DRY_RUN);
}

void qn_api_uninstall(const struct qn_engines_api *api, struct qn_http *h, const char *id)
{
    (void)id;
    take(api, h, UNINSTALL);
}
