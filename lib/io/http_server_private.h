/* Shared by the server's files: a connection, a request, the server. Everything runs on the loop's
 * thread. A "link" is one connection.
 *
 *   http_server.c   the list of connections: accepting, limits, timeouts, scheduling of turns
 *   http_link.c     one connection's socket and buffers, and its turn
 *   http_refuse.c   refusals by the server itself, and the end of a connection
 *   http_request.c  one request: receiving, delivery, end
 *   http_budget.c   the memory held by requests, per owner
 *   http_reply.c    the reply: whole or streamed
 *   http_reader.h   the parser of requests (pure) */
#ifndef QN_IO_HTTP_SERVER_PRIVATE_H
#define QN_IO_HTTP_SERVER_PRIVATE_H

#include "io/body.h"
#include "io/http_pace.h"
#include "io/http_reader.h"
#include "io/http_server.h"

#include <sys/socket.h>

enum { QN_HTTP_DATE_LEN = 29 }; /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/* One connection. It is freed only in its own turn, by the timeout sweep, when it is replaced by
 * another connection, or with the server. It is never freed from within a call of the request's
 * handler: such calls only mark the connection and wake it. */
struct qn_link {
    struct qn_http_server *server;
    struct qn_link *prev, *next;
    struct qn_link *ready_prev, *ready_next; /* list of connections whose turn is due */
    bool ready;
    bool narrow;    /* accepted although the connections are at their limit, for one vital request
                       or a refusal */
    bool lingering; /* refused: input is read and discarded */
    bool closing;   /* to be closed after the current reply */
    bool left;      /* the client has closed its sending side, and the reply is complete */
    int fd;         /* -1: taken by an upgrade */
    struct qn_watch *watch;
    uint32_t events; /* watched on the socket */
    struct qn_reader in;
    const char *input; /* within a turn: bytes read but not consumed */
    size_t input_len;
    struct qn_buf rest; /* between turns: the same, from rest_at on */
    size_t rest_at;
    struct qn_buf out; /* to be sent, from out_at on */
    size_t out_at;
    struct qn_buf body; /* body of a whole reply, sent after `out`, from body_at on */
    size_t body_at;
    struct qn_http *http; /* the request that is being received or answered; NULL: none */
    struct qn_pace pace;
    uint64_t crowd; /* identifies the client (ev.crowd); 0: not known */
    struct sockaddr_storage addr;
    socklen_t addr_len;
    struct sockaddr_storage own; /* local address; family 0: not determined yet */
    struct qn_http_user user;
    int tag;
};

struct qn_http_field {
    const char *name; /* NULL: its value was joined to an earlier field of the name */
    const char *value;
};

struct header {
    struct header *next;
    const char *name, *value;
};

struct qn_http {
    struct qn_http_server *server;
    struct qn_http *prev, *next; /* in server->requests, once delivered */
    struct qn_link *link;
    struct qn_arena *arena;
    /* Request. */
    const char *method;
    char *path, *query;
    struct qn_http_field *fields;
    size_t n_fields;
    int minor;       /* HTTP/1.minor */
    bool keep_alive; /* the client allows further requests on this connection */
    struct qn_body *body;
    struct storing *storing; /* a worker is storing the body; NULL: none is */
    const char *body_data;
    size_t body_len;
    int64_t granted; /* bytes that the body may hold of the budget; 0 if it is kept or discarded */
    uint64_t owner;  /* valid if owner_known */
    bool owner_known;
    bool unwanted;    /* the body is discarded */
    size_t thrown;    /* bytes discarded */
    bool complete;    /* the whole body has arrived */
    int store_failed; /* HTTP status for a failed store; 0: no failure */
    bool delivered;
    /* For a streamed body: */
    bool open;
    bool held_back; /* paused by the handler */
    qn_http_body_fn piece;
    void *piece_ctx;
    /* Reply. */
    struct header *headers, **headers_end;
    int status; /* 0: no reply yet */
    bool head_only, chunked;
    bool aborted, done;
    struct qn_stream *stream;
    size_t head_at;   /* of a stream: where its head begins in link->out */
    bool begun, over; /* bytes of the stream, and its end, have been handed to the link */
    void (*drained)(void *ctx);
    void *drained_ctx;
    void (*gone)(void *ctx);
    void *gone_ctx;
    const void *about; /* the handler's pointer */
};

/* A worker is moving a body's bytes to its file. If the request ends meanwhile, the body is freed
 * when the worker has finished. */
struct storing {
    struct qn_http *http; /* NULL: the request has ended */
    struct qn_body *body;
    struct qn_error error;
    int64_t began_ms;
};

