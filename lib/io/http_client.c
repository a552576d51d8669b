/* Outgoing requests. Each socket is watched for what it waits for: connection, space to send, bytes
 * to read.
 *
 * Invariants: callbacks run only from the loop, in `on_ready` and `on_later`. If a callback cancels
 * its own post, that is freed when the callback returns; any other post is freed at once. */
#include "io/http_client.h"

#include "base/buf.h"
#include "base/str.h"
#include "io/http_conn.h"
#include "io/http_response.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
    REPLY_MAX = 64 * 1024, /* bytes kept of a reply other than 200 */
    READ_BYTES = 16 * 1024,
    CONNECT_MS = 10 * 1000,
    LEFT_MS = 1000,          /* for the last bytes of a reply whose caller has left */
    HEADER_MAX = 16 * 1024,  /* bytes of a header's value */
    HEAD_MAX = 256 * 1024,   /* bytes of the request's head, with its target */
    CHUNK_HEAD_MAX = 64,     /* bytes of a chunk's length, or of the last chunk */
    TURN_BYTES = 1024 * 1024 /* sent in one turn of the loop, however fast the peer takes them */
};

struct qn_post {
    struct qn_http_client *client;
    struct qn_post *prev, *next;
    struct qn_post_events ev;
    void *ctx;
    struct qn_conn *conn;     /* NULL: none */
    struct qn_timer *later;   /* reports a failure, or is the timeout of connecting or LEFT_MS */
    struct qn_buf head, body; /* unsent parts of the request */
    size_t sent;              /* bytes sent of the first of them */
    bool growing;             /* ev.more provides what follows */
    bool in_chunk;            /* a chunk was sent: its line end goes before the next chunk */
    bool keeps;               /* the connection may be kept after the reply */
    bool spoilt;              /* it may not: bytes were lost, or arrived where none belong */
    struct qn_response in;
    struct qn_buf reply; /* body of a reply other than 200 */
    bool connecting, paused;
    bool headed;    /* the head callback has been called */
    bool in_events; /* callbacks of this post are running: it must not be freed */
    bool ended;     /* its end callback is running */
    bool cancelled;
    bool left;           /* the reply is read to its end without callbacks */
    struct qn_error why; /* set when the post has failed */
};

struct qn_http_client {
    struct qn_loop *loop;
    struct qn_conns *conns;
    struct qn_post *posts;
    char bytes[READ_BYTES]; /* of the read whose bytes are being delivered */
};

/* Keeps the connection if request and reply are complete and the server does not close it; closes
 * it otherwise. */
static void release_connection(struct qn_post *p)
{
    bool all_sent = !p->head.len && !p->body.len && !p->growing && !p->connecting;
    bool over = p->in.done && !p->in.framing.close && !p->spoilt && p->why.code == QN_OK;
    if (p->conn && p->keeps && all_sent && over && !p->cancelled)
        qn_conn_keep(p->conn);
    else
        qn_conn_close(p->conn, p->cancelled && p->ev.more);
    p->conn = NULL;
}

static void post_free(struct qn_post *p)
{
    struct qn_http_client *c = p->client;
    qn_timer_stop(p->later);
    release_connection(p);
    qn_buf_deinit(&p->head);
    qn_buf_deinit(&p->body);
    qn_response_deinit(&p->in);
    qn_buf_deinit(&p->reply);
    if (p->prev)
        p->prev->next = p->next;
    else
        c->posts = p->next;
    if (p->next)
        p->next->prev = p->prev;
    free(p);
}

/* ---- callbacks ---- */

/* Calls the head callback, if set, once, as soon as the head is complete. */
static void tell_head(struct qn_post *p)
{
    if (!p->ev.head || p->headed || p->left)
        return;
    p->headed = true;
    p->ev.head(p->ctx, p->in.status, p->in.type);
}

static void tell_body(struct qn_post *p, const char *data, size_t n)
{
    tell_head(p);
    if (p->left)
        p->spoilt = true; /* the body goes on after the caller has taken it for complete */
    if (p->cancelled || p->left)
        return;
    if (p->in.status == 200 || p->ev.head) {
        p->ev.data(p->ctx, data, n);
        return;
    }
    size_t room = REPLY_MAX - p->reply.len;
    qn_buf_add(&p->reply, data, n < room ? n : room); /* the rest of an error page is not needed */
}

