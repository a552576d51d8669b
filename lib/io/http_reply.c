/* The reply to a request: its head, and a whole or streamed body. A stream is read when the socket
 * takes bytes; while the socket is full the stream fills up, which its writer can see. */
#include "io/http_server_private.h"

#include "base/log.h"
#include "io/http_status.h"

#include <assert.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
    HEAD_MAX = 64 * 1024,
    CHUNK_HEAD = 10, /* "ffffffff\r\n" */
    CHUNK_TAIL = 2,
    LAST_CHUNK = 5 /* "0\r\n\r\n" */
};

enum { LENGTH_UNKNOWN = -1 };

void qn_http_set_header(struct qn_http *h, const char *name, const char *value)
{
    bool ok = *name != '\0';
    for (const char *p = name; *p; p++)
        ok = ok && qn_http_is_token(*p);
    for (const char *p = value; *p; p++)
        ok = ok && qn_http_is_text(*p);
    if (!ok) {
        qn_error_log("http", "a reply header is malformed path=%s", h->path);
        return;
    }
    struct header *new = qn_arena_alloc(h->arena, sizeof *new);
    new->name = qn_arena_strdup(h->arena, name);
    new->value = qn_arena_strdup(h->arena, value);
    *h->headers_end = new;
    h->headers_end = &new->next;
}

/* Writes the head by appending fixed strings and digits. A short reply takes about a microsecond,
 * of which printf-style formatting would be a noticeable part. */
static void write_head(struct qn_http *h, int status, const char *content_type, int64_t length,
                       struct qn_buf *out)
{
    bool keep = !h->link->closing;
    qn_buf_fmt(out, "HTTP/1.1 %d %s\r\nDate: ", status, qn_http_status_words(status));
    qn_buf_str(out, qn_server_date(h->server));
    if (!keep)
        qn_buf_str(out, "\r\nConnection: close");
    else if (h->minor == 0 || length == LENGTH_UNKNOWN)
        qn_buf_str(out, "\r\nConnection: Keep-Alive"); /* required by some HTTP/1.0 clients */
    if (content_type) {
        qn_buf_str(out, "\r\nContent-Type: ");
        qn_buf_str(out, content_type);
    }
    for (const struct header *x = h->headers; x; x = x->next) {
        qn_buf_str(out, "\r\n");
        qn_buf_str(out, x->name);
        qn_buf_str(out, ": ");
        qn_buf_str(out, x->value);
    }
    if (h->chunked)
        qn_buf_str(out, "\r\nTransfer-Encoding: chunked");
    else if (length != LENGTH_UNKNOWN && status >= 200 && status != 204 && status != 304)
        qn_buf_fmt(out, "\r\nContent-Length: %lld", (long long)length);
    qn_buf_str(out, "\r\n\r\n");
}

/* Writes the head of a whole reply of n bytes. False: the client has disconnected. */
static bool begin_whole(struct qn_http *h, int status, const char *content_type, size_t n,
                        struct qn_buf *head)
{
    assert(!h->status && h->delivered);
    if (h->aborted)
        return false;
    h->done = true;
    h->status = status;
    h->link->closing = !h->keep_alive || (h->open && !h->complete);
    qn_buf_init(head, HEAD_MAX);
    write_head(h, status, content_type, (int64_t)n, head);
    return true;
}

static bool is_bare(const struct qn_http *h, int status)
{
    return h->head_only || status == 204 || status == 304;
}

void qn_http_reply(struct qn_http *h, int status, const char *content_type, const void *body,
                   size_t n)
{
    struct qn_buf head;
    if (!begin_whole(h, status, content_type, n, &head))
        return;
    qn_link_send(h->link, head.data, head.len, body, is_bare(h, status) ? 0 : n);
    qn_buf_deinit(&head);
    qn_server_wake(h->link);
}

