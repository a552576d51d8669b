/* io/http_client.c against a scripted server on threads of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "io/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KEPT_MAX = 64, KEPT_MS = 10 * 1000 }; /* as in http_conn.c */

static struct qn_loop *loop;
static struct qn_http_client *client;
static int listen_fd, port;
static pthread_t server;
static int64_t skipped_ms; /* added to the clock, see CMakeLists.txt */
static atomic_long poured; /* bytes the server could write */
static atomic_int hung_up; /* clients that closed on the silent server */
static atomic_int opened;  /* connections */
static atomic_int served;  /* of them, those whose thread has not ended yet */
static atomic_int closed;  /* of them, those of the keeping server that the client has closed */
static char seen[8192];    /* the last request */
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

int64_t __wrap_qn_now_ms(void);
int64_t __wrap_qn_now_ms(void)
{
    return qn_now_us() / 1000 + skipped_ms;
}

/* ---- the server ---- */

static void say(int fd, const char *text)
{
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void hear_request(int fd, char rq[static 8192])
{
    size_t n = 0;
    rq[0] = 0;
    for (;;) {
        ssize_t r = recv(fd, rq + n, 8191 - n, 0);
        if (r <= 0)
            return;
        n += (size_t)r;
        rq[n] = 0;
        char *end = strstr(rq, "\r\n\r\n"), *len = strstr(rq, "Content-Length: ");
        if (end && len && n >= (size_t)(end + 4 - rq) + (size_t)atol(len + 16))
            break;
    }
    pthread_mutex_lock(&seen_lock);
    strcpy(seen, rq);
    pthread_mutex_unlock(&seen_lock);
}

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"

static const struct {
    const char *path, *reply;
    const char *later; /* what follows after a while, or NULL */
} keeping[] = {
    {"/kept/whole ", CHUNKED "\r\n3\r\nend\r\n0\r\n\r\n", NULL},
    {"/kept/gone ", CHUNKED "\r\n3\r\nend\r\n0\r\n\r\n", NULL},
    {"/kept/close ", CHUNKED "Connection: close\r\n\r\n3\r\nend\r\n0\r\n\r\n", NULL},
    {"/kept/surplus ", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend?", NULL},
    {"/kept/late ", CHUNKED "\r\n3\r\nend\r\n", "0\r\n\r\n"},
    {"/kept/more ", CHUNKED "\r\n3\r\nend\r\n", "4\r\nmore\r\n0\r\n\r\n"},
    {"/kept/never ", CHUNKED "\r\n3\r\nend\r\n", NULL},
};

/* Replies to requests on one connection until the client closes it, or after "/kept/gone". */
static void keep_serving(int fd, char rq[static 8192])
{
    while (strstr(rq, "\r\n\r\n")) {
        for (size_t i = 0; i < sizeof keeping / sizeof *keeping; i++) {
            if (!strstr(rq, keeping[i].path))
                continue;
            say(fd, keeping[i].reply);
            usleep(keeping[i].later ? 20000 : 0);
            say(fd, keeping[i].later ? keeping[i].later : "");
        }
        if (strstr(rq, "/kept/gone "))
            return;
        hear_request(fd, rq);
    }
    closed++;
}

static void *serve_one(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char rq[8192];
    hear_request(fd, rq);
    if (strstr(rq, "POST /kept/"))
        keep_serving(fd, rq);
    else if (strstr(rq, "POST /pieces ")) {
        say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < 3; i++) {
            say(fd, "4\r\nabc\n\r\n");
            usleep(5000);
        }
        say(fd, "0\r\n\r\n");
    } else if (strstr(rq, "POST /error ")) {
        say(fd, "HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nnot today");
    } else if (strstr(rq, "POST /half ")) {
        say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabc\n\r\n");
    } else if (strstr(rq, "POST /garbage ")) {
        say(fd, "what is this\r\n\r\n");
    } else if (strstr(rq, "POST /empty ")) {
        /* closes without a word */
    } else if (strstr(rq, "POST /pour ")) {
        static char block[64 * 1024];
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n");
        for (int i = 0; i < 512; i++) {
            size_t at = 0;
            while (at < sizeof block) {
                ssize_t w = send(fd, block + at, sizeof block - at, MSG_NOSIGNAL);
                if (w < 0)
                    goto out;
                at += (size_t)w;
                poured += w;
            }
        }
    } else if (strstr(rq, "POST /silent ")) {
        char c;
        say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n");
        if (recv(fd, &c, 1, 0) <= 0)
            hung_up++;
    }
out:
    close(fd);
    served--;
    return NULL;
}

static void *serve_all(void *arg)
{
    for (;;) {
        int fd = accept(listen_fd, NULL, NULL);
        if (fd < 0)
            return arg;
        opened++;
        served++;
        pthread_t t;
        if (pthread_create(&t, NULL, serve_one, (void *)(intptr_t)fd) == 0)
            pthread_detach(t);
    }
}

/* ---- the client ---- */

struct call {
    struct qn_post *post;
    struct qn_buf got;
    size_t bytes;
    int ends, status;
    char body[256];
    struct qn_error e;
    bool pause_at_first, cancel_at_first, leave_at_first;
    struct call *cancel_other;
};

static void on_data(void *ctx, const void *p, size_t n)
{
    struct call *c = ctx;
    c->bytes += n;
    qn_buf_add(&c->got, p, n);
    if (c->pause_at_first) {
        c->pause_at_first = false;
        qn_http_post_pause(c->post, true);
        qn_loop_stop(loop);
    }
    if (c->cancel_other) {
        qn_http_post_cancel(c->cancel_other->post);
        c->cancel_other = NULL;
    }
    if (c->leave_at_first) {
        qn_http_post_leave(c->post);
        qn_loop_stop(loop);
    }
    if (c->cancel_at_first) {
        qn_http_post_cancel(c->post);
        qn_loop_stop(loop);
    }
}

static void on_end(void *ctx, int status, const char *body, size_t n, const struct qn_error *e)
{
    struct call *c = ctx;
    c->ends++;
    c->status = status;
    snprintf(c->body, sizeof c->body, "%.*s", (int)n, body);
    c->e = *e;
    qn_loop_stop(loop);
}

static const struct qn_post_events events = {.data = on_data, .end = on_end};

static void call(struct call *c, const char *path, const char *body, size_t n)
{
    char url[128];
    qn_buf_init(&c->got, 1024);
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", port, path);
    struct qn_buf bytes;
    qn_buf_init(&bytes, n);
    qn_buf_add(&bytes, body, n);
    assert_int_equal(qn_http_post(client, url, "secret", &bytes, &events, c, &c->post, NULL),
                     QN_OK);
    assert_int_equal(c->ends, 0); /* nothing happens within the call */
}

static void stop(void *ctx)
{
    (void)ctx;
    qn_loop_stop(loop);
}

static void run_for(int ms)
{
    struct qn_timer *t = qn_timer_start(loop, ms, 0, stop, NULL);
    qn_loop_run(loop);
    qn_timer_stop(t);
}

static int set_up(void **state)
{
    (void)state;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    poured = 0;
    hung_up = 0;
    opened = 0;
    closed = 0;
    listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listen_fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(listen_fd, 2 * KEPT_MAX), 0);
    getsockname(listen_fd, (struct sockaddr *)&a, &n);
    port = ntohs(a.sin_port);
    assert_int_equal(pthread_create(&server, NULL, serve_all, NULL), 0);
    assert_int_equal(qn_loop_new(&loop, NULL), QN_OK);
    qn_http_client_new(loop, &client);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    qn_http_client_free(client);
    qn_loop_free(loop);
    shutdown(listen_fd, SHUT_RDWR);
    pthread_join(server, NULL);
    close(listen_fd);
    while (served > 0) /* wait, or the next test would count this test's connections */
        usleep(1000);
    return 0;
}

