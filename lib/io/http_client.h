/* HTTP/1.1 out, for the loopback connection to a child or to a server behind one: one request whose
 * reply streams in. Each request has a connection of its own: on the loopback a new one costs
 * microseconds, and a stale one costs a failed job. Loop thread only. */
#ifndef QN_IO_HTTP_CLIENT_H
#define QN_IO_HTTP_CLIENT_H

#include "base/buf.h"
#include "base/error.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>

struct qn_http_client;
struct qn_post; /* one running request */

struct qn_post_events {
    /* MUST. Bytes of the reply's body, in order. Only for status 200; other replies' bodies are
     * collected (at most 64 KiB) and given to end. */
    void (*data)(void *ctx, const void *p, size_t n);
    /* MUST. Called exactly once, last, unless the post was cancelled. status 0: the connection
     * failed or broke (e says how). The post is freed when it returns. */
    void (*end)(void *ctx, int status, const char *body, size_t n, const struct qn_error *e);
    /* MAY. The reply's status and Content-Type ("": none), once, before its first byte or its end;
     * then data has the body whatever the status is. */
    void (*head)(void *ctx, int status, const char *type);
    /* MAY. The request's body goes on behind the bytes given with the request: appends its next
     * ones. Called whenever the socket has taken everything before them, so a peer that does not
     * read holds the body back; what is appended at once is all that is held. Appending nothing
     * ends the body. Must not pause or cancel the post. The body is sent in chunks (RFC 9112, 7.1).
     */
    void (*more)(void *ctx, struct qn_buf *body);
};

void qn_http_client_new(struct qn_loop *l, struct qn_http_client **out);
void qn_http_client_free(struct qn_http_client *c); /* no post may be running */

/* The body's bytes are taken, also when this fails: they may be many megabytes. bearer: the
 * Authorization token. url: "http://127.0.0.1:PORT/...", the host an IPv4 address. No proxy, no
 * redirects, no environment. No callback runs within a call. */
qn_err qn_http_post(struct qn_http_client *c, const char *url, const char *bearer,
                    struct qn_buf *body, const struct qn_post_events *ev, void *ctx,
                    struct qn_post **out, struct qn_error *e);

/* A request of any kind. Strings and body are copied; body is sent with what is neither GET, HEAD
 * nor DELETE. */
struct qn_ask {
    const char *method, *url;
    const char *bearer, *type, *accept; /* each MAY be NULL: no such header */
    const void *body;
    size_t n;
};
qn_err qn_http_ask(struct qn_http_client *c, const struct qn_ask *ask,
                   const struct qn_post_events *ev, void *ctx, struct qn_post **out,
                   struct qn_error *e);
/* Stops reading: the child's socket fills up. What one read has brought already is still given. */
void qn_http_post_pause(struct qn_post *p, bool paused);
void qn_http_post_cancel(struct qn_post *p); /* closes the connection; no callback follows */

#endif
