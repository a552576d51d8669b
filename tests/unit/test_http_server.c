/* io/http_server.c through real sockets. The server runs on the test's thread, each client script
 * on a thread of its own with blocking sockets; a script that fails ends the program with its line.
 *
 * No time that passes is judged: each side waits for what the other has done, HANG_S at most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "io/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "%s:%d: client: %s\n", __FILE__, __LINE__, #x);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { BODY_MAX = 4 * 1024 * 1024, HANG_S = 120 };

static struct qn_loop *loop;
static struct qn_http_server *server;
static int listen_fd, port;
static struct qn_watch *listen_watch;

/* ---- the server's behaviour: chosen by path ---- */

static struct qn_http *kept;
static struct qn_stream *kept_stream;
static atomic_int requests, gone_calls, drained_calls, written_blocks;

static void on_gone(void *ctx)
{
    (void)ctx;
    gone_calls++;
    kept = NULL;
    kept_stream = NULL;
}

static char block[16 * 1024];

static void pour(void)
{
    while (kept_stream && !qn_stream_full(kept_stream) && written_blocks < 400) {
        qn_stream_write(kept_stream, block, sizeof block);
        written_blocks++;
    }
    if (kept_stream && written_blocks == 400) {
        qn_stream_end(kept_stream);
        kept_stream = NULL;
    }
}

static void pour_post(void *ctx)
{
    (void)ctx;
    pour();
}

static void on_drained(void *ctx)
{
    (void)ctx;
    drained_calls++;
    qn_loop_post(loop, pour_post, NULL);
}

static void late_reply(void *ctx)
{
    qn_http_reply(ctx, 200, "text/plain", "late", 4);
}

struct ticker {
    struct qn_timer *t;
    struct qn_stream *s;
    int n;
};

static atomic_int ticks_wanted; /* no more are sent than a client has asked for */

static void on_tick(void *ctx)
{
    struct ticker *k = ctx;
    char text[16];
    if (k->n >= ticks_wanted)
        return;
    int n = snprintf(text, sizeof text, "tick%d\n", k->n);
    qn_stream_write(k->s, text, (size_t)n);
    if (++k->n == 3) {
        qn_stream_end(k->s);
        qn_timer_stop(k->t);
        free(k);
    }
}

/* ---- bodies that are kept ---- */

static char blob_dir[64], blob_path[96];
static int64_t blob_reserve;
static pthread_t loop_thread;
static atomic_int stores, stores_on_loop, slow_store_ms;
static atomic_bool stores_hang;

/* In the C library's place: what stores a body asks it each time how full the disk is. */
int fstatvfs(int fd, struct statvfs *fs)
{
    (void)fd;
    stores++;
    stores_on_loop += pthread_equal(pthread_self(), loop_thread) != 0;
    usleep((useconds_t)(slow_store_ms * 1000));
    while (stores_hang)
        usleep(1000);
    *fs = (struct statvfs){.f_frsize = 4096, .f_bavail = 1024};
    return 0;
}

static const char *large_body(void *ctx, const struct qn_http *h, int64_t *reserve_bytes)
{
    (void)ctx;
    *reserve_bytes = blob_reserve;
    return strcmp(qn_http_path(h), "/blob") == 0 ? blob_dir : NULL;
}

static bool unwanted_body(void *ctx, const struct qn_http *h)
{
    (void)ctx;
    return strcmp(qn_http_path(h), "/unwanted") == 0;
}

