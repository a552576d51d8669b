/* An HTTP/1.1 client for loopback connections to a child or to the server behind a bridge: one
 * request whose reply is streamed. After a job, the connection to the child is kept for
 * some seconds and used for its next job, because a new connection takes two fifths of the router's
 * processor time for a short request (docs/performance.md). A kept connection is checked before its
 * use; if the child closes it after that check, the job fails as with a child that ends. Loop
 * thread only. */
#ifndef QN_IO_HTTP_CLIENT_H
#define QN_IO_HTTP_CLIENT_H

#include "base/buf.h"
#include "base/error.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>

struct qn_http_client;
struct qn_post; /* a request in progress */

struct qn_post_events {
    /* MUST be set. Bytes of the reply's body, in order. Only for status 200; bodies of other
     * replies are collected (at most 64 KiB) and passed to end. */
    void (*data)(void *ctx, const void *p, size_t n);
    /* MUST be set. Called exactly once, last, unless the post was cancelled. status 0: the
     * connection failed or broke (e says how). The post is freed when this callback returns. */
    void (*end)(void *ctx, int status, const char *body, size_t n, const struct qn_error *e);
    /* MAY be set. The reply's status and Content-Type ("": none), once, before `data` and `end`. If
     * set, data receives the body whatever the status is. */
    void (*head)(void *ctx, int status, const char *type);
    /* MAY be set, for a body that continues after the bytes given with the request: appends the
     * next bytes. Called whenever the socket has taken all earlier bytes, so a peer that does not
     * read delays the body, and only what one call appends is held in memory. Appending nothing
     * ends the body. Must not pause or cancel the post. The body is sent chunked (RFC 9112, 7.1).
     */
    void (*more)(void *ctx, struct qn_buf *body);
};

void qn_http_client_new(struct qn_loop *l, struct qn_http_client **out);
void qn_http_client_free(struct qn_http_client *c); /* no post may be in progress */

/* Sends a job to a child. Takes over the body's bytes, even on failure, since they may be many
 * megabytes. bearer: the Authorization token. url: "http://127.0.0.1:PORT/...", the host an IPv4
 * address. No proxies, redirects or environment variables are used. No callback is called from
 * within this call. */
qn_err qn_http_post(struct qn_http_client *c, const char *url, const char *bearer,
                    struct qn_buf *body, const struct qn_post_events *ev, void *ctx,
                    struct qn_post **out, struct qn_error *e);

/* A request of any method, over a connection of its own. Strings and body are copied; the body is
 * sent unless the method is GET, HEAD or DELETE. */
struct qn_ask {
    const char *method, *url;
    const char *bearer, *type, *accept; /* each MAY be NULL: the header is not sent */
    const void *body;
    size_t n;
};
qn_err qn_http_ask(struct qn_http_client *c, const struct qn_ask *ask,
                   const struct qn_post_events *ev, void *ctx, struct qn_post **out,
                   struct qn_error *e);
/* Stops reading, so that the child's socket fills up. Bytes that have already been read are still
 * delivered. */
void qn_http_post_pause(struct qn_post *p, bool paused);
void qn_http_post_cancel(struct qn_post *p); /* closes the connection; no callback follows */
/* For a caller that has got all that it needs of the reply: no callback follows, and the reply's
 * last bytes are read, so that its connection can be kept. p must not be used any more. */
void qn_http_post_leave(struct qn_post *p);

#endif
