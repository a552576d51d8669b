/* Listening and accepting, see listen.h. bind detects a port in use: on Linux SO_REUSEADDR lets an
 * address in TIME_WAIT be reused, but never one that is listened on. */
#include "http/listen.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SOCKETS_MAX = 8,
    BACKLOG = 512,
    ACCEPTS_PER_TURN = 64,
    REST_MS = 100, /* pause after running out of descriptors */
    /* A client that has been silent for PROBE_IDLE_S is probed every PROBE_INTERVAL_S; after PROBES
     * probes without an answer, 110 seconds after it was last heard, the connection ends. */
    PROBE_IDLE_S = 60,
    PROBE_INTERVAL_S = 10,
    PROBES = 5,
    PORT_TRIES = 20 /* to find a port that is free on every address */
};

struct qn_listen {
    struct qn_loop *loop;
    struct qn_http_server *server;
    int fds[SOCKETS_MAX];
    struct qn_watch *watches[SOCKETS_MAX];
    size_t n;
    int port, tag;
    bool open_to_others;
    bool adopted; /* handed over without our socket options: set on each connection */
    struct qn_timer *rest;
};

static void on_readable(void *ctx, uint32_t events);

static void set_watches(struct qn_listen *ls, uint32_t events)
{
    for (size_t i = 0; i < ls->n; i++)
        qn_watch_set(ls->watches[i], events);
}

static void rested(void *ctx)
{
    struct qn_listen *ls = ctx;
    qn_timer_stop(ls->rest);
    ls->rest = NULL;
    set_watches(ls, EPOLLIN);
}

static void set_option(int fd, int level, int name, int value)
{
    setsockopt(fd, level, name, &value, sizeof value);
}

/* For a listening socket, whose connections inherit these options (accept(2), Linux), or for a
 * connection. TCP_USER_TIMEOUT is not set: it would also end connections of clients that are there
 * and do not read for a while, for which http_pace.h has limits. While bytes are unconfirmed there
 * are no probes: then the HTTP server finds out (qn_link_is_lost). */
static void set_up(int fd)
{
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, PROBE_IDLE_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, PROBE_INTERVAL_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

/* Accepts waiting connections on every socket; the watch does not tell which one is ready, and
 * checking the others costs one system call each. */
static void on_readable(void *ctx, uint32_t events)
{
    struct qn_listen *ls = ctx;
    (void)events;
    for (size_t i = 0; i < ls->n; i++)
        for (int k = 0; k < ACCEPTS_PER_TURN; k++) {
            struct sockaddr_storage addr;
            socklen_t len = sizeof addr;
            int fd =
                accept4(ls->fds[i], (struct sockaddr *)&addr, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (fd >= 0) {
                if (ls->adopted)
                    set_up(fd);
                qn_http_server_add(ls->server, fd, &addr, len, ls->tag);
                continue;
            }
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                qn_error_log("listen", "accept=%s resting_ms=%d", strerror(errno), REST_MS);
                set_watches(ls, 0);
                if (!ls->rest)
                    ls->rest = qn_timer_start(ls->loop, REST_MS, 0, rested, ls);
                return;
            }
            if (errno == EAGAIN || errno == EWOULDBLOCK)
                break;
            /* any other error (ECONNABORTED, EPROTO ...) concerns only this connection: go on */
        }
}

static void address_text(const struct sockaddr *sa, char *out, size_t n)
{
    char text[INET6_ADDRSTRLEN] = "?";
    if (sa->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, text,
                  sizeof text);
        snprintf(out, n, "%s", text);
    } else {
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, text,
                  sizeof text);
        snprintf(out, n, "[%s]", text);
    }
}

static bool is_loopback(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr) >> 24) ==
               127;
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr);
}

static void set_port(struct sockaddr *sa, int port)
{
    if (sa->sa_family == AF_INET)
        ((struct sockaddr_in *)(void *)sa)->sin_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in6 *)(void *)sa)->sin6_port = htons((uint16_t)port);
}

