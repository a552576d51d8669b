/* See ws.h. The sockets are watched by the loop; formats/websocket.h parses frames.
 *
 * Invariants:
 * - A session is freed only by the loop's own callbacks and by qn_ws_free, never within a call of
 *   its owner: such a call only marks it dead.
 * - It ends in four steps: the server's close frame is queued (sent_close); the client's has
 *   arrived, or its data is invalid (got_close); the sending direction is shut down; further
 *   received bytes are discarded (lingering), because closing a socket with unread bytes would
 *   destroy the close frame in transit. Each step has the deadline close_ms. */
#include "http/ws.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "io/http_head.h"
#include "io/http_target.h"
#include "telemetry/metrics.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READ_BYTES = 16 * 1024, /* per wake-up, so that all sessions get their turn */
    SWEEP_MS_MAX = 1000,
    SESSION_ARENA_MAX = 64 * 1024, /* the request's path and query */
    HEAD_MAX = 1024,               /* of the response to the handshake */
    REASON_MAX = QN_WEBSOCKET_CONTROL_MAX - 2
};

/* Bytes to send: a whole frame, or the response to the handshake. */
struct frame {
    struct frame *next;
    size_t n, sent;
    uint8_t bytes[];
};

struct qn_ws_session {
    struct qn_ws *ws;
    struct qn_ws_session *prev, *next;
    const struct qn_ws_route *route;
    struct qn_arena *arena;
    const char *id, *query;
    struct qn_caller caller;
    void *ctx;
    int fd;
    struct qn_watch *watch;
    uint32_t events; /* watched */
    struct qn_websocket_reader in;
    struct qn_buf rest; /* bytes read after a message */
    struct qn_buf ping; /* payload of the last ping that has not been answered */
    bool pinged;
    struct frame *first, **end;
    size_t waiting;    /* bytes of memory, including the frames' headers, since small frames may be
                          many */
    bool in_pieces;    /* a message being sent in pieces has not ended */
    bool owes_drained; /* something was queued, and `drained` has not been called since */
    bool paused, sent_close, got_close, lingering, dead;
    int64_t heard_ms, moved_ms, pinged_ms, deadline_ms;
};

static const struct qn_ws_route no_route = {0}; /* for a session that never began */

struct qn_ws {
    struct qn_loop *loop;
    struct qn_ws_limits limits;
    struct qn_metrics *metrics;
    void *app;
    struct qn_ws_session *sessions;
    size_t n;
    struct qn_timer *sweep; /* runs while there are sessions */
    int64_t sweep_ms;
    bool stopping;
    char scratch[READ_BYTES];
};

const struct qn_ws_limits qn_ws_limits = {.sessions = QN_WS_SESSIONS_MAX,
                                          .of_one = QN_WS_OWNER_MAX,
                                          .ping_ms = 30000,
                                          .stall_ms = 30000,
                                          .close_ms = 5000};

/* ---- sending ---- */

static void watch(struct qn_ws_session *s)
{
    bool reads = !s->paused || s->sent_close;
    bool writes = s->first || s->owes_drained || (reads && s->rest.len > 0);
    uint32_t events = EPOLLRDHUP | (reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0);
    if (events != s->events)
        qn_watch_set(s->watch, events);
    s->events = events;
}

/* Sends what the system accepts. */
static void flush(struct qn_ws_session *s)
{
    while (s->first && !s->dead) {
        struct frame *f = s->first;
        ssize_t n = send(s->fd, f->bytes + f->sent, f->n - f->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0) {
            s->dead = errno != EAGAIN && errno != EINTR;
            break;
        }
        s->moved_ms = qn_now_ms();
        s->waiting -= (size_t)n;
        f->sent += (size_t)n;
        if (f->sent < f->n)
            break;
        s->first = f->next;
        s->waiting -= sizeof *f;
        if (!s->first)
            s->end = &s->first;
        free(f);
    }
}

