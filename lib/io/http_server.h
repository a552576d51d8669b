/* An HTTP/1.1 server inside the event loop, without a thread per connection.
 *
 * A request is passed to its handler once, with head and body complete. The handler replies at once
 * or later, with a whole or a streamed reply. Everything runs on the loop's thread. Requests of one
 * connection are answered in their order. In this file the handler is the code that receives the
 * requests (qn_http_events); the owner is the key, user or address that a request belongs to; a
 * kept body is an upload that is stored as a file for good (large_body).
 *
 * Limits:
 * - Heads over QN_HTTP_HEAD_MAX get 431 or 414, bodies over the server's body_max 413 (at the first
 *   byte beyond, or earlier because of Content-Length).
 * - A head has to be complete within QN_HTTP_HEAD_TIMEOUT_S, however steadily it arrives; bodies
 *   and replies have to make progress (http_pace.h).
 * - A connection is closed when bytes of a reply are in transit and the client's machine has
 *   confirmed nothing for 100 s. One that vanishes while nothing is sent is found by the system if
 *   the socket has SO_KEEPALIVE (router/http/listen.c).
 * - A malformed request is refused with a body from the `refuse` callback, and the connection is
 *   closed.
 * - Memory held by requests is limited in total and per owner (http_budget.c): a body beyond the
 *   limit gets 429 before it is read, and unread replies of an owner above the limit are cut off.
 * - A connection beyond QN_HTTP_CONNECTIONS_MAX, or beyond QN_HTTP_CROWD_MAX of one client,
 *   replaces the connection (of that client) that has made no progress for longest. If all make
 *   progress, the new one is only accepted for one request, which gets 503 unless it is vital. */
#ifndef QN_IO_HTTP_SERVER_H
#define QN_IO_HTTP_SERVER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "io/loop.h"
#include "io/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum {
    QN_HTTP_HEAD_MAX = 16 * 1024,
    QN_HTTP_HEAD_TIMEOUT_S = 10,
    QN_HTTP_CONNECTIONS_MAX = 1024,
    QN_HTTP_CROWD_MAX = 768,        /* connections of one client, where clients can be told apart */
    QN_HTTP_VITAL_MAX = 32,         /* beyond QN_HTTP_CONNECTIONS_MAX, for vital requests only */
    QN_HTTP_READ_BYTES = 64 * 1024, /* read from one connection in one turn of the loop */
    QN_HTTP_HELD_BYTES = 512 * 1024 * 1024, /* of all requests, see http_budget.c */
    QN_HTTP_HELD_BODIES = 4,        /* the limit is raised to this many bodies of body_max */
    QN_HTTP_UPLOADS_MAX = 16,       /* kept bodies that one owner may send at a time */
    QN_HTTP_SMALL_BODY = 16 * 1024, /* bodies up to this size are accepted even if their owner has
                                       used up its share of memory */
    QN_HTTP_UNREAD_MS = 10 * 1000   /* time without progress after which an unread reply may be cut
                                       off because its owner holds too much */
};

struct qn_http_server;
struct qn_http_ends;
struct qn_link;
struct qn_http; /* one request and its reply; valid until its `gone` callback returns or the reply
                   is complete */

/* A request without a body that asks for another protocol (RFC 9110, 7.8). Lent for the call. */
struct qn_http_upgrade {
    const char *protocol;              /* value of the Upgrade field */
    const char *method, *path, *query; /* the path percent-decoded, the query not */
    const char *head;                  /* of head_len bytes */
    size_t head_len;
    int tag;                /* the tag of its connection */
    struct qn_arena *arena; /* freed after the call */
    struct qn_link *link;   /* the server's */
};

/* A refusal by the server itself (400, 413, 431 ...). */
struct qn_http_refusal {
    int tag; /* the tag of the connection */
    int status;
    const char *method, *path; /* as far as known, else "" */
    const char *why;           /* a sentence without its full stop, or NULL */
};

