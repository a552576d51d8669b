/* One request: collected, handed over, answered at once or later.
 *
 * Invariants:
 * - A request is suspended only inside the access handler or the content reader, and every
 *   suspended one is resumed before the daemon is stopped: libmicrohttpd demands both.
 * - A suspended connection is out of the daemon's epoll set, so a watch of our own on its socket
 *   (EPOLLRDHUP) learns that the client has left.
 * - A request is finished once its owner has nothing more to be told: after its whole reply, after
 *   ending its stream, after abort, after gone. */
#include "io/http_server_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "io/http_head.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 1024, /* one read of a streamed reply where chunks are not understood */
    REQUEST_ARENA_MAX = 512 * 1024 * 1024,
    IDLE_MS = 75 * 1000,       /* between requests */
    BODY_STALL_MS = 60 * 1000, /* a body that does not arrive */
    SEND_STALL_MS = 300 * 1000 /* a reply of which the client takes not one byte */
};

/* The daemon closes its own descriptor when the handler says NO. */
static void refuse_request(struct qn_http *h, int status)
{
    int fd = dup(h->conn->fd);
    if (fd < 0) {
        qn_warn("http", "no descriptor to refuse a request with: %s", strerror(errno));
        return;
    }
    qn_conn_refuse(h->server, fd, status, h->method ? h->method : "", h->path ? h->path : "");
}

void qn_http_resume(struct qn_http *h)
{
    if (!h->suspended)
        return;
    h->suspended = false;
    MHD_resume_connection(h->mhd);
    /* Without a thread of its own the daemon is not woken by that. */
    qn_http_server_wake(h->server);
}

static bool finished(const struct qn_http *h)
{
    return h->done || (h->stream && qn_stream_closed(h->stream));
}

void qn_http_tell_gone(struct qn_http *h)
{
    if (finished(h))
        return;
    h->done = true;
    if (h->gone)
        h->gone(h->gone_ctx);
}

static void break_off(struct qn_http *h)
{
    h->aborted = true;
    if (h->suspended)
        qn_http_resume(h);
    else if (!h->in_handler)
        shutdown(h->conn->fd, SHUT_RDWR);
}

static void on_left(void *ctx, uint32_t events)
{
    (void)events;
    struct qn_http *h = ctx;
    qn_watch_remove(h->watch);
    h->watch = NULL;
    if (finished(h))
        return; /* everything is written: let the daemon send it, or find out */
    qn_debug("http", "client left path=%s", h->path);
    qn_http_tell_gone(h);
    break_off(h);
}

static void suspend(struct qn_http *h)
{
    MHD_suspend_connection(h->mhd);
    h->suspended = true;
    h->conn->deadline_ms = 0;
    struct qn_error e;
    if (!h->watch && !finished(h) &&
        qn_watch_add(h->server->loop, h->conn->fd, EPOLLRDHUP, on_left, h, &h->watch, &e))
        qn_error_log("http", "%s", e.message);
}

