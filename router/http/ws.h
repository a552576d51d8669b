/* WebSocket sessions: the sockets that clients have upgraded, on every listener. A kind of session
 * is one value of struct qn_ws_route and one row of the table of endpoints (routes.c), which has
 * its path and who may come. Loop thread only; nothing here blocks.
 *
 * Messages of a client may have up to the route's message_max (close code 1009 beyond); what waits
 * for a client up to the route's waiting_max (1008 beyond: it reads too slowly). */
#ifndef QN_HTTP_WS_H
#define QN_HTTP_WS_H

#include "access/auth.h"
#include "formats/websocket.h"
#include "io/http_server.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_WS_SESSIONS_MAX = 256,
    QN_WS_OWNER_MAX = 64,           /* sessions of one owner (access/owner.h) */
    QN_WS_KERNEL_BYTES = 128 * 1024 /* of a session's that the system holds besides waiting_max */
};

struct qn_ws_limits {
    size_t sessions;  /* at a time; more are told to come back later */
    size_t of_one;    /* an owner (access/owner.h) with so many, or with as many as are still free,
                         gets no more; 0: no limit */
    int64_t ping_ms;  /* of silence until a ping, and from it until the client is dropped */
    int64_t stall_ms; /* bytes wait and none is taken: the client is dropped */
    int64_t close_ms; /* for the client's answer to a close frame */
};
extern const struct qn_ws_limits qn_ws_limits; /* those of the server */

struct qn_ws; /* all of them */
struct qn_metrics;
struct qn_ws_session;

struct qn_ws_route {
    const char *const *subprotocols; /* MAY. Those it speaks, NULL at the end */
    size_t message_max, waiting_max; /* bytes */
    /* MUST. The handshake is over. It may send, close, and set a context. */
    void (*opened)(void *app, struct qn_ws_session *s);
    /* MUST. A message has come; data is lent and followed by a NUL; text is valid UTF-8. */
    void (*message)(struct qn_ws_session *s, bool text, const char *data, size_t n);
    /* MAY. All that was sent has been handed to the system. */
    void (*drained)(struct qn_ws_session *s);
    /* MAY. The session is over, for whatever reason, and s ends with the call. It comes once, and
     * nothing comes after it; a closing of our own shows in it too. */
    void (*closed)(struct qn_ws_session *s);
};

/* limits are copied. metrics: where refused messages are counted. app: what the routes' `opened`
 * are given. */
struct qn_ws *qn_ws_new(struct qn_loop *l, struct qn_metrics *metrics, void *app,
                        const struct qn_ws_limits *limits);
/* No new sessions; those that are there are told to go (1001). */
void qn_ws_stop(struct qn_ws *ws);
void qn_ws_free(struct qn_ws *ws); /* cuts off what is left (closed is called); NULL allowed */

/* Whether a head is a handshake at all: a GET with Upgrade: websocket. */
bool qn_ws_asked(const char *method, const char *upgrade, const char *connection);

/* Whether one can be served. QN_EINVAL (param "Sec-WebSocket-Version" when that is it) or QN_EBUSY
 * and what to tell the client. version, key: the fields' values, NULL: absent. */
qn_err qn_ws_check(const struct qn_ws *ws, const struct qn_caller *caller, const char *version,
                   const char *key, struct qn_error *e);

/* Answers the handshake of an admitted request and begins the session. id: what stood at {id} in
 * the row's path, MAY be NULL; caller: who asks, copied. */
void qn_ws_open(struct qn_ws *ws, const struct qn_ws_route *route, struct qn_http_upgrade *u,
                const char *id, const struct qn_caller *caller);

/* The session. Strings are lent for its life. */
const char *qn_ws_id(const struct qn_ws_session *s);
const struct qn_caller *qn_ws_caller(const struct qn_ws_session *s);
/* Decoded into the arena; NULL: absent. */
const char *qn_ws_query(const struct qn_ws_session *s, const char *name, struct qn_arena *arena);
void qn_ws_set_ctx(struct qn_ws_session *s, void *ctx);
void *qn_ws_ctx(const struct qn_ws_session *s);

/* Queues a message; the bytes are copied. Nothing happens once the session is closing. More than
 * waiting_max bytes waiting closes it. */
void qn_ws_send(struct qn_ws_session *s, enum qn_websocket_kind kind, const void *data, size_t n);
/* The same for one message in several pieces, which must not mix with others. */
void qn_ws_send_piece(struct qn_ws_session *s, enum qn_websocket_kind kind, bool first, bool last,
                      const void *data, size_t n);
/* Memory that holds what has not been handed to the system; 0: all has. */
size_t qn_ws_waiting(const struct qn_ws_session *s);

/* Reads no further message until it is called with false. */
void qn_ws_pause(struct qn_ws_session *s, bool pause);

/* Sends what waits and a close frame, and ends when the client has answered. */
void qn_ws_close(struct qn_ws_session *s, int code, const char *reason);

#endif