/* Calls the end callback and frees p. */
static void finish(struct qn_post *p)
{
    int status = p->why.code == QN_OK ? p->in.status : 0;
    p->in_events = true;
    if (status)
        tell_head(p);
    p->ended = true;
    if (!p->cancelled && !p->left)
        p->ev.end(p->ctx, status, qn_buf_cstr(&p->reply), p->reply.len, &p->why);
    post_free(p);
}

/* ---- the socket ---- */

/* Watches for the events that are due, which may be none. If the watch cannot be added, the post
 * has failed; the caller reports it. */
static qn_err watch(struct qn_post *p)
{
    bool unsent = p->head.len || p->body.len || p->growing;
    uint32_t out = p->connecting || unsent ? EPOLLOUT : 0;
    uint32_t in = p->connecting || p->paused ? 0 : EPOLLIN;
    return qn_conn_watch(p->conn, out | in, &p->why);
}

static void on_later(void *ctx)
{
    struct qn_post *p = ctx;
    /* A limit has passed: CONNECT_MS, or LEFT_MS, which is not reported because the caller has
     * left. */
    if (p->why.code == QN_OK)
        qn_fail(&p->why, QN_EIO, "no connection within %d s", CONNECT_MS / 1000);
    finish(p);
}

/* Reports the failure from the loop. */
static void fail_later(struct qn_post *p)
{
    qn_timer_stop(p->later);
    p->later = qn_timer_start(p->client->loop, 0, 0, on_later, p);
}

/* Sends more of the buffer and frees it when all is sent. *room: bytes that may still be sent in
 * this turn. False: the rest has to wait, or the peer has closed the connection. */