static void queue(struct qn_ws_session *s, const void *head, size_t head_len, const void *data,
                  size_t n)
{
    struct frame *f = qn_xmalloc(sizeof *f + head_len + n);
    *f = (struct frame){.n = head_len + n};
    memcpy(f->bytes, head, head_len);
    if (n)
        memcpy(f->bytes + head_len, data, n);
    if (!s->first)
        s->moved_ms = qn_now_ms();
    *s->end = f;
    s->end = &f->next;
    s->waiting += sizeof *f + f->n;
    flush(s);
    s->owes_drained = s->owes_drained || s->first;
    watch(s);
}

static void queue_frame(struct qn_ws_session *s, enum qn_websocket_kind kind, bool first, bool last,
                        const void *data, size_t n)
{
    uint8_t head[QN_WEBSOCKET_HEADER_MAX];
    queue(s, head, qn_websocket_header(kind, first, last, n, head), data, n);
}

/* Discards frames whose sending has not begun. */
static void forget_waiting(struct qn_ws_session *s)
{
    struct frame **at = &s->first;
    if (s->first && s->first->sent > 0)
        at = &s->first->next;
    s->end = at;
    for (struct frame *f = *at, *next; f; f = next) {
        next = f->next;
        s->waiting -= sizeof *f + f->n;
        free(f);
    }
    *at = NULL;
}

void qn_ws_close(struct qn_ws_session *s, int code, const char *reason)
{
    char payload[QN_WEBSOCKET_CONTROL_MAX];
    if (s->sent_close)
        return;
    size_t n = reason ? strlen(reason) : 0;
    if (n > REASON_MAX)
        n = qn_utf8_whole(reason, REASON_MAX);
    payload[0] = (char)(code >> 8);
    payload[1] = (char)code;
    if (n)
        memcpy(payload + 2, reason, n);
    s->sent_close = true;
    s->deadline_ms = qn_now_ms() + s->ws->limits.close_ms;
    queue_frame(s, QN_WEBSOCKET_CLOSE, true, true, payload,
                code == QN_WEBSOCKET_NO_CODE ? 0 : n + 2);
}

static void count(const struct qn_ws *ws, enum qn_metric what)
{
    qn_metric_add(ws->metrics, what, 1);
}

static void drop_slow(struct qn_ws_session *s)
{
    char reason[REASON_MAX + 1];
    snprintf(reason, sizeof reason, "too slow: more than %zu bytes waited for this client",
             s->route->waiting_max);
    qn_warn("ws", "client dropped: it reads too slowly waiting_max=%zu", s->route->waiting_max);
    count(s->ws, QN_M_SOCKETS_DROPPED);
    forget_waiting(s);
    qn_ws_close(s, QN_WEBSOCKET_POLICY, reason);
}

void qn_ws_send_piece(struct qn_ws_session *s, enum qn_websocket_kind kind, bool first, bool last,
                      const void *data, size_t n)
{
    if (s->sent_close || s->dead)
        return;
    assert(s->in_pieces != first);
    s->in_pieces = !last;
    if (s->waiting + sizeof(struct frame) + n > s->route->waiting_max)
        drop_slow(s);
    else
        queue_frame(s, kind, first, last, data, n);
}

void qn_ws_send(struct qn_ws_session *s, enum qn_websocket_kind kind, const void *data, size_t n)
{
    qn_ws_send_piece(s, kind, true, true, data, n);
}

size_t qn_ws_waiting(const struct qn_ws_session *s)
{
    return s->waiting;
}

/* ---- receiving ---- */

/* Only the last of several pings has to be answered (RFC 6455, section 5.5.3). */
static void answer_ping(struct qn_ws_session *s)
{
    if (!s->pinged || s->sent_close || s->dead)
        return;
    s->pinged = false;
    if (s->waiting + sizeof(struct frame) + s->ping.len > s->route->waiting_max)
        drop_slow(s);
    else
        queue_frame(s, QN_WEBSOCKET_PONG, true, true, s->ping.data, s->ping.len);
}