static void data_streams_in(void **state)
{
    (void)state;
    struct call c = {0};
    call(&c, "/pieces", "{\"a\":1}", 7);
    qn_loop_run(loop);
    assert_int_equal(c.status, 200);
    assert_int_equal(c.ends, 1);
    assert_string_equal(qn_buf_cstr(&c.got), "abc\nabc\nabc\n");
    pthread_mutex_lock(&seen_lock);
    assert_non_null(strstr(seen, "Authorization: Bearer secret\r\n"));
    assert_non_null(strstr(seen, "Content-Length: 7\r\n"));
    assert_null(strstr(seen, "Expect"));
    assert_non_null(strstr(seen, "\r\n\r\n{\"a\":1}"));
    pthread_mutex_unlock(&seen_lock);
    qn_buf_deinit(&c.got);
}

static void other_statuses_come_with_their_body(void **state)
{
    (void)state;
    struct call c = {0};
    call(&c, "/error", NULL, 0);
    qn_loop_run(loop);
    assert_int_equal(c.status, 503);
    assert_string_equal(c.body, "not today");
    assert_int_equal(c.bytes, 0);
    qn_buf_deinit(&c.got);
}

static void broken_replies_are_errors(void **state)
{
    (void)state;
    const char *paths[] = {"/half", "/garbage", "/empty"};
    for (int i = 0; i < 3; i++) {
        struct call c = {0};
        call(&c, paths[i], "x", 1);
        qn_loop_run(loop);
        assert_int_equal(c.ends, 1);
        assert_int_equal(c.status, 0);
        assert_int_equal(c.e.code, QN_EIO);
        assert_true(c.e.message[0]);
        assert_int_equal(c.bytes, i == 0 ? 4 : 0); /* what came before the break is delivered */
        qn_buf_deinit(&c.got);
    }
}

