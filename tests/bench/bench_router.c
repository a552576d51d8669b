/* The client side of the router's benchmark (router.py starts the servers): sends the same request
 * over and over on many connections from one thread, and prints JSON.
 *
 *   bench_router latency PORT REQUEST COUNT      one after another on one connection
 *   bench_router rate PORT REQUEST COUNT CONNECTIONS      as many as possible at once
 *   bench_router streams PORT REQUEST CONNECTIONS MARK    one each; counts MARK in what comes back
 *   bench_router hold PORT REQUEST CONNECTIONS   opens all, says so, and stays until stdin ends
 *   bench_router echo                            a bare server of lib/io that sends bodies back;
 * prints its port and stays until stdin ends
 *
 * REQUEST is a file with the whole request, head and body. */
#include "io/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 65536, HEAD_MAX = 8192, CONNECTIONS_MAX = 4096 };

static char request[1 << 16];
static size_t request_len;
static char bytes[READ_BYTES];

struct conn {
    int fd;
    char head[HEAD_MAX];
    size_t head_len; /* bytes of the head seen so far */
    bool in_body;
    long long left; /* of a body with a length; -1: chunked */
    char last[5];   /* bytes of a chunked body */
    long long marks;
    size_t matched; /* bytes of MARK that the last ones agree with */
    double sent_us;
};

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_router: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void read_request(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        die(path);
    request_len = fread(request, 1, sizeof request, f);
    fclose(f);
}

static void dial(struct conn *c, int port)
{
    struct sockaddr_in addr = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&addr, sizeof addr))
        die("connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* Sends the request. If the server closed the connection after its last reply, opens a new one
 * first; a model's process closes after each reply, and the router opens a connection for each job.
 * set: the epoll set that c is registered with; -1: none. */
static void ask(struct conn *c, int port, int set)
{
    c->sent_us = now_us();
    if (c->head_len > 0 && strcasestr(c->head, "\r\nconnection: close\r\n")) {
        struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};
        close(c->fd);
        dial(c, port);
        if (set >= 0 && epoll_ctl(set, EPOLL_CTL_ADD, c->fd, &ev))
            die("epoll_ctl");
    }
    c->head_len = 0;
    c->in_body = false;
    memset(c->last, 0, sizeof c->last);
    if (send(c->fd, request, request_len, MSG_NOSIGNAL) != (ssize_t)request_len)
        die("send");
}

static void count_marks(struct conn *c, const char *p, size_t n, const char *mark)
{
    for (size_t i = 0; i < n; i++) {
        c->matched = p[i] == mark[c->matched] ? c->matched + 1 : p[i] == mark[0];
        if (!mark[c->matched]) {
            c->marks++;
            c->matched = 0;
        }
    }
}

/* Takes n bytes of a reply. True: it is complete. */
static bool take(struct conn *c, const char *p, size_t n, const char *mark)
{
    while (n > 0 && !c->in_body) {
        if (c->head_len == sizeof c->head - 1)
            die("a head of more than 8 KiB");
        c->head[c->head_len++] = *p++;
        n--;
        if (c->head_len < 4 || memcmp(c->head + c->head_len - 4, "\r\n\r\n", 4) != 0)
            continue;
        c->head[c->head_len] = '\0';
        c->in_body = true;
        if (strncmp(c->head, "HTTP/1.1 200", 12) != 0) {
            fprintf(stderr, "bench_router: refused: %.300s\n", c->head);
            exit(1);
        }
        const char *length = strcasestr(c->head, "\r\ncontent-length:");
        c->left = length ? atoll(length + 17) : -1;
    }
    if (!c->in_body)
        return false;
    if (mark)
        count_marks(c, p, n, mark);
    if (c->left >= 0) {
        c->left -= (long long)n;
        return c->left <= 0;
    }
    if (n >= sizeof c->last) {
        memcpy(c->last, p + n - sizeof c->last, sizeof c->last);
    } else if (n > 0) {
        memmove(c->last, c->last + n, sizeof c->last - n);
        memcpy(c->last + sizeof c->last - n, p, n);
    }
    return memcmp(c->last, "0\r\n\r\n", sizeof c->last) == 0;
}

/* Reads what is there. True: the reply is complete. */
static bool receive(struct conn *c, const char *mark)
{
    ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
    if (n <= 0)
        die("recv");
    return take(c, bytes, (size_t)n, mark);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void latency(int port, int count)
{
    struct conn *c = calloc(1, sizeof *c);
    double *took = calloc((size_t)count, sizeof *took);
    dial(c, port);
    for (int i = 0; i < count; i++) {
        ask(c, port, -1);
        while (!receive(c, NULL))
            ;
        took[i] = now_us() - c->sent_us;
    }
    qsort(took, (size_t)count, sizeof *took, by_value);
    printf("{\"p50_us\":%.1f,\"p99_us\":%.1f}\n", took[count / 2], took[(int)(count * 0.99)]);
    free(took);
    free(c);
}

/* Opens n connections and asks on each; the epoll set that has them all. */
static int open_all(struct conn *conns, int n, int port)
{
    int set = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < n; i++) {
        struct epoll_event ev = {.events = EPOLLIN, .data.ptr = &conns[i]};
        dial(&conns[i], port);
        if (epoll_ctl(set, EPOLL_CTL_ADD, conns[i].fd, &ev))
            die("epoll_ctl");
        ask(&conns[i], port, set);
    }
    return set;
}