struct qn_http_events {
    /* MUST be set. A request has arrived with its whole body. Reply now, or keep h and reply later.
     */
    void (*request)(void *ctx, struct qn_http *h);
    /* MUST be set. Writes the JSON body of a refusal. */
    void (*refuse)(void *ctx, const struct qn_http_refusal *r, struct qn_buf *body);
    /* MAY be set. A head has arrived: returns the folder in which the body is stored because it
     * will be kept (qn_http_body_keep), or is larger than ordinary ones; NULL: an ordinary body.
     * The folder's name is lent until the loop has ended. *max: the most bytes that such a body may
     * have; 0, as it is at first: no limit. *reserve_bytes: free space to be left on the disk that
     * a body is stored on, ordinary or kept: a body that would use it is refused with 507. */
    const char *(*large_body)(void *ctx, const struct qn_http *h, size_t *max,
                              int64_t *reserve_bytes);
    /* MAY be set. Returns how many bytes of kept bodies the owner of this request may still store,
     * including the bodies in transit; < 0: none. wanted: the bytes that the bodies in transit have
     * or announce. If the result is smaller, the request is refused with 507 and *why, a static
     * sentence without its full stop. Called when large_body returned a folder, and again for each
     * megabyte of a body without Content-Length. */
    int64_t (*upload_left)(void *ctx, const struct qn_http *h, int64_t wanted, const char **why);
    /* MAY be set. A head with a body has arrived: true when the body is not needed and is to be
     * discarded as it arrives. The request is then delivered with an empty body
     * (qn_http_body_thrown). */
    bool (*unwanted_body)(void *ctx, const struct qn_http *h);
    /* MAY be set. A head has arrived: true when the request is to be delivered at once and its
     * body, of any length, streamed to the handler (qn_http_body_read). If the reply ends before
     * the body has arrived, the request is the last of its connection. */
    bool (*open_body)(void *ctx, const struct qn_http *h);
    /* MAY be set. A number that identifies the client of a connection, as far as it is known for
     * certain; 0: not known. Only called when there are many connections. */
    uint64_t (*crowd)(void *ctx, const struct qn_http_ends *ends);
    /* MAY be set. A number that identifies the owner of a request: the memory budget is divided
     * between owners. Only called when requests hold much memory. */
    uint64_t (*owner)(void *ctx, const struct qn_http *h);
    /* MAY be set. A head has arrived on a connection beyond the limits: true when the request is
     * answered nevertheless (a health check, a request to stop), as the last of its connection. */
    bool (*vital)(void *ctx, const struct qn_http *h);
    /* MAY be set. True: the callback has taken the socket with qn_http_upgrade_take and sends the
     * reply. False: the request is treated like any other. */
    bool (*upgrade)(void *ctx, struct qn_http_upgrade *u);
};

/* A field's value, fields with the same name joined by commas; NULL: absent. Lent by u. */
const char *qn_http_upgrade_header(const struct qn_http_upgrade *u, const char *name);

/* Gives the caller ownership of the socket, from which the head has been read. Bytes after the head
 * that have already been read, QN_HTTP_READ_BYTES at most, are appended to `behind`; the next bytes
 * of the socket follow those. */
int qn_http_upgrade_take(struct qn_http_upgrade *u, struct qn_buf *behind);

/* body_max: limit of a request body in bytes. Connections are added with qn_http_server_add. */
qn_err qn_http_server_new(struct qn_loop *l, const struct qn_http_events *ev, void *ctx,
                          size_t body_max, struct qn_http_server **out, struct qn_error *e);
/* For tests: replaces QN_HTTP_HELD_BYTES and QN_HTTP_UNREAD_MS. */
void qn_http_server_set_budget(struct qn_http_server *s, int64_t bytes, int64_t unread_ms);
/* Takes ownership of an accepted, non-blocking socket. tag: chosen by the caller, returned by
 * qn_http_tag. */
void qn_http_server_add(struct qn_http_server *s, int fd, const void *addr, unsigned addr_len,
                        int tag);
/* Number of requests whose reply is incomplete. */
size_t qn_http_server_active(const struct qn_http_server *s);
/* Aborts requests still running (their gone callbacks are called). */
void qn_http_server_free(struct qn_http_server *s);

