/* What the server's files share: a connection, a request, the server. All on the loop's thread.
 *
 *   http_server.c   which connections there are: accepting, limits, the sweep, the turns
 *   http_link.c     one connection's socket and buffers, and its turn
 *   http_refuse.c   answers of the server's own, and what becomes of a connection after them
 *   http_request.c  one request: collected, handed over, ended
 *   http_budget.c   what requests hold of memory, per owner
 *   http_reply.c    its reply: whole or streamed
 *   http_reader.h   what the bytes mean (pure)
 */
#ifndef QN_IO_HTTP_SERVER_PRIVATE_H
#define QN_IO_HTTP_SERVER_PRIVATE_H

#include "io/body.h"
#include "io/http_pace.h"
#include "io/http_reader.h"
#include "io/http_server.h"

#include <sys/socket.h>

enum { QN_HTTP_DATE_LEN = 29 }; /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/* One connection. It is freed only in its own turn, by the server's sweep, when it has to make room
 * or with the server: never within a call of a request's owner, who only marks and wakes it. */
struct qn_link {
    struct qn_http_server *server;
    struct qn_link *prev, *next;
    struct qn_link *ready_prev, *ready_next; /* of those whose turn is due */
    bool ready;
    bool narrow;    /* it has no place: one vital request, or none */
    bool lingering; /* refused: what the client still sends is thrown away */
    bool closing;   /* after the reply that is being sent */
    bool left;      /* the client has ended its direction, and the reply is complete */
    int fd;         /* -1: taken over */
    struct qn_watch *watch;
    uint32_t events; /* watched */
    struct qn_reader in;
    const char *input; /* within a turn: bytes that have been read and not taken */
    size_t input_len;
    struct qn_buf rest; /* between turns: the same, from rest_at on */
    size_t rest_at;
    struct qn_buf out; /* to be sent, from out_at on */
    size_t out_at;
    struct qn_buf body; /* a whole reply's, to be sent behind it from body_at on */
    size_t body_at;
    struct qn_http *http; /* the request that is being collected or answered; NULL: none */
    struct qn_pace pace;
    uint64_t crowd; /* 0: not known */
    struct sockaddr_storage addr;
    socklen_t addr_len;
    struct sockaddr_storage own; /* our end; family 0: not asked for yet */
    struct qn_http_user user;
    int tag;
};

struct qn_http_field {
    const char *name; /* NULL: it has been joined to an earlier one */
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
    /* Asked. */
    const char *method;
    char *path, *query;
    struct qn_http_field *fields;
    size_t n_fields;
    int minor;       /* of its version */
    bool keep_alive; /* the client wants to ask more */
    struct qn_body *body;
    struct storing *storing; /* the body is a worker's now; NULL: it is not */
    const char *body_data;
    size_t body_len;
    int64_t granted; /* bytes that the body may hold; 0 where it is kept or thrown away */
    uint64_t owner;  /* where owner_known */
    bool owner_known;
    bool unwanted;    /* the body is thrown away */
    size_t thrown;    /* bytes of it */
    bool complete;    /* all of it has come */
    int store_failed; /* the status that says so; 0: it did not */
    bool delivered;
    /* Of a body that is told piece by piece: */
    bool open;
    bool held_back; /* the owner wants no more for now */
    qn_http_body_fn piece;
    void *piece_ctx;
    /* Answered. */
    struct header *headers, **headers_end;
    int status; /* 0: not yet */
    bool head_only, chunked;
    bool aborted, done;
    struct qn_stream *stream;
    void (*drained)(void *ctx);
    void *drained_ctx;
    void (*gone)(void *ctx);
    void *gone_ctx;
    const void *about; /* the caller's */
};

/* A worker takes a body's bytes to its file. The request may end meanwhile: then the body is freed
 * when the worker is back. */