void qn_http_reply_taking(struct qn_http *h, int status, const char *content_type,
                          struct qn_buf *body)
{
    struct qn_buf head;
    if (begin_whole(h, status, content_type, body->len, &head)) {
        if (is_bare(h, status))
            qn_link_send(h->link, head.data, head.len, NULL, 0);
        else
            qn_link_send_taking(h->link, head.data, head.len, body);
        qn_buf_deinit(&head);
        qn_server_wake(h->link);
    }
    qn_buf_deinit(body);
}

static void on_stream_readable(void *ctx)
{
    struct qn_http *h = ctx;
    qn_server_wake(h->link);
}

static void on_stream_drained(void *ctx)
{
    struct qn_http *h = ctx;
    if (h->drained && !qn_request_finished(h))
        h->drained(h->drained_ctx);
}

struct qn_stream *qn_http_stream(struct qn_http *h, int status, const char *content_type,
                                 void (*drained)(void *ctx), void *ctx)
{
    struct qn_buf *out = &h->link->out;
    assert(!h->status && h->delivered);
    h->drained = drained;
    h->drained_ctx = ctx;
    h->status = status;
    h->stream = qn_stream_new(on_stream_readable, h, on_stream_drained, h);
    /* HTTP/1.0 has no chunks: there the end of the connection ends the reply. */
    h->chunked = h->minor > 0;
    h->link->closing = !h->keep_alive || !(h->chunked || h->head_only);
    h->head_at = out->len;
    write_head(h, status, content_type, LENGTH_UNKNOWN, out);
    qn_server_wake(h->link);
    return h->stream;
}

bool qn_http_stream_revoke(struct qn_http *h)
{
    struct qn_link *l = h->link;
    bool unsent = l->out.len > h->head_at && l->out_at <= h->head_at;
    if (!h->stream || h->begun || !unsent || qn_request_finished(h))
        return false;
    l->out.len = h->head_at;
    qn_stream_free(h->stream);
    h->stream = NULL;
    h->chunked = false;
    h->status = 0;
    return true;
}

int64_t qn_http_unread(const struct qn_http *h)
{
    int sent = 0; /* bytes that the peer has not acknowledged */
    if (ioctl(h->link->fd, SIOCOUTQ, &sent))
        sent = 0;
    return qn_link_unsent(h->link) + (h->stream ? (int64_t)qn_stream_len(h->stream) : 0) + sent;
}

void qn_http_abort(struct qn_http *h)
{
    h->done = true;
    h->aborted = true;
    qn_server_wake(h->link);
}

/* Sends the next piece of the stream, and the end of the reply with the last piece. */
static void send_stretch(struct qn_http *h)
{
    char *out = h->server->out, head[CHUNK_HEAD + 1];
    size_t room = sizeof h->server->out - CHUNK_HEAD - CHUNK_TAIL - LAST_CHUNK;
    size_t n = qn_stream_read(h->stream, out + CHUNK_HEAD, room), at = CHUNK_HEAD;
    bool ended = qn_stream_ended(h->stream);
    size_t end = CHUNK_HEAD + n;
    if (h->chunked && n > 0) {
        size_t digits = (size_t)snprintf(head, sizeof head, "%zx\r\n", n);
        at = CHUNK_HEAD - digits;
        memcpy(out + at, head, digits);
        memcpy(out + end, "\r\n", CHUNK_TAIL);
        end += CHUNK_TAIL;
    }
    if (h->chunked && ended) {
        memcpy(out + end, "0\r\n\r\n", LAST_CHUNK);
        end += LAST_CHUNK;
    }
    if (end > at)
        qn_link_send(h->link, out + at, end - at, NULL, 0);
    h->begun = true;
    h->over = ended;
}

enum qn_next qn_reply_step(struct qn_http *h, bool *complete)
{
    *complete = false;
    if (!h->status)
        return QN_WAIT;
    if (!h->stream || h->head_only || h->over) {
        *complete = true;
        return QN_GO_ON;
    }
    if (qn_stream_len(h->stream) == 0 && !qn_stream_closed(h->stream))
        return QN_WAIT;
    send_stretch(h);
    *complete = qn_stream_ended(h->stream);
    return QN_GO_ON;
}
