/* A request body that grows while it is sent (io/http_client.h) into a server that is told it piece
 * by piece (io/http_server.h), in one loop over a real socket: order, back-pressure on both sides,
 * answers before the body's end, clients that leave in the middle.
 *
 * No time that passes is judged but by HANG_MS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "io/http_client.h"
#include "io/http_server.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    HANG_MS = 120 * 1000,
    PIECE = 64 * 1024,
    PIECES = 512,               /* 32 MiB in all */
    HELD_MAX = 16 * 1024 * 1024 /* what sockets take of a body that is not read */
};

static struct qn_loop *loop;
static struct qn_http_server *server;
static struct qn_http_client *client;
static struct qn_watch *listen_watch;
static int listen_fd, port;
static int accepted; /* connections */

/* ---- the server ---- */

static struct {
    struct qn_http *http;
    struct qn_stream *stream;
    struct qn_buf got; /* the first bytes */
    size_t bytes;
    int ends, gone;
    bool wrong;                           /* bytes are not those that were sent */
    bool echo;                            /* each piece's length is streamed back */
    bool never_read;                      /* the owner never asks for the body */
    size_t pause_at, refuse_at, abort_at; /* bytes; 0: never */
} at;

/* What byte number i of a long body is. */
static char byte_at(size_t i)
{
    return (char)('a' + i / 1000 % 26);
}

static void on_gone(void *ctx)
{
    (void)ctx;
    at.gone++;
    at.http = NULL;
}

static void on_piece(void *ctx, const char *p, size_t n)
{
    (void)ctx;
    char line[32];
    if (!p) {
        at.ends++;
        if (at.stream)
            qn_stream_end(at.stream);
        else
            qn_http_reply(at.http, 200, "text/plain", "all", 3);
        return;
    }
    for (size_t i = 0; i < n; i++)
        at.wrong = at.wrong || p[i] != byte_at(at.bytes + i);
    if (at.got.len + n < 1000)
        qn_buf_add(&at.got, p, n);
    at.bytes += n;
    if (at.stream) {
        snprintf(line, sizeof line, "%zu\n", at.bytes);
        qn_stream_write(at.stream, line, strlen(line));
    }
    if (at.refuse_at && at.bytes >= at.refuse_at) {
        at.refuse_at = 0;
        if (at.stream)
            qn_stream_end(at.stream);
        else
            qn_http_reply(at.http, 400, "text/plain", "no more", 7);
    } else if (at.abort_at && at.bytes >= at.abort_at) {
        at.abort_at = 0;
        qn_http_abort(at.http);
    } else if (at.pause_at && at.bytes >= at.pause_at) {
        at.pause_at = 0;
        qn_http_body_pause(at.http, true);
    }
}

static void on_request(void *ctx, struct qn_http *h)
{
    (void)ctx;
    at.http = h;
    qn_http_on_gone(h, on_gone, NULL);
    if (at.echo)
        at.stream = qn_http_stream(h, 200, "text/plain", NULL, NULL);
    if (!at.never_read)
        qn_http_body_read(h, on_piece, NULL);
}

static void on_refuse(void *ctx, const struct qn_http_refusal *r, struct qn_buf *body)
{
    (void)ctx;
    (void)r;
    qn_buf_str(body, "refused");
}

static bool open_body(void *ctx, const struct qn_http *h)
{
    (void)ctx;
    (void)h;
    return true;
}