static void on_request(void *ctx, struct qn_http *h)
{
    (void)ctx;
    const char *path = qn_http_path(h);
    size_t n;
    const char *body = qn_http_body(h, &n);
    requests++;
    if (strcmp(path, "/echo") == 0) {
        qn_http_set_header(h, "X-Method", qn_http_method(h));
        qn_http_reply(h, 200, "application/octet-stream", body, n);
    } else if (strcmp(path, "/unwanted") == 0) {
        char text[32];
        int len = snprintf(text, sizeof text, "thrown=%d %zu", qn_http_body_thrown(h), n);
        qn_http_reply(h, 401, "text/plain", text, (size_t)len);
    } else if (strcmp(path, "/sum") == 0) {
        unsigned long sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += (unsigned char)body[i];
        char text[64];
        int len = snprintf(text, sizeof text, "%zu %lu", n, sum);
        qn_http_reply(h, 200, "text/plain", text, (size_t)len);
    } else if (strcmp(path, "/say it") == 0) {
        const char *q = qn_http_query(h, "q"), *x = qn_http_header(h, "x-thing");
        char text[256];
        int len = snprintf(text, sizeof text, "%s|%s|%s", q ? q : "-", x ? x : "-",
                           qn_http_query(h, "none") ? "?" : "-");
        qn_http_reply(h, 200, "text/plain", text, (size_t)len);
    } else if (strcmp(path, "/blob") == 0) {
        struct qn_error e = {0};
        qn_err err = qn_http_body_keep(h, blob_path, &e);
        qn_http_reply(h, err ? 500 : 201, "text/plain", e.message, err ? strlen(e.message) : 0);
    } else if (strcmp(path, "/late") == 0) {
        qn_loop_post(loop, late_reply, h);
    } else if (strcmp(path, "/keep") == 0) {
        kept = h;
        qn_http_on_gone(h, on_gone, NULL);
    } else if (strcmp(path, "/open") == 0) {
        qn_http_on_gone(h, on_gone, NULL);
        kept = h;
        kept_stream = qn_http_stream(h, 200, "text/event-stream", NULL, NULL);
    } else if (strcmp(path, "/pour") == 0) {
        qn_http_on_gone(h, on_gone, NULL);
        written_blocks = 0;
        kept_stream = qn_http_stream(h, 200, "application/octet-stream", on_drained, NULL);
        pour();
    } else if (strcmp(path, "/tick") == 0) {
        struct ticker *k = calloc(1, sizeof *k);
        k->s = qn_http_stream(h, 200, "text/plain", NULL, NULL);
        k->t = qn_timer_start(loop, 5, 5, on_tick, k);
    } else if (strcmp(path, "/abort") == 0) {
        struct qn_stream *s = qn_http_stream(h, 200, "text/plain", NULL, NULL);
        qn_stream_write(s, "half", 4);
        qn_http_abort(h);
    } else {
        qn_http_reply(h, 404, "text/plain", "no", 2);
    }
}

static void on_refuse(void *ctx, int status, const char *method, const char *path,
                      struct qn_buf *body)
{
    (void)ctx;
    qn_buf_fmt(body, "{\"refused\":%d,\"method\":\"%s\",\"path\":\"%s\"}", status, method, path);
}

static void on_accept(void *ctx, uint32_t events)
{
    (void)ctx;
    (void)events;
    struct sockaddr_in a;
    socklen_t n = sizeof a;
    int fd = accept4(listen_fd, (struct sockaddr *)&a, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        qn_http_server_add(server, fd, &a, n, 0);
}

static int set_up(void **state)
{
    (void)state;
    struct qn_http_events ev = {.request = on_request,
                                .refuse = on_refuse,
                                .large_body = large_body,
                                .unwanted_body = unwanted_body};
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    kept = NULL;
    kept_stream = NULL;
    written_blocks = 0;
    requests = gone_calls = drained_calls = stores = stores_on_loop = slow_store_ms = 0;
    stores_hang = false;
    ticks_wanted = 3;
    blob_reserve = 0;
    loop_thread = pthread_self();
    strcpy(blob_dir, "/tmp/quince-blob-XXXXXX");
    assert_non_null(mkdtemp(blob_dir));
    snprintf(blob_path, sizeof blob_path, "%s/kept", blob_dir);
    assert_int_equal(qn_loop_new(&loop, NULL), QN_OK);
    assert_int_equal(qn_http_server_new(loop, &ev, NULL, BODY_MAX, &server, NULL), QN_OK);
    listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listen_fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(listen_fd, 512), 0);
    getsockname(listen_fd, (struct sockaddr *)&a, &n);
    port = ntohs(a.sin_port);
    return (int)qn_watch_add(loop, listen_fd, EPOLLIN, on_accept, NULL, &listen_watch, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    qn_watch_remove(listen_watch);
    close(listen_fd);
    qn_http_server_free(server);
    qn_loop_free(loop);
    unlink(blob_path);
    assert_int_equal(rmdir(blob_dir), 0); /* nothing else is left */
    return 0;
}

/* ---- the client's side ---- */

static int dial(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                            .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval tv = {.tv_sec = HANG_S};
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv) == 0);
    CHECK(connect(fd, (struct sockaddr *)&a, sizeof a) == 0);
    return fd;
}

