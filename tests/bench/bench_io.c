/* What the HTTP server costs: requests per second of a trivial reply over kept connections, and
 * processor time per streamed event (one write, one turn of the loop, one chunk on the wire).
 * Prints JSON. The client is a thread of the same process; its time is left out where that can be
 * told apart. */
#include "base/clock.h"
#include "io/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REQUESTS = 50000, EVENTS = 100000 };

static struct qn_loop *loop;
static struct qn_http_server *server;
static int listen_fd, port;
static struct qn_stream *stream;
static int events_left;
static const char event[] =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n";

static void next_event(void *ctx)
{
    (void)ctx;
    qn_stream_write(stream, event, sizeof event - 1);
    if (--events_left == 0)
        qn_stream_end(stream);
    else if (!qn_stream_full(stream))
        qn_loop_post(loop, next_event, NULL);
}

static void drained(void *ctx)
{
    qn_loop_post(loop, next_event, ctx);
}

static void on_request(void *ctx, struct qn_http *h)
{
    (void)ctx;
    if (strcmp(qn_http_path(h), "/stream") == 0) {
        events_left = EVENTS;
        stream = qn_http_stream(h, 200, "text/event-stream", drained, NULL);
        qn_loop_post(loop, next_event, NULL);
        return;
    }
    qn_http_reply(h, 200, "application/json", "{\"ok\":true}", 11);
}

static void on_refuse(void *ctx, const struct qn_http_refusal *r, struct qn_buf *body)
{
    (void)ctx;
    qn_buf_fmt(body, "%d", r->status);
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

static int dial(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                            .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
        abort();
    return fd;
}

static int64_t cpu_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void quit(void *ctx)
{
    (void)ctx;
    qn_loop_stop(loop);
}

static clockid_t server_clock;

static void *client(void *arg)
{
    static char buf[256 * 1024];
    int fd = dial();
    int64_t began = qn_now_us(), cpu = cpu_us(server_clock);
    for (int i = 0; i < REQUESTS; i++) {
        static const char rq[] = "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n";
        if (send(fd, rq, sizeof rq - 1, 0) < 0)
            abort();
        size_t n = 0;
        do {
            ssize_t r = recv(fd, buf + n, sizeof buf - 1 - n, 0);
            if (r <= 0)
                abort();
            n += (size_t)r;
            buf[n] = 0;
        } while (!strstr(buf, "true}"));
    }
    double s = (double)(qn_now_us() - began) / 1e6;
    double per_request = (double)(cpu_us(server_clock) - cpu) / REQUESTS;
    close(fd);

    fd = dial();
    began = qn_now_us();
    cpu = cpu_us(server_clock);
    static const char rq[] = "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    if (send(fd, rq, sizeof rq - 1, 0) < 0)
        abort();
    size_t bytes = 0;
    for (ssize_t r; (r = recv(fd, buf, sizeof buf, 0)) > 0;)
        bytes += (size_t)r;
    double stream_s = (double)(qn_now_us() - began) / 1e6;
    double per_event = (double)(cpu_us(server_clock) - cpu) / EVENTS;
    close(fd);
    printf("{\"requests_per_s\":%.0f,\"server_us_per_request\":%.2f,\"events_per_s\":%.0f,"
           "\"server_us_per_event\":%.2f,\"stream_bytes\":%zu}\n",
           REQUESTS / s, per_request, EVENTS / stream_s, per_event, bytes);
    qn_loop_post(loop, quit, NULL);
    return arg;
}

int main(void)
{
    struct qn_http_events ev = {.request = on_request, .refuse = on_refuse};
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    struct qn_watch *w;
    struct qn_error e;
    pthread_t t;
    listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listen_fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(listen_fd, 16) < 0 ||
        getsockname(listen_fd, (struct sockaddr *)&a, &n) < 0) {
        perror("bench_io: socket");
        return 1;
    }
    port = ntohs(a.sin_port);
    pthread_getcpuclockid(pthread_self(), &server_clock);
    if (qn_loop_new(&loop, &e) || qn_http_server_new(loop, &ev, NULL, 1024, &server, &e) ||
        qn_watch_add(loop, listen_fd, EPOLLIN, on_accept, NULL, &w, &e) ||
        pthread_create(&t, NULL, client, NULL)) {
        fprintf(stderr, "bench_io: %s\n", e.message);
        return 1;
    }
    qn_loop_run(loop);
    pthread_join(t, NULL);
    qn_watch_remove(w);
    close(listen_fd);
    qn_http_server_free(server);
    qn_loop_free(loop);
    return 0;
}