static void on_accept(void *ctx, uint32_t events)
{
    (void)ctx;
    (void)events;
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    int fd = accept4(listen_fd, (struct sockaddr *)&a, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
    accepted += fd >= 0;
    if (fd >= 0)
        qn_http_server_add(server, fd, &a, n, 0);
}

/* ---- the client ---- */

static struct {
    struct qn_post *post;
    int given;  /* pieces */
    int pieces; /* of the whole body */
    bool small; /* the pieces are numbers */
    struct qn_buf reply;
    char body[64]; /* of a reply that is not 200 */
    int ends, status;
} ask;

static void more(void *ctx, struct qn_buf *body)
{
    (void)ctx;
    if (ask.given == ask.pieces)
        return;
    size_t from = (size_t)ask.given * PIECE;
    for (size_t i = 0; i < PIECE && !ask.small; i++)
        qn_buf_char(body, byte_at(from + i));
    if (ask.small)
        qn_buf_fmt(body, "<%d>", ask.given);
    ask.given++;
}

static void on_data(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    qn_buf_add(&ask.reply, p, n);
}

static void on_end(void *ctx, int status, const char *body, size_t n, const struct qn_error *e)
{
    (void)ctx;
    (void)e;
    ask.ends++;
    ask.status = status;
    snprintf(ask.body, sizeof ask.body, "%.*s", (int)n, body);
    ask.post = NULL;
}

static void send_body(const char *first, int pieces, bool small)
{
    static const struct qn_post_events events = {.data = on_data, .end = on_end, .more = more};
    char url[64];
    struct qn_buf body;
    qn_buf_init(&body, 100);
    qn_buf_str(&body, first);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/run", port);
    ask.pieces = pieces;
    ask.small = small;
    assert_int_equal(qn_http_post(client, url, "s", &body, &events, NULL, &ask.post, NULL), QN_OK);
    assert_int_equal(ask.given, 0); /* nothing is asked for within the call */
}

/* ---- both ---- */

static void hang(void *ctx)
{
    (void)ctx;
    fail_msg("nothing happens any more");
}

static void stop(void *ctx)
{
    (void)ctx;
    qn_loop_stop(loop);
}

static void turn(void)
{
    struct qn_timer *t = qn_timer_start(loop, 1, 0, stop, NULL);
    qn_loop_run(loop);
    qn_timer_stop(t);
}

static void run_until(const int *value, int n)
{
    struct qn_timer *limit = qn_timer_start(loop, HANG_MS, 0, hang, NULL);
    while (*value < n)
        turn();
    qn_timer_stop(limit);
}

/* Until the sender has been stopped by the receiver: no more is asked of it in many turns. */
static void run_until_stuck(void)
{
    for (int still = 0, before = -1; still < 50; still = ask.given == before ? still + 1 : 0) {
        before = ask.given;
        turn();
    }
}

static int set_up(void **state)
{
    (void)state;
    static const struct qn_http_events events = {
        .request = on_request, .refuse = on_refuse, .open_body = open_body};
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    memset(&at, 0, sizeof at);
    memset(&ask, 0, sizeof ask);
    accepted = 0;
    qn_buf_init(&at.got, 1000);
    qn_buf_init(&ask.reply, 4 * 1024 * 1024);
    listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(listen_fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(listen_fd, 16), 0);
    getsockname(listen_fd, (struct sockaddr *)&a, &n);
    port = ntohs(a.sin_port);
    assert_int_equal(qn_loop_new(&loop, NULL), QN_OK);
    /* A body may be larger than what the server collects. */
    assert_int_equal(qn_http_server_new(loop, &events, NULL, 1000, &server, NULL), QN_OK);
    assert_int_equal(qn_watch_add(loop, listen_fd, EPOLLIN, on_accept, NULL, &listen_watch, NULL),
                     QN_OK);
    qn_http_client_new(loop, &client);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (ask.post)
        qn_http_post_cancel(ask.post);
    qn_watch_remove(listen_watch);
    qn_http_server_free(server);
    qn_http_client_free(client);
    qn_loop_free(loop);
    close(listen_fd);
    qn_buf_deinit(&at.got);
    qn_buf_deinit(&ask.reply);
    return 0;
}

static void pieces_arrive_in_order(void **state)
{
    (void)state;
    send_body("first", 3, true);
    run_until(&ask.ends, 1);
    assert_string_equal(qn_buf_cstr(&at.got), "first<0><1><2>");
    assert_int_equal(at.ends, 1);
    assert_int_equal(ask.status, 200);
    assert_string_equal(qn_buf_cstr(&ask.reply), "all");
    assert_int_equal(at.gone, 0);
}

static void a_body_may_be_empty(void **state)
{
    (void)state;
    send_body("", 0, true);
    run_until(&ask.ends, 1);
    assert_int_equal(at.bytes, 0);
    assert_int_equal(at.ends, 1);
    assert_int_equal(ask.status, 200);
}

/* The reply flows while the body does. */
static void both_directions_flow_at_once(void **state)
{
    (void)state;
    at.echo = true;
    send_body("", PIECES, false);
    run_until(&ask.ends, 1);
    assert_false(at.wrong);
    assert_int_equal(at.bytes, (size_t)PIECE * PIECES);
    assert_int_equal(at.ends, 1);
    char last[32];
    snprintf(last, sizeof last, "\n%zu\n", at.bytes);
    assert_non_null(strstr(qn_buf_cstr(&ask.reply), last));
}

static void a_reader_that_pauses_stops_the_sender(void **state)
{
    (void)state;
    at.pause_at = 100 * 1024;
    send_body("", PIECES, false);
    run_until_stuck();
    size_t seen = at.bytes;
    assert_true(seen >= 100 * 1024 && seen < 300 * 1024);
    assert_true((size_t)ask.given * PIECE < HELD_MAX);
    turn();
    assert_int_equal(at.bytes, seen);
    qn_http_body_pause(at.http, false);
    run_until(&ask.ends, 1);
    assert_false(at.wrong);
    assert_int_equal(at.bytes, (size_t)PIECE * PIECES);
    assert_int_equal(ask.status, 200);
}

/* A client that does not read its reply is not read from either. */
static void a_reply_that_is_not_read_stops_the_body(void **state)
{
    (void)state;
    static char flood[PIECE];
    at.echo = true;
    send_body("x", PIECES, false);
    qn_http_post_pause(ask.post, true);
    while (!at.stream)
        turn();
    for (int i = 0; i < PIECES; i++) /* more than sockets take */
        qn_stream_write(at.stream, flood, sizeof flood);
    run_until_stuck();
    assert_true(ask.given < PIECES);
    qn_buf_deinit(&ask.reply);
    qn_buf_init(&ask.reply, (size_t)PIECE * PIECES + 4 * 1024 * 1024);
    qn_http_post_pause(ask.post, false);
    run_until(&ask.ends, 1);
    assert_int_equal(at.bytes, (size_t)PIECE * PIECES + 1);
    assert_int_equal(ask.status, 200);
}

/* The connection goes on after a request whose body was read; two requests over one. */
static void the_next_request_uses_the_same_connection(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        at.echo = i == 1;
        send_body("first", 3, true);
        run_until(&ask.ends, i + 1);
        assert_int_equal(ask.status, 200);
        assert_int_equal(at.ends, i + 1);
        at.stream = NULL;
        ask.given = 0;
        assert_int_equal(accepted, 1);
    }
}

