/* router/http/ws.c through real sockets: pings, clients that do not answer, do not read, do not
 * close; pausing, messages in pieces, sessions beyond the limit. The server runs on the test's
 * thread, each client script on one of its own.
 *
 * The server's limits in time are longer than any test: its clock, which is this file's (the linker
 * puts __wrap_qn_now_ms in the place of qn_now_ms), jumps when a script says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "http/listen.h"
#include "http/ws.h"
#include "telemetry/metrics.h"

#include "client_check.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { MESSAGE_MAX = 1 << 20, WAITING_MAX = 1 << 20, BLOCK = 64 * 1024, SESSIONS = 2 };
enum { PING_MS = 10000000, STALL_MS = 20000000, CLOSE_MS = 15000000 };

static struct qn_loop *loop;
static struct qn_http_server *server;
static struct qn_listen *listener;
static struct qn_ws *sockets;
static struct qn_metrics *metrics;
static int app_of_test; /* what `opened` is given */
static atomic_int opened, closed, drained, filled;
static struct qn_timer *resume;
static char block[BLOCK];

/* ---- the server's clock ---- */

static atomic_llong skipped_ms;

int64_t __wrap_qn_now_ms(void);
int64_t __wrap_qn_now_ms(void)
{
    return qn_now_us() / 1000 + skipped_ms;
}

static void look_at_the_clock(void *ctx)
{
    (void)ctx;
}

static void skip_ms(int64_t ms)
{
    atomic_fetch_add(&skipped_ms, ms);
    qn_loop_post(loop, look_at_the_clock, NULL);
}

/* ---- the server's behaviour: chosen by what a client says ---- */

static void on_opened(void *app, struct qn_ws_session *s)
{
    assert_ptr_equal(app, &app_of_test);
    qn_ws_set_ctx(s, s);
    atomic_fetch_add(&opened, 1);
}

static void on_resume(void *ctx)
{
    qn_timer_stop(resume);
    resume = NULL;
    qn_ws_send(ctx, QN_WEBSOCKET_TEXT, "resumed", 7);
    qn_ws_pause(ctx, false);
}

/* Sends until nothing waits: no turn of the socket's own has done it. */
static void on_trickle(void *ctx)
{
    do {
        usleep(1000);
        qn_ws_send(ctx, QN_WEBSOCKET_BINARY, "t", 1);
    } while (qn_ws_waiting(ctx) > 0);
}

/* Sends as much as may wait. */
static void fill(struct qn_ws_session *s)
{
    while (qn_ws_waiting(s) + sizeof block + 100 < WAITING_MAX)
        qn_ws_send(s, QN_WEBSOCKET_BINARY, block, sizeof block);
}

static void on_message(struct qn_ws_session *s, bool text, const char *data, size_t n)
{
    assert_ptr_equal(qn_ws_ctx(s), s);
    if (text && !strcmp(data, "close")) {
        qn_ws_close(s, 4000, "bye");
        qn_ws_send(s, QN_WEBSOCKET_TEXT, "never", 5);
    } else if (text && !strcmp(data, "flood")) { /* more than may wait */
        for (int i = 0; i < 2 * WAITING_MAX / BLOCK + 64; i++)
            qn_ws_send(s, QN_WEBSOCKET_BINARY, block, sizeof block);
        atomic_fetch_add(&filled, 1);
    } else if (text && !strcmp(data, "fill")) {
        fill(s);
        atomic_fetch_add(&filled, 1);
    } else if (text && !strcmp(data, "fill and trickle")) {
        fill(s);
        qn_loop_post(loop, on_trickle, s);
        atomic_fetch_add(&filled, 1);
    } else if (text && !strcmp(data, "crumbs")) { /* few bytes in more memory than may wait */
        for (int i = 0; i < WAITING_MAX / 4; i++)
            qn_ws_send(s, QN_WEBSOCKET_BINARY, "c", 1);
        atomic_fetch_add(&filled, 1);
    } else if (text && !strcmp(data, "pause")) {
        qn_ws_pause(s, true);
        resume = qn_timer_start(loop, 50, 0, on_resume, s);
    } else if (text && !strcmp(data, "pieces")) {
        qn_ws_send_piece(s, QN_WEBSOCKET_TEXT, true, false, "a", 1);
        qn_ws_send_piece(s, QN_WEBSOCKET_TEXT, false, false, "", 0);
        qn_ws_send_piece(s, QN_WEBSOCKET_TEXT, false, true, "b", 1);
    } else {
        qn_ws_send(s, text ? QN_WEBSOCKET_TEXT : QN_WEBSOCKET_BINARY, data, n);
    }
}

static void on_drained(struct qn_ws_session *s)
{
    assert_int_equal(qn_ws_waiting(s), 0);
    atomic_fetch_add(&drained, 1);
}