struct storing {
    struct qn_http *http; /* NULL: it has ended */
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
    struct qn_timer *turns; /* while links are ready */
    struct qn_timer *sweep; /* while there are links */
    struct qn_link *links, *ready, *ready_last;
    size_t n_links, n_ready;
    size_t n_lingering, n_narrow; /* of the links; none is both */
    struct qn_http *requests;     /* delivered */
    size_t active;
    bool warned;    /* that connections are too many */
    int64_t date_s; /* of date */
    char date[QN_HTTP_DATE_LEN + 1];
    char in[QN_HTTP_READ_BYTES];
    char out[QN_HTTP_READ_BYTES];
};

/* What a part of a turn comes to. */
enum qn_next {
    QN_GO_ON, /* there is more to do at once */
    QN_WAIT,  /* for the socket, the request's owner or a worker */
    QN_OVER   /* the connection is of no use any more */
};

/* http_server.c */
extern const struct qn_pace_rule qn_http_head_rule, qn_http_idle_rule, qn_http_body_rule,
    qn_http_large_rule, qn_http_send_rule, qn_http_linger_rule, qn_http_narrow_rule;
void qn_server_wake(struct qn_link *l);               /* its turn comes soon, not from within */
void qn_server_widen(struct qn_link *l);              /* it is narrow no more, because it lingers */
void qn_server_forget(struct qn_link *l);             /* takes it out of the lists */
const char *qn_server_date(struct qn_http_server *s); /* RFC 9110, 5.6.7; lent */

/* http_link.c */
qn_err qn_link_open(struct qn_link *l, struct qn_error *e);
/* may_read: its socket has something. MAY free l. */
void qn_link_turn(struct qn_link *l, bool may_read);
void qn_link_free(struct qn_link *l); /* tells the request's owner; closes the socket */
bool qn_link_ends(struct qn_link *l, struct qn_http_ends *out);
/* Sends both pieces, or keeps what the socket does not take; what waited before goes first. */
void qn_link_send(struct qn_link *l, const void *head, size_t head_len, const void *body, size_t n);
/* The same with bytes that become the link's: a large reply is neither copied nor sent at once. */
void qn_link_send_taking(struct qn_link *l, const void *head, size_t head_len, struct qn_buf *body);
bool qn_link_owes(const struct qn_link *l);      /* something has not been taken by the socket */
int64_t qn_link_unsent(const struct qn_link *l); /* bytes of that */

/* http_budget.c */
/* The request may hold a body of so many bytes, or more than before by a step. False: its owner
 * holds too much. */
bool qn_request_grant(struct qn_http *h, int64_t body_bytes);
bool qn_request_grant_on(struct qn_http *h, int64_t body_bytes);
/* It has a body that is kept: true while its owner has no more than QN_HTTP_UPLOADS_MAX of these.
 */
bool qn_request_may_upload(struct qn_http *h);
/* True while all its owner's bodies of that kind that are on their way may be kept; else *why says
 * what to do. */
bool qn_request_may_keep(struct qn_http *h, const char **why);
/* Cuts off replies that are not read while their owners hold too much. */
void qn_server_relieve(struct qn_http_server *s, int64_t now_ms);

/* http_refuse.c */
enum qn_next qn_link_refuse(struct qn_link *l, int status, const char *why);
/* All has been sent: waits for the client's end, for a while. */
enum qn_next qn_link_linger(struct qn_link *l);
enum qn_next qn_link_throw_away(struct qn_link *l);

/* http_request.c: from the reader's events. */
enum qn_next qn_request_begin(struct qn_link *l);
enum qn_next qn_request_data(struct qn_http *h, const char *p, size_t n);
enum qn_next qn_request_end(struct qn_http *h); /* its body is complete: hands it over */
void qn_request_free(struct qn_http *h);
void qn_request_store(struct qn_http *h);
void qn_request_tell_gone(struct qn_http *h);
bool qn_request_finished(const struct qn_http *h); /* its owner has said all */
bool qn_request_listens(const struct qn_http *h);  /* its owner is told more of its open body */

/* http_reply.c: GO_ON: the reply is complete, or a part of it has been sent. */
enum qn_next qn_reply_step(struct qn_http *h, bool *complete);

#endif
