/* libmicrohttpd inside our loop. A connection is first ours (PEEK: its first head is looked at
 * without being taken, so that malformed and oversized ones are refused in our own words), then the
 * daemon's (SERVE), or, after a refusal, ours again (LINGER: what the client still sends is
 * thrown away, because closing with unread bytes would destroy the answer on its way).
 *
 * Invariants:
 * - A request is suspended only inside the access handler or the content reader, and every
 *   suspended one is resumed before the daemon is stopped: libmicrohttpd demands both.
 * - A suspended connection is out of the daemon's epoll set, so a watch of our own on its socket
 *   (EPOLLRDHUP) learns that the client has left.
 * - A request is finished once its owner has nothing more to be told: after its whole reply, after
 *   ending its stream, after abort, after gone. */
#include "io/http_server.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "io/body.h"
#include "io/http_head.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* The daemon's memory per connection, half of which it touches at once: a head, its parse, one
     * chunk each way. */
    POOL_BYTES = 24 * 1024,
    BLOCK_BYTES = 1024, /* one read of a streamed reply where chunks are not understood */
    REQUEST_ARENA_MAX = 512 * 1024 * 1024,
    UPGRADE_ARENA_MAX = 64 * QN_HTTP_HEAD_MAX, /* a head's fields, each looked up a few times */
    IDLE_MS = 75 * 1000,                       /* between requests */
    BODY_STALL_MS = 60 * 1000,                 /* a body that does not arrive */
    SEND_STALL_MS = 300 * 1000,                /* a reply of which the client takes not one byte */
    LINGER_MS = 10 * 1000,
    LINGER_READS = 16, /* buffers thrown away per wake-up */
    SWEEP_MS = 1000,
    PATH_SHOWN_MAX = 1024, /* longer paths of refused heads are left out */
    RUNS_MAX = 16          /* turns of the daemon per wake-up */
};

enum phase { PEEK, SERVE, LINGER };

struct conn {
    struct qn_http_server *server;
    struct conn *prev, *next;
    enum phase phase;
    int fd;                 /* SERVE: the daemon's */
    struct qn_watch *watch; /* PEEK, LINGER */
    int64_t deadline_ms;    /* 0: none */
    bool answering;         /* SERVE: a request was delivered and is not over */
    struct sockaddr_storage addr;
    socklen_t addr_len;
    struct sockaddr_storage own; /* our end; family 0: not asked for yet */
    int tag;
};

struct header {
    struct header *next;
    const char *name, *value;
};

struct qn_http {
    struct qn_http_server *server;
    struct qn_http *prev, *next; /* in server->requests, once delivered */
    struct MHD_Connection *mhd;
    struct conn *conn;
    struct qn_arena *arena;
    char *target; /* as sent */
    char *path, *query;
    const char *method;
    struct qn_body *body;
    struct storing *storing; /* the body is a worker's now; NULL: it is not */
    const char *body_data;
    size_t body_len;
    struct qn_error stored; /* why it could not be stored */
    bool seen, delivered, in_handler;
    bool unwanted;  /* the body is thrown away */
    size_t thrown;  /* bytes of it */
    bool suspended; /* by us, and not resumed since */
    bool queued;    /* the daemon has the response */
    bool aborted, done;
    struct qn_watch *watch; /* of the client's leaving */
    void (*gone)(void *ctx);
    void *gone_ctx;
    const void *about; /* the caller's */
    struct header *headers;
    struct MHD_Response *response;
    int status;
    struct qn_stream *stream;
    void (*drained)(void *ctx);
    void *drained_ctx;
};

/* A worker takes a body's bytes to its file. The request may end meanwhile: then the body is freed
 * when the worker is back. */
struct storing {
    struct storing *next; /* of the server's, while http is there */
    struct qn_http *http; /* NULL: it has ended */
    struct qn_body *body;
    struct qn_error error;
};

struct qn_http_server {
    struct qn_loop *loop;
    struct qn_http_events ev;
    void *ctx;
    size_t body_max;
    struct MHD_Daemon *daemon;
    struct qn_watch *watch; /* of the daemon's epoll set */
    struct qn_timer *again; /* the daemon has more to do at once */
    struct qn_timer *sweep; /* runs while there are connections */
    bool running;           /* inside the daemon */
    bool resumed;           /* a connection waits for the daemon's next turn */
    struct conn *conns;
    size_t n_conns;
    struct conn *adding; /* being handed to the daemon */
    struct qn_http *requests;
    struct storing *storing;
    size_t active;
    char scratch[QN_HTTP_HEAD_MAX + 1];
};

/* ---- connections ---- */

static void conn_free(struct conn *c)
{
    struct qn_http_server *s = c->server;
    qn_watch_remove(c->watch);
    if (c->phase != SERVE)
        close(c->fd);
    if (c->prev)
        c->prev->next = c->next;
    else
        s->conns = c->next;
    if (c->next)
        c->next->prev = c->prev;
    s->n_conns--;
    free(c);
}