static void on_closed(struct qn_ws_session *s)
{
    assert_ptr_equal(qn_ws_ctx(s), s);
    atomic_fetch_add(&closed, 1);
}

static const char *const subprotocols[] = {"one", "two", NULL};
static const struct qn_ws_route route = {
    .subprotocols = subprotocols,
    .message_max = MESSAGE_MAX,
    .waiting_max = WAITING_MAX,
    .opened = on_opened,
    .message = on_message,
    .drained = on_drained,
    .closed = on_closed,
};

static bool on_upgrade(void *ctx, struct qn_http_upgrade *u)
{
    (void)ctx;
    if (!qn_ws_asked(u->method, u->protocol, qn_http_upgrade_header(u, "Connection")) ||
        qn_ws_check(sockets, &(struct qn_caller){0},
                    qn_http_upgrade_header(u, "Sec-WebSocket-Version"),
                    qn_http_upgrade_header(u, "Sec-WebSocket-Key"), NULL))
        return false;
    qn_ws_open(sockets, &route, u, "the id", &(struct qn_caller){0});
    return true;
}

static void on_request(void *ctx, struct qn_http *h)
{
    (void)ctx;
    qn_http_reply(h, 404, NULL, "plain", 5);
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
    static const struct qn_http_events events = {
        .request = on_request, .refuse = on_refuse, .upgrade = on_upgrade};
    static const struct qn_ws_limits limits = {
        .sessions = SESSIONS, .ping_ms = PING_MS, .stall_ms = STALL_MS, .close_ms = CLOSE_MS};
    opened = closed = drained = filled = 0;
    assert_int_equal(qn_loop_new(&loop, NULL), QN_OK);
    metrics = qn_metrics_new();
    sockets = qn_ws_new(loop, metrics, &app_of_test, &limits);
    assert_int_equal(qn_http_server_new(loop, &events, NULL, 1024, &server, NULL), QN_OK);
    const struct qn_listen_address place = {
        .host = "127.0.0.1", .host_set = "host", .port_set = "--port N"};
    return (int)qn_listen_open(loop, server, &place, &listener, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    qn_listen_close(listener);
    qn_http_server_free(server);
    qn_ws_free(sockets);
    qn_loop_free(loop);
    qn_metrics_free(metrics);
    assert_int_equal(atomic_load(&closed), atomic_load(&opened));
    return 0;
}

/* ---- the client's side ---- */

static int dial(int buffer)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                            .sin_port = htons((uint16_t)qn_listen_port(listener))};
    struct timeval tv = {.tv_sec = 120};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (buffer)
        CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) == 0);
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv) == 0);
    /* What is said arrives before what is said on another connection after it. */
    CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)) == 0);
    CHECK(connect(fd, (struct sockaddr *)&a, sizeof a) == 0);
    return fd;
}

static void put(int fd, const void *p, size_t n)
{
    CHECK(send(fd, p, n, MSG_NOSIGNAL) == (ssize_t)n);
}

static bool take(int fd, void *p, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t r = recv(fd, (char *)p + at, n - at, 0);
        CHECK(r >= 0);
        if (r == 0)
            return false;
        at += (size_t)r;
    }
    return true;
}

/* A handshake; the head of the answer is in `head`. */
static char head[2048];

static void ask(int fd, const char *more)
{
    char text[512];
    int n = snprintf(text, sizeof text,
                     "GET /x?a=b%%20c HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: "
                     "Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                     "Sec-WebSocket-Version: 13\r\n%s\r\n",
                     more);
    size_t at = 0;
    put(fd, text, (size_t)n);
    while (at < 4 || memcmp(head + at - 4, "\r\n\r\n", 4) != 0) {
        CHECK(at < sizeof head - 1 && take(fd, head + at, 1));
        at++;
    }
    head[at] = '\0';
}

