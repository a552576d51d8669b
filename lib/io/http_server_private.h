/* What http_server.c, http_conn.c and http_request.c share: a connection, a request, the server. */
#ifndef QN_IO_HTTP_SERVER_PRIVATE_H
#define QN_IO_HTTP_SERVER_PRIVATE_H

#include "io/body.h"
#include "io/http_server.h"

#include <microhttpd.h>
#include <sys/socket.h>

enum phase { PEEK, SERVE, LINGER };

struct conn {
    struct qn_http_server *server;
    struct conn *prev, *next;
    enum phase phase;
    int fd;                 /* SERVE: the daemon's */
    struct qn_watch *watch; /* PEEK, LINGER */
    int64_t deadline_ms;    /* 0: none */
    bool answering;         /* SERVE: a request was delivered and is not over */
    bool idle;              /* SERVE: between two requests */
    struct sockaddr_storage addr;
    socklen_t addr_len;
    struct sockaddr_storage own; /* our end; family 0: not asked for yet */
    int tag;
};

struct header {
    struct header *next;
    const char *name, *value;
};

struct qn_http {
    struct qn_http_server *server;
    struct qn_http *prev, *next; /* in server->requests, once delivered */
    struct MHD_Connection *mhd;
    struct conn *conn;
    struct qn_arena *arena;
    char *target; /* as sent */
    char *path, *query;
    const char *method;
    struct qn_body *body;
    struct storing *storing; /* the body is a worker's now; NULL: it is not */
    const char *body_data;
    size_t body_len;
    struct qn_error stored; /* why it could not be stored */
    bool seen, delivered, in_handler;
    bool unwanted;  /* the body is thrown away */
    size_t thrown;  /* bytes of it */
    bool suspended; /* by us, and not resumed since */
    bool queued;    /* the daemon has the response */
    bool aborted, done;
    struct qn_watch *watch; /* of the client's leaving */
    void (*gone)(void *ctx);
    void *gone_ctx;
    const void *about; /* the caller's */
    struct header *headers;
    struct MHD_Response *response;
    int status;
    struct qn_stream *stream;
    void (*drained)(void *ctx);
    void *drained_ctx;
};

/* A worker takes a body's bytes to its file. The request may end meanwhile: then the body is freed
 * when the worker is back. */
struct storing {
    struct storing *next; /* of the server's, while http is there */
    struct qn_http *http; /* NULL: it has ended */
    struct qn_body *body;
    struct qn_error error;
};

struct qn_http_server {
    struct qn_loop *loop;
    struct qn_http_events ev;
    void *ctx;
    size_t body_max;
    struct MHD_Daemon *daemon;
    struct qn_watch *watch; /* of the daemon's epoll set */
    struct qn_timer *again; /* the daemon has more to do at once */
    struct qn_timer *sweep; /* runs while there are connections */
    bool running;           /* inside the daemon */
    bool resumed;           /* a connection waits for the daemon's next turn */
    struct conn *conns;
    size_t n_conns, n_lingering; /* all of them; those that are over */
    struct conn *adding; /* being handed to the daemon */
    struct qn_http *requests;
    struct storing *storing;
    size_t active;
    char scratch[QN_HTTP_HEAD_MAX + 1];
};

/* http_conn.c: a connection before it is the daemon's, and after a refusal. */
void qn_conn_free(struct conn *c);
/* Its two ends. False when the system does not say. */
bool qn_conn_ends(struct conn *c, struct qn_http_ends *out);
/* Writes a whole answer to fd, which nobody else writes to any more, and takes the descriptor. */
void qn_conn_refuse(struct qn_http_server *s, int fd, int status, const char *method,
                    const char *path);

/* http_server.c: the daemon's turns. */
void qn_http_server_run(struct qn_http_server *s);
void qn_http_server_wake(struct qn_http_server *s); /* soon, not from within */

/* http_request.c: what the daemon calls, see microhttpd.h, and what ends a request. */
void *qn_http_on_uri(void *ctx, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result qn_http_on_access(void *ctx, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **con_cls);
void qn_http_on_completed(void *ctx, struct MHD_Connection *mhd, void **con_cls,
                          enum MHD_RequestTerminationCode code);
void qn_http_resume(struct qn_http *h);
void qn_http_tell_gone(struct qn_http *h);

#endif