struct qn_http_server {
    struct qn_loop *loop;
    struct qn_http_events ev;
    void *ctx;
    size_t body_max;
    int64_t held_max, unread_ms;
    struct qn_timer *turns; /* runs while links are ready */
    struct qn_timer *sweep; /* runs while there are links */
    struct qn_link *links, *ready, *ready_last;
    size_t n_links, n_ready;
    size_t n_lingering, n_narrow; /* subsets of the links; no link is in both */
    struct qn_http *requests;     /* delivered */
    size_t active;
    int sweeps;     /* since connections were last checked by qn_link_is_lost */
    bool warned;    /* the warning about too many connections was logged */
    int64_t date_s; /* the second for which `date` was formatted */
    char date[QN_HTTP_DATE_LEN + 1];
    char in[QN_HTTP_READ_BYTES];
    char out[QN_HTTP_READ_BYTES];
};

/* The result of one step of a turn. */
enum qn_next {
    QN_GO_ON, /* the next step can be taken at once */
    QN_WAIT,  /* wait for the socket, the handler or a worker */
    QN_OVER   /* close the connection */
};

/* http_server.c */
extern const struct qn_pace_rule qn_http_head_rule, qn_http_idle_rule, qn_http_body_rule,
    qn_http_large_rule, qn_http_send_rule, qn_http_linger_rule, qn_http_narrow_rule;
void qn_server_wake(struct qn_link *l);   /* schedules the connection's turn; never runs it from
                                             within */
void qn_server_widen(struct qn_link *l);  /* the connection begins to linger and no longer counts as
                                             narrow */
void qn_server_forget(struct qn_link *l); /* removes the connection from the lists */
const char *qn_server_date(struct qn_http_server *s); /* RFC 9110, 5.6.7; lent */

/* http_link.c */
qn_err qn_link_open(struct qn_link *l, struct qn_error *e);
/* may_read: the socket is readable. MAY free l. */
void qn_link_turn(struct qn_link *l, bool may_read);
void qn_link_free(struct qn_link *l); /* calls `gone`; closes the socket */
bool qn_link_ends(struct qn_link *l, struct qn_http_ends *out);
/* True when bytes have been sent, repeatedly, and the client's machine has confirmed nothing for
 * LOST_MS. The system itself would give up after a quarter of an hour. */
bool qn_link_is_lost(const struct qn_link *l);
/* Sends both pieces and buffers what the socket does not take; bytes buffered earlier go first. */
void qn_link_send(struct qn_link *l, const void *head, size_t head_len, const void *body, size_t n);
/* The same, but takes over the body's bytes: a large reply is neither copied nor sent in one turn.
 */
void qn_link_send_taking(struct qn_link *l, const void *head, size_t head_len, struct qn_buf *body);
bool qn_link_owes(const struct qn_link *l);      /* bytes wait for the socket */
int64_t qn_link_unsent(const struct qn_link *l); /* the number of these bytes */

/* http_budget.c */
/* Reserves memory for a body of this size (_grant), or extends the reservation of a growing body by
 * a step if needed (_grant_on). False: its owner holds too much. */
bool qn_request_grant(struct qn_http *h, int64_t body_bytes);
bool qn_request_grant_on(struct qn_http *h, int64_t body_bytes);
/* For a request with a kept body: true while its owner has at most QN_HTTP_UPLOADS_MAX of these. */
bool qn_request_may_upload(struct qn_http *h);
/* True if all kept bodies in transit of the owner fit into what ev.upload_left allows; else *why
 * says what to do. */
bool qn_request_may_keep(struct qn_http *h, const char **why);
/* Cuts off unread replies whose owners hold too much. */
void qn_server_relieve(struct qn_http_server *s, int64_t now_ms);

/* http_refuse.c */
enum qn_next qn_link_refuse(struct qn_link *l, int status, const char *why);
/* The reply has been sent: discards input until the client closes, for a limited time. */
enum qn_next qn_link_linger(struct qn_link *l);
enum qn_next qn_link_throw_away(struct qn_link *l);

/* http_request.c: called for the reader's events. */
enum qn_next qn_request_begin(struct qn_link *l);
enum qn_next qn_request_data(struct qn_http *h, const char *p, size_t n);
enum qn_next qn_request_end(struct qn_http *h); /* the body is complete: delivers the request */
void qn_request_free(struct qn_http *h);
void qn_request_store(struct qn_http *h);
void qn_request_tell_gone(struct qn_http *h);
bool qn_request_finished(const struct qn_http *h); /* the handler has ended the reply */
bool qn_request_listens(const struct qn_http *h);  /* the handler wants more of a streamed body */

/* http_reply.c. GO_ON: the reply is complete, or a part of it has been sent. */
enum qn_next qn_reply_step(struct qn_http *h, bool *complete);

#endif
