/* io/http_server.c through real sockets: answers that stream, clients that are slow or leave. */
#include "http_server_world.h"

static void tick_script(void)
{
    int fd = dial();
    ticks_wanted = 0;
    say(fd, "GET /tick HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(fd, "\r\n\r\n"); /* the head does not wait for the first byte */
    CHECK(strstr(reply, "Transfer-Encoding: chunked"));
    ticks_wanted = 1;
    hear(fd, "tick0"); /* nor a byte for the next */
    ticks_wanted = 2;
    hear(fd, "tick1");
    ticks_wanted = 3;
    hear(fd, "0\r\n\r\n");
    CHECK(strstr(reply, "tick2"));
    close(fd);
    fd = dial(); /* HTTP/1.0 knows no chunks */
    say(fd, "GET /tick HTTP/1.0\r\n\r\n");
    hear(fd, NULL);
    CHECK(!strstr(reply, "chunked"));
    CHECK(strstr(reply, "\r\n\r\ntick0\ntick1\ntick2\n"));
    close(fd);
}

static void streams_flow_as_they_are_written(void **state)
{
    (void)state;
    play(tick_script);
}

static void slow_reader_script(void)
{
    int fd = dial();
    say(fd, "GET /pour HTTP/1.0\r\n\r\n");
    wait_for(&written_blocks, 1);
    for (int held = 0; held != written_blocks;) {
        held = written_blocks;
        turns(5);
    }
    CHECK(written_blocks < 400); /* stopped by back-pressure: socket buffers, the stream's mark */
    size_t n = hear(fd, NULL);
    CHECK(n > 400 * sizeof block);
    CHECK(written_blocks == 400);
    CHECK(drained_calls > 0);
    CHECK(gone_calls == 0);
    close(fd);
}

static void a_slow_reader_holds_the_writer_back(void **state)
{
    (void)state;
    play(slow_reader_script);
}

/* The last piece of the stream does not fit into the socket at once. */
static void one_end_script(void)
{
    static const char end[] = "\r\n0\r\n\r\n";
    size_t n = 0, last = sizeof end - 1;
    int fd = dial();
    memset(block, 'b', sizeof block);
    say(fd, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    while (n < last || memcmp(reply + n - last, end, last) != 0) {
        ssize_t got = recv(fd, reply + n, sizeof reply - n, 0);
        CHECK(got > 0);
        n += (size_t)got;
    }
    CHECK(n > LARGE_BLOCKS * sizeof block);
    CHECK(memcmp(reply + n - 2 * (last - 2), end + 2, last - 2) != 0);
    say(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(fd, "late");
    CHECK(strncmp(reply, "HTTP/1.1 200 ", 13) == 0);
    close(fd);
}

static void a_stream_ends_once_though_the_socket_is_full(void **state)
{
    (void)state;
    send_bytes = 4096;
    play(one_end_script);
}

static atomic_int revoked; /* 1 too late, 2 taken back */

static void try_to_revoke(void *ctx)
{
    (void)ctx;
    revoked = 1 + qn_http_stream_revoke(kept);
    qn_stream_write(kept_stream, "whole", 5);
    qn_stream_end(kept_stream);
}

static void revoke_script(void)
{
    int fd = dial();
    say(fd, "GET /revoke HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(fd, "\r\n\r\nno");
    CHECK(strncmp(reply, "HTTP/1.1 409 ", 13) == 0 && strstr(reply, "\r\nContent-Length: 2\r\n"));
    CHECK(!strstr(reply, "chunked") && !strstr(reply, "half"));
    say(fd, "GET /open HTTP/1.1\r\nHost: x\r\n\r\n"); /* the connection goes on */
    hear(fd, "\r\n\r\n");
    qn_loop_post(loop, try_to_revoke, NULL);
    hear(fd, "whole\r\n0\r\n\r\n");
    CHECK(revoked == 1);
    close(fd);
}

static void a_stream_is_taken_back_until_its_head_is_sent(void **state)
{
    (void)state;
    revoked = 0;
    play(revoke_script);
}

/* Noticed at once: not after a time, in which the server could have served many others. */
static void expect_gone(int n)
{
    turns(5);
    CHECK(gone_calls == n);
}

static void vanish_script(void)
{
    int fd = dial();
    say(fd, "GET /keep HTTP/1.1\r\nHost: x\r\n\r\n"); /* waiting, nothing answered yet */
    wait_for(&requests, 1);
    turns(1);
    CHECK(gone_calls == 0);
    close(fd);
    expect_gone(1);

    fd = dial();
    say(fd, "GET /open HTTP/1.1\r\nHost: x\r\n\r\n"); /* streaming, with nothing to send */
    hear(fd, "\r\n\r\n");
    CHECK(gone_calls == 1);
    close(fd);
    expect_gone(2);

    fd = dial();
    say(fd, "GET /pour HTTP/1.0\r\n\r\n"); /* streaming, stuck behind a full socket */
    wait_for(&written_blocks, 1);
    for (int held = 0; held != written_blocks;) {
        held = written_blocks;
        turns(5);
    }
    CHECK(gone_calls == 2);
    close(fd);
    expect_gone(3);

    fd = dial(); /* the server still stands */
    say(fd, "GET /late HTTP/1.0\r\n\r\n");
    hear(fd, NULL);
    CHECK(strstr(reply, "late"));
    close(fd);
}

static void a_client_that_vanishes_is_noticed_at_once(void **state)
{
    (void)state;
    play_out(vanish_script);
}

static void abort_script(void)
{
    int fd = dial();
    say(fd, "GET /abort HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(fd, NULL);
    CHECK(!strstr(reply, "0\r\n\r\n")); /* no proper end */
    close(fd);
}

static void an_aborted_reply_has_no_end(void **state)
{
    (void)state;
    play_out(abort_script);
}

/* However steadily it trickles in. */
static void slow_head_script(void)
{
    int64_t began = qn_now_ms(); /* the server's time runs from when it sees the connection */
    int fd = dial();
    struct timeval pause = {.tv_usec = 500 * 1000};
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &pause, sizeof pause) == 0);
    say(fd, "GET /echo HTTP/1.1\r\n");
    for (;;) {
        CHECK(qn_now_ms() - began < HANG_S * 1000);
        if (send(fd, "a", 1, MSG_NOSIGNAL) < 0)
            break;
        ssize_t n = recv(fd, reply, 1, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            break;
        CHECK(n < 0);
    }
    CHECK(qn_now_ms() - began > 9000);
    close(fd);
}

static void slow_heads_are_dropped(void **state)
{
    (void)state;
    play(slow_head_script);
}

static void *one_of_many(void *arg)
{
    char want[32], got[512] = "";
    size_t n = 0;
    int fd = dial();
    snprintf(want, sizeof want, "GET /tick HTTP/1.0\r\n\r\n");
    say(fd, want);
    for (;;) {
        ssize_t r = recv(fd, got + n, sizeof got - 1 - n, 0);
        CHECK(r >= 0);
        if (r == 0)
            break;
        n += (size_t)r;
    }
    CHECK(strstr(got, "tick2\n"));
    close(fd);
    return arg;
}

static void many_script(void)
{
    enum { N = 200 };
    pthread_t t[N];
    for (int i = 0; i < N; i++)
        CHECK(pthread_create(&t[i], NULL, one_of_many, NULL) == 0);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
}

static void two_hundred_streams_at_once(void **state)
{
    (void)state;
    play_out(many_script);
}

static void open_and_leave_script(void)
{
    static int fds[3];
    fds[0] = dial();
    say(fds[0], "GET /keep HTTP/1.1\r\nHost: x\r\n\r\n");
    fds[1] = dial();
    say(fds[1], "GET /open HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(fds[1], "\r\n\r\n");
    fds[2] = dial();
    say(fds[2], "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf");
    wait_for(&requests, 2);
    turns(1); /* it has met the third, too, and it is no request yet */
}

static void freeing_the_server_tells_every_owner(void **state)
{
    (void)state;
    play(open_and_leave_script); /* the descriptors stay open on purpose: the process ends soon */
    assert_int_equal(qn_http_server_active(server), 2);
    qn_http_server_free(server);
    server = NULL;
    assert_int_equal(gone_calls, 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(streams_flow_as_they_are_written),
        T(a_slow_reader_holds_the_writer_back),
        T(a_stream_ends_once_though_the_socket_is_full),
        T(a_stream_is_taken_back_until_its_head_is_sent),
        T(a_client_that_vanishes_is_noticed_at_once),
        T(an_aborted_reply_has_no_end),
        T(two_hundred_streams_at_once),
        T(freeing_the_server_tells_every_owner),
        T(slow_heads_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