static int begin(int buffer)
{
    int fd = dial(buffer);
    ask(fd, "");
    CHECK(strstr(head, "HTTP/1.1 101 "));
    CHECK(strstr(head, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    CHECK(!strstr(head, "Sec-WebSocket-Protocol"));
    return fd;
}

/* A frame with a mask of zeros. */
static void say(int fd, int kind, const char *text)
{
    size_t n = strlen(text);
    uint8_t frame[6 + 125] = {(uint8_t)(0x80 | kind), (uint8_t)(0x80 | n)};
    memcpy(frame + 6, text, n);
    put(fd, frame, 6 + n);
}

/* Asks the server to fill its send queue, and reads no reply until the queue is full. A client that
 * reads can be as fast as the server; then the queue never fills. */
static void let_fill(int fd, const char *text)
{
    int before = atomic_load(&filled);
    say(fd, 1, text);
    while (atomic_load(&filled) == before)
        usleep(1000);
}

/* The next frame's first byte, its payload in `heard`; -1: the end. */
static char heard[BLOCK + 1];
static size_t heard_n;

static int hear_any(int fd)
{
    uint8_t h[10];
    if (!take(fd, h, 2))
        return -1;
    heard_n = h[1];
    if (h[1] == 126) {
        CHECK(take(fd, h + 2, 2));
        heard_n = (size_t)h[2] << 8 | h[3];
    } else if (h[1] == 127) {
        CHECK(take(fd, h + 2, 8));
        heard_n = (size_t)h[7] << 16 | (size_t)h[8] << 8 | h[9];
    }
    CHECK(heard_n < sizeof heard && take(fd, heard, heard_n));
    heard[heard_n] = '\0';
    return h[0];
}

/* The same with pings answered. */
static int hear(int fd)
{
    int kind;
    while ((kind = hear_any(fd)) == 0x89)
        say(fd, 10, "");
    return kind;
}

/* The server has read what was said before, on any connection: at the second answer the turn is
 * over in which the first was given. */
static void all_was_heard(int fd)
{
    for (int i = 0; i < 2; i++) {
        say(fd, 1, "is all read?");
        CHECK(hear(fd) == 0x81);
    }
}

static int close_code(void)
{
    return heard_n < 2 ? 0 : (uint8_t)heard[0] << 8 | (uint8_t)heard[1];
}

static void quit(void *ctx)
{
    (void)ctx;
    qn_loop_stop(loop);
}

static void *client(void *script)
{
    ((void (*)(void))(uintptr_t)script)();
    qn_loop_post(loop, quit, NULL);
    return NULL;
}

static void play(void (*script)(void))
{
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, client, (void *)(uintptr_t)script), 0);
    qn_loop_run(loop);
    pthread_join(t, NULL);
}

/* ---- scripts ---- */

static void echo_script(void)
{
    int fd = begin(0);
    say(fd, 1, "hello");
    CHECK(hear(fd) == 0x81 && !strcmp(heard, "hello"));
    say(fd, 2, "bytes");
    CHECK(hear(fd) == 0x82 && !strcmp(heard, "bytes"));
    say(fd, 1, "pieces");
    CHECK(hear(fd) == 0x01 && !strcmp(heard, "a"));
    CHECK(hear(fd) == 0x00 && heard_n == 0);
    CHECK(hear(fd) == 0x80 && !strcmp(heard, "b"));
    say(fd, 8, "\x0f\xa1"); /* 4001 */
    CHECK(hear(fd) == 0x88 && close_code() == 4001);
    CHECK(hear(fd) == -1);
    close(fd);
    fd = dial(0);
    ask(fd, "Sec-WebSocket-Protocol: three, two\r\nSec-WebSocket-Protocol: one\r\n");
    CHECK(strstr(head, "Sec-WebSocket-Protocol: two\r\n"));
    close(fd);
}

static void echo(void **state)
{
    (void)state;
    play(echo_script);
    assert_int_equal(opened, 2);
}

static void pause_script(void)
{
    int fd = begin(0);
    static const uint8_t three[] = "\x81\x85\0\0\0\0pause\x81\x81\0\0\0\0a\x81\x81\0\0\0\0b";
    put(fd, three, sizeof three - 1);
    say(fd, 1, "c");
    CHECK(hear(fd) == 0x81 && !strcmp(heard, "resumed"));
    CHECK(hear(fd) == 0x81 && !strcmp(heard, "a"));
    CHECK(hear(fd) == 0x81 && !strcmp(heard, "b"));
    CHECK(hear(fd) == 0x81 && !strcmp(heard, "c"));
    close(fd);
}

static void a_paused_session_reads_nothing_and_loses_nothing(void **state)
{
    (void)state;
    play(pause_script);
}

static void ping_script(void)
{
    int fd = begin(0), other = begin(0);
    for (int i = 0; i < 3; i++) {
        skip_ms(PING_MS);
        CHECK(hear_any(fd) == 0x89);
        if (i < 2)
            say(fd, 10, ""); /* the third is not answered */
        all_was_heard(other);
    }
    CHECK(atomic_load(&closed) == 0);
    skip_ms(PING_MS);
    CHECK(hear_any(fd) == -1);
    CHECK(atomic_load(&closed) == 1);
    close(fd);
    close(other);
}

static void silent_clients_are_asked_then_dropped(void **state)
{
    (void)state;
    play(ping_script);
}