/* The daemon's epoll set is edge-triggered, and after a short read it believes the socket empty: a
 * client's end that came in one go with its last bytes is never seen. While a request is being
 * answered writing or our own watch finds out; otherwise this does. */
static bool has_left(const struct conn *c)
{
    char byte;
    if (c->phase != SERVE || c->answering)
        return false;
    ssize_t n = recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void on_sweep(void *ctx)
{
    struct qn_http_server *s = ctx;
    int64_t now = qn_now_ms();
    for (struct conn *c = s->conns, *next; c; c = next) {
        next = c->next;
        if ((c->deadline_ms == 0 || now < c->deadline_ms) && !has_left(c))
            continue;
        if (c->phase == SERVE)
            shutdown(c->fd, SHUT_RDWR); /* the daemon sees the end and closes */
        else
            conn_free(c);
    }
    if (!s->conns) {
        qn_timer_stop(s->sweep);
        s->sweep = NULL;
    }
}

static struct conn *conn_new(struct qn_http_server *s, int fd, enum phase phase, int64_t limit_ms)
{
    struct conn *c = qn_xcalloc(1, sizeof *c);
    c->server = s;
    c->fd = fd;
    c->phase = phase;
    c->deadline_ms = qn_now_ms() + limit_ms;
    c->next = s->conns;
    if (s->conns)
        s->conns->prev = c;
    s->conns = c;
    s->n_conns++;
    if (!s->sweep)
        s->sweep = qn_timer_start(s->loop, SWEEP_MS, SWEEP_MS, on_sweep, s);
    return c;
}

/* ---- refusing ---- */

static void on_linger(void *ctx, uint32_t events)
{
    (void)events;
    struct conn *c = ctx;
    for (int i = 0; i < LINGER_READS; i++) {
        ssize_t n = recv(c->fd, c->server->scratch, sizeof c->server->scratch, MSG_DONTWAIT);
        if (n > 0)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        conn_free(c);
        return;
    }
}

/* Writes a whole answer to fd, which nobody else writes to any more, and takes the descriptor. The
 * answer is a few hundred bytes into an empty socket buffer, so one send does it. */
static void refuse(struct qn_http_server *s, int fd, int status, const char *method,
                   const char *path)
{
    struct qn_buf body, out;
    qn_buf_init(&body, 64 * 1024);
    qn_buf_init(&out, 128 * 1024);
    s->ev.refuse(s->ctx, status, method, path, &body);
    qn_buf_fmt(&out,
               "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
               "Connection: close\r\n\r\n",
               status, MHD_get_reason_phrase_for((unsigned)status), body.len);
    if (!qn_str_eq(method, "HEAD"))
        qn_buf_add(&out, body.data, body.len);
    ssize_t n = send(fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    qn_debug("http", "refused status=%d method=%s", status, method);
    qn_buf_deinit(&body);
    qn_buf_deinit(&out);
    struct conn *c = conn_new(s, fd, LINGER, LINGER_MS);
    struct qn_error e;
    if (n < 0)
        conn_free(c); /* the client has left already */
    else if (qn_watch_add(s->loop, fd, EPOLLIN, on_linger, c, &c->watch, &e))
        conn_free(c);
}

/* The same for a connection the daemon has; it closes its own descriptor when the handler says NO.
 */
static void refuse_request(struct qn_http *h, int status)
{
    int fd = dup(h->conn->fd);
    if (fd < 0) {
        qn_warn("http", "no descriptor to refuse a request with: %s", strerror(errno));
        return;
    }
    refuse(h->server, fd, status, h->method ? h->method : "", h->path ? h->path : "");
}

/* ---- the daemon's turns ---- */

static void run_daemon(struct qn_http_server *s);

static void on_again(void *ctx)
{
    run_daemon(ctx);
}

static void run_daemon(struct qn_http_server *s)
{
    if (s->running)
        return;
    s->running = true;
    MHD_UNSIGNED_LONG_LONG wait = 1;
    int turns = 0;
    do {
        s->resumed = false;
        if (MHD_run(s->daemon) != MHD_YES)
            qn_error_log("http", "libmicrohttpd could not run");
        if (MHD_get_timeout(s->daemon, &wait) != MHD_YES)
            wait = 1;
    } while ((s->resumed || wait == 0) && ++turns < RUNS_MAX);
    qn_timer_stop(s->again);
    s->again = NULL;
    if (turns == RUNS_MAX)
        s->again = qn_timer_start(s->loop, 0, 0, on_again, s);
    s->running = false;
}

static void on_daemon(void *ctx, uint32_t events)
{
    (void)events;
    run_daemon(ctx);
}

/* ---- peeking ---- */

static void serve(struct conn *c)
{
    struct qn_http_server *s = c->server;
    qn_watch_remove(c->watch);
    c->watch = NULL;
    c->phase = SERVE;
    s->adding = c;
    if (MHD_add_connection(s->daemon, c->fd, (struct sockaddr *)&c->addr, c->addr_len) != MHD_YES)
        qn_warn("http", "libmicrohttpd refused a connection: %s", strerror(errno));
    if (s->adding) { /* the daemon never took it, and has closed the socket */
        s->adding = NULL;
        conn_free(c);
    }
    run_daemon(s);
}

const char *qn_http_upgrade_header(const struct qn_http_upgrade *u, const char *name)
{
    return qn_head_field(u->head, u->head_len, name, u->arena);
}

int qn_http_upgrade_take(struct qn_http_upgrade *u)
{
    /* The head has been peeked at, so it is there, unless the client has reset the connection
     * since; then the taker's first read says so as well. */
    char read_again[QN_HTTP_HEAD_MAX];
    struct conn *c = u->conn;
    int fd = c->fd;
    if (recv(fd, read_again, u->head_len, MSG_DONTWAIT) < 0)
        qn_debug("http", "upgraded connection lost: %s", strerror(errno));
    qn_watch_remove(c->watch);
    c->watch = NULL;
    c->phase = SERVE; /* keeps conn_free from closing the descriptor */
    c->fd = -1;
    return fd;
}

/* Offers a connection to whoever speaks the protocol its head asks for; true: it is theirs. */
static bool upgraded(struct conn *c, const struct qn_head *head)
{
    struct qn_http_server *s = c->server;
    struct qn_arena *arena = qn_arena_new(UPGRADE_ARENA_MAX);
    struct qn_http_upgrade u = {.protocol = qn_head_field(s->scratch, head->len, "Upgrade", arena),
                                .method = head->method,
                                .head = s->scratch,
                                .head_len = head->len,
                                .tag = c->tag,
                                .arena = arena,
                                .conn = c};
    char *path, *query;
    bool taken = false;
    if (qn_target_split(head->target, head->target_len, arena, &path, &query)) {
        u.path = path;
        u.query = query;
        taken = s->ev.upgrade(s->ctx, &u);
        assert(taken == (c->fd < 0));
    }
    qn_arena_free(arena);
    if (taken)
        conn_free(c);
    return taken;
}

static void on_peek(void *ctx, uint32_t events)
{
    (void)events;
    struct conn *c = ctx;
    struct qn_http_server *s = c->server;
    ssize_t n = recv(c->fd, s->scratch, sizeof s->scratch, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        conn_free(c);
        return;
    }
    struct qn_head head;
    qn_head_check(s->scratch, (size_t)n, QN_HTTP_HEAD_MAX, &head);
    if (head.status == 0) {
        if (events & (EPOLLRDHUP | EPOLLHUP))
            conn_free(c); /* it will never be complete */
        return;
    }
    if (head.status == 200) {
        if (head.upgrade && s->ev.upgrade && upgraded(c, &head))
            return;
        serve(c);
        return;
    }
    int fd = c->fd;
    char path[PATH_SHOWN_MAX] = "";
    if (head.target_len < sizeof path)
        memcpy(path, head.target_len ? head.target : "", head.target_len);
    path[strcspn(path, "?")] = 0;
    qn_watch_remove(c->watch);
    c->watch = NULL;
    c->phase = SERVE; /* keeps conn_free from closing the descriptor, which goes on to linger */
    conn_free(c);
    refuse(s, fd, head.status, head.method, path);
}

void qn_http_server_add(struct qn_http_server *s, int fd, const void *addr, unsigned addr_len,
                        int tag)
{
    assert(addr_len <= sizeof(struct sockaddr_storage));
    if (s->n_conns >= 2 * QN_HTTP_CONNECTIONS_MAX) {
        close(fd); /* those being refused are too many already */
        return;
    }
    if (s->n_conns >= QN_HTTP_CONNECTIONS_MAX) {
        qn_warn("http", "too many connections limit=%d", QN_HTTP_CONNECTIONS_MAX);
        refuse(s, fd, 503, "", "");
        return;
    }
    struct conn *c = conn_new(s, fd, PEEK, QN_HTTP_HEAD_TIMEOUT_S * 1000);
    memcpy(&c->addr, addr, addr_len);
    c->addr_len = addr_len;
    c->tag = tag;
    /* Edge-triggered: what has been peeked at stays in the socket and must not wake us again. */
    struct qn_error e;
    if (qn_watch_add(s->loop, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, on_peek, c, &c->watch, &e)) {
        qn_error_log("http", "%s", e.message);
        conn_free(c);
    }
}

/* ---- one request ---- */

static void resume(struct qn_http *h)
{
    if (!h->suspended)
        return;
    h->suspended = false;
    MHD_resume_connection(h->mhd);
    /* Without a thread of its own the daemon is not woken by that. */
    struct qn_http_server *s = h->server;
    s->resumed = true;
    if (!s->running && !s->again)
        s->again = qn_timer_start(s->loop, 0, 0, on_again, s);
}

static bool finished(const struct qn_http *h)
{
    return h->done || (h->stream && qn_stream_closed(h->stream));
}

static void tell_gone(struct qn_http *h)
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
        resume(h);
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
    tell_gone(h);
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
        /* The daemon then takes the connection from the list of those with something to do, and frees
         * it when it comes by once more: for connections with a timeout of their own that is this
         * turn, for others when all older ones have left. */
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
    resume(ctx);
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
    /* The first head of a connection was measured before; later ones come straight here. */
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
    resume(h);
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

static enum MHD_Result on_access(void *ctx, struct MHD_Connection *mhd, const char *url,
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
static void *on_uri(void *ctx, const char *uri, struct MHD_Connection *mhd)
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
    h->conn->deadline_ms = qn_now_ms() + QN_HTTP_HEAD_TIMEOUT_S * 1000;
    return h;
}

static void on_completed(void *ctx, struct MHD_Connection *mhd, void **con_cls,
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
        tell_gone(h);
    }
    h->conn->answering = false;
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

static void on_connection(void *ctx, struct MHD_Connection *mhd, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    (void)mhd;
    struct qn_http_server *s = ctx;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = s->adding;
        s->adding = NULL;
    } else {
        conn_free(*socket_context);
    }
}

static void on_log(void *ctx, const char *fmt, va_list ap)
{
    (void)ctx;
    if (qn_log_get_level() < QN_LOG_DEBUG)
        return;
    struct qn_buf line;
    qn_buf_init(&line, 4096);
    qn_buf_vfmt(&line, fmt, ap);
    while (line.len && line.data[line.len - 1] == '\n')
        line.data[--line.len] = 0;
    qn_debug("http", "libmicrohttpd: %s", qn_buf_cstr(&line));
    qn_buf_deinit(&line);
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

static bool ends_of(int fd, struct qn_http_ends *out)
{
    socklen_t peer = sizeof out->peer, own = sizeof out->own;
    *out = (struct qn_http_ends){0};
    return getpeername(fd, (struct sockaddr *)&out->peer, &peer) == 0 &&
           getsockname(fd, (struct sockaddr *)&out->own, &own) == 0;
}

bool qn_http_ends(const struct qn_http *h, struct qn_http_ends *out)
{
    struct conn *c = h->conn;
    socklen_t len = sizeof c->own;
    if (!c->own.ss_family && getsockname(c->fd, (struct sockaddr *)&c->own, &len))
        return false;
    *out = (struct qn_http_ends){.peer = c->addr, .own = c->own};
    return true;
}

bool qn_http_upgrade_ends(const struct qn_http_upgrade *u, struct qn_http_ends *out)
{
    return ends_of(u->conn->fd, out);
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
    resume(h);
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

/* ---- life ---- */

qn_err qn_http_server_new(struct qn_loop *l, const struct qn_http_events *ev, void *ctx,
                          size_t body_max, struct qn_http_server **out, struct qn_error *e)
{
    struct qn_http_server *s = qn_xcalloc(1, sizeof *s);
    s->loop = l;
    s->ev = *ev;
    s->ctx = ctx;
    s->body_max = body_max;
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
        NULL, NULL, on_access, s, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)QN_HTTP_CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, 0U,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, s, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_END);
    if (!s->daemon) {
        free(s);
        return qn_fail(e, QN_EIO, "libmicrohttpd could not start");
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    qn_err err = qn_watch_add(l, info->epoll_fd, EPOLLIN, on_daemon, s, &s->watch, e);
    if (err) {
        MHD_stop_daemon(s->daemon);
        free(s);
        return err;
    }
    *out = s;
    return QN_OK;
}

size_t qn_http_server_active(const struct qn_http_server *s)
{
    return s->active;
}

void qn_http_server_free(struct qn_http_server *s)
{
    if (!s)
        return;
    assert(!s->running);
    for (struct qn_http *h = s->requests; h; h = h->next) {
        tell_gone(h);
        h->aborted = true;
        resume(h);
    }
    for (struct storing *w = s->storing; w; w = w->next) {
        w->http->aborted = true;
        resume(w->http);
    }
    qn_watch_remove(s->watch);
    qn_timer_stop(s->again);
    s->running = true; /* no turn of the daemon may start from within its end */
    MHD_stop_daemon(s->daemon);
    while (s->conns)
        conn_free(s->conns);
    qn_timer_stop(s->sweep);
    free(s);
}