static bool on_frame(void *ctx, enum qn_websocket_kind kind, int code, const char *data, size_t n)
{
    struct qn_ws_session *s = ctx;
    if (kind == QN_WEBSOCKET_CLOSE) {
        s->got_close = true;
        qn_ws_close(s, code, NULL); /* returns the same code (section 5.5.1) */
    } else if (s->sent_close) {
        return true; /* after our close frame only the client's matters */
    } else if (kind == QN_WEBSOCKET_PING) {
        qn_buf_clear(&s->ping);
        qn_buf_add(&s->ping, data, n);
        s->pinged = true;
    } else if (kind != QN_WEBSOCKET_PONG) {
        /* One message per turn of the loop: a read may contain hundreds, and each may cause much
         * work. */
        answer_ping(s);
        if (!s->sent_close)
            s->route->message(s, kind == QN_WEBSOCKET_TEXT, data, n);
        return s->sent_close;
    }
    return !s->paused || s->sent_close;
}

static void feed(struct qn_ws_session *s, const char *p, size_t n)
{
    size_t used = qn_websocket_feed(&s->in, p, n);
    if (s->in.error) {
        qn_debug("ws", "closing code=%d message=\"%s\"", s->in.error, s->in.why);
        s->got_close = true; /* invalid data: further bytes cannot be parsed */
        qn_ws_close(s, s->in.error, s->in.why);
    } else if (used < n && !s->in.closed) {
        qn_buf_add(&s->rest, p + used, n - used);
    }
    answer_ping(s);
}

static void read_some(struct qn_ws_session *s)
{
    if (s->rest.len > 0 && !s->got_close) {
        /* The buffer takes the next remainder while this one is parsed. */
        struct qn_buf before = s->rest;
        qn_buf_init(&s->rest, QN_HTTP_READ_BYTES);
        feed(s, before.data, before.len);
        qn_buf_deinit(&before);
        return;
    }
    ssize_t n = recv(s->fd, s->ws->scratch, sizeof s->ws->scratch, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        s->dead = true;
        return;
    }
    s->heard_ms = qn_now_ms();
    if (!s->got_close)
        feed(s, s->ws->scratch, (size_t)n);
}

void qn_ws_pause(struct qn_ws_session *s, bool pause)
{
    s->paused = pause;
    watch(s);
}

/* ---- life cycle ---- */

static void session_free(struct qn_ws_session *s)
{
    struct qn_ws *ws = s->ws;
    if (s->route != &no_route)
        count(ws, QN_M_SOCKETS_CLOSED);
    if (s->route->closed)
        s->route->closed(s);
    qn_watch_remove(s->watch);
    close(s->fd);
    if (s->prev)
        s->prev->next = s->next;
    else
        ws->sessions = s->next;
    if (s->next)
        s->next->prev = s->prev;
    ws->n--;
    for (struct frame *f = s->first, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    qn_websocket_reader_deinit(&s->in);
    qn_buf_deinit(&s->rest);
    qn_buf_deinit(&s->ping);
    qn_arena_free(s->arena);
    free(s);
}

/* Runs after every event: calls `drained` when nothing is queued any more, and takes the next step
 * of closing. */
static void settle(struct qn_ws_session *s)
{
    if (s->owes_drained && !s->first && !s->dead) {
        s->owes_drained = false;
        if (!s->sent_close && s->route->drained)
            s->route->drained(s);
    }
    if (s->sent_close && s->got_close && !s->first && !s->lingering && !s->dead) {
        shutdown(s->fd, SHUT_WR);
        s->lingering = true;
        s->deadline_ms = qn_now_ms() + s->ws->limits.close_ms;
    }
    if (s->dead)
        session_free(s);
    else
        watch(s);
}

static void on_socket(void *ctx, uint32_t events)
{
    struct qn_ws_session *s = ctx;
    bool reads = !s->paused || s->sent_close;
    if (events & EPOLLOUT)
        flush(s);
    if (reads && (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR) || s->rest.len > 0))
        read_some(s);
    else if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        s->dead = true;
    settle(s);
}

