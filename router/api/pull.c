/* POST pull: downloads a model from its hub and registers it. The client watches the job by one
 * reply at its end, by server-sent events, or, with "subscribe": false, not at all. The job
 * continues if its client disconnects, unless the client sent cancel_on_disconnect and no other
 * client wants the model. */
#include "api/pull.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "answers/hide_paths.h"
#include "api/api.h"
#include "base/buf.h"
#include "base/str.h"
#include "downloads/pull_request.h"
#include "http/watchers.h"
#include "library/may_open.h"
#include "registry/web.h"

#include <stdlib.h>

enum {
    EVENT_MAX = 64 * 1024,
    HOLD_TICKS = 1000 / QN_PULL_TICK_MS,  /* an error within a second has a status of its own */
    ALIVE_TICKS = 1000 / QN_PULL_TICK_MS, /* between comments while there are no events */
    ORDER_BYTES_MAX = 1024 * 1024
};

struct asker {
    const struct qn_pulls_api *api;
    struct qn_http *http;
    struct qn_pull_client *client;
    struct qn_watcher counted;
    struct qn_stream *stream; /* NULL: the reply has not begun */
    char *model, *recipe, *checkpoint;
    bool events;   /* the client wants events */
    bool snapshot; /* the client wants only the job's state once it is stored */
    size_t file;   /* index of the file that events are about */
    int ticks, quiet;
};

static void asker_free(struct asker *a)
{
    qn_watchers_remove(&a->counted);
    free(a->model);
    free(a->recipe);
    free(a->checkpoint);
    free(a);
}

static void gone(void *ctx)
{
    struct asker *a = ctx;
    qn_pull_leave(a->client);
    asker_free(a);
}

bool qn_api_pull_offline(const struct qn_puller *puller, const struct qn_error *e)
{
    /* Errors because no engine runs the model, or no hub has it, have a member of the request as
     * param. */
    bool network = e->code == QN_EUNSUPPORTED && !*e->param;
    return qn_web_is_offline(puller->web) && (e->code == QN_ENOTFOUND || network);
}

const char *qn_api_pull_code(const struct qn_puller *puller, const struct qn_error *e)
{
    if (qn_str_eq(e->param, QN_PULL_DISK_FULL))
        return QN_PULL_DISK_FULL;
    return qn_api_pull_offline(puller, e) ? "lemond_offline" : qn_err_name(e->code);
}

struct qn_error qn_api_pull_shown(const struct qn_http *h, const struct qn_error *e)
{
    struct qn_error shown = *e;
    if (!qn_auth_sees_inside(h))
        qn_hide_paths(e->message, shown.message, sizeof shown.message);
    return shown;
}

void qn_api_pull_job(const struct qn_http *h, const struct qn_pull_view *v, struct qn_jw *w)
{
    struct qn_pull_view shown = *v;
    char message[QN_ERROR_MESSAGE_MAX];
    bool inside = qn_auth_sees_inside(h);
    if (!inside) {
        qn_hide_paths(v->error, message, sizeof message);
        shown.error = message;
    }
    shown.main_ref = qn_api_shown_path(v->main_ref, inside);
    qn_pull_view_job(&shown, w);
}

void qn_api_pull_refuse(const struct qn_puller *puller, struct qn_http *h, const char *model,
                        const struct qn_error *whole)
{
    const struct qn_error hidden = qn_api_pull_shown(h, whole), *e = &hidden;
    if (qn_str_eq(e->param, QN_PULL_DISK_FULL))
        qn_answer_plain(h, 507, QN_PULL_DISK_FULL, e->message);
    else if (qn_api_pull_offline(puller, e))
        qn_answer_plain(h, 400, "lemond_offline", e->message);
    else if (e->code == QN_ENOTFOUND && qn_str_eq(e->param, "model"))
        qn_answer_plain(h, 400, "unknown_model", e->message);
    else {
        struct qn_error shown = *e;
        if (qn_str_eq(shown.param, QN_PULL_NETWORK)) /* the param is not a member of the request */
            shown.param[0] = '\0';
        qn_answer_problem(h, &(struct qn_problem){.error = &shown, .model = model});
    }
}

/* ---- one answer ---- */

static void write_success(struct qn_jw *w, const char *model, const char *recipe,
                          const char *checkpoint)
{
    struct qn_buf message;
    qn_buf_init(&message, EVENT_MAX);
    qn_buf_fmt(&message, "Installed model: %s", model);
    qn_jw_kstr(w, "status", "success");
    qn_jw_kstr(w, "message", qn_buf_cstr(&message));
    qn_jw_kstr(w, "model_name", model);
    qn_jw_ksource(w, "checkpoint", checkpoint);
    qn_jw_kstr(w, "recipe", recipe);
    qn_buf_deinit(&message);
}

