/* A connection while it is ours. First its head is looked at without being taken (PEEK), so that
 * malformed and oversized ones are refused in our own words and WebSockets go elsewhere; then it is
 * the daemon's (SERVE), or, after a refusal, ours again (LINGER: what the client still sends is
 * thrown away, because closing with unread bytes would destroy the answer on its way). */
#include "io/http_server_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "io/http_head.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    UPGRADE_ARENA_MAX = 64 * QN_HTTP_HEAD_MAX, /* a head's fields, each looked up a few times */
    LINGER_MS = 10 * 1000,
    LINGER_READS = 16, /* buffers thrown away per wake-up */
    LINGERING_MAX = QN_HTTP_CONNECTIONS_MAX,
    SWEEP_MS = 1000,
    PATH_SHOWN_MAX = 1024 /* longer paths of refused heads are left out */
};

void qn_conn_free(struct conn *c)
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
    s->n_lingering -= c->phase == LINGER;
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
            qn_conn_free(c);
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
    s->n_lingering += phase == LINGER;
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
        qn_conn_free(c);
        return;
    }
}

/* Writes a whole answer to fd, which nobody else writes to any more, and takes the descriptor. The
 * answer is a few hundred bytes into an empty socket buffer, so one send does it. */
void qn_conn_refuse(struct qn_http_server *s, int fd, int status, const char *method,
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
    if (n < 0 || s->n_lingering > LINGERING_MAX)
        qn_conn_free(c); /* the client has left already, or those like it are too many */
    else if (qn_watch_add(s->loop, fd, EPOLLIN, on_linger, c, &c->watch, &e))
        qn_conn_free(c);
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
        qn_conn_free(c);
    }
    qn_http_server_run(s);
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
        qn_conn_free(c);
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
        qn_conn_free(c);
        return;
    }
    struct qn_head head;
    qn_head_check(s->scratch, (size_t)n, QN_HTTP_HEAD_MAX, &head);
    if (head.status == 0) {
        if (events & (EPOLLRDHUP | EPOLLHUP))
            qn_conn_free(c); /* it will never be complete */
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
    qn_conn_free(c);
    qn_conn_refuse(s, fd, head.status, head.method, path);
}

/* Those that have been refused are not counted: however many they are, others come in. */
static bool is_full(const struct qn_http_server *s)
{
    return s->n_conns - s->n_lingering >= QN_HTTP_CONNECTIONS_MAX;
}

static struct conn *longest_resting(const struct qn_http_server *s)
{
    struct conn *oldest = NULL;
    for (struct conn *c = s->conns; c; c = c->next)
        if (c->phase == SERVE && c->idle && (!oldest || c->deadline_ms <= oldest->deadline_ms))
            oldest = c;
    return oldest;
}

/* Closes the connection that has rested longest between two requests, as RFC 9112, 9.3 lets a
 * server do at any time: whoever keeps one for later shuts nobody out. A next request of which the
 * daemon has read less than a line counts as none. */
static void make_room(struct qn_http_server *s)
{
    struct conn *c;
    char byte;
    while ((c = longest_resting(s)) && recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
        c->idle = false; /* its next request has just come */
    if (!c)
        return;
    shutdown(c->fd, SHUT_RDWR);
    qn_http_server_run(s); /* which sees the end and closes */
}

void qn_http_server_add(struct qn_http_server *s, int fd, const void *addr, unsigned addr_len,
                        int tag)
{
    assert(addr_len <= sizeof(struct sockaddr_storage));
    if (is_full(s))
        make_room(s);
    if (is_full(s)) {
        if (s->n_lingering >= LINGERING_MAX) {
            close(fd);
            return;
        }
        qn_warn("http", "too many connections limit=%d", QN_HTTP_CONNECTIONS_MAX);
        qn_conn_refuse(s, fd, 503, "", "");
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
        qn_conn_free(c);
    }
}

/* A socket of both kinds, as service managers open them, gives IPv4 addresses in IPv6 (RFC 4291,
 * 2.5.5.2). */
static void unmap(struct sockaddr_storage *sa)
{
    const struct sockaddr_in6 mapped = *(struct sockaddr_in6 *)(void *)sa;
    struct sockaddr_in plain = {.sin_family = AF_INET, .sin_port = mapped.sin6_port};
    if (mapped.sin6_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&mapped.sin6_addr))
        return;
    memcpy(&plain.sin_addr, &mapped.sin6_addr.s6_addr[12], sizeof plain.sin_addr);
    memcpy(sa, &plain, sizeof plain);
}

bool qn_conn_ends(struct conn *c, struct qn_http_ends *out)
{
    socklen_t len = sizeof c->own;
    if (!c->own.ss_family && getsockname(c->fd, (struct sockaddr *)&c->own, &len))
        return false;
    *out = (struct qn_http_ends){.peer = c->addr, .own = c->own};
    unmap(&out->peer);
    unmap(&out->own);
    return true;
}

bool qn_http_upgrade_ends(const struct qn_http_upgrade *u, struct qn_http_ends *out)
{
    return qn_conn_ends(u->conn, out);
}