static bool send_buffer(struct qn_post *p, struct qn_buf *b, size_t *room)
{
    while (p->sent<b->len && * room> 0) {
        size_t left = b->len - p->sent;
        ssize_t n = send(qn_conn_fd(p->conn), b->data + p->sent, left < *room ? left : *room,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return false;
        if (n < 0) {
            /* A peer that stops reading the request may already have replied, so this is no
             * failure. */
            qn_buf_deinit(&p->head);
            qn_buf_deinit(&p->body);
            p->sent = 0;
            p->growing = false;
            p->spoilt = true;
            return false;
        }
        p->sent += (size_t)n;
        *room -= (size_t)n;
    }
    if (p->sent < b->len)
        return false;
    qn_buf_deinit(b);
    p->sent = 0;
    return true;
}

/* Sends the buffers. True: all bytes have been sent. */
static bool send_present(struct qn_post *p, size_t *room)
{
    if (p->head.len && !send_buffer(p, &p->head, room))
        return false;
    return !p->body.len || send_buffer(p, &p->body, room);
}

/* Fetches the next chunk, or the last one, which is empty. The line end after a chunk's bytes is
 * sent before the next chunk's length, because the first chunk's buffer comes from the caller and
 * may be large. */
static void fetch_chunk(struct qn_post *p)
{
    qn_buf_deinit(&p->body); /* a body that began empty may have memory */
    qn_buf_init(&p->head, CHUNK_HEAD_MAX);
    qn_buf_init(&p->body, SIZE_MAX / 2);
    p->ev.more(p->ctx, &p->body);
    p->growing = p->body.len > 0;
    qn_buf_fmt(&p->head, "%s%zx\r\n", p->in_chunk ? "\r\n" : "", p->body.len);
    p->in_chunk = true;
    if (!p->growing)
        qn_buf_str(&p->head, "\r\n");
}

static void send_more(struct qn_post *p, bool may_ask)
{
    size_t room = TURN_BYTES;
    while (send_present(p, &room) && p->growing && may_ask && room > 0)
        fetch_chunk(p);
}

/* True: the reply has ended, by success or failure. */
static bool read_more(struct qn_post *p)
{
    char *bytes = p->client->bytes;
    ssize_t n = recv(qn_conn_fd(p->conn), bytes, READ_BYTES, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return false;
    if (n < 0) {
        qn_fail(&p->why, QN_EIO, "the connection broke: %s", strerror(errno));
        return true;
    }
    if (n == 0) {
        p->spoilt = true;
        qn_response_end(&p->in, &p->why);
        return true;
    }
    size_t at = 0;
    for (size_t used; at < (size_t)n && !p->in.done && !p->cancelled; at += used) {
        const char *body;
        size_t body_len;
        if (qn_response_take(&p->in, bytes + at, (size_t)n - at, &used, &body, &body_len,
                             &p->why)) {
            p->why.code = QN_EIO;
            return true;
        }
        if (body_len)
            tell_body(p, body, body_len);
    }
    p->spoilt = p->spoilt || at < (size_t)n;
    return p->in.done || (p->left && p->spoilt);
}

/* True: connected. */
static bool connected(struct qn_post *p)
{
    if (qn_conn_is_open(p->conn, &p->why))
        return false;
    p->connecting = false;
    qn_timer_stop(p->later);
    p->later = NULL;
    return true;
}

static void on_ready(void *ctx, uint32_t events)
{
    struct qn_post *p = ctx;
    if (p->connecting && !connected(p)) {
        finish(p);
        return;
    }
    bool broken = events & (EPOLLHUP | EPOLLERR);
    if (broken || events & EPOLLOUT)
        send_more(p, true);
    p->in_events = true;
    bool over = !p->paused && (broken || events & EPOLLIN) && read_more(p);
    p->in_events = false;
    if (p->cancelled)
        post_free(p);
    else if (over || watch(p))
        finish(p);
    else if (p->left && !p->later)
        p->later = qn_timer_start(p->client->loop, LEFT_MS, 0, on_later, p);
}

/* ---- the request ---- */

/* Splits "http://ADDRESS:PORT/TARGET". */
static bool split_url(const char *url, struct sockaddr_in *to, const char **target)
{
    static const char scheme[] = "http://";
    char host[sizeof "255.255.255.255:65535"];
    int64_t port;
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return false;
    url += sizeof scheme - 1;
    size_t n = strcspn(url, "/?");
    if (n >= sizeof host)
        return false;
    memcpy(host, url, n);
    host[n] = '\0';
    *target = url + n;
    char *colon = strchr(host, ':');
    if (!colon)
        return false;
    *colon = '\0';
    *to = (struct sockaddr_in){.sin_family = AF_INET};
    if (inet_pton(AF_INET, host, &to->sin_addr) != 1 || !qn_parse_i64(colon + 1, &port) ||
        port < 1 || port > UINT16_MAX)
        return false;
    to->sin_port = htons((uint16_t)port);
    return true;
}

/* True if s has no characters that would end a header line. */
static bool plain(const char *s, size_t max)
{
    size_t n = 0;
    for (; s[n]; n++)
        if (n == max || s[n] == '\r' || s[n] == '\n')
            return false;
    return true;
}

static bool add_header(struct qn_buf *out, const char *name, const char *value)
{
    if (!value)
        return true;
    if (!plain(value, HEADER_MAX))
        return false;
    qn_buf_fmt(out, "%s%s\r\n", name, value);
    return true;
}

static bool has_body(const char *method)
{
    return !qn_str_eq(method, "GET") && !qn_str_eq(method, "HEAD") && !qn_str_eq(method, "DELETE");
}

enum { LENGTH_UNKNOWN = -1 };

static bool write_head(const struct qn_ask *ask, const struct sockaddr_in *to, const char *target,
                       int64_t length, struct qn_buf *out)
{
    char host[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &to->sin_addr, host, sizeof host);
    qn_buf_init(out, HEAD_MAX);
    qn_buf_fmt(out, "%s %s%s HTTP/1.1\r\nHost: %s:%d\r\n", ask->method, *target == '/' ? "" : "/",
               target, host, ntohs(to->sin_port));
    if (!plain(ask->method, HEADER_MAX) || !plain(target, HEAD_MAX) ||
        !add_header(out, "Authorization: Bearer ", ask->bearer) ||
        !add_header(out, "Content-Type: ", ask->type) ||
        !add_header(out, "Accept: ", ask->accept ? ask->accept : "*/*"))
        return false;
    if (length == LENGTH_UNKNOWN)
        qn_buf_str(out, "Transfer-Encoding: chunked\r\n");
    else if (has_body(ask->method))
        qn_buf_fmt(out, "Content-Length: %lld\r\n", (long long)length);
    qn_buf_str(out, "\r\n");
    return !out->overflow;
}

/* Sends what the socket takes, over a connection that was kept or a new one, which on the loopback
 * is usually complete at once. False: failed, see p->why. */
static bool begin(struct qn_post *p, const struct sockaddr_in *to)
{
    struct qn_conns *conns = p->client->conns;
    if (p->keeps)
        p->conn = qn_conn_take(conns, to, on_ready, p);
    if (!p->conn && qn_conn_open(conns, to, on_ready, p, &p->conn, &p->connecting, &p->why))
        return false;
    if (p->connecting)
        p->later = qn_timer_start(p->client->loop, CONNECT_MS, 0, on_later, p);
    else
        send_more(p, false);
    return watch(p) == QN_OK;
}

/* ---- the public functions ---- */

void qn_http_client_new(struct qn_loop *l, struct qn_http_client **out)
{
    struct qn_http_client *c = qn_xcalloc(1, sizeof *c);
    c->loop = l;
    qn_conns_new(l, &c->conns);
    *out = c;
}

void qn_http_client_free(struct qn_http_client *c)
{
    if (!c)
        return;
    while (c->posts && c->posts->left)
        post_free(c->posts);
    assert(!c->posts);
    qn_conns_free(c->conns);
    free(c);
}

/* Takes over the body's bytes, even on failure. */
static qn_err ask_taking(struct qn_http_client *c, const struct qn_ask *ask, struct qn_buf *body,
                         const struct qn_post_events *ev, void *ctx, bool keeps,
                         struct qn_post **out, struct qn_error *e)
{
    struct sockaddr_in to;
    const char *target;
    struct qn_buf head = {0};
    int64_t length = ev->more ? LENGTH_UNKNOWN : (int64_t)body->len;
    bool addressed = split_url(ask->url, &to, &target);
    if (!addressed || !write_head(ask, &to, target, length, &head)) {
        qn_buf_deinit(&head);
        qn_buf_deinit(body);
        return addressed ? qn_fail(e, QN_EINVAL, "the request's head cannot be passed on")
                         : qn_fail(e, QN_EINTERNAL, "not an address of a model's process: %.200s",
                                   ask->url);
    }
    if (ev->more && body->len)
        qn_buf_fmt(&head, "%zx\r\n", body->len);
    struct qn_post *p = qn_xcalloc(1, sizeof *p);
    *p = (struct qn_post){.client = c,
                          .ev = *ev,
                          .ctx = ctx,
                          .head = head,
                          .body = *body,
                          .growing = ev->more != NULL,
                          .keeps = keeps,
                          .in_chunk = body->len > 0,
                          .next = c->posts};
    *body = (struct qn_buf){0};
    qn_response_init(&p->in, qn_str_eq(ask->method, "HEAD"));
    qn_buf_init(&p->reply, REPLY_MAX);
    if (c->posts)
        c->posts->prev = p;
    c->posts = p;
    if (!begin(p, &to))
        fail_later(p);
    *out = p;
    return QN_OK;
}

qn_err qn_http_ask(struct qn_http_client *c, const struct qn_ask *ask,
                   const struct qn_post_events *ev, void *ctx, struct qn_post **out,
                   struct qn_error *e)
{
    struct qn_buf body;
    size_t n = has_body(ask->method) ? ask->n : 0;
    qn_buf_init(&body, n);
    qn_buf_add(&body, ask->body, n);
    return ask_taking(c, ask, &body, ev, ctx, false, out, e);
}

qn_err qn_http_post(struct qn_http_client *c, const char *url, const char *bearer,
                    struct qn_buf *body, const struct qn_post_events *ev, void *ctx,
                    struct qn_post **out, struct qn_error *e)
{
    const struct qn_ask ask = {
        .method = "POST", .url = url, .bearer = bearer, .type = "application/x-ndjson"};
    return ask_taking(c, &ask, body, ev, ctx, true, out, e);
}

void qn_http_post_pause(struct qn_post *p, bool paused)
{
    if (p->ended || p->cancelled || p->left || p->paused == paused)
        return;
    p->paused = paused;
    if (p->in_events || p->why.code != QN_OK)
        return; /* on_ready checks this; nothing more can be read */
    if (watch(p))
        fail_later(p);
}

void qn_http_post_cancel(struct qn_post *p)
{
    if (p->ended)
        return; /* freed when its end callback has returned */
    p->cancelled = true;
    if (!p->in_events)
        post_free(p);
}

void qn_http_post_leave(struct qn_post *p)
{
    if (p->ended || p->cancelled || p->left)
        return;
    p->left = true;
    p->paused = false;
    if (p->in_events || p->why.code != QN_OK)
        return; /* on_ready and on_later go on */
    qn_timer_stop(p->later);
    p->later = qn_timer_start(p->client->loop, LEFT_MS, 0, on_later, p);
    if (watch(p))
        fail_later(p);
}