/* Goes on until `count` replies are complete; each complete one is followed by another request
 * while `count` is not reached. */
static double run(struct conn *conns, int n, int port, int count, const char *mark)
{
    double began = now_us();
    int set = open_all(conns, n, port), asked = n, done = 0;
    while (done < count) {
        struct epoll_event events[64];
        int ready = epoll_wait(set, events, 64, 60000);
        if (ready <= 0)
            die("nothing came for a minute");
        for (int i = 0; i < ready; i++) {
            struct conn *c = events[i].data.ptr;
            if (!receive(c, mark))
                continue;
            done++;
            if (asked < count) {
                asked++;
                ask(c, port, set);
            } else {
                epoll_ctl(set, EPOLL_CTL_DEL, c->fd, NULL);
            }
        }
    }
    return (now_us() - began) / 1e6;
}

static void hold(struct conn *conns, int n, int port)
{
    int set = open_all(conns, n, port), heads = 0;
    while (heads < n) {
        struct epoll_event ev;
        if (epoll_wait(set, &ev, 1, 60000) <= 0)
            die("nothing came for a minute");
        struct conn *c = ev.data.ptr;
        bool had = c->in_body;
        receive(c, NULL);
        heads += !had && c->in_body;
    }
    printf("{\"held\":%d}\n", n);
    fflush(stdout);
    /* What comes meanwhile stays unread: it is little, and reading would cost processor time. */
    while (getchar() != EOF)
        ;
}

/* ---- echo ---- */

static void echo_request(void *ctx, struct qn_http *h)
{
    (void)ctx;
    size_t n;
    const char *body = qn_http_body(h, &n);
    qn_http_reply(h, 200, "application/json", body, n);
}

static void echo_refuse(void *ctx, const struct qn_http_refusal *r, struct qn_buf *body)
{
    (void)ctx;
    qn_buf_fmt(body, "%d", r->status);
}

static struct qn_http_server *echo_server;
static int echo_listens;

static void echo_accept(void *ctx, uint32_t events)
{
    (void)ctx, (void)events;
    struct sockaddr_in a;
    socklen_t n = sizeof a;
    int on = 1;
    int fd = accept4(echo_listens, (struct sockaddr *)&a, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    qn_http_server_add(echo_server, fd, &a, n, 0);
}

static void echo_end(void *ctx, uint32_t events)
{
    (void)events;
    if (getchar() == EOF)
        qn_loop_stop(ctx);
}

static void echo(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    struct qn_http_events ev = {.request = echo_request, .refuse = echo_refuse};
    struct qn_loop *loop;
    struct qn_watch *listens, *ends;
    echo_listens = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(echo_listens, (struct sockaddr *)&a, n) || listen(echo_listens, 512) ||
        getsockname(echo_listens, (struct sockaddr *)&a, &n) || qn_loop_new(&loop, NULL) ||
        qn_http_server_new(loop, &ev, NULL, READ_BYTES, &echo_server, NULL) ||
        qn_watch_add(loop, echo_listens, EPOLLIN, echo_accept, NULL, &listens, NULL) ||
        qn_watch_add(loop, 0, EPOLLIN, echo_end, loop, &ends, NULL))
        die("the echo server");
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    qn_loop_run(loop);
    qn_http_server_free(echo_server);
    qn_watch_remove(listens);
    qn_watch_remove(ends);
    qn_loop_free(loop);
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (!strcmp(verb, "echo")) {
        echo();
        return 0;
    }
    if (argc < 5) {
        fprintf(stderr, "usage: see the file's first comment\n");
        return 2;
    }
    int port = atoi(argv[2]), count = atoi(argv[4]);
    read_request(argv[3]);
    struct conn *conns = calloc(CONNECTIONS_MAX, sizeof *conns);
    if (!strcmp(verb, "latency")) {
        latency(port, count);
    } else if (!strcmp(verb, "rate") && argc > 5) {
        double s = run(conns, atoi(argv[5]), port, count, NULL);
        printf("{\"per_s\":%.0f,\"seconds\":%.3f}\n", count / s, s);
    } else if (!strcmp(verb, "streams") && argc > 5 && count <= CONNECTIONS_MAX) {
        double s = run(conns, count, port, count, argv[5]);
        long long marks = 0;
        for (int i = 0; i < count; i++)
            marks += conns[i].marks;
        printf("{\"events\":%lld,\"seconds\":%.3f}\n", marks, s);
    } else if (!strcmp(verb, "hold") && count <= CONNECTIONS_MAX) {
        hold(conns, count, port);
    }
    free(conns);
    return 0;
}