static void a_refused_connection_is_an_error(void **state)
{
    (void)state;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0), kept = port;
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0); /* bound, but not listening */
    getsockname(fd, (struct sockaddr *)&a, &n);
    port = ntohs(a.sin_port);
    struct call c = {0};
    call(&c, "/x", "x", 1);
    qn_loop_run(loop);
    assert_int_equal(c.status, 0);
    assert_int_equal(c.e.code, QN_EIO);
    port = kept;
    close(fd);
    qn_buf_deinit(&c.got);
}

static void a_pause_fills_the_servers_socket(void **state)
{
    (void)state;
    struct call c = {.pause_at_first = true};
    call(&c, "/pour", "x", 1);
    qn_loop_run(loop);
    size_t held = c.bytes;
    long out;
    do { /* until the server's thread can write no more */
        out = poured;
        run_for(100);
    } while (poured != out);
    assert_true(held < 1024 * 1024);
    assert_true(out < 33554432);
    assert_int_equal(c.bytes, held);
    qn_http_post_pause(c.post, false);
    assert_int_equal(c.bytes, held); /* not from within the call */
    run_for(5);
    qn_http_post_pause(c.post, true); /* between two pieces */
    run_for(5);
    held = c.bytes;
    run_for(30);
    assert_int_equal(c.bytes, held);
    qn_http_post_pause(c.post, false);
    while (c.ends == 0)
        qn_loop_run(loop);
    assert_int_equal(c.status, 200);
    assert_int_equal(c.bytes, 33554432);
    qn_buf_deinit(&c.got);
}

static void cancelling_closes_the_connection(void **state)
{
    (void)state;
    struct call c = {0};
    call(&c, "/silent", "x", 1);
    while (c.bytes == 0)
        run_for(5);
    qn_http_post_cancel(c.post);
    while (hung_up == 0)
        run_for(5);
    assert_int_equal(hung_up, 1);
    assert_int_equal(c.ends, 0);
    qn_buf_deinit(&c.got);
}

static void cancelling_from_within_callbacks(void **state)
{
    (void)state;
    struct call a = {.cancel_at_first = true}, b = {0}, other = {0};
    call(&a, "/silent", "x", 1);
    qn_loop_run(loop);
    while (hung_up == 0)
        run_for(5);
    assert_int_equal(hung_up, 1);
    call(&other, "/silent", "x", 1);
    while (other.bytes == 0)
        run_for(5);
    b.cancel_other = &other;
    call(&b, "/pieces", "x", 1);
    while (b.ends == 0)
        qn_loop_run(loop);
    while (hung_up == 1)
        run_for(5);
    assert_int_equal(hung_up, 2);
    assert_int_equal(a.ends + other.ends, 0);
    struct call never = {0};
    call(&never, "/silent", "x", 1); /* before it has even begun */
    qn_http_post_cancel(never.post);
    run_for(10);
    assert_int_equal(never.ends, 0);
    qn_buf_deinit(&a.got);
    qn_buf_deinit(&b.got);
    qn_buf_deinit(&other.got);
    qn_buf_deinit(&never.got);
}

static void whole_call(const char *path)
{
    struct call c = {0};
    call(&c, path, "x", 1);
    qn_loop_run(loop);
    assert_int_equal(c.ends, 1);
    assert_int_equal(c.status, 200);
    assert_string_equal(qn_buf_cstr(&c.got), "end");
    qn_buf_deinit(&c.got);
}

