/* One connection: passes bytes from its socket to the reader, and bytes of replies to its socket.
 *
 * Invariants:
 * - Between turns a link is ready, or it waits for its socket, its request's handler or a worker.
 *   Bytes that have been read are in `rest` only while the link does not wait to read.
 * - A streamed request body (open_body of http_server.h) is read while the reply is written, but
 *   not while the socket cannot take bytes of the reply.
 * - The next request is not parsed before the last byte of the current reply is in the system's
 *   send buffer: so replies keep their order, and nothing is read from a client that does not read.
 * - A turn is bounded: one recv, TURN_STEPS steps, TURN_SEND_BYTES of a waiting reply. */
#include "io/http_server_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "io/http_status.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    TURN_STEPS = 64,
    TURN_SEND_BYTES = 1024 * 1024, /* in one turn, however fast the client reads */
    FREED_BYTES = 8 * 1024 * 1024, /* replies of more bytes are freed by a worker */
    LOST_MS = 100 * 1000,
    LOST_TRIES = 4,       /* times that the system has sent the same bytes again */
    OUT_KEPT_BYTES = 4096 /* an empty buffer up to this size is kept during a reply */
};

/* ---- sending ---- */

/* Handles the result of a send: notes the progress, or the need to wait. False: the connection is
 * broken. */
static bool sent(struct qn_link *l, ssize_t n)
{
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (l->pace.rule == &qn_http_send_rule)
        qn_pace_move(&l->pace, (uint64_t)n, qn_now_ms());
    return true;
}

bool qn_link_owes(const struct qn_link *l)
{
    return l->out.len > 0 || l->body.len > 0;
}

int64_t qn_link_unsent(const struct qn_link *l)
{
    return (int64_t)(l->out.len - l->out_at + l->body.len - l->body_at);
}

/* Sends as much of the buffer as the socket takes. *room: bytes that may still be sent in this
 * turn. False: the connection is broken. */