static void look_after(struct qn_ws_session *s, int64_t now)
{
    const struct qn_ws_limits *limits = &s->ws->limits;
    if (s->sent_close && now >= s->deadline_ms) {
        s->dead = true;
    } else if (s->waiting > 0 && now - s->moved_ms >= limits->stall_ms) {
        qn_warn("ws", "client dropped: it accepts nothing for stall_ms=%lld waiting=%zu",
                (long long)limits->stall_ms, s->waiting);
        if (!s->sent_close)
            count(s->ws, QN_M_SOCKETS_DROPPED);
        s->dead = true;
    } else if (!s->sent_close && !s->paused && now - s->heard_ms >= limits->ping_ms) {
        if (s->pinged_ms <= s->heard_ms) {
            s->pinged_ms = now;
            queue_frame(s, QN_WEBSOCKET_PING, true, true, NULL, 0);
        } else if (now - s->pinged_ms >= limits->ping_ms) {
            qn_debug("ws", "client dropped: it does not answer pings");
            s->dead = true;
        }
    }
}

static void on_sweep(void *ctx)
{
    struct qn_ws *ws = ctx;
    int64_t now = qn_now_ms();
    for (struct qn_ws_session *s = ws->sessions, *next; s; s = next) {
        next = s->next;
        look_after(s, now);
        settle(s);
    }
    if (!ws->sessions) {
        qn_timer_stop(ws->sweep);
        ws->sweep = NULL;
    }
}

struct qn_ws *qn_ws_new(struct qn_loop *l, struct qn_metrics *metrics, void *app,
                        const struct qn_ws_limits *limits)
{
    struct qn_ws *ws = qn_xcalloc(1, sizeof *ws);
    ws->loop = l;
    ws->metrics = metrics;
    ws->app = app;
    ws->limits = *limits;
    ws->sweep_ms = SWEEP_MS_MAX;
    const int64_t spans[] = {limits->ping_ms, limits->stall_ms, limits->close_ms};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        if (spans[i] / 4 < ws->sweep_ms)
            ws->sweep_ms = spans[i] / 4;
    return ws;
}

void qn_ws_stop(struct qn_ws *ws)
{
    ws->stopping = true;
    for (struct qn_ws_session *s = ws->sessions; s; s = s->next)
        qn_ws_close(s, QN_WEBSOCKET_GOING_AWAY, "the server stops");
}

void qn_ws_free(struct qn_ws *ws)
{
    if (!ws)
        return;
    while (ws->sessions)
        session_free(ws->sessions);
    qn_timer_stop(ws->sweep);
    free(ws);
}

/* ---- the handshake ---- */

bool qn_ws_asked(const char *method, const char *upgrade, const char *connection)
{
    return qn_str_eq(method, "GET") && qn_head_lists(upgrade, "websocket") &&
           qn_head_lists(connection, "upgrade");
}

static size_t count_of(const struct qn_ws *ws, const char *owner)
{
    size_t n = 0;
    for (const struct qn_ws_session *s = ws->sessions; s; s = s->next)
        n += qn_str_eq(s->caller.owner, owner);
    return n;
}

qn_err qn_ws_check(const struct qn_ws *ws, const struct qn_caller *caller, const char *version,
                   const char *key, struct qn_error *e)
{
    if (!qn_str_eq(version, "13"))
        return qn_fail_param(e, QN_EINVAL, "Sec-WebSocket-Version",
                             "this server speaks version 13 of the WebSocket protocol");
    if (!qn_websocket_key_ok(key))
        return qn_fail_param(e, QN_EINVAL, "Sec-WebSocket-Key",
                             "Sec-WebSocket-Key must be 16 random bytes in base64");
    if (ws->stopping)
        return qn_fail(e, QN_EBUSY, "the server is stopping");
    if (ws->n >= ws->limits.sessions)
        return qn_fail(e, QN_EBUSY, "too many WebSockets are open: %zu", ws->n);
    size_t own = ws->limits.of_one ? count_of(ws, caller->owner) : 0;
    if (own && (own >= ws->limits.of_one || own >= ws->limits.sessions - ws->n))
        return qn_fail(e, QN_EBUSY, "this client has too many WebSockets open: %zu", own);
    return QN_OK;
}

