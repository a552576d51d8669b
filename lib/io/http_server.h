/* HTTP/1.1 in: our own server inside our loop, never a thread per connection.
 *
 * A request is handed over once, complete: head and body collected. The handler answers at once
 * or later, whole or streamed. Everything here happens on the loop's thread. Requests of one
 * connection are answered one after another, in their order.
 *
 * Limits: heads over QN_HTTP_HEAD_MAX get 431 or 414, bodies over the server's body_max 413 (at the
 * first byte past it, or by Content-Length before any). A head has to be complete within
 * QN_HTTP_HEAD_TIMEOUT_S, however steadily it comes; bodies and replies have to move
 * (http_pace.h). What is malformed is refused with an answer of on_refuse's, and closes.
 * What requests hold has a limit for all and a share for each owner (http_budget.c): a body beyond
 * it gets 429 before it is read, and of an owner beyond it replies that are not read are cut off.
 * One connection more than QN_HTTP_CONNECTIONS_MAX, or QN_HTTP_CROWD_MAX of one client, takes the
 * place of the one that has made no progress for longest (of that client's). Where all do, it has
 * no place: its first request gets 503, unless that is vital.
 */
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
    QN_HTTP_CROWD_MAX = 768, /* connections of one client, where clients can be told apart */
    QN_HTTP_VITAL_MAX = 32,  /* more than QN_HTTP_CONNECTIONS_MAX, for vital requests alone */
    QN_HTTP_READ_BYTES = 64 * 1024,         /* of a connection in one turn of the loop */
    QN_HTTP_HELD_BYTES = 512 * 1024 * 1024, /* by all requests, see http_budget.c */
    QN_HTTP_HELD_BODIES = 4,                /* that is at least so many of the largest bodies */
    QN_HTTP_UPLOADS_MAX = 16,               /* bodies that are kept, of one owner at a time */
    QN_HTTP_SMALL_BODY = 16 * 1024,         /* is read whatever its owner holds */
    QN_HTTP_UNREAD_MS = 10 * 1000 /* without progress, before a reply that is not read may be cut
                                     off because its owner holds too much */
};

struct qn_http_server;
struct qn_http_ends;
struct qn_link;
struct qn_http; /* one request and its reply; valid until its `gone` callback or the end of the
                   reply */

/* A request without a body asks for another protocol (RFC 9110, 7.8). Lent for the call. */
struct qn_http_upgrade {
    const char *protocol;              /* the field's value */
    const char *method, *path, *query; /* the path percent-decoded, the query not */
    const char *head;                  /* of head_len bytes */
    size_t head_len;
    int tag;                /* of its connection */
    struct qn_arena *arena; /* ends with the call */
    struct qn_link *link;   /* the server's */
};

/* An answer that the server itself gives (400, 413, 431 ...). */
struct qn_http_refusal {
    int tag; /* of the connection */
    int status;
    const char *method, *path; /* as far as known, else "" */
    const char *why;           /* a sentence without its end, or NULL */
};

struct qn_http_events {
    /* MUST. A request arrived, with its whole body. Either reply now or keep h and reply later. */
    void (*request)(void *ctx, struct qn_http *h);
    /* MUST. Renders the body of such an answer as JSON. */
    void (*refuse)(void *ctx, const struct qn_http_refusal *r, struct qn_buf *body);
    /* MAY. A head has come: the folder in which its body is collected, of any size, because it
     * shall be kept (qn_http_body_keep); NULL: the body is like others. The folder's name is lent
     * until the loop has ended. *reserve_bytes: of the disk that a body is stored on, whichever,
     * that stay free: a body that would take them is refused with 507. */
    const char *(*large_body)(void *ctx, const struct qn_http *h, int64_t *reserve_bytes);
    /* MAY. Bytes that the owner of this request may have kept besides its bodies that are on their
     * way, < 0: no body at all; wanted: what these have or announce. With less the request is
     * refused with 507 and *why, a static sentence without its end. Asked where large_body gave a
     * folder, and again for each megabyte where the body's length is not announced. */
    int64_t (*upload_left)(void *ctx, const struct qn_http *h, int64_t wanted, const char **why);
    /* MAY. A head with a body has come: true when that is thrown away as it arrives, because
     * it is not needed. It is delivered with an empty body then (qn_http_body_thrown). */
    bool (*unwanted_body)(void *ctx, const struct qn_http *h);
    /* MAY. A head has come: true when the request is handed over at once, and its body is told
     * piece by piece as it arrives (qn_http_body_read), of any length. Such a request is the last
     * of its connection. */
    bool (*open_body)(void *ctx, const struct qn_http *h);
    /* MAY. A number that all connections of one client have in common, as far as that is certain;
     * 0: it is not known. It is asked for when connections are many. */
    uint64_t (*crowd)(void *ctx, const struct qn_http_ends *ends);
    /* MAY. A number that all requests of one owner have in common: what requests hold is divided
     * between owners. Asked for when they hold much. */
    uint64_t (*owner)(void *ctx, const struct qn_http *h);
    /* MAY. A head has come over a connection that has no place: true when it is answered all the
     * same (is the server alive? it shall stop), as the last of its connection. */
    bool (*vital)(void *ctx, const struct qn_http *h);
    /* MAY. True: the callee has taken the socket with qn_http_upgrade_take, and answers. False: the
     * request is one like others. */
    bool (*upgrade)(void *ctx, struct qn_http_upgrade *u);
};