static bool send_buffer(struct qn_link *l, const struct qn_buf *b, size_t *at, size_t *room)
{
    while (b->len > *at && *room > 0) {
        size_t left = b->len - *at;
        ssize_t n =
            send(l->fd, b->data + *at, left < *room ? left : *room, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (!sent(l, n))
            return false;
        if (n < 0)
            return true;
        *at += (size_t)n;
        *room -= (size_t)n;
    }
    return true;
}

/* Frees the reply's body, by a worker if it is large, because freeing many megabytes is slow. */
static void drop_body(struct qn_link *l)
{
    if (l->body.cap > FREED_BYTES)
        qn_loop_work(l->server->loop, free, NULL, l->body.data);
    else
        free(l->body.data);
    l->body = (struct qn_buf){0};
    l->body_at = 0;
}

static bool flush(struct qn_link *l)
{
    struct qn_buf *out = &l->out;
    size_t room = TURN_SEND_BYTES;
    if (!send_buffer(l, out, &l->out_at, &room))
        return false;
    if (out->len > l->out_at)
        return true;
    l->out_at = 0;
    if (out->cap > OUT_KEPT_BYTES)
        qn_buf_deinit(out);
    qn_buf_clear(out);
    if (!send_buffer(l, &l->body, &l->body_at, &room))
        return false;
    if (l->body.len && l->body_at == l->body.len)
        drop_body(l);
    return true;
}

/* Sends both pieces in one call; returns the number of bytes that the socket has taken. */
static size_t send_both(struct qn_link *l, const void *head, size_t head_len, const void *body,
                        size_t n)
{
    struct iovec parts[] = {{(void *)(uintptr_t)head, head_len},
                            {(void *)(uintptr_t)body, n < TURN_SEND_BYTES ? n : TURN_SEND_BYTES}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = n ? 2 : 1};
    if (qn_link_owes(l))
        return 0;
    ssize_t took = sendmsg(l->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return took > 0 ? (size_t)took : 0; /* an error shows when the rest is sent */
}

void qn_link_send(struct qn_link *l, const void *head, size_t head_len, const void *body, size_t n)
{
    size_t gone = send_both(l, head, head_len, body, n);
    if (gone < head_len)
        qn_buf_add(&l->out, (const char *)head + gone, head_len - gone);
    gone = gone > head_len ? gone - head_len : 0;
    if (gone < n)
        qn_buf_add(&l->out, (const char *)body + gone, n - gone);
}

void qn_link_send_taking(struct qn_link *l, const void *head, size_t head_len, struct qn_buf *body)
{
    assert(!l->body.len);
    size_t gone = send_both(l, head, head_len, body->data, body->len);
    if (gone < head_len)
        qn_buf_add(&l->out, (const char *)head + gone, head_len - gone);
    l->body = *body;
    l->body_at = gone > head_len ? gone - head_len : 0;
    *body = (struct qn_buf){0};
    if (l->body_at == l->body.len)
        drop_body(l);
}

/* ---- receiving ---- */

/* Provides input: bytes left from the last turn, or read from the socket. */
static enum qn_next refill(struct qn_link *l, bool *may_read)
{
    struct qn_http_server *s = l->server;
    if (l->rest.len > 0) {
        l->input = l->rest.data + l->rest_at;
        l->input_len = l->rest.len - l->rest_at;
        return QN_GO_ON;
    }
    if (!*may_read)
        return QN_WAIT;
    *may_read = false;
    ssize_t n = recv(l->fd, s->in, sizeof s->in, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return QN_WAIT;
    if (n <= 0)
        return QN_OVER;
    l->input = s->in;
    l->input_len = (size_t)n;
    return QN_GO_ON;
}

/* At the end of a turn: keeps the bytes that were not consumed. */
static void keep_rest(struct qn_link *l)
{
    if (l->rest.len > 0) {
        if (l->input)
            l->rest_at = l->rest.len - l->input_len;
        if (l->rest_at == l->rest.len) {
            qn_buf_deinit(&l->rest);
            l->rest_at = 0;
        }
    } else if (l->input_len > 0) {
        qn_buf_add(&l->rest, l->input, l->input_len);
        l->rest_at = 0;
    }
    l->input = NULL;
    l->input_len = 0;
}

static enum qn_next take(struct qn_link *l)
{
    const char *data;
    size_t used, data_len, n = l->input_len;
    if (l->http && !l->http->open) { /* no more than fits into the body's memory */
        size_t room = QN_BODY_MEMORY_MAX - l->http->body->memory.len;
        if (room == 0) {
            qn_request_store(l->http);
            return QN_WAIT;
        }
        n = n < room ? n : room;
    }
    enum qn_reader_event event = qn_reader_take(&l->in, l->input, n, &used, &data, &data_len);
    l->input += used;
    l->input_len -= used;
    switch (event) {
    case QN_READER_HEAD:
        return qn_request_begin(l);
    case QN_READER_DATA:
        return qn_request_data(l->http, data, data_len);
    case QN_READER_END:
        return qn_request_end(l->http);
    case QN_READER_REFUSED:
        return qn_link_refuse(l, l->in.status, l->in.why);
    default:
        if (l->pace.rule == &qn_http_idle_rule && !qn_reader_is_idle(&l->in))
            qn_pace_begin(&l->pace, &qn_http_head_rule, qn_now_ms());
        return QN_GO_ON;
    }
}

/* ---- a turn ---- */

static enum qn_next after_reply(struct qn_link *l)
{
    bool unread = l->http->open && !l->http->complete; /* its body */
    qn_request_tell_gone(l->http);                     /* a HEAD request's stream is not read */
    qn_request_free(l->http);
    l->http = NULL;
    qn_buf_deinit(&l->out);
    if (l->left)
        return QN_OVER;
    if (l->closing || unread)
        return qn_link_linger(l);
    qn_pace_begin(&l->pace, &qn_http_idle_rule, qn_now_ms());
    return QN_GO_ON;
}

static enum qn_next step(struct qn_link *l, bool *may_read)
{
    struct qn_http *h = l->http;
    bool complete = false;
    if (h && h->aborted)
        return QN_OVER;
    if (qn_link_owes(l)) {
        if (!flush(l))
            return QN_OVER;
        if (qn_link_owes(l))
            return QN_WAIT;
    }
    if (l->lingering)
        return qn_link_throw_away(l);
    if (h && h->delivered) {
        enum qn_next next = qn_reply_step(h, &complete);
        if (next == QN_GO_ON && complete && !qn_link_owes(l))
            return after_reply(l);
        if (next != QN_WAIT || !qn_request_listens(h))
            return next;
    }
    if (h && h->storing)
        return QN_WAIT;
    if (h && h->store_failed)
        return qn_link_refuse(l, h->store_failed, NULL);
    if (h && h->complete)
        return qn_request_end(h); /* the body was stored meanwhile */
    if (l->input_len == 0 && !qn_reader_has_end(&l->in)) {
        if (l->input && l->rest.len > 0) { /* the rest has been consumed */
            l->rest_at = l->rest.len;
            keep_rest(l);
        }
        enum qn_next next = refill(l, may_read);
        if (next != QN_GO_ON)
            return next;
    }
    return take(l);
}

/* Sets the speed limit for what the client has to do next. While its request is being answered, it
 * only has to read what waits for it. */
static void set_pace(struct qn_link *l)
{
    if (!l->http || !l->http->delivered)
        return;
    if (!qn_link_owes(l))
        l->pace.rule = NULL;
    else if (l->pace.rule != &qn_http_send_rule)
        qn_pace_begin(&l->pace, &qn_http_send_rule, qn_now_ms());
}

static void watch(struct qn_link *l)
{
    bool busy = l->http && (l->http->delivered || l->http->storing) && !qn_request_listens(l->http);
    uint32_t events = qn_link_owes(l) ? EPOLLOUT : 0;
    if (!busy && !events)
        events |= EPOLLIN | EPOLLRDHUP;
    else if (!l->left)
        events |= EPOLLRDHUP | (l->events & EPOLLIN); /* until it sends more */
    qn_watch_set(l->watch, events);
    l->events = events;
}

void qn_link_turn(struct qn_link *l, bool may_read)
{
    enum qn_next next = QN_GO_ON;
    for (int i = 0; i < TURN_STEPS && next == QN_GO_ON; i++)
        next = step(l, &may_read);
    if (next == QN_OVER) {
        qn_link_free(l);
        return;
    }
    keep_rest(l);
    if (next == QN_GO_ON)
        qn_server_wake(l);
    set_pace(l);
    watch(l);
}

static void on_socket(void *ctx, uint32_t events)
{
    struct qn_link *l = ctx;
    struct qn_http *h = l->http;
    bool busy = h && (h->delivered || h->storing), listens = h && qn_request_listens(h);
    /* After a refusal, the client's last bytes may still be unread although both sides have closed.
     */
    if ((events & EPOLLERR) || ((events & EPOLLHUP) && !l->lingering)) {
        qn_link_free(l);
        return;
    }
    if (busy && (events & EPOLLRDHUP)) {
        if (!qn_request_finished(h)) {
            qn_debug("http", "client disconnected path=%s", h->path);
            qn_link_free(l);
            return;
        }
        l->left = true; /* the whole reply was written: it will be sent, or sending fails */
    }
    /* Input that arrives meanwhile stays in the socket's buffer. */
    busy = busy && !listens;
    if (busy || qn_link_owes(l))
        l->events &= ~(uint32_t)EPOLLIN;
    if (busy && l->events != 0 && !(events & (EPOLLOUT | EPOLLRDHUP)))
        qn_watch_set(l->watch, l->events);
    else
        qn_link_turn(l, !busy && (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)));
}

/* ---- opening and closing ---- */

/* A machine that is there confirms what it receives, and answers when the system asks whether the
 * client reads again, even if the client does not. */
bool qn_link_is_lost(const struct qn_link *l)
{
    struct tcp_info info;
    socklen_t n = sizeof info;
    return getsockopt(l->fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 &&
           info.tcpi_retransmits >= LOST_TRIES && info.tcpi_last_ack_recv >= LOST_MS;
}

qn_err qn_link_open(struct qn_link *l, struct qn_error *e)
{
    qn_reader_init(&l->in, QN_HTTP_HEAD_MAX);
    qn_buf_init(&l->rest, QN_HTTP_READ_BYTES);
    qn_buf_init(&l->out, SIZE_MAX / 2);
    l->events = EPOLLIN | EPOLLRDHUP;
    qn_pace_begin(&l->pace, &qn_http_head_rule, qn_now_ms());
    return qn_watch_add(l->server->loop, l->fd, l->events, on_socket, l, &l->watch, e);
}

void qn_link_free(struct qn_link *l)
{
    qn_server_forget(l);
    if (l->http) {
        qn_request_tell_gone(l->http);
        qn_request_free(l->http);
    }
    qn_watch_remove(l->watch);
    if (l->fd >= 0)
        close(l->fd);
    qn_reader_deinit(&l->in);
    qn_buf_deinit(&l->rest);
    qn_buf_deinit(&l->out);
    drop_body(l);
    free(l);
}

/* A socket for IPv4 and IPv6, as service managers open them, gives IPv4 addresses in the IPv6 form
 * (RFC 4291, 2.5.5.2). */
static void unmap(struct sockaddr_storage *sa)
{
    const struct sockaddr_in6 mapped = *(struct sockaddr_in6 *)(void *)sa;
    struct sockaddr_in plain = {.sin_family = AF_INET, .sin_port = mapped.sin6_port};
    if (mapped.sin6_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&mapped.sin6_addr))
        return;
    memcpy(&plain.sin_addr, &mapped.sin6_addr.s6_addr[12], sizeof plain.sin_addr);
    memcpy(sa, &plain, sizeof plain);
}

bool qn_link_ends(struct qn_link *l, struct qn_http_ends *out)
{
    socklen_t len = sizeof l->own;
    if (!l->own.ss_family && getsockname(l->fd, (struct sockaddr *)&l->own, &len))
        return false;
    *out = (struct qn_http_ends){.peer = l->addr, .own = l->own, .user = &l->user};
    unmap(&out->peer);
    unmap(&out->own);
    return true;
}
