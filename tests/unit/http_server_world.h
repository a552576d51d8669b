/* A server of io/http_server.c on the test's thread, and clients that talk to it: each script on a
 * thread of its own with blocking sockets; a script that fails ends the program with its line.
 *
 * No time that passes is judged: each side waits for what the other has done, HANG_S at most. */
#ifndef QN_TEST_HTTP_SERVER_WORLD_H
#define QN_TEST_HTTP_SERVER_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "io/http_server.h"

#include "client_check.h"

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

enum { BODY_MAX = 4 * 1024 * 1024, HANG_S = 120, LARGE_BLOCKS = 7 };

static struct qn_loop *loop;
static struct qn_http_server *server;
static int listen_fd, port;
static struct qn_watch *listen_watch;
static int send_bytes; /* of an accepted socket's send buffer; 0: as the system chooses */

/* ---- the server's behaviour: chosen by path ---- */

static struct qn_http *kept;
static struct qn_stream *kept_stream;
static atomic_int requests, gone_calls, drained_calls, written_blocks;

static inline void on_gone(void *ctx)
{
    (void)ctx;
    gone_calls++;
    kept = NULL;
    kept_stream = NULL;
}

static char block[16 * 1024];

static inline void pour(void)
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

static inline void pour_post(void *ctx)
{
    (void)ctx;
    pour();
}

static inline void on_drained(void *ctx)
{
    (void)ctx;
    drained_calls++;
    qn_loop_post(loop, pour_post, NULL);
}

static inline void late_reply(void *ctx)
{
    qn_http_reply(ctx, 200, "text/plain", "late", 4);
}

struct ticker {
    struct qn_timer *t;
    struct qn_stream *s;
    int n;
};

static atomic_int ticks_wanted; /* no more are sent than a client has asked for */

static inline void on_tick(void *ctx)
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
static size_t blob_max;        /* 0: no limit */
static atomic_int disk_left;   /* blocks of 4 KiB */
static atomic_int disk_blocks; /* of the whole; 0: the file system has no size */
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
    *fs = (struct statvfs){
        .f_frsize = 4096, .f_bavail = (fsblkcnt_t)disk_left, .f_blocks = (fsblkcnt_t)disk_blocks};
    return 0;
}

static inline const char *large_body(void *ctx, const struct qn_http *h, size_t *max,
                                     int64_t *reserve_bytes)
{
    (void)ctx;
    *max = blob_max;
    *reserve_bytes = blob_reserve;
    return strcmp(qn_http_path(h), "/blob") == 0 ? blob_dir : NULL;
}

static inline bool unwanted_body(void *ctx, const struct qn_http *h)
{
    (void)ctx;
    return strcmp(qn_http_path(h), "/unwanted") == 0;
}

static inline uint64_t owner(void *ctx, const struct qn_http *h)
{
    (void)ctx;
    const char *name = qn_http_header(h, "X-Owner");
    return name ? (uint64_t)*name : 0;
}

static inline void on_request(void *ctx, struct qn_http *h)
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
    } else if (strcmp(path, "/large") == 0) {
        struct qn_stream *s = qn_http_stream(h, 200, "application/octet-stream", NULL, NULL);
        for (int i = 0; i < LARGE_BLOCKS; i++)
            qn_stream_write(s, block, sizeof block);
        qn_stream_end(s);
    } else if (strcmp(path, "/tick") == 0) {
        struct ticker *k = calloc(1, sizeof *k);
        k->s = qn_http_stream(h, 200, "text/plain", NULL, NULL);
        k->t = qn_timer_start(loop, 5, 5, on_tick, k);
    } else if (strcmp(path, "/revoke") == 0) {
        qn_stream_write(qn_http_stream(h, 200, "text/plain", NULL, NULL), "half", 4);
        CHECK(qn_http_stream_revoke(h) && !qn_http_stream_revoke(h));
        qn_http_reply(h, 409, "text/plain", "no", 2);
    } else if (strcmp(path, "/abort") == 0) {
        struct qn_stream *s = qn_http_stream(h, 200, "text/plain", NULL, NULL);
        qn_stream_write(s, "half", 4);
        qn_http_abort(h);
    } else {
        qn_http_reply(h, 404, "text/plain", "no", 2);
    }
}

static inline void on_refuse(void *ctx, const struct qn_http_refusal *r, struct qn_buf *body)
{
    (void)ctx;
    qn_buf_fmt(body, "{\"refused\":%d,\"method\":\"%s\",\"path\":\"%s\"}", r->status, r->method,
               r->path);
}

static inline void on_accept(void *ctx, uint32_t events)
{
    (void)ctx;
    (void)events;
    struct sockaddr_in a;
    socklen_t n = sizeof a;
    int fd = accept4(listen_fd, (struct sockaddr *)&a, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 && send_bytes)
        CHECK(!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes));
    if (fd >= 0)
        qn_http_server_add(server, fd, &a, n, 0);
}

static inline int set_up(void **state)
{
    (void)state;
    struct qn_http_events ev = {.request = on_request,
                                .refuse = on_refuse,
                                .large_body = large_body,
                                .unwanted_body = unwanted_body,
                                .owner = owner};
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    kept = NULL;
    kept_stream = NULL;
    written_blocks = 0;
    requests = gone_calls = drained_calls = stores = stores_on_loop = slow_store_ms = 0;
    stores_hang = false;
    ticks_wanted = 3;
    send_bytes = 0;
    blob_reserve = 0;
    blob_max = 0;
    disk_blocks = 0;
    disk_left = 1024;
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

static inline int tear_down(void **state)
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

static inline int dial(void)
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

static inline void put(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t w = send(fd, p, n, MSG_NOSIGNAL);
        if (w < 0)
            return; /* the server has refused and closed: what it said is read next */
        p += w;
        n -= (size_t)w;
    }
}

static inline void say(int fd, const char *text)
{
    put(fd, text, strlen(text));
}

static char reply[8 * 1024 * 1024];

/* Reads until `until` is in the reply or, when NULL, to the end. Returns the length. */
static inline size_t hear(int fd, const char *until)
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

static inline void wait_for(const atomic_int *value, int at_least)
{
    int64_t end = qn_now_ms() + HANG_S * 1000;
    while (*value < at_least) {
        CHECK(qn_now_ms() < end);
        usleep(500);
    }
}

/* Another client is served, n times: so often has the server looked at everything. */
static inline void turns(int n)
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

static inline void quit(void *ctx)
{
    (void)ctx;
    qn_loop_stop(loop);
}

static void (*script)(void);

static inline void *client(void *arg)
{
    (void)arg;
    script();
    qn_loop_post(loop, quit, NULL);
    return NULL;
}

static inline void play(void (*fn)(void))
{
    pthread_t t;
    script = fn;
    assert_int_equal(pthread_create(&t, NULL, client, NULL), 0);
    qn_loop_run(loop);
    pthread_join(t, NULL);
}

/* The same, and afterwards no request is being served any more. */
static inline void play_out(void (*fn)(void))
{
    play(fn);
    assert_int_equal(qn_http_server_active(server), 0);
}

#endif
