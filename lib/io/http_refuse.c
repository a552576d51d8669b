/* Refusals by the server itself, and the end of a connection. After its last reply, input is
 * discarded for a while (lingering), because closing a socket with unread bytes would make the
 * system drop the reply in transit. */
#include "io/http_server_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "io/http_status.h"

#include <errno.h>
#include <string.h>

enum {
    LINGER_READS = 16, /* buffers discarded per turn */
    LINGERING_MAX = QN_HTTP_CONNECTIONS_MAX,
    PATH_SHOWN_MAX = 1024, /* longer paths are left out of a refusal */
    BODY_MAX = 64 * 1024
};

enum qn_next qn_link_throw_away(struct qn_link *l)
{
    struct qn_http_server *s = l->server;
    qn_buf_deinit(&l->rest);
    l->rest_at = l->input_len = 0;
    for (int i = 0; i < LINGER_READS; i++) {
        ssize_t n = recv(l->fd, s->in, sizeof s->in, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return QN_OVER;
        if (n < 0)
            break;
    }
    return QN_WAIT;
}

enum qn_next qn_link_linger(struct qn_link *l)
{
    struct qn_http_server *s = l->server;
    if (s->n_lingering >= LINGERING_MAX)
        return QN_OVER; /* too many connections linger already */
    shutdown(l->fd, SHUT_WR);
    qn_server_widen(l);
    l->lingering = true;
    s->n_lingering++;
    qn_pace_begin(&l->pace, &qn_http_linger_rule, qn_now_ms());
    return QN_GO_ON;
}

/* The path as sent, since it could not be decoded; "" if it is too long to be shown. */
static const char *path_of(const struct qn_link *l, char out[static PATH_SHOWN_MAX])
{
    const struct qn_head *head = &l->in.head;
    *out = '\0';
    if (l->http)
        return l->http->path ? l->http->path : out;
    if (head->target && head->target_len < PATH_SHOWN_MAX) {
        memcpy(out, head->target, head->target_len);
        out[head->target_len] = '\0';
        out[strcspn(out, "?")] = '\0';
    }
    return out;
}

enum qn_next qn_link_refuse(struct qn_link *l, int status, const char *why)
{
    struct qn_http_server *s = l->server;
    char shown[PATH_SHOWN_MAX];
    if (l->http && l->http->status)
        return QN_OVER; /* a streamed body is malformed, and its reply has begun */
    const char *method = l->http ? l->http->method : l->in.head.method;
    struct qn_buf body, head;
    qn_buf_init(&body, BODY_MAX);
    qn_buf_init(&head, BODY_MAX);
    s->ev.refuse(s->ctx,
                 &(struct qn_http_refusal){.tag = l->tag,
                                           .status = status,
                                           .method = method,
                                           .path = path_of(l, shown),
                                           .why = why},
                 &body);
    qn_buf_fmt(&head,
               "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: application/json\r\n"
               "Content-Length: %zu\r\n%sConnection: close\r\n\r\n",
               status, qn_http_status_words(status), qn_server_date(s), body.len,
               status == 429 || status == 503 ? "Retry-After: 1\r\n" : "");
    qn_debug("http", "refused status=%d method=%.31s why=\"%s\"", status, method, why ? why : "");
    qn_link_send(l, head.data, head.len, body.data, strcmp(method, "HEAD") ? body.len : 0);
    qn_buf_deinit(&head);
    qn_buf_deinit(&body);
    if (l->http) {
        qn_request_tell_gone(l->http); /* the handler of a streamed body has it already */
        qn_request_free(l->http);
    }
    l->http = NULL;
    if (qn_link_owes(l))
        return QN_OVER; /* the client does not take even these few hundred bytes */
    return qn_link_linger(l);
}
