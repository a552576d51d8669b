/* backends/bridge/exchange.c over real sockets: how long a server may take. What else it is for is
 * tested with whole servers, in tests/http/test_bridge.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bridge/exchange.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A server that sends a byte every few milliseconds for as long as a client reads it. */
static void *trickle(void *arg)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n";
    int fd = accept(*(int *)arg, NULL, NULL);
    ssize_t n = send(fd, head, sizeof head - 1, MSG_NOSIGNAL);
    while (n > 0) {
        usleep(2000);
        n = send(fd, "x", 1, MSG_NOSIGNAL);
    }
    close(fd);
    return NULL;
}

struct heard {
    bool over;
    struct qn_error error;
};

static qn_err on_data(void *ctx, int status, const char *type, const void *p, size_t n)
{
    (void)ctx;
    (void)status;
    (void)type;
    (void)p;
    (void)n;
    return QN_OK;
}

static void on_end(void *ctx, int status, const struct qn_error *e)
{
    struct heard *h = ctx;
    (void)status;
    h->over = true;
    h->error = e ? *e : (struct qn_error){0};
}

static void a_server_that_trickles_is_abandoned(void **state)
{
    static const struct qn_exchange_events events = {on_data, on_end};
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    struct qn_exchanges *xs;
    struct qn_exchange *x;
    struct heard h = {0};
    pthread_t thread;
    char url[64];
    (void)state;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, len) || listen(fd, 1) ||
                         getsockname(fd, (struct sockaddr *)&a, &len),
                     0);
    assert_int_equal(pthread_create(&thread, NULL, trickle, &fd), 0);
    assert_int_equal(qn_exchanges_new(&xs, NULL), QN_OK);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(a.sin_port));
    const struct qn_exchange_request rq = {
        .url = url, .connect_ms = 60000, .silence_ms = 3600000, .total_ms = 300};
    assert_int_equal(qn_exchange_begin(xs, &rq, &events, &h, &x, NULL), QN_OK);
    while (!h.over)
        qn_exchanges_run(xs, 100);
    assert_int_equal(h.error.code, QN_ETIMEOUT);
    qn_exchanges_free(xs);
    pthread_join(thread, NULL);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_trickles_is_abandoned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
