/* Inference over HTTP: the receiving side of a run (client.h) that is an HTTP request. Statuses and
 * headers are decided here. Its memory is the request's arena. */
#include "infer/client.h"

#include "access/client_id.h"
#include "base/log.h"
#include "models/admission.h"

struct client {
    struct qn_loop *loop;
    struct qn_http *http;
    struct qn_infer_run *run;
    struct qn_stream *stream; /* NULL: the head has not been sent */
    struct qn_timer *resume;  /* the stream has room again */
    bool headed;              /* the dialect's own headers have been set */
};

static void gone(void *ctx)
{
    struct client *c = ctx;
    qn_timer_stop(c->resume);
    qn_infer_cancel(c->run, "client_gone");
}

static void resume(void *ctx)
{
    struct client *c = ctx;
    qn_timer_stop(c->resume);
    c->resume = NULL;
    if (!qn_stream_full(c->stream))
        qn_infer_resume(c->run);
}

/* Uses a timer: the stream must not be written from this callback, and a resumed job may have data
 * at once. */
static void drained(void *ctx)
{
    struct client *c = ctx;
    if (!c->resume)
        c->resume = qn_timer_start(c->loop, 0, 0, resume, c);
}

static void queued(void *ctx, const struct qn_queue_spot *spot)
{
    qn_admission_tell(((struct client *)ctx)->http, spot);
}

static void set_headers(struct client *c, const struct qn_infer_head *head)
{
    if (c->headed)
        return;
    c->headed = true;
    for (size_t i = 0; i < head->n_headers; i++)
        qn_http_set_header(c->http, head->headers[i].name, head->headers[i].value);
}

static bool write_more(void *ctx, const struct qn_infer_head *head, const void *bytes, size_t n)
{
    struct client *c = ctx;
    if (!c->stream) {
        set_headers(c, head);
        qn_http_set_header(c->http, "Cache-Control", "no-cache");
        c->stream = qn_http_stream(c->http, 200, head->type, drained, c);
    }
    qn_stream_write(c->stream, bytes, n);
    return qn_stream_full(c->stream);
}

static int64_t unread(void *ctx)
{
    return qn_http_unread(((struct client *)ctx)->http);
}

static bool revoke(void *ctx)
{
    struct client *c = ctx;
    if (!c->stream || !qn_http_stream_revoke(c->http))
        return false;
    c->stream = NULL;
    return true;
}

static void end_stream(struct client *c, const struct qn_infer_end *how)
{
    if (how->rest->len)
        qn_stream_write(c->stream, how->rest->data, how->rest->len);
    if (how->cut)
        qn_http_abort(c->http);
    else
        qn_stream_end(c->stream);
}

static void end(void *ctx, const struct qn_infer_end *how)
{
    struct client *c = ctx;
    struct qn_http *h = c->http;
    int status = how->problem ? qn_problem_status(how->problem) : 200;
    qn_http_on_gone(h, NULL, NULL);
    qn_timer_stop(c->resume);
    if (c->stream) {
        end_stream(c, how);
        return;
    }
    if (status == 503 || status == 429)
        qn_http_set_header(h, "Retry-After",
                           qn_arena_fmt(qn_http_arena(h), "%lld", (long long)how->again_s));
    set_headers(c, &how->head);
    const char *type = how->problem ? NULL : how->head.type;
    if (type || !how->rest->overflow)
        qn_http_reply_taking(h, status, type ? type : "application/json", how->rest);
    else
        qn_answer_json(h, status, how->rest);
}

/* Names the request in its reply and in the log; returns its id. */
static const char *name_request(const struct qn_inference *with, struct qn_http *h,
                                const struct qn_dialect *dialect, const char *owner)
{
    char id[QN_REQUEST_ID_DIGITS + 1];
    struct qn_arena *arena = qn_http_arena(h);
    qn_infer_id(with, owner, id);
    const char *name = qn_admission_name(h, qn_request_profile(h), id);
    const char *own = qn_client_request_id(h);
    /* A client that names its requests probably looks for them in the log: level info. */
    qn_log(own ? QN_LOG_INFO : QN_LOG_DEBUG, "infer", "id=%s name=%s client=\"%s\" own_name=\"%s\"",
           id, name, qn_client_id(h), own ? own : "");
    if (dialect->id_header)
        qn_http_set_header(h, dialect->id_header, qn_arena_fmt(arena, "req_%s", id));
    return qn_arena_strdup(arena, id);
}

void qn_infer(const struct qn_inference *with, struct qn_http *h, const struct qn_dialect *dialect)
{
    qn_infer_as(with, h, dialect, NULL, qn_http_path(h));
}

void qn_infer_as(const struct qn_inference *with, struct qn_http *h,
                 const struct qn_dialect *dialect, const char *model, const char *path)
{
    static const struct qn_infer_client client = {
        .queued = queued, .write = write_more, .unread = unread, .revoke = revoke, .end = end};
    struct client *c = qn_arena_alloc(qn_http_arena(h), sizeof *c);
    struct qn_error e = {0};
    *c = (struct client){.loop = with->serving->loop, .http = h};
    struct qn_infer_request request = {.dialect = dialect,
                                       .profile = qn_request_profile(h),
                                       .model = model,
                                       .path = path,
                                       .name = qn_client_id(h),
                                       .owner = qn_client_owner(h),
                                       .content_type = qn_http_header(h, "Content-Type")};
    request.family = qn_family_of(request.profile, path);
    qn_auth_caller(with->serving->auth, h, &request.caller);
    request.id = name_request(with, h, dialect, request.caller.owner);
    request.body = qn_http_body_take(h, &request.text, &request.n);
    if (qn_admission_limit(h, with->request_timeout_ms, &request.limit_ms, &e))
        request.why = &e;
    qn_http_on_gone(h, gone, c);
    qn_infer_start(with, &request, &client, c, &c->run);
}