static void put(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t w = send(fd, p, n, MSG_NOSIGNAL);
        if (w < 0)
            return; /* the server has refused and closed: what it said is read next */
        p += w;
        n -= (size_t)w;
    }
}

static void say(int fd, const char *text)
{
    put(fd, text, strlen(text));
}

static char reply[8 * 1024 * 1024];

/* Reads until `until` is in the reply or, when NULL, to the end. Returns the length. */
static size_t hear(int fd, const char *until)
{
    size_t n = 0;
    reply[0] = 0;
    while (!(until && strstr(reply, until))) {
        ssize_t r = recv(fd, reply + n, sizeof reply - 1 - n, 0);
        CHECK(r >= 0);
        if (r == 0) {
            CHECK(!until);
            break;
        }
        n += (size_t)r;
        reply[n] = 0;
    }
    return n;
}

static void wait_for(const atomic_int *value, int at_least)
{
    int64_t end = qn_now_ms() + HANG_S * 1000;
    while (*value < at_least) {
        CHECK(qn_now_ms() < end);
        usleep(500);
    }
}

/* Another client is served, n times: so often has the server looked at everything. */
static void turns(int n)
{
    for (int i = 0; i < n; i++) {
        char text[512];
        int fd = dial();
        ssize_t got;
        say(fd, "GET /late HTTP/1.0\r\n\r\n");
        CHECK(recv(fd, text, sizeof text, 0) > 0);
        while ((got = recv(fd, text, sizeof text, 0)) > 0)
            ;
        CHECK(got == 0);
        close(fd);
    }
}

static void quit(void *ctx)
{
    (void)ctx;
    qn_loop_stop(loop);
}

static void (*script)(void);

static void *client(void *arg)
{
    (void)arg;
    script();
    qn_loop_post(loop, quit, NULL);
    return NULL;
}

static void play(void (*fn)(void))
{
    pthread_t t;
    script = fn;
    assert_int_equal(pthread_create(&t, NULL, client, NULL), 0);
    qn_loop_run(loop);
    pthread_join(t, NULL);
}

/* ---- scripts ---- */