static void close_script(void)
{
    int fd = begin(0);
    say(fd, 1, "close");
    CHECK(hear(fd) == 0x88 && close_code() == 4000 && !strcmp(heard + 2, "bye"));
    say(fd, 1, "too late"); /* it may still speak until it closes as well */
    say(fd, 8, "\x0f\xa0");
    CHECK(hear(fd) == -1);
    close(fd);
    fd = begin(0);
    say(fd, 1, "close");
    CHECK(hear(fd) == 0x88);
    skip_ms(CLOSE_MS);
    CHECK(hear(fd) == -1); /* it does not answer: the server does not wait for ever */
    close(fd);
}

static void closing(void **state)
{
    (void)state;
    play(close_script);
    assert_int_equal(closed, 2);
}

static void flood_script(void)
{
    int fd = begin(16384), kind, blocks = 0;
    let_fill(fd, "flood");
    while ((kind = hear(fd)) == 0x82)
        blocks++;
    CHECK(kind == 0x88 && close_code() == QN_WEBSOCKET_POLICY && strstr(heard + 2, "1048576"));
    CHECK(blocks * BLOCK < 2 * WAITING_MAX); /* of much more */
    close(fd);
}

static void what_waits_is_bounded(void **state)
{
    (void)state;
    play(flood_script);
}

static void crumbs_script(void)
{
    int fd = begin(16384), kind;
    let_fill(fd, "crumbs");
    while ((kind = hear(fd)) == 0x82)
        ;
    CHECK(kind == 0x88 && close_code() == QN_WEBSOCKET_POLICY);
    close(fd);
}

static void small_messages_take_memory_too(void **state)
{
    (void)state;
    play(crumbs_script);
}

static void trickle_script(void)
{
    int fd = begin(0), before = atomic_load(&drained), kind;
    let_fill(fd, "fill and trickle");
    for (int i = 0; i < 3; i++) { /* at the third answer the second one's turn is over */
        say(fd, 1, "the end");
        while ((kind = hear(fd)) == 0x82)
            ;
        CHECK(kind == 0x81);
    }
    CHECK(atomic_load(&drained) > before);
    close(fd);
}

static void the_owner_hears_when_all_has_left(void **state)
{
    (void)state;
    play(trickle_script);
}

static void stall_script(void)
{
    int fd = begin(16384), other = begin(0);
    let_fill(fd, "fill");
    enum { PARTS = 10 };
    int parts = 0;
    for (; atomic_load(&closed) == 0; parts++) { /* others are served all the while */
        uint8_t pong[6] = {0x8A, 0x80};          /* it lives, and does not read */
        send(fd, pong, sizeof pong, MSG_NOSIGNAL);
        all_was_heard(other);
        skip_ms(STALL_MS / PARTS);
    }
    CHECK(parts >= PARTS); /* not sooner */
    close(fd);
    fd = begin(0);
    int before = atomic_load(&drained), kind = 0;
    let_fill(fd, "fill");
    for (size_t got = 0; got < WAITING_MAX / 2; got += heard_n)
        CHECK((kind = hear(fd)) == 0x82);
    say(fd, 1, "the end");
    while (kind != 0x81)
        CHECK((kind = hear(fd)) == 0x82 || kind == 0x81);
    while (atomic_load(&drained) == before)
        usleep(1000);
    close(fd);
    close(other);
}

static void clients_that_take_nothing_are_dropped(void **state)
{
    (void)state;
    play(stall_script);
    assert_true(qn_metrics_whole(metrics)->counts[QN_M_SOCKETS_DROPPED] > 0);
}

static void limit_script(void)
{
    int a = begin(0), b = begin(0), c = dial(0);
    ask(c, "");
    CHECK(strstr(head, "HTTP/1.1 404 ")); /* on_request's */
    close(c);
    say(a, 8, "");
    CHECK(hear(a) == 0x88 && hear(a) == -1);
    close(a);
    while (atomic_load(&closed) == 0)
        usleep(1000);
    close(begin(0));
    close(b);
}

static void no_more_sessions_than_agreed(void **state)
{
    (void)state;
    play(limit_script);
}

static void on_stop(void *ctx)
{
    (void)ctx;
    struct qn_error e = {0};
    qn_ws_stop(sockets);
    assert_int_equal(
        qn_ws_check(sockets, &(struct qn_caller){0}, "13", "dGhlIHNhbXBsZSBub25jZQ==", &e),
        QN_EBUSY);
}

static void stop_script(void)
{
    int fd = begin(0);
    qn_loop_post(loop, on_stop, NULL);
    CHECK(hear(fd) == 0x88 && close_code() == QN_WEBSOCKET_GOING_AWAY);
    close(fd);
}

static void stopping(void **state)
{
    (void)state;
    play(stop_script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(echo, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_paused_session_reads_nothing_and_loses_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(silent_clients_are_asked_then_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(closing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_waits_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_owner_hears_when_all_has_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(small_messages_take_memory_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(clients_that_take_nothing_are_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_more_sessions_than_agreed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stopping, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