/* The request. Strings are lent for the lifetime of the request. */
int qn_http_tag(const struct qn_http *h); /* the tag of its connection */
const char *qn_http_method(const struct qn_http *h);
const char *qn_http_path(const struct qn_http *h); /* percent-decoded, without the query */
const char *qn_http_query(const struct qn_http *h, const char *name); /* decoded; NULL: absent */
const char *qn_http_raw_query(const struct qn_http *h);               /* as sent; NULL: none */
/* A field's value, fields with the same name joined by commas; NULL: absent. */
const char *qn_http_header(const struct qn_http *h, const char *name);
const char *qn_http_body(const struct qn_http *h, size_t *n);
/* Gives the caller ownership of the body, which may outlive the request and is ended with
 * qn_body_deinit and free; it lends *data, n bytes. The request's body is empty afterwards. */
struct qn_body;
struct qn_body *qn_http_body_take(struct qn_http *h, const char **data, size_t *n);
/* For a request whose body is streamed (open_body): calls fn with each piece of the body, p lent
 * for the call, and at the end with p NULL; never from within this call, and not after the reply is
 * complete or the client has disconnected. fn may reply, but not free the server. fn NULL: the rest
 * is not wanted, and not read before the reply is complete. */
typedef void (*qn_http_body_fn)(void *ctx, const char *p, size_t n);
void qn_http_body_read(struct qn_http *h, qn_http_body_fn fn, void *ctx);
/* paused: stops reading, so that the client cannot send more. Nothing is read either while the
 * client leaves bytes of the reply unread. */
void qn_http_body_pause(struct qn_http *h, bool paused);
bool qn_http_body_thrown(const struct qn_http *h); /* the body was discarded */
/* Gives a body that was stored in large_body's folder a name on the same file system. QN_ECONFLICT,
 * QN_EIO. QN_EBUSY: large_body gave no folder for it. */
qn_err qn_http_body_keep(struct qn_http *h, const char *path, struct qn_error *e);
struct qn_arena *qn_http_arena(struct qn_http *h); /* freed with the request */

/* The two endpoints of the request's connection; an IPv4 connection over an IPv6 socket is given as
 * IPv4. False when the system does not provide them. */
struct qn_http_ends {
    struct sockaddr_storage peer, own;
    /* The user at the other end, once the kernel has named it (io/peer.h); it cannot change during
     * the connection, which owns this memory. Loop thread. NULL: nothing is remembered. */
    struct qn_http_user {
        bool known;
        uid_t uid;
    } * user;
};
bool qn_http_ends(const struct qn_http *h, struct qn_http_ends *out);
bool qn_http_upgrade_ends(const struct qn_http_upgrade *u, struct qn_http_ends *out);

/* One pointer for the handler's use, for example to what it knows about the requester; NULL at
 * first. */
void qn_http_set_about(struct qn_http *h, const void *about);
const void *qn_http_about(const struct qn_http *h);

/* Called when the client has disconnected before the reply was complete, or when the server is
 * being freed: h must not be used after the callback returns. NULL removes the callback. */
void qn_http_on_gone(struct qn_http *h, void (*gone)(void *ctx), void *ctx);

/* Adds a reply header; called before the reply of either kind. Name and value are copied. */
void qn_http_set_header(struct qn_http *h, const char *name, const char *value);

/* Sends a whole reply and ends the request: h must not be used afterwards (gone is not called). A
 * HEAD request gets only the headers. */
void qn_http_reply(struct qn_http *h, int status, const char *content_type, const void *body,
                   size_t n);

/* The same, but takes over the body's bytes without copying them, since they may be many megabytes.
 */
void qn_http_reply_taking(struct qn_http *h, int status, const char *content_type,
                          struct qn_buf *body);

/* Sends the head now and streams the body. Returns the stream to write to, owned by h;
 * qn_stream_end completes the reply. drained is called when a full stream has space again. The
 * stream ends with the gone callback. */
struct qn_stream *qn_http_stream(struct qn_http *h, int status, const char *content_type,
                                 void (*drained)(void *ctx), void *ctx);

/* Takes a streamed reply back if no byte of it has been sent, not even of its head: the stream is
 * freed, and the request can be replied to again. Headers that were set stay. False: it is too late
 * for that, and nothing has changed. */
bool qn_http_stream_revoke(struct qn_http *h);

/* Bytes of the reply that were written and that the client's machine has not received yet: in this
 * process and in the system's send buffer. */
int64_t qn_http_unread(const struct qn_http *h);

/* Closes the connection without a proper end, for a reply that failed half-way and cannot report an
 * error any more. */
void qn_http_abort(struct qn_http *h);

#endif
