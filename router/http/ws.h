/* WebSocket sessions: upgraded connections of all listeners. A kind of session is one value of
 * struct qn_ws_route and one row of the table of endpoints (routes.c), which has its path and its
 * access class. Loop thread only; no function blocks.
 *
 * A client's messages are limited to the route's message_max (close code 1009 beyond); the bytes
 * queued for a client to the route's waiting_max (1008 beyond: the client reads too slowly). */
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
    QN_WS_KERNEL_BYTES = 128 * 1024 /* Bytes of a session that may be in the system's send buffer,
                                       in addition to waiting_max. */
};

struct qn_ws_limits {
    size_t sessions; /* at a time; further ones get an error and may retry */
    size_t of_one;   /* an owner (access/owner.h) with this many sessions, or with as many as are
                        still free, gets no more; 0: no limit */
    int64_t ping_ms; /* idle time until a ping, and from there until the session is dropped */
    int64_t
        stall_ms; /* bytes are queued and none is accepted for this long: the session is dropped */
    int64_t close_ms; /* time for the client's close frame */
};
extern const struct qn_ws_limits qn_ws_limits; /* the server's limits */

struct qn_ws; /* all sessions */
struct qn_metrics;
struct qn_ws_session;

struct qn_ws_route {
    const char *const *subprotocols; /* MAY be NULL. The supported ones, ending in NULL */
    size_t message_max, waiting_max; /* bytes */
    /* MUST. The handshake is complete. May send, close, and set a context. */
    void (*opened)(void *app, struct qn_ws_session *s);
    /* MUST. A message has arrived; data is lent and followed by a NUL; text is valid UTF-8. */
    void (*message)(struct qn_ws_session *s, bool text, const char *data, size_t n);
    /* MAY. Everything sent has been accepted by the system. */
    void (*drained)(struct qn_ws_session *s);
    /* MAY. The session has ended, for whatever reason, and s is freed after the call. Called
     * exactly once, as the last callback, also after qn_ws_close. */
    void (*closed)(struct qn_ws_session *s);
};

/* limits are copied. metrics: counts opened, closed and dropped sessions. app: passed to the
 * routes' `opened`. */
struct qn_ws *qn_ws_new(struct qn_loop *l, struct qn_metrics *metrics, void *app,
                        const struct qn_ws_limits *limits);
/* Refuses new sessions and closes the existing ones (1001). */
void qn_ws_stop(struct qn_ws *ws);
void qn_ws_free(
    struct qn_ws *ws); /* Breaks off remaining sessions (closed is called); NULL allowed. */

/* True when a request's head asks for a WebSocket: a GET with Upgrade: websocket. */
bool qn_ws_asked(const char *method, const char *upgrade, const char *connection);

/* Checks whether a handshake can be accepted. QN_EINVAL (param "Sec-WebSocket-Version" for a wrong
 * version) or QN_EBUSY with a message for the client. version, key: the fields' values, NULL:
 * absent. */
qn_err qn_ws_check(const struct qn_ws *ws, const struct qn_caller *caller, const char *version,
                   const char *key, struct qn_error *e);

/* Completes the handshake of an admitted request and begins the session. id: the value of {id} in
 * the row's path, MAY be NULL; caller: the client's identity, copied. */
void qn_ws_open(struct qn_ws *ws, const struct qn_ws_route *route, struct qn_http_upgrade *u,
                const char *id, const struct qn_caller *caller);

/* Properties of the session. Strings are lent for its life. */
const char *qn_ws_id(const struct qn_ws_session *s);
const struct qn_caller *qn_ws_caller(const struct qn_ws_session *s);
/* A query parameter, decoded into the arena; NULL: absent. */
const char *qn_ws_query(const struct qn_ws_session *s, const char *name, struct qn_arena *arena);
void qn_ws_set_ctx(struct qn_ws_session *s, void *ctx);
void *qn_ws_ctx(const struct qn_ws_session *s);

/* Queues a message; the bytes are copied. Does nothing once the session is closing. Closes the
 * session if more than waiting_max bytes are queued. */
void qn_ws_send(struct qn_ws_session *s, enum qn_websocket_kind kind, const void *data, size_t n);
/* The same for one message in several pieces; other messages must not be sent in between. */
void qn_ws_send_piece(struct qn_ws_session *s, enum qn_websocket_kind kind, bool first, bool last,
                      const void *data, size_t n);
/* Memory of the frames that the system has not accepted yet; 0: none. */
size_t qn_ws_waiting(const struct qn_ws_session *s);

/* Stops reading messages until called with false. */
void qn_ws_pause(struct qn_ws_session *s, bool pause);

/* Sends what is queued and a close frame; the session ends with the client's close frame. */
void qn_ws_close(struct qn_ws_session *s, int code, const char *reason);

#endif