static void connections_are_kept_for_the_next_job(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        whole_call("/kept/whole");
    assert_int_equal(opened, 1);
    struct call a = {0}, b = {0}; /* two at the same time need two */
    call(&a, "/kept/whole", "x", 1);
    call(&b, "/kept/whole", "x", 1);
    while (a.ends + b.ends < 2)
        qn_loop_run(loop);
    assert_int_equal(opened, 2);
    for (int i = 0; i < 3; i++)
        whole_call("/kept/whole");
    assert_int_equal(opened, 2);
    qn_buf_deinit(&a.got);
    qn_buf_deinit(&b.got);
}

/* A connection with unexpected bytes, or that its server announces to close, is not used
 * again. */
static void spoilt_connections_are_not_kept(void **state)
{
    (void)state;
    const char *paths[] = {"/kept/surplus", "/kept/close"};
    for (int i = 0; i < 2; i++) {
        whole_call(paths[i]);
        whole_call("/kept/whole");
        whole_call(paths[i]); /* on the connection that was kept */
        assert_int_equal(opened, 2 * i + 2);
    }
}

/* Also when the loop has had no turn in which it could notice. */
static void a_kept_connection_that_is_closed_costs_nothing(void **state)
{
    (void)state;
    whole_call("/kept/gone");
    usleep(50 * 1000); /* until the server's thread has closed it */
    whole_call("/kept/whole");
    assert_int_equal(opened, 2);
}

/* The caller has what it needs; the connection is kept if the rest is the end alone. */
static void a_caller_that_leaves_gives_its_connection_back(void **state)
{
    (void)state;
    struct call whole = {.leave_at_first = true}, late = whole, more = whole, never = whole;
    call(&whole, "/kept/whole", "x", 1);
    qn_loop_run(loop);
    call(&late, "/kept/late", "x", 1);
    qn_loop_run(loop);
    run_for(100);
    assert_int_equal(opened, 1);
    call(&more, "/kept/more", "x", 1);
    qn_loop_run(loop);
    run_for(100);
    whole_call("/kept/whole");
    assert_int_equal(opened, 2);
    while (closed < 1)
        run_for(5);
    call(&never, "/kept/never", "x", 1);
    qn_loop_run(loop);
    while (closed < 2) /* after a second */
        run_for(5);
    assert_int_equal(whole.ends + late.ends + more.ends + never.ends, 0);
    assert_int_equal(whole.bytes + late.bytes + more.bytes + never.bytes, 4 * 3);
    struct call last = {.leave_at_first = true};
    call(&last, "/kept/never", "x", 1); /* and the client may end before */
    qn_loop_run(loop);
    qn_buf_deinit(&last.got);
    qn_buf_deinit(&whole.got);
    qn_buf_deinit(&late.got);
    qn_buf_deinit(&more.got);
    qn_buf_deinit(&never.got);
}

static void few_connections_are_kept(void **state)
{
    (void)state;
    static struct call calls[KEPT_MAX + 3];
    int n = KEPT_MAX + 3, ended = 0;
    memset(calls, 0, sizeof calls);
    for (int i = 0; i < n; i++)
        call(&calls[i], "/kept/whole", "x", 1);
    while (ended < n) {
        qn_loop_run(loop);
        ended = 0;
        for (int i = 0; i < n; i++)
            ended += calls[i].ends;
    }
    assert_int_equal(opened, n);
    while (closed < 3)
        run_for(5);
    run_for(50);
    assert_int_equal(closed, 3);
    for (int i = 0; i < n; i++)
        qn_buf_deinit(&calls[i].got);
}

static void connections_are_kept_for_a_time(void **state)
{
    (void)state;
    whole_call("/kept/whole");
    skipped_ms += KEPT_MS - 3000;
    run_for(1500); /* longer than the interval in which ages are checked */
    assert_int_equal(closed, 0);
    skipped_ms += 3000;
    while (closed < 1)
        run_for(5);
    whole_call("/kept/whole");
    assert_int_equal(opened, 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(data_streams_in),
        T(other_statuses_come_with_their_body),
        T(broken_replies_are_errors),
        T(a_refused_connection_is_an_error),
        T(a_pause_fills_the_servers_socket),
        T(cancelling_closes_the_connection),
        T(cancelling_from_within_callbacks),
        T(connections_are_kept_for_the_next_job),
        T(spoilt_connections_are_not_kept),
        T(a_kept_connection_that_is_closed_costs_nothing),
        T(a_caller_that_leaves_gives_its_connection_back),
        T(few_connections_are_kept),
        T(connections_are_kept_for_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
