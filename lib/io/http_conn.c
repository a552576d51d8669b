/* A kept connection stays registered with epoll for input, so that using it again usually needs no
 * system call but one check (is_silent), send and recv. It is closed when data, the end of the
 * stream or an error arrives while it is kept. */
#include "io/http_conn.h"

#include "base/buf.h"
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    KEPT_MAX = 64, /* connections; one more closes the one that has been kept longest */
    KEPT_MS =
        10 * 1000, /* much less than IDLE_MS of http_server.c, after which a child closes it */
    SWEEP_MS = 1000
};

struct qn_conn {
    struct qn_conns *all;
    struct qn_conn *prev, *next; /* in all->newest, while it is kept */
    struct sockaddr_in to;
    int fd;
    struct qn_watch *watch; /* NULL: nothing is watched */
    qn_conn_fn fn;          /* NULL: the connection is kept */
    void *ctx;
    int64_t since_ms;
};

struct qn_conns {
    struct qn_loop *loop;
    struct qn_conn *newest, *oldest; /* kept */
    size_t n_kept;
    struct qn_timer *sweep; /* runs while connections are kept */
};

static void unlink_kept(struct qn_conn *c)
{
    struct qn_conns *cs = c->all;
    *(c->prev ? &c->prev->next : &cs->newest) = c->next;
    *(c->next ? &c->next->prev : &cs->oldest) = c->prev;
    cs->n_kept--;
}

static void close_kept(struct qn_conn *c)
{
    unlink_kept(c);
    qn_conn_close(c, false);
}

static void on_sweep(void *ctx)
{
    struct qn_conns *cs = ctx;
    int64_t now_ms = qn_now_ms();
    while (cs->oldest && now_ms - cs->oldest->since_ms >= KEPT_MS)
        close_kept(cs->oldest);
    if (cs->oldest)
        return;
    qn_timer_stop(cs->sweep);
    cs->sweep = NULL;
}

static void on_ready(void *ctx, uint32_t events)
{
    struct qn_conn *c = ctx;
    if (c->fn)
        c->fn(c->ctx, events);
    else
        close_kept(c);
}

void qn_conns_new(struct qn_loop *l, struct qn_conns **out)
{
    *out = qn_xcalloc(1, sizeof **out);
    (*out)->loop = l;
}

void qn_conns_free(struct qn_conns *cs)
{
    while (cs->oldest)
        close_kept(cs->oldest);
    qn_timer_stop(cs->sweep);
    free(cs);
}

static bool same(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
    return a->sin_addr.s_addr == b->sin_addr.s_addr && a->sin_port == b->sin_port;
}

/* False: the peer has closed the connection or sent unexpected bytes, and the loop has not handled
 * that event yet. */
static bool is_silent(const struct qn_conn *c)
{
    char byte;
    return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

struct qn_conn *qn_conn_take(struct qn_conns *cs, const struct sockaddr_in *to, qn_conn_fn fn,
                             void *ctx)
{
    for (struct qn_conn *c = cs->newest, *next; c; c = next) {
        next = c->next;
        if (!same(&c->to, to))
            continue;
        if (!is_silent(c)) {
            close_kept(c);
            continue;
        }
        unlink_kept(c);
        c->fn = fn;
        c->ctx = ctx;
        return c;
    }
    return NULL;
}

qn_err qn_conn_open(struct qn_conns *cs, const struct sockaddr_in *to, qn_conn_fn fn, void *ctx,
                    struct qn_conn **out, bool *connecting, struct qn_error *e)
{
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return qn_fail_errno(e, "make a socket");
    /* The last piece of a long request must not wait for earlier pieces to be acknowledged. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    *connecting = connect(fd, (const struct sockaddr *)to, sizeof *to) != 0;
    if (*connecting && errno != EINPROGRESS) {
        qn_fail(e, QN_EIO, "no connection: %s", strerror(errno));
        close(fd);
        return QN_EIO;
    }
    struct qn_conn *c = *out = qn_xcalloc(1, sizeof *c);
    *c = (struct qn_conn){.all = cs, .to = *to, .fd = fd, .fn = fn, .ctx = ctx};
    return QN_OK;
}

qn_err qn_conn_is_open(const struct qn_conn *c, struct qn_error *e)
{
    int error = 0;
    socklen_t n = sizeof error;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &n))
        error = errno;
    return error ? qn_fail(e, QN_EIO, "no connection: %s", strerror(error)) : QN_OK;
}

int qn_conn_fd(const struct qn_conn *c)
{
    return c->fd;
}

qn_err qn_conn_watch(struct qn_conn *c, uint32_t events, struct qn_error *e)
{
    if (!events) {
        qn_watch_remove(c->watch); /* epoll would report a broken connection again and again */
        c->watch = NULL;
    } else if (!c->watch) {
        return qn_watch_add(c->all->loop, c->fd, events, on_ready, c, &c->watch, e);
    } else {
        qn_watch_set(c->watch, events);
    }
    return QN_OK;
}

void qn_conn_keep(struct qn_conn *c)
{
    struct qn_conns *cs = c->all;
    struct qn_error e;
    assert(c->fn);
    if (qn_conn_watch(c, EPOLLIN, &e)) {
        qn_conn_close(c, false);
        return;
    }
    c->fn = NULL;
    c->since_ms = qn_now_ms();
    c->prev = NULL;
    c->next = cs->newest;
    *(c->next ? &c->next->prev : &cs->oldest) = c;
    cs->newest = c;
    if (++cs->n_kept > KEPT_MAX)
        close_kept(cs->oldest);
    if (!cs->sweep)
        cs->sweep = qn_timer_start(cs->loop, SWEEP_MS, SWEEP_MS, on_sweep, cs);
}

/* If the peer has not read all of a request, it would notice an ordinary close only after reading
 * the rest. */
static void reset_on_close(int fd)
{
    const struct linger at_once = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void qn_conn_close(struct qn_conn *c, bool at_once)
{
    if (!c)
        return;
    qn_watch_remove(c->watch);
    if (at_once)
        reset_on_close(c->fd);
    close(c->fd);
    free(c);
}