/* The first of the client's subprotocols that the route supports; NULL: none. */
static const char *choose(const struct qn_ws_route *route, const char *offered)
{
    while (offered && *offered && route->subprotocols) {
        offered += strspn(offered, ", \t");
        size_t n = strcspn(offered, ", \t");
        for (const char *const *p = route->subprotocols; *p; p++)
            if (strlen(*p) == n && !strncmp(*p, offered, n))
                return *p;
        offered += n;
    }
    return NULL;
}

static void answer(struct qn_ws_session *s, const struct qn_http_upgrade *u)
{
    char accept[QN_WEBSOCKET_ACCEPT_LEN + 1];
    struct qn_buf head;
    const char *protocol = choose(s->route, qn_http_upgrade_header(u, "Sec-WebSocket-Protocol"));
    qn_websocket_accept(qn_http_upgrade_header(u, "Sec-WebSocket-Key"), accept);
    qn_buf_init(&head, HEAD_MAX);
    qn_buf_fmt(&head,
               "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Accept: %s\r\n%s%s%s\r\n",
               accept, protocol ? "Sec-WebSocket-Protocol: " : "", protocol ? protocol : "",
               protocol ? "\r\n" : "");
    queue(s, head.data, head.len, NULL, 0);
    qn_buf_deinit(&head);
}

void qn_ws_open(struct qn_ws *ws, const struct qn_ws_route *route, struct qn_http_upgrade *u,
                const char *id, const struct qn_caller *caller)
{
    struct qn_ws_session *s = qn_xcalloc(1, sizeof *s);
    struct qn_error e;
    s->ws = ws;
    s->route = route;
    s->arena = qn_arena_new(SESSION_ARENA_MAX);
    s->id = id ? qn_arena_strdup(s->arena, id) : NULL;
    s->caller = *caller;
    s->query = qn_arena_strdup(s->arena, u->query);
    s->end = &s->first;
    s->heard_ms = qn_now_ms();
    s->pinged_ms = 0;
    qn_websocket_reader_init(&s->in, route->message_max, on_frame, s);
    qn_buf_init(&s->rest, QN_HTTP_READ_BYTES);
    qn_buf_init(&s->ping, QN_WEBSOCKET_CONTROL_MAX);
    s->fd = qn_http_upgrade_take(u, &s->rest);
    /* Otherwise the system would buffer megabytes for a client that does not read. */
    int kept = QN_WS_KERNEL_BYTES;
    setsockopt(s->fd, SOL_SOCKET, SO_SNDBUF, &kept, sizeof kept);
    s->next = ws->sessions;
    if (ws->sessions)
        ws->sessions->prev = s;
    ws->sessions = s;
    ws->n++;
    if (!ws->sweep)
        ws->sweep = qn_timer_start(ws->loop, ws->sweep_ms, ws->sweep_ms, on_sweep, ws);
    s->events = EPOLLIN | EPOLLRDHUP;
    qn_debug("ws", "opened path=%.200s", u->path);
    if (qn_watch_add(ws->loop, s->fd, s->events, on_socket, s, &s->watch, &e)) {
        /* The route's `opened` has not been called for s, so its `closed` must not be called
         * either. */
        qn_error_log("ws", "%s", e.message);
        s->route = &no_route;
        session_free(s);
        return;
    }
    answer(s, u);
    count(ws, QN_M_SOCKETS_OPENED);
    route->opened(ws->app, s);
}

/* ---- the owner's calls ---- */

const char *qn_ws_id(const struct qn_ws_session *s)
{
    return s->id;
}

const struct qn_caller *qn_ws_caller(const struct qn_ws_session *s)
{
    return &s->caller;
}

const char *qn_ws_query(const struct qn_ws_session *s, const char *name, struct qn_arena *arena)
{
    return qn_query_find(s->query, name, arena);
}

void qn_ws_set_ctx(struct qn_ws_session *s, void *ctx)
{
    s->ctx = ctx;
}

void *qn_ws_ctx(const struct qn_ws_session *s)
{
    return s->ctx;
}