static ssize_t read_stream(void *ctx, uint64_t pos, char *buf, size_t max)
{
    (void)pos;
    struct qn_http *h = ctx;
    if (h->aborted) {
        /* The daemon then takes the connection from the list of those with something to do, and
         * frees it when it comes by once more: for connections with a timeout of their own that is
         * this turn, for others when all older ones have left. */
        MHD_set_connection_option(h->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 1u);
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    size_t n = qn_stream_read(h->stream, buf, max);
    if (n > 0) {
        h->conn->deadline_ms = qn_now_ms() + SEND_STALL_MS;
        return (ssize_t)n;
    }
    if (qn_stream_ended(h->stream))
        return MHD_CONTENT_READER_END_OF_STREAM;
    suspend(h);
    return 0;
}

static void on_stream_readable(void *ctx)
{
    qn_http_resume(ctx);
}

static enum MHD_Result queue(struct qn_http *h)
{
    h->queued = true;
    h->conn->deadline_ms = qn_now_ms() + SEND_STALL_MS;
    enum MHD_Result ok = MHD_queue_response(h->mhd, (unsigned)h->status, h->response);
    if (ok != MHD_YES)
        qn_error_log("http", "libmicrohttpd refused a response path=%s", h->path);
    MHD_destroy_response(h->response);
    h->response = NULL;
    return ok;
}

/* The daemon's view of one field of a head. */
struct fields {
    struct qn_framing framing;
    bool ok;
};

static enum MHD_Result check_field(void *ctx, enum MHD_ValueKind kind, const char *name,
                                   size_t name_len, const char *value, size_t n)
{
    struct fields *f = ctx;
    (void)kind;
    f->ok = qn_framing_add(&f->framing, name, name_len, value ? value : "", value ? n : 0);
    return f->ok ? MHD_YES : MHD_NO;
}

/* The first head of a connection was checked byte by byte before the daemon had it. Later ones are
 * the daemon's at once, which takes lengths that contradict each other and encodings that it does
 * not know. */
static bool fields_ok(struct qn_http *h)
{
    struct fields f = {.ok = true};
    MHD_get_connection_values_n(h->mhd, MHD_HEADER_KIND, check_field, &f);
    return f.ok && qn_framing_ok(&f.framing);
}

static enum MHD_Result first_call(struct qn_http *h, const char *method)
{
    h->seen = true;
    h->method = qn_arena_strdup(h->arena, method);
    h->conn->deadline_ms = qn_now_ms() + BODY_STALL_MS;
    if (!qn_target_split(h->target, strlen(h->target), h->arena, &h->path, &h->query)) {
        h->path = NULL;
        refuse_request(h, 400);
        return MHD_NO;
    }
    if (!fields_ok(h)) {
        refuse_request(h, 400);
        return MHD_NO;
    }
    const union MHD_ConnectionInfo *head =
        MHD_get_connection_info(h->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (head && head->header_size > QN_HTTP_HEAD_MAX) {
        refuse_request(h, 431);
        return MHD_NO;
    }
    struct qn_http_server *s = h->server;
    struct qn_body *b = h->body;
    if (s->ev.large_body && (b->dir = s->ev.large_body(s->ctx, h, &b->reserve_bytes)) != NULL)
        b->max = SIZE_MAX / 2;
    const char *length = qn_http_header(h, "Content-Length");
    int64_t n;
    if (length && (!qn_parse_i64(length, &n) || n < 0 || (uint64_t)n > b->max)) {
        refuse_request(h, 413);
        return MHD_NO;
    }
    bool has_body = (length && n > 0) || qn_http_header(h, "Transfer-Encoding");
    h->unwanted = has_body && s->ev.unwanted_body && s->ev.unwanted_body(s->ctx, h);
    return MHD_YES;
}

static void store(void *ctx)
{
    struct storing *w = ctx;
    (void)qn_body_store(w->body, &w->error); /* stored() sees it */
}

static void body_free(struct qn_body *b)
{
    qn_body_deinit(b);
    free(b);
}

/* The request goes on without it, or ends. */
static void storing_end(struct qn_http *h)
{
    struct storing **at = &h->server->storing;
    while (*at != h->storing)
        at = &(*at)->next;
    *at = h->storing->next;
    h->storing->http = NULL;
    h->storing = NULL;
}

static void stored(void *ctx)
{
    struct storing *w = ctx;
    struct qn_http *h = w->http;
    if (!h) {
        body_free(w->body);
        free(w);
        return;
    }
    storing_end(h);
    h->stored = w->error;
    free(w);
    qn_http_resume(h);
}

/* The connection sleeps until the file has what memory holds. */
static void store_body(struct qn_http *h)
{
    struct storing *w = qn_xcalloc(1, sizeof *w);
    w->http = h;
    w->body = h->body;
    h->storing = w;
    w->next = h->server->storing;
    h->server->storing = w;
    suspend(h);
    qn_loop_work(h->server->loop, store, stored, w);
}

/* True when the body could not be kept: the request has been refused. */
static bool store_failed(struct qn_http *h)
{
    if (h->stored.code == QN_OK)
        return false;
    qn_warn("http", "path=%s refused: %s", h->path, h->stored.message);
    refuse_request(h, h->stored.code == QN_ELIMIT ? 507 : 500);
    return true;
}

static enum MHD_Result body_call(struct qn_http *h, const char *data, size_t *size)
{
    struct qn_error e;
    if (h->unwanted && *size <= h->body->max - h->thrown) {
        h->thrown += *size;
        *size = 0;
        h->conn->deadline_ms = qn_now_ms() + BODY_STALL_MS;
        return MHD_YES;
    }
    if (!h->unwanted && qn_body_full(h->body, *size)) {
        store_body(h); /* and then the same bytes come again */
        return MHD_YES;
    }
    if (h->unwanted || qn_body_add(h->body, data, *size, &e)) {
        refuse_request(h, 413);
        return MHD_NO;
    }
    *size = 0;
    h->conn->deadline_ms = qn_now_ms() + BODY_STALL_MS;
    return MHD_YES;
}

static enum MHD_Result deliver(struct qn_http *h)
{
    struct qn_http_server *s = h->server;
    struct qn_error e;
    if (qn_body_finish(h->body, &h->body_data, &h->body_len, &e)) {
        qn_error_log("http", "%s", e.message);
        refuse_request(h, 500);
        return MHD_NO;
    }
    h->delivered = h->conn->answering = true;
    h->conn->deadline_ms = 0;
    h->next = s->requests;
    if (s->requests)
        s->requests->prev = h;
    s->requests = h;
    s->active++;
    h->in_handler = true;
    s->ev.request(s->ctx, h);
    h->in_handler = false;
    return MHD_YES;
}

enum MHD_Result qn_http_on_access(void *ctx, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **con_cls)
{
    (void)ctx;
    (void)url;
    (void)version;
    struct qn_http *h = *con_cls;
    h->mhd = mhd;
    if (!h->seen)
        return first_call(h, method);
    if (h->aborted || (!h->delivered && store_failed(h)))
        return MHD_NO;
    if (*size > 0)
        return body_call(h, data, size);
    if (!h->delivered && qn_body_unstored(h->body)) {
        store_body(h);
        return MHD_YES;
    }
    if (!h->delivered && deliver(h) != MHD_YES)
        return MHD_NO;
    if (h->aborted)
        return MHD_NO;
    if (h->response)
        return queue(h);
    suspend(h);
    return MHD_YES;
}

/* The request line is complete: its target as sent, before the daemon decodes it. */
void *qn_http_on_uri(void *ctx, const char *uri, struct MHD_Connection *mhd)
{
    struct qn_http_server *s = ctx;
    struct qn_http *h = qn_xcalloc(1, sizeof *h);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    h->server = s;
    h->conn = info->socket_context;
    h->arena = qn_arena_new(REQUEST_ARENA_MAX);
    h->target = qn_arena_strdup(h->arena, uri);
    h->body = qn_xcalloc(1, sizeof *h->body);
    qn_body_init(h->body, s->body_max);
    h->conn->idle = false;
    h->conn->deadline_ms = qn_now_ms() + QN_HTTP_HEAD_TIMEOUT_S * 1000;
    return h;
}

void qn_http_on_completed(void *ctx, struct MHD_Connection *mhd, void **con_cls,
                          enum MHD_RequestTerminationCode code)
{
    (void)mhd;
    (void)code;
    struct qn_http_server *s = ctx;
    struct qn_http *h = *con_cls;
    if (!h)
        return;
    *con_cls = NULL;
    if (h->delivered) {
        if (h->prev)
            h->prev->next = h->next;
        else
            s->requests = h->next;
        if (h->next)
            h->next->prev = h->prev;
        s->active--;
        qn_http_tell_gone(h);
    }
    h->conn->answering = false;
    h->conn->idle = true;
    h->conn->deadline_ms = qn_now_ms() + IDLE_MS;
    qn_watch_remove(h->watch);
    if (h->response)
        MHD_destroy_response(h->response);
    qn_stream_free(h->stream);
    if (h->storing)
        storing_end(h);
    else
        body_free(h->body);
    qn_arena_free(h->arena);
    free(h);
}

/* ---- the owner's side ---- */

const char *qn_http_method(const struct qn_http *h)
{
    return h->method;
}

const char *qn_http_path(const struct qn_http *h)
{
    return h->path;
}

const char *qn_http_raw_query(const struct qn_http *h)
{
    return h->query;
}

const char *qn_http_query(const struct qn_http *h, const char *name)
{
    return qn_query_find(h->query, name, h->arena);
}

const char *qn_http_header(const struct qn_http *h, const char *name)
{
    return MHD_lookup_connection_value(h->mhd, MHD_HEADER_KIND, name);
}

int qn_http_tag(const struct qn_http *h)
{
    return h->conn->tag;
}

bool qn_http_ends(const struct qn_http *h, struct qn_http_ends *out)
{
    return qn_conn_ends(h->conn, out);
}

void qn_http_set_about(struct qn_http *h, const void *about)
{
    h->about = about;
}

const void *qn_http_about(const struct qn_http *h)
{
    return h->about;
}

qn_err qn_http_body_keep(struct qn_http *h, const char *path, struct qn_error *e)
{
    return qn_body_keep(h->body, path, e);
}

const char *qn_http_body(const struct qn_http *h, size_t *n)
{
    *n = h->body_len;
    return h->body_data;
}

bool qn_http_body_thrown(const struct qn_http *h)
{
    return h->unwanted;
}

struct qn_arena *qn_http_arena(struct qn_http *h)
{
    return h->arena;
}

void qn_http_on_gone(struct qn_http *h, void (*gone)(void *ctx), void *ctx)
{
    h->gone = gone;
    h->gone_ctx = ctx;
}

void qn_http_set_header(struct qn_http *h, const char *name, const char *value)
{
    struct header *new = qn_arena_alloc(h->arena, sizeof *new);
    new->name = qn_arena_strdup(h->arena, name);
    new->value = qn_arena_strdup(h->arena, value);
    struct header **end = &h->headers;
    while (*end)
        end = &(*end)->next;
    *end = new;
}

/* Keeps the response for the access handler, which alone may queue it. */
static void answer(struct qn_http *h, int status, const char *content_type, struct MHD_Response *r)
{
    assert(!h->response && !h->queued);
    if (!r)
        abort(); /* out of memory for a small allocation */
    h->response = r;
    h->status = status;
    bool ok = true;
    if (content_type)
        ok = MHD_add_response_header(r, "Content-Type", content_type) == MHD_YES;
    for (const struct header *x = h->headers; x; x = x->next)
        ok &= MHD_add_response_header(r, x->name, x->value) == MHD_YES;
    if (!ok)
        qn_error_log("http", "a reply header is malformed path=%s", h->path);
    qn_http_resume(h);
}

void qn_http_reply(struct qn_http *h, int status, const char *content_type, const void *body,
                   size_t n)
{
    if (h->aborted)
        return;
    h->done = true;
    /* The library's prototype lacks the const; the bytes are copied. */
    answer(h, status, content_type,
           MHD_create_response_from_buffer(n, (void *)(uintptr_t)(n ? body : ""),
                                           MHD_RESPMEM_MUST_COPY));
}

static void on_stream_drained(void *ctx)
{
    struct qn_http *h = ctx;
    if (h->drained && !finished(h))
        h->drained(h->drained_ctx);
}

struct qn_stream *qn_http_stream(struct qn_http *h, int status, const char *content_type,
                                 void (*drained)(void *ctx), void *ctx)
{
    h->drained = drained;
    h->drained_ctx = ctx;
    h->stream = qn_stream_new(on_stream_readable, h, on_stream_drained, h);
    /* To HEAD, version 0.9.75 would send the last chunk of a body that must not be there. */
    bool head_only = strcmp(h->method, "HEAD") == 0;
    answer(h, status, content_type,
           head_only ? MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT)
                     : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_stream,
                                                         h, NULL));
    /* Some clients wait for the words. */
    MHD_set_response_options(h->response, MHD_RF_SEND_KEEP_ALIVE_HEADER, MHD_RO_END);
    return h->stream;
}

void qn_http_abort(struct qn_http *h)
{
    h->done = true;
    break_off(h);
}
