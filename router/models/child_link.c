/* Sends and receives control lines. A child that does not read its socket counts as broken: the
 * bytes queued for it are limited. */
#include "models/child_link.h"

#include "base/json.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
    MESSAGE_ARENA_MAX = 4 * 1024 * 1024,
    READ_BYTES = 16 * 1024,
    READS = 4, /* per wake-up: a child that sends without pause must not block the loop */
    DRAIN_ROUNDS = 16,
    DOWN_MAX = 2 * QN_CONTROL_LINE_MAX
};

static void flush(struct qn_child_link *k)
{
    while (k->down.len > 0) {
        ssize_t n = send(k->fd, k->down.data, k->down.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) { /* the other end is closed: its end of file will be read soon */
            qn_buf_clear(&k->down);
            break;
        }
        qn_buf_drop(&k->down, (size_t)n);
    }
    if (k->watch)
        qn_watch_set(k->watch, k->down.len ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void take_line(struct qn_child_link *k, const char *line, size_t n)
{
    struct qn_json *json = NULL;
    struct qn_error e, why;
    struct qn_control m;
    struct qn_arena *arena = qn_arena_new(MESSAGE_ARENA_MAX);
    qn_err err = qn_json_parse(line, n, &json, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(json);
        err = qn_control_decode(&root, &m, arena, &e);
    }
    if (err) {
        qn_fail(&why, QN_ECHILD, "the model's process broke the control protocol: %s", e.message);
        k->ev.broken(k->ctx, why.message);
    } else {
        k->ev.message(k->ctx, &m);
    }
    qn_json_free(json);
    qn_arena_free(arena);
}

static void take_lines(struct qn_child_link *k)
{
    char *nl;
    size_t at = 0;
    while ((nl = memchr(k->up.data + at, '\n', k->up.len - at))) {
        size_t len = (size_t)(nl - (k->up.data + at));
        take_line(k, k->up.data + at, len);
        at += len + 1;
    }
    qn_buf_drop(&k->up, at);
}

/* Reads what the socket holds, but at most READS buffers; false at end of file. */
static bool receive(struct qn_child_link *k)
{
    char buf[READ_BYTES];
    for (int i = 0; i < READS;) {
        ssize_t n = recv(k->fd, buf, sizeof buf, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0)
            return false;
        if (qn_buf_add(&k->up, buf, (size_t)n) != QN_OK) {
            k->ev.broken(k->ctx, "the model's process sent a control line without an end");
            return true;
        }
        take_lines(k);
        i++;
    }
    return true;
}

static void on_events(void *ctx, uint32_t events)
{
    struct qn_child_link *k = ctx;
    if (events & EPOLLOUT)
        flush(k);
    if (receive(k))
        return;
    qn_watch_remove(k->watch);
    k->watch = NULL;
    k->ev.closed(k->ctx);
}

qn_err qn_child_link_open(struct qn_child_link *k, struct qn_loop *l, int fd,
                          const struct qn_child_link_events *ev, void *ctx, struct qn_error *e)
{
    *k = (struct qn_child_link){.loop = l, .fd = fd, .ev = *ev, .ctx = ctx};
    qn_buf_init(&k->down, DOWN_MAX);
    qn_buf_init(&k->up, QN_CONTROL_LINE_MAX);
    return qn_watch_add(l, fd, EPOLLIN, on_events, k, &k->watch, e);
}

void qn_child_link_close(struct qn_child_link *k)
{
    qn_watch_remove(k->watch);
    qn_buf_deinit(&k->down);
    qn_buf_deinit(&k->up);
    *k = (struct qn_child_link){0};
}

void qn_child_link_send(struct qn_child_link *k, const struct qn_control *m)
{
    if (!k->watch)
        return; /* closed by the child, which is about to end */
    if (qn_control_encode(m, &k->down) != QN_OK) {
        qn_buf_clear(&k->down);
        k->ev.broken(k->ctx, "the model's process does not read its control socket");
        return;
    }
    flush(k);
}

void qn_child_link_drain(struct qn_child_link *k)
{
    /* The process has ended: no bytes are added to the socket, so that the loop terminates. */
    for (int i = 0; k->watch && i < DRAIN_ROUNDS && receive(k); i++)
        ;
}