static void keep_alive_script(void)
{
    int fd = dial();
    for (int i = 0; i < 3; i++) {
        say(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
        hear(fd, "hello");
        CHECK(strstr(reply, "HTTP/1.1 200 OK\r\n"));
        CHECK(strstr(reply, "X-Method: POST\r\n"));
        CHECK(strstr(reply, "Content-Length: 5\r\n"));
    }
    say(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(fd, "late");
    say(fd, "GET /say%20it?q=a+b%26c&none HTTP/1.1\r\nHost: x\r\nX-Thing: seen\r\n\r\n");
    hear(fd, "|");
    CHECK(strstr(reply, "\r\n\r\na b&c|seen|?"));
    say(fd, "GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    hear(fd, NULL);
    CHECK(strstr(reply, "HTTP/1.1 404 "));
    close(fd);
}

static void keep_alive(void **state)
{
    (void)state;
    play(keep_alive_script);
    assert_int_equal(qn_http_server_active(server), 0);
}

static void pipelining_script(void)
{
    int fd = dial();
    say(fd,
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none"
        "GET /late HTTP/1.1\r\nHost: x\r\n\r\n"
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nthree");
    hear(fd, NULL);
    const char *one = strstr(reply, "one"), *two = strstr(reply, "late"),
               *three = strstr(reply, "three");
    CHECK(one && two && three && one < two && two < three);
    close(fd);
}

static void pipelining(void **state)
{
    (void)state;
    play(pipelining_script);
}

static void head_script(void)
{
    int fd = dial();
    say(fd, "HEAD /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    hear(fd, NULL);
    CHECK(strstr(reply, "Content-Length: 2\r\n"));
    CHECK(strcmp(strstr(reply, "\r\n\r\n"), "\r\n\r\n") == 0);
    close(fd);
    fd = dial();
    say(fd, "HEAD /pour HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    hear(fd, NULL);
    CHECK(strcmp(strstr(reply, "\r\n\r\n"), "\r\n\r\n") == 0);
    close(fd);
    wait_for(&gone_calls, 1); /* a stream nobody will read: its producer is told */
}

static void head_gets_no_body(void **state)
{
    (void)state;
    play(head_script);
}

static void chunked_script(void)
{
    int fd = dial();
    say(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            "4\r\nwiki\r\n5;ext=1\r\npedia\r\n0\r\n\r\n");
    hear(fd, "wikipedia");
    say(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    hear(fd, "\r\n\r\n");
    CHECK(strncmp(reply, "HTTP/1.1 100 ", 13) == 0);
    say(fd, "body");
    hear(fd, "\r\n\r\nbody");
    close(fd);
}

static void chunked_bodies_and_100_continue(void **state)
{
    (void)state;
    play(chunked_script);
}

static void big_body_script(void)
{
    static char head[128];
    size_t n = BODY_MAX;
    char *body = malloc(n);
    unsigned long sum = 0;
    for (size_t i = 0; i < n; i++) {
        body[i] = (char)(i * 31 % 251);
        sum += (unsigned char)body[i];
    }
    int fd = dial();
    snprintf(head, sizeof head, "POST /sum HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", n);
    say(fd, head);
    put(fd, body, n);
    snprintf(head, sizeof head, "\r\n\r\n%zu %lu", n, sum);
    hear(fd, head);
    close(fd);
    free(body);
}

static void a_big_body_is_spooled_whole(void **state)
{
    (void)state;
    play(big_body_script);
}

/* A body that nobody wants reaches neither memory nor disk; the connection goes on. */
static void unwanted_script(void)
{
    char *body = calloc(1, BODY_MAX);
    int fd = dial(), before = stores;
    for (int i = 0; i < 2; i++) {
        char head[96];
        snprintf(head, sizeof head,
                 "POST /unwanted HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", BODY_MAX);
        say(fd, head);
        put(fd, body, BODY_MAX);
        hear(fd, "thrown=1 0");
        CHECK(strncmp(reply, "HTTP/1.1 401 ", 13) == 0);
    }
    CHECK(stores == before);
    say(fd, "POST /unwanted HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    hear(fd, "thrown=0 0");
    close(fd);
    /* Not without end. */
    fd = dial();
    say(fd, "POST /unwanted HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < BODY_MAX / 0x4000 + 16; i++) {
        say(fd, "4000\r\n");
        put(fd, block, sizeof block);
        say(fd, "\r\n");
    }
    hear(fd, NULL);
    CHECK(strncmp(reply, "HTTP/1.1 413 ", 13) == 0);
    CHECK(stores == before);
    close(fd);
    free(body);
}

static void an_unwanted_body_is_thrown_away(void **state)
{
    (void)state;
    play(unwanted_script);
}

static void refused(const char *text, int status)
{
    char line[64];
    int fd = dial();
    say(fd, text);
    hear(fd, NULL);
    snprintf(line, sizeof line, "HTTP/1.1 %d ", status);
    if (strncmp(reply, line, strlen(line)) != 0)
        fprintf(stderr, "for %.60s: %.200s\n", text, reply);
    CHECK(strncmp(reply, line, strlen(line)) == 0);
    snprintf(line, sizeof line, "{\"refused\":%d,", status);
    CHECK(strstr(reply, line));
    CHECK(strstr(reply, "Connection: close\r\n"));
    close(fd);
}

/* The same as the second head of its connection, with the request that it may hide. */
static void refused_later(const char *fields)
{
    char text[512];
    int fd = dial();
    say(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(fd, "late");
    snprintf(text, sizeof text,
             "POST /echo HTTP/1.1\r\n%s\r\n0\r\n\r\nGET /late HTTP/1.1\r\nHost: x\r\n\r\n", fields);
    say(fd, text);
    hear(fd, NULL);
    if (strncmp(reply, "HTTP/1.1 400 ", 13) != 0 || strstr(reply + 1, "HTTP/1.1 "))
        fprintf(stderr, "for %.60s: %.300s\n", fields, reply);
    CHECK(strncmp(reply, "HTTP/1.1 400 ", 13) == 0 && !strstr(reply + 1, "HTTP/1.1 "));
    CHECK(strstr(reply, "{\"refused\":400,\"method\":\"POST\",\"path\":\"/echo\"}"));
    close(fd);
}

static void later_heads_script(void)
{
    refused_later("Host: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n");
    refused_later("Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n");
    refused_later("Host: x\r\nContent-Length: 5\r\nContent-Length: 50\r\n");
    refused_later("Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n");
    refused_later("Host: x\r\nTransfer-Encoding: gzip, chunked\r\n");
    refused_later("Host: x\r\nTransfer-Encoding: xchunked\r\nContent-Length: 5\r\n");
    refused_later("Host: x\r\nContent-Length : 5\r\n");
    refused_later("Host: x\r\nTransfer-Encoding : chunked\r\n");
    refused_later("Host: x\r\nX-Bell: \a\r\nContent-Length: 5\r\n");
    refused_later("Host: x\r\nHost: y\r\nContent-Length: 5\r\n");
}

static void later_heads_are_as_strict_as_first_ones(void **state)
{
    (void)state;
    play(later_heads_script);
    assert_int_equal(qn_http_server_active(server), 0);
}

static void refusals_script(void)
{
    refused("nonsense\r\n\r\n", 400);
    refused("GET  / HTTP/1.1\r\n\r\n", 400);
    refused("GET / HTTP/1.1\r\nbroken header\r\n\r\n", 400);
    refused("GET / HTTP/1.1\r\nName : x\r\n\r\n", 400);
    refused("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400);
    refused("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400);
    refused("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400);
    refused("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            400);
    refused(
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        400);
    refused("GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400);
    refused("GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400);
    refused("GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n", 400);
    refused("PRI * HTTP/2.0\r\n\r\n", 505);
    /* By its length alone, before a byte of it has been sent. */
    refused("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4194305\r\n\r\n", 413);
    CHECK(strstr(reply, "\"method\":\"POST\",\"path\":\"/echo\""));
    refused("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000000000000\r\n\r\n", 413);

    char *big = malloc(40 * 1024);
    int n = snprintf(big, 40 * 1024, "GET /echo HTTP/1.1\r\nHost: x\r\nX-Big: ");
    memset(big + n, 'a', 40 * 1024 - (size_t)n);
    memcpy(big + 40 * 1024 - 5, "\r\n\r\n", 5);
    refused(big, 431);
    int second = dial(); /* also as the second head of a connection */
    say(second, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(second, "late");
    say(second, big);
    hear(second, NULL);
    CHECK(strncmp(reply, "HTTP/1.1 431 ", 13) == 0);
    close(second);
    memcpy(big + 18 * 1024, "\r\n\r\n", 5); /* and in our words where the daemon has room for it */
    second = dial();
    say(second, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(second, "late");
    say(second, big);
    hear(second, NULL);
    CHECK(strncmp(reply, "HTTP/1.1 431 ", 13) == 0);
    CHECK(strstr(reply, "{\"refused\":431,"));
    close(second);
    free(big);

    /* A chunked body has no length to go by: refused at the first byte too many, and the rest of
     * it, which the client goes on sending, does not destroy the answer. */
    int fd = dial();
    say(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 600; i++) {
        say(fd, "4000\r\n");
        put(fd, block, sizeof block);
        say(fd, "\r\n");
    }
    hear(fd, NULL);
    CHECK(strncmp(reply, "HTTP/1.1 413 ", 13) == 0);
    close(fd);

    /* The same with a length and a client that sends everything before it listens. */
    fd = dial();
    say(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9830400\r\n\r\n");
    for (int i = 0; i < 600; i++)
        put(fd, block, sizeof block);
    hear(fd, NULL);
    CHECK(strncmp(reply, "HTTP/1.1 413 ", 13) == 0);
    close(fd);
}

static void bad_requests_are_refused_in_our_words(void **state)
{
    (void)state;
    play(refusals_script);
    assert_int_equal(qn_http_server_active(server), 0);
}

/* As many as there may be connections are refused, and do not close. */
static int refused_fds[QN_HTTP_CONNECTIONS_MAX];

static void lingering_script(void)
{
    int n = (int)(sizeof refused_fds / sizeof *refused_fds);
    for (int i = 0; i < n; i++) {
        refused_fds[i] = dial();
        say(refused_fds[i], "nonsense\r\n\r\n");
        hear(refused_fds[i], NULL);
        CHECK(strncmp(reply, "HTTP/1.1 400 ", 13) == 0);
    }
    int fd = dial();
    say(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    hear(fd, "late");
    close(fd);
    for (int i = 0; i < n; i++)
        close(refused_fds[i]);
}

static void refused_clients_take_no_place(void **state)
{
    (void)state;
    struct rlimit limit;
    const rlim_t wanted = 2 * QN_HTTP_CONNECTIONS_MAX + 200; /* both ends are in this process */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < wanted)
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    if (limit.rlim_cur < wanted || setrlimit(RLIMIT_NOFILE, &limit))
        skip();
    play(lingering_script);
}

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
    play(vanish_script);
    assert_int_equal(qn_http_server_active(server), 0);
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
    play(abort_script);
    assert_int_equal(qn_http_server_active(server), 0);
}

/* However steadily it trickles in. */
static void slow_head_script(void)
{
    int fd = dial();
    struct timeval pause = {.tv_usec = 500 * 1000};
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &pause, sizeof pause) == 0);
    int64_t began = qn_now_ms();
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
    play(many_script);
    assert_int_equal(qn_http_server_active(server), 0);
}

static void post_blob(int fd, size_t n, size_t sent)
{
    char head[128];
    char *body = malloc(sent + 1);
    for (size_t i = 0; i < sent; i++)
        body[i] = (char)(i * 31 % 251);
    snprintf(head, sizeof head, "POST /blob HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", n);
    say(fd, head);
    put(fd, body, sent);
    free(body);
}

static void check_kept(size_t n)
{
    FILE *f = fopen(blob_path, "rb");
    size_t i = 0;
    CHECK(f);
    for (int c; (c = fgetc(f)) != EOF; i++)
        CHECK((char)c == (char)(i * 31 % 251));
    fclose(f);
    CHECK(i == n);
    CHECK(unlink(blob_path) == 0);
}

static void blob_script(void)
{
    static const size_t sizes[] = {0, 5, 1024 * 1024, 3 * BODY_MAX + 1};
    int fd = dial();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        post_blob(fd, sizes[i], sizes[i]);
        hear(fd, "\r\n\r\n");
        CHECK(strstr(reply, "HTTP/1.1 201 "));
        check_kept(sizes[i]);
    }
    close(fd);
}

static void *slow_blob(void *arg)
{
    int fd = dial();
    post_blob(fd, BODY_MAX, BODY_MAX);
    hear(fd, "\r\n\r\n");
    CHECK(strstr(reply, "HTTP/1.1 201 "));
    close(fd);
    return arg;
}

static void slow_disk_script(void)
{
    pthread_t t;
    stores_hang = true;
    stores = 0;
    CHECK(pthread_create(&t, NULL, slow_blob, NULL) == 0);
    wait_for(&stores, 1);
    turns(1); /* the others do not wait for the disk */
    stores_hang = false;
    pthread_join(t, NULL);
    check_kept(BODY_MAX);
    CHECK(stores_on_loop == 0);
}

static void bodies_that_are_kept_are_stored_by_workers(void **state)
{
    (void)state;
    play(blob_script);
    play(slow_disk_script);
}

static void full_disk_script(void)
{
    int fd = dial();
    post_blob(fd, BODY_MAX, BODY_MAX);
    hear(fd, "}");
    CHECK(strstr(reply, "HTTP/1.1 507 "));
    close(fd);
    CHECK(access(blob_path, F_OK) != 0);
    fd = dial(); /* leaves while a worker has its body */
    slow_store_ms = 100;
    stores = 0;
    post_blob(fd, BODY_MAX, 2 * 1024 * 1024);
    wait_for(&stores, 1);
    close(fd);
    fd = dial(); /* and this one is there when the server goes */
    post_blob(fd, BODY_MAX, 2 * 1024 * 1024);
    wait_for(&stores, 2);
}

static void a_kept_body_leaves_the_reserve_of_its_disk(void **state)
{
    (void)state;
    blob_reserve = 4096 * 1024 - 512 * 1024; /* of the 4 MiB that fstatvfs says are left */
    play(full_disk_script);
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
        T(keep_alive),
        T(an_unwanted_body_is_thrown_away),
        T(pipelining),
        T(head_gets_no_body),
        T(chunked_bodies_and_100_continue),
        T(a_big_body_is_spooled_whole),
        T(bodies_that_are_kept_are_stored_by_workers),
        T(a_kept_body_leaves_the_reserve_of_its_disk),
        T(bad_requests_are_refused_in_our_words),
        T(later_heads_are_as_strict_as_first_ones),
        T(refused_clients_take_no_place),
        T(streams_flow_as_they_are_written),
        T(a_slow_reader_holds_the_writer_back),
        T(a_client_that_vanishes_is_noticed_at_once),
        T(an_aborted_reply_has_no_end),
        T(two_hundred_streams_at_once),
        T(freeing_the_server_tells_every_owner),
        T(slow_heads_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