static void answer_success(struct qn_http *h, const struct qn_pull_order *o)
{
    struct qn_buf body;
    qn_buf_init(&body, EVENT_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    write_success(&w, o->model, o->recipe, o->n ? o->checkpoints[0].ref : "");
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

/* ---- events ---- */

static void begin_stream(struct asker *a)
{
    if (a->stream)
        return;
    qn_http_set_header(a->http, "Cache-Control", "no-cache");
    a->stream = qn_http_stream(a->http, 200, "text/event-stream", NULL, NULL);
}

/* Writes "event: NAME" with a JSON object whose members fill writes. */
static void add_event(struct asker *a, struct qn_buf *text, const char *name,
                      void (*fill)(struct asker *a, struct qn_jw *w, const void *what),
                      const void *what)
{
    qn_buf_fmt(text, "event: %s\ndata: ", name);
    struct qn_jw w = qn_jw_to(text);
    qn_jw_obj(&w);
    fill(a, &w, what);
    qn_jw_obj_end(&w);
    qn_buf_str(text, "\n\n");
}

static void send_events(struct asker *a, struct qn_buf *text)
{
    begin_stream(a);
    if (!text->overflow)
        qn_stream_write(a->stream, text->data, text->len);
    qn_buf_deinit(text);
    a->quiet = 0;
}

static void send_event(struct asker *a, const char *name,
                       void (*fill)(struct asker *a, struct qn_jw *w, const void *what),
                       const void *what)
{
    struct qn_buf text;
    qn_buf_init(&text, EVENT_MAX);
    add_event(a, &text, name, fill, what);
    send_events(a, &text);
}

static void fill_progress(struct asker *a, struct qn_jw *w, const void *what)
{
    qn_pull_view_progress(what, a->file, w);
}

static void fill_complete(struct asker *a, struct qn_jw *w, const void *what)
{
    const struct qn_pull_view *v = what;
    qn_jw_ki64(w, "file_index", (int64_t)v->n);
    qn_jw_ki64(w, "total_files", (int64_t)v->n);
    qn_jw_ki64(w, "percent", 100);
    qn_jw_ki64(w, "total_download_size", v->total_bytes);
    qn_jw_kbool(w, "complete", true);
    write_success(w, a->model, a->recipe, a->checkpoint);
}

static void fill_error(struct asker *a, struct qn_jw *w, const void *what)
{
    const struct qn_error hidden = qn_api_pull_shown(a->http, what), *e = &hidden;
    qn_jw_kstr(w, "error", e->message);
    qn_jw_kstr(w, "status", "error");
    qn_jw_kstr(w, "message", e->message);
    qn_jw_kstr(w, "code", qn_api_pull_code(a->api->puller, e));
    qn_jw_kstr(w, "model_name", a->model);
}

/* Complete files are reported one by one, each once with all its bytes. */
static void send_progress(struct asker *a, const struct qn_pull_view *v)
{
    struct qn_buf text;
    qn_buf_init(&text, QN_DOWNLOAD_FILES_MAX * (size_t)EVENT_MAX);
    for (; a->file < v->n && v->files[a->file].done; a->file++)
        add_event(a, &text, "progress", fill_progress, v);
    if (a->file < v->n)
        add_event(a, &text, "progress", fill_progress, v);
    send_events(a, &text);
}

static void on_progress(void *ctx, const struct qn_pull_view *v)
{
    struct asker *a = ctx;
    a->ticks++;
    if (!a->events || (a->stream && qn_stream_full(a->stream)))
        return;
    if (v->n && (qn_str_eq(v->phase, "fetching") || v->rate_bytes_s > 0)) {
        send_progress(a, v);
    } else if (a->ticks >= HOLD_TICKS && ++a->quiet >= ALIVE_TICKS) {
        a->quiet = 0;
        begin_stream(a);
        qn_stream_write(a->stream, ": waiting\n\n", 11);
    }
}

static void on_kept(void *ctx, const struct qn_pull_view *v)
{
    struct asker *a = ctx;
    if (!a->snapshot)
        return;
    struct qn_buf body;
    qn_buf_init(&body, EVENT_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_api_pull_job(a->http, v, &w);
    qn_http_on_gone(a->http, NULL, NULL);
    qn_answer_json(a->http, 200, &body);
    qn_buf_deinit(&body);
    qn_pull_leave(a->client);
    asker_free(a);
}

static void on_end(void *ctx, const struct qn_pull_view *v, const struct qn_error *e)
{
    struct asker *a = ctx;
    qn_http_on_gone(a->http, NULL, NULL);
    free(a->recipe);
    a->recipe = qn_xstrdup(v->recipe);
    if (e && !a->stream) {
        qn_api_pull_refuse(a->api->puller, a->http, a->model, e);
    } else if (a->events) {
        if (e) {
            send_event(a, "error", fill_error, e);
        } else {
            send_progress(a, v);
            send_event(a, "complete", fill_complete, v);
        }
        qn_stream_end(a->stream);
    } else {
        struct qn_pull_order o = {.model = a->model,
                                  .recipe = a->recipe,
                                  .checkpoints = {{"main", a->checkpoint}},
                                  .n = 1};
        answer_success(a->http, &o);
    }
    asker_free(a);
}

static const struct qn_pull_events events = {
    .progress = on_progress, .kept = on_kept, .end = on_end};

/* ---- the request ---- */

struct wants {
    bool stream, subscribe, until_gone;
    int64_t priority;
};

static qn_err read_wants(const struct qn_jref *root, struct wants *out, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "stream");
    *out = (struct wants){.subscribe = true, .priority = QN_UNSET_PRIORITY};
    qn_err err = qn_json_bool_opt(&v, &out->stream, e);
    v = qn_json_get(root, "subscribe");
    if (!err)
        err = qn_json_bool_opt(&v, &out->subscribe, e);
    v = qn_json_get(root, "cancel_on_disconnect");
    if (!err)
        err = qn_json_bool_opt(&v, &out->until_gone, e);
    v = qn_json_get(root, "priority");
    /* A client that does not watch cannot disconnect. */
    out->until_gone = out->until_gone && out->subscribe;
    if (!err)
        err = qn_json_i64_opt(&v, -QN_PULL_PRIORITY_MAX, QN_PULL_PRIORITY_MAX, &out->priority, e);
    return err;
}

static struct asker *asker_new(const struct qn_pulls_api *api, struct qn_http *h,
                               const struct qn_pull_order *o, const struct wants *wants)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->api = api;
    a->http = h;
    a->model = qn_xstrdup(o->model);
    a->recipe = qn_xstrdup(o->recipe);
    a->checkpoint = qn_xstrdup(o->n ? o->checkpoints[0].ref : "");
    a->events = wants->stream && wants->subscribe;
    a->snapshot = !wants->subscribe;
    return a;
}

/* Replies for an installed model, without a job. */
static void answer_here(const struct qn_pulls_api *api, struct qn_http *h,
                        const struct qn_pull_order *o, const struct wants *wants)
{
    if (!wants->stream || !wants->subscribe) {
        answer_success(h, o);
        return;
    }
    struct asker *a = asker_new(api, h, o, wants);
    send_event(a, "complete", fill_complete, &(struct qn_pull_view){0});
    qn_stream_end(a->stream);
    asker_free(a);
}

void qn_api_pull(const struct qn_pulls_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    struct qn_pull_asked asked = {0};
    struct wants wants = {0};
    struct qn_caller caller;
    struct qn_arena *arena = qn_arena_new(ORDER_BYTES_MAX);
    struct qn_named_files files = {.rule = api->open_rule};
    (void)id;
    qn_auth_caller(api->serving->auth, h, &caller);
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = read_wants(&root, &wants, &e);
        if (!err)
            err = qn_pull_by_request(api->puller, &root, caller.admin, arena, &asked, &e);
        if (!err && wants.priority > 0 && !caller.admin)
            asked.admin_only = QN_API_PRIORITY_FOR_ADMINS;
    }
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err && !asked.admin_only && !asked.here)
        err = qn_named_order(&files, &asked.order, &e);
    if (err) {
        qn_api_pull_refuse(api->puller, h, asked.order.model, &e);
    } else if (asked.admin_only) {
        qn_answer_plain(h, qn_verdict_status(QN_NO_ADMIN), qn_verdict_type(QN_NO_ADMIN),
                        asked.admin_only);
    } else if (asked.here) {
        answer_here(api, h, &asked.order, &wants);
    } else if (qn_may_open(&files, h)) {
        struct asker *a = asker_new(api, h, &asked.order, &wants);
        struct qn_pull_wish wish = {.order = &asked.order,
                                    .owner = caller.owner,
                                    .admin = caller.admin,
                                    .priority = wants.priority,
                                    .until_gone = wants.until_gone};
        if (wants.subscribe)
            err = qn_watchers_add(api->serving->watchers, caller.owner, QN_API_PULL_INSTEAD,
                                  &a->counted, &e);
        if (!err)
            err = qn_pulls_ask(api->puller->pulls, &wish, &events, a, &a->client, &e);
        if (err) {
            qn_api_pull_refuse(api->puller, h, a->model, &e);
            asker_free(a);
        } else {
            qn_http_on_gone(h, gone, a);
        }
    }
    qn_arena_free(arena);
    qn_json_free(doc);
}