/* A field's value, several of one name joined by commas; NULL: absent. Lent by u. */
const char *qn_http_upgrade_header(const struct qn_http_upgrade *u, const char *name);

/* The socket becomes the caller's, with the head read from it. Bytes that came behind the head and
 * have been read already, QN_HTTP_READ_BYTES at most, are appended to behind; what can be read next
 * came behind those. */
int qn_http_upgrade_take(struct qn_http_upgrade *u, struct qn_buf *behind);

/* body_max: bytes of a request body. The listening sockets are handed in by qn_http_server_add. */
qn_err qn_http_server_new(struct qn_loop *l, const struct qn_http_events *ev, void *ctx,
                          size_t body_max, struct qn_http_server **out, struct qn_error *e);
/* For tests: in the place of QN_HTTP_HELD_BYTES and QN_HTTP_UNREAD_MS. */
void qn_http_server_set_budget(struct qn_http_server *s, int64_t bytes, int64_t unread_ms);
/* Takes ownership of an accepted, non-blocking socket. tag: the caller's, for qn_http_tag. */
void qn_http_server_add(struct qn_http_server *s, int fd, const void *addr, unsigned addr_len,
                        int tag);
size_t qn_http_server_active(const struct qn_http_server *s); /* requests not answered to the end */
void qn_http_server_free(
    struct qn_http_server *s); /* cuts off what is still running (gone is called) */

/* The request. Strings are lent for the request's life. */
int qn_http_tag(const struct qn_http *h); /* of its connection */
const char *qn_http_method(const struct qn_http *h);
const char *qn_http_path(const struct qn_http *h); /* percent-decoded, without the query */
const char *qn_http_query(const struct qn_http *h, const char *name); /* decoded; NULL: absent */
const char *qn_http_raw_query(const struct qn_http *h); /* as it came; NULL: there is none */
/* A field's value, several of one name joined by commas; NULL: absent. */
const char *qn_http_header(const struct qn_http *h, const char *name);
const char *qn_http_body(const struct qn_http *h, size_t *n);
/* The body becomes the caller's, who ends it with qn_body_deinit and free, maybe after the request;
 * *data, n bytes, are lent by it. The request has an empty one from then on. */
struct qn_body;
struct qn_body *qn_http_body_take(struct qn_http *h, const char **data, size_t *n);
/* Of a request whose body is open: fn is told each stretch of it, p lent for the call, and at its
 * end p NULL; not from within this call, and no more once the reply is complete or the client gone.
 * It may answer, but not free the server. fn NULL: the rest is not wanted, and not read before the
 * reply is complete. */
typedef void (*qn_http_body_fn)(void *ctx, const char *p, size_t n);
void qn_http_body_read(struct qn_http *h, qn_http_body_fn fn, void *ctx);
/* paused: no more is read, and the client's sending comes to a stop. While the reply has bytes that
 * the client does not take, none is read either. */
void qn_http_body_pause(struct qn_http *h, bool paused);
bool qn_http_body_thrown(const struct qn_http *h); /* it was unwanted */
/* Gives a body that was collected for it a name, on the same file system. QN_ECONFLICT, QN_EIO. */
qn_err qn_http_body_keep(struct qn_http *h, const char *path, struct qn_error *e);
struct qn_arena *qn_http_arena(struct qn_http *h); /* freed with the request */

/* The two ends of the request's connection; IPv4 over a socket of IPv6 is IPv4. False when the
 * system does not say. */
struct qn_http_ends {
    struct sockaddr_storage peer, own;
    /* The user at the other end, once the kernel has named one (io/peer.h): it stays the same as
     * long as the connection, whose memory this is. Loop thread. NULL: not remembered. */
    struct qn_http_user {
        bool known;
        uid_t uid;
    } * user;
};
bool qn_http_ends(const struct qn_http *h, struct qn_http_ends *out);
bool qn_http_upgrade_ends(const struct qn_http_upgrade *u, struct qn_http_ends *out);

/* One pointer of the caller's, for example to what it has found out about who asks; NULL at first.
 */
void qn_http_set_about(struct qn_http *h, const void *about);
const void *qn_http_about(const struct qn_http *h);

/* Called when the client has gone away before the reply was complete, or the server is being freed:
 * h must not be used after it returns. Set NULL to stop. */
void qn_http_on_gone(struct qn_http *h, void (*gone)(void *ctx), void *ctx);

/* Reply headers, before either kind of reply. Name and value are copied. */
void qn_http_set_header(struct qn_http *h, const char *name, const char *value);

/* The whole reply; h is then done with (gone is not called). HEAD requests get the headers alone.
 */
void qn_http_reply(struct qn_http *h, int status, const char *content_type, const void *body,
                   size_t n);

/* The same; the body's bytes are taken and not copied, since they may be many megabytes. */
void qn_http_reply_taking(struct qn_http *h, int status, const char *content_type,
                          struct qn_buf *body);

/* Sends the head now and streams what is written. Returns the stream to write to, owned by h;
 * qn_stream_end finishes the reply. drained tells when a full stream has room again. After the
 * client is gone (gone callback) the stream is dead too. */
struct qn_stream *qn_http_stream(struct qn_http *h, int status, const char *content_type,
                                 void (*drained)(void *ctx), void *ctx);

/* Bytes of its reply that have been written and that the client's machine has not taken: here, and
 * in the system. */
int64_t qn_http_unread(const struct qn_http *h);

/* Breaks the connection off without a proper end (a reply that failed half-way and cannot say so).
 */
void qn_http_abort(struct qn_http *h);

#endif