/* The answer arrives although most of the body was never read. */
static void an_early_answer_ends_the_request(void **state)
{
    (void)state;
    at.refuse_at = 100 * 1024;
    send_body("", PIECES, false);
    run_until(&ask.ends, 1);
    assert_int_equal(ask.status, 400);
    assert_string_equal(ask.body, "no more");
    assert_int_equal(at.ends, 0);
    assert_true(ask.given < PIECES);
    assert_int_equal(at.gone, 0);
    ask.given = 0;
    send_body("", 1, true); /* not behind the rest of that body */
    run_until(&ask.ends, 2);
    assert_int_equal(ask.status, 200);
    assert_int_equal(accepted, 2);
}

static void an_aborted_request_is_a_broken_one(void **state)
{
    (void)state;
    at.abort_at = 1;
    send_body("", PIECES, false);
    run_until(&ask.ends, 1);
    assert_int_equal(ask.status, 0);
    assert_int_equal(at.ends, 0);
}

static void a_client_that_leaves_in_the_middle_is_noticed(void **state)
{
    (void)state;
    at.pause_at = 1; /* with bytes on the way that are never read */
    send_body("", PIECES, false);
    run_until_stuck();
    qn_http_post_cancel(ask.post);
    ask.post = NULL;
    run_until(&at.gone, 1);
    assert_int_equal(at.ends, 0);
    assert_int_equal(ask.ends, 0);
    assert_int_equal(qn_http_server_active(server), 0);
}