static int bound_port(int fd)
{
    struct sockaddr_storage addr;
    socklen_t len = sizeof addr;
    if (getsockname(fd, (struct sockaddr *)&addr, &len))
        return 0;
    return ntohs(addr.ss_family == AF_INET ? ((struct sockaddr_in *)(void *)&addr)->sin_port
                                           : ((struct sockaddr_in6 *)(void *)&addr)->sin6_port);
}

/* One listening socket; -1 with errno. */
static int bind_one(const struct sockaddr *sa, socklen_t len)
{
    int on = 1, fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (sa->sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    set_up(fd);
    if (bind(fd, sa, len) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static void close_all(struct qn_listen *ls)
{
    for (size_t i = 0; i < ls->n; i++) {
        qn_watch_remove(ls->watches[i]);
        close(ls->fds[i]);
    }
    ls->n = 0;
}

/* Whether binding failed because the machine has no address of this kind. Such a failure is ignored
 * if another address can be bound: a system without IPv6 still has 127.0.0.1. */
static bool missing(int why)
{
    return why == EAFNOSUPPORT || why == EADDRNOTAVAIL || why == EPROTONOSUPPORT;
}

/* Binds all addresses on one port. *again: the port picked for the first address is in use on
 * another. */
static qn_err bind_all(struct qn_listen *ls, const struct addrinfo *list,
                       const struct qn_listen_address *place, bool *again, struct qn_error *e)
{
    char text[INET6_ADDRSTRLEN + 2] = "";
    int why = 0;
    *again = false;
    ls->port = place->port;
    for (const struct addrinfo *a = list; a && ls->n < SOCKETS_MAX; a = a->ai_next) {
        if (a->ai_family != AF_INET && a->ai_family != AF_INET6)
            continue;
        set_port(a->ai_addr, ls->port);
        int fd = bind_one(a->ai_addr, a->ai_addrlen);
        if (fd < 0) {
            why = errno;
            address_text(a->ai_addr, text, sizeof text);
            if (missing(why))
                continue;
            *again = why == EADDRINUSE && place->port == 0;
            close_all(ls);
            break;
        }
        ls->fds[ls->n++] = fd;
        ls->open_to_others = ls->open_to_others || !is_loopback(a->ai_addr);
        if (!ls->port)
            ls->port = bound_port(fd);
    }
    if (ls->n)
        return QN_OK;
    if (why == EADDRINUSE)
        return qn_fail(e, QN_ECONFLICT,
                       "port %d on %s is taken: another quinced or another program listens there. "
                       "Stop it, or choose another with %s",
                       ls->port, text, place->port_set);
    if (why == EACCES)
        return qn_fail(e, QN_EIO,
                       "port %d on %s is not allowed for ordinary users: choose one above 1023 "
                       "with %s",
                       ls->port, text, place->port_set);
    return qn_fail(e, QN_EIO, "cannot listen on %s (%s): %s", place->host, text, strerror(why));
}

/* Localhost means both loopback addresses, whatever /etc/hosts says. */
static qn_err addresses(const struct qn_listen_address *place, struct addrinfo **v4,
                        struct addrinfo **v6, struct qn_error *e)
{
    const char *host = place->host;
    bool local = qn_str_ieq(host, "localhost");
    struct addrinfo hints = {
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_PASSIVE | (local ? AI_NUMERICHOST : 0),
    };
    char bare[256];
    size_t n = strlen(host);
    if (n > 2 && n < sizeof bare && host[0] == '[' && host[n - 1] == ']') {
        memcpy(bare, host + 1, n - 2);
        bare[n - 2] = '\0';
        host = bare;
    }
    *v6 = NULL;
    int err = getaddrinfo(local ? "127.0.0.1" : host, NULL, &hints, v4);
    if (!err && local && getaddrinfo("::1", NULL, &hints, v6))
        *v6 = NULL;
    if (err)
        return qn_fail_param(e, QN_EINVAL, place->host_set,
                             "%s: '%.100s' is not an address of this machine: %s", place->host_set,
                             host, gai_strerror(err));
    return QN_OK;
}

static qn_err refuse_public(const char *setting, const char *host, struct qn_error *e)
{
    return qn_fail_param(e, QN_EINVAL, setting,
                         "%s: %s can be reached from other machines, and no key "
                         "protects it: make one with `quince keys add NAME` while the "
                         "server listens on localhost, or set QUINCE_API_KEY, or add "
                         "--insecure if every machine that can reach it may use it",
                         setting, host);
}

qn_err qn_listen_open(struct qn_loop *l, struct qn_http_server *server,
                      const struct qn_listen_address *place, struct qn_listen **out,
                      struct qn_error *e)
{
    struct addrinfo *v4 = NULL, *v6 = NULL, *last;
    struct qn_listen *ls = qn_xcalloc(1, sizeof *ls);
    ls->loop = l;
    ls->server = server;
    ls->tag = place->tag;
    qn_err err = addresses(place, &v4, &v6, e);
    if (err)
        goto out;
    for (last = v4; last->ai_next; last = last->ai_next)
        ;
    last->ai_next = v6; /* one list; split again before it is freed */
    for (const struct addrinfo *a = v4; a && !err; a = a->ai_next)
        if (!place->guarded && !is_loopback(a->ai_addr))
            err = refuse_public(place->host_set, place->host, e);
    bool again = !err;
    for (int tries = 0; again && tries < PORT_TRIES; tries++)
        err = bind_all(ls, v4, place, &again, e);
    for (size_t i = 0; l && i < ls->n && !err; i++)
        err = qn_watch_add(l, ls->fds[i], EPOLLIN, on_readable, ls, &ls->watches[i], e);
    last->ai_next = NULL;
out:
    if (v4)
        freeaddrinfo(v4);
    if (v6)
        freeaddrinfo(v6);
    if (err) {
        close_all(ls);
        free(ls);
        return err;
    }
    *out = ls;
    return QN_OK;
}

qn_err qn_listen_adopt(struct qn_loop *l, struct qn_http_server *server, const int *fds, size_t n,
                       bool guarded, int tag, struct qn_listen **out, struct qn_error *e)
{
    struct qn_listen *ls = qn_xcalloc(1, sizeof *ls);
    qn_err err = QN_OK;
    ls->loop = l;
    ls->server = server;
    ls->tag = tag;
    ls->adopted = true;
    for (size_t i = 0; i < n; i++) {
        struct sockaddr_storage addr;
        socklen_t len = sizeof addr;
        char text[INET6_ADDRSTRLEN + 2] = "?";
        if (ls->n == SOCKETS_MAX) {
            err = qn_fail(e, QN_ELIMIT, "at most %d sockets can be handed over for one listener",
                          SOCKETS_MAX);
            close(fds[i]);
            continue;
        }
        ls->fds[ls->n++] = fds[i];
        if (err)
            continue;
        if (getsockname(fds[i], (struct sockaddr *)&addr, &len))
            err = qn_fail_errno(e, "look at descriptor %d", fds[i]);
        else if (!is_loopback((struct sockaddr *)&addr)) {
            address_text((struct sockaddr *)&addr, text, sizeof text);
            ls->open_to_others = true;
            err = guarded ? QN_OK : refuse_public("LISTEN_FDS", text, e);
        }
        if (!err)
            err = qn_watch_add(l, fds[i], EPOLLIN, on_readable, ls, &ls->watches[ls->n - 1], e);
        if (!err && !ls->port)
            ls->port = bound_port(fds[i]);
    }
    if (err) {
        close_all(ls);
        free(ls);
        return err;
    }
    *out = ls;
    return QN_OK;
}

void qn_listen_close(struct qn_listen *ls)
{
    if (!ls)
        return;
    qn_timer_stop(ls->rest);
    close_all(ls);
    free(ls);
}

int qn_listen_port(const struct qn_listen *ls)
{
    return ls->port;
}

bool qn_listen_open_to_others(const struct qn_listen *ls)
{
    return ls->open_to_others;
}
