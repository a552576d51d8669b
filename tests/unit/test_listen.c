/* router/http/listen.c: one port on both loopback addresses, a port that is taken, open addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/listen.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct qn_loop *loop;
static struct qn_http_server *server;

static void on_request(void *ctx, struct qn_http *h)
{
    (void)ctx;
    qn_http_reply(h, 204, NULL, "", 0);
}

static void on_refuse(void *ctx, const struct qn_http_refusal *r, struct qn_buf *body)
{
    (void)ctx;
    (void)r;
    (void)body;
}

static int set_up(void **state)
{
    (void)state;
    static const struct qn_http_events events = {.request = on_request, .refuse = on_refuse};
    return qn_loop_new(&loop, NULL) || qn_http_server_new(loop, &events, NULL, 1024, &server, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    qn_http_server_free(server);
    qn_loop_free(loop);
    return 0;
}

static bool connects(int family, int port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    int fd = socket(family, SOCK_STREAM, 0);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    v6.sin6_addr = in6addr_loopback;
    int err = family == AF_INET ? connect(fd, (struct sockaddr *)&v4, sizeof v4)
                                : connect(fd, (struct sockaddr *)&v6, sizeof v6);
    if (fd >= 0)
        close(fd);
    return fd >= 0 && err == 0;
}

static bool has_v6(void)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    bool yes = fd >= 0 && bind(fd, (struct sockaddr *)&v6, sizeof v6) == 0;
    if (fd >= 0)
        close(fd);
    return yes;
}

static qn_err listen_at(const char *host, int port, bool guarded, struct qn_listen **ls,
                        struct qn_error *e)
{
    const struct qn_listen_address place = {.host = host,
                                            .port = port,
                                            .host_set = "listen",
                                            .port_set = "--listen PORT",
                                            .guarded = guarded};
    return qn_listen_open(loop, server, &place, ls, e);
}

static void both_loopbacks(void **state)
{
    (void)state;
    struct qn_listen *ls;
    struct qn_error e = {0};
    assert_int_equal(listen_at("localhost", 0, false, &ls, &e), QN_OK);
    int port = qn_listen_port(ls);
    assert_true(port > 0);
    assert_false(qn_listen_open_to_others(ls));
    assert_true(connects(AF_INET, port));
    if (has_v6())
        assert_true(connects(AF_INET6, port));
    struct qn_listen *other;
    assert_int_equal(listen_at("localhost", port, false, &other, &e), QN_ECONFLICT);
    char text[32];
    snprintf(text, sizeof text, "port %d on 127.0.0.1", port);
    assert_non_null(strstr(e.message, text));
    assert_non_null(strstr(e.message, "choose another with --listen PORT"));
    qn_listen_close(ls);
    assert_int_equal(listen_at("127.0.0.1", port, false, &other, &e), QN_OK);
    qn_listen_close(other);
}

/* The server's end of a connection, which is a descriptor of this process, too. */
static int other_end(int fd)
{
    struct sockaddr_in own, peer;
    socklen_t n = sizeof own;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &n), 0);
    for (int other = 0; other < 1024; other++) {
        n = sizeof peer;
        if (other != fd && getpeername(other, (struct sockaddr *)&peer, &n) == 0 &&
            peer.sin_family == AF_INET && peer.sin_port == own.sin_port)
            return other;
    }
    return -1;
}

static int option(int fd, int level, int name)
{
    int value = 0;
    socklen_t n = sizeof value;
    assert_int_equal(getsockopt(fd, level, name, &value, &n), 0);
    return value;
}

static void stop_loop(void *ctx)
{
    qn_loop_stop(ctx);
}

/* A client's machine that has vanished is found although nothing is sent to it. */
static void vanished_peers_are_looked_for(void **state)
{
    (void)state;
    struct qn_listen *ls;
    struct qn_error e = {0};
    assert_int_equal(listen_at("127.0.0.1", 0, false, &ls, &e), QN_OK);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)qn_listen_port(ls))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    struct qn_timer *end = qn_timer_start(loop, 50, 0, stop_loop, loop);
    qn_loop_run(loop);
    qn_timer_stop(end);
    int accepted = other_end(fd);
    assert_true(accepted >= 0);
    assert_int_equal(option(accepted, IPPROTO_TCP, TCP_NODELAY), 1);
    assert_int_equal(option(accepted, SOL_SOCKET, SO_KEEPALIVE), 1);
    int idle = option(accepted, IPPROTO_TCP, TCP_KEEPIDLE),
        interval = option(accepted, IPPROTO_TCP, TCP_KEEPINTVL),
        probes = option(accepted, IPPROTO_TCP, TCP_KEEPCNT);
    assert_true(idle >= 30 && probes >= 3); /* a short interruption ends nothing */
    assert_true(idle + interval * probes <= 120);
    close(fd);
    qn_listen_close(ls);
}

static void refused_addresses(void **state)
{
    (void)state;
    struct qn_listen *ls;
    struct qn_error e = {0};
    assert_int_equal(listen_at("0.0.0.0", 0, false, &ls, &e), QN_EINVAL);
    assert_string_equal(e.param, "listen");
    assert_non_null(strstr(e.message, "--insecure"));
    assert_int_equal(listen_at("no such host", 0, false, &ls, &e), QN_EINVAL);
    assert_string_equal(e.param, "listen");
    assert_int_equal(listen_at("0.0.0.0", 0, true, &ls, &e), QN_OK);
    assert_true(qn_listen_open_to_others(ls));
    qn_listen_close(ls);
    if (has_v6()) {
        assert_int_equal(listen_at("[::1]", 0, false, &ls, &e), QN_OK);
        qn_listen_close(ls);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_loopbacks),
        cmocka_unit_test(refused_addresses),
        cmocka_unit_test(vanished_peers_are_looked_for),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