static void a_body_that_is_not_wanted_is_not_read(void **state)
{
    (void)state;
    at.never_read = true;
    send_body("", PIECES, false);
    run_until_stuck();
    assert_int_equal(at.bytes, 0);
    assert_true((size_t)ask.given * PIECE < HELD_MAX);
    qn_http_reply(at.http, 503, "text/plain", "busy", 4);
    run_until(&ask.ends, 1);
    assert_int_equal(ask.status, 503);
}

static int connect_raw(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                            .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

/* What follows a body that the owner has refused is not taken for the next request. */
static void a_refused_body_ends_the_connection(void **state)
{
    (void)state;
    static const char rq[] = "POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\naaa",
                      rest[] =
                          "\r\n\r\nGET /run HTTP/1.1\r\nHost: x\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
                          "GET /run HTTP/1.1\r\nHost: x\r\n\r\n";
    for (int streamed = 0; streamed < 2; streamed++) {
        char text[1000] = "";
        size_t n = 0;
        int fd = connect_raw();
        at.refuse_at = 1;
        at.echo = streamed;
        at.bytes = 0;
        assert_int_equal(send(fd, rq, sizeof rq - 1, 0), sizeof rq - 1);
        while (qn_http_server_active(server) || !at.bytes)
            turn();
        assert_int_equal(send(fd, rest, sizeof rest - 1, 0), sizeof rest - 1);
        turn();
        shutdown(fd, SHUT_WR);
        turn();
        for (ssize_t got; (got = recv(fd, text + n, sizeof text - 1 - n, 0)) > 0;)
            n += (size_t)got;
        close(fd);
        assert_ptr_equal(strstr(text, streamed ? "HTTP/1.1 200 " : "HTTP/1.1 400 "), text);
        assert_true(streamed || strstr(text, "Connection: close\r\n"));
        assert_null(strstr(text + 1, "HTTP/1.1"));
    }
}

/* A chunk without a length in the middle of a body: the owner is told, whether or not its reply has
 * begun, and a reply that has begun is cut off. */
static void a_malformed_body_ends_the_request(void **state)
{
    (void)state;
    static const char rq[] = "POST /run HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "3\r\naaa\r\nzz\r\n";
    for (int echo = 0; echo < 2; echo++) {
        char text[1000] = "";
        size_t n = 0;
        int fd = connect_raw();
        at.echo = echo;
        assert_int_equal(send(fd, rq, sizeof rq - 1, 0), sizeof rq - 1);
        run_until(&at.gone, echo + 1);
        turn();
        for (ssize_t got; (got = recv(fd, text + n, sizeof text - 1 - n, 0)) > 0;)
            n += (size_t)got;
        close(fd);
        assert_non_null(strstr(text, echo ? "HTTP/1.1 200 " : "HTTP/1.1 400 "));
        assert_null(strstr(text, "\r\n0\r\n\r\n"));
        assert_int_equal(qn_http_server_active(server), 0);
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(pieces_arrive_in_order),
        T(a_body_may_be_empty),
        T(both_directions_flow_at_once),
        T(a_reader_that_pauses_stops_the_sender),
        T(a_reply_that_is_not_read_stops_the_body),
        T(the_next_request_uses_the_same_connection),
        T(an_early_answer_ends_the_request),
        T(an_aborted_request_is_a_broken_one),
        T(a_client_that_leaves_in_the_middle_is_noticed),
        T(a_body_that_is_not_wanted_is_not_read),
        T(a_refused_body_ends_the_connection),
        T(a_malformed_body_ends_the_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
