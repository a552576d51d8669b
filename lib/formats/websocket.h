/* The WebSocket protocol as a server speaks it (RFC 6455, version 13, no extensions): the answer to
 * a handshake's key, frames from a client put together to messages, headers of frames to a client.
 * Pure: moves no descriptor. Nothing a client sends is trusted: what breaks the protocol ends in
 * the close code that the RFC names for it. */
#ifndef QN_FORMATS_WEBSOCKET_H
#define QN_FORMATS_WEBSOCKET_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qn_websocket_kind {
    QN_WEBSOCKET_TEXT = 1,
    QN_WEBSOCKET_BINARY = 2,
    QN_WEBSOCKET_CLOSE = 8,
    QN_WEBSOCKET_PING = 9,
    QN_WEBSOCKET_PONG = 10
};

/* Close codes (section 7.4.1 and the IANA registry). */
enum {
    QN_WEBSOCKET_NORMAL = 1000,
    QN_WEBSOCKET_GOING_AWAY = 1001,
    QN_WEBSOCKET_PROTOCOL_ERROR = 1002,
    QN_WEBSOCKET_UNSUPPORTED = 1003,
    QN_WEBSOCKET_NO_CODE = 1005, /* never sent: a close frame without a code */
    QN_WEBSOCKET_NOT_UTF8 = 1007,
    QN_WEBSOCKET_POLICY = 1008,
    QN_WEBSOCKET_TOO_BIG = 1009,
    QN_WEBSOCKET_INTERNAL = 1011,
    QN_WEBSOCKET_TRY_LATER = 1013
};

enum {
    QN_WEBSOCKET_CONTROL_MAX = 125, /* bytes a control frame may carry */
    QN_WEBSOCKET_HEADER_MAX = 10,   /* of a frame to a client, which is not masked */
    QN_WEBSOCKET_KEY_LEN = 24,
    QN_WEBSOCKET_ACCEPT_LEN = 28
};

/* True when a Sec-WebSocket-Key's value is what section 4.1 asks for: base64 of 16 bytes. */
bool qn_websocket_key_ok(const char *key);

/* The value of Sec-WebSocket-Accept for a key (section 4.2.2). */
void qn_websocket_accept(const char *key, char out[static QN_WEBSOCKET_ACCEPT_LEN + 1]);

/* Writes the header of a frame that carries n bytes; returns its length. first, last: of the
 * frames of its message. */
size_t qn_websocket_header(enum qn_websocket_kind kind, bool first, bool last, size_t n,
                           uint8_t out[static QN_WEBSOCKET_HEADER_MAX]);

/* A message, or a control frame, has come whole; text and a close frame's reason are valid UTF-8,
 * data is followed by a NUL. CLOSE: code is the client's, or QN_WEBSOCKET_NO_CODE, and data the
 * reason; nothing is read after it. Return false to stop reading behind this frame. */
typedef bool (*qn_websocket_fn)(void *ctx, enum qn_websocket_kind kind, int code, const char *data,
                                size_t n);

struct qn_websocket_reader {
    qn_websocket_fn fn;
    void *ctx;
    struct qn_buf message; /* so far; its limit is that of a message */
    bool begun;            /* a message has begun and not ended */
    enum qn_websocket_kind kind;
    uint8_t head[14]; /* of the frame: what has come of it */
    size_t head_len;
    bool in_payload, fin;
    int opcode;
    uint64_t left, at; /* of the payload: bytes to come, bytes that came */
    char control[QN_WEBSOCKET_CONTROL_MAX + 1];
    bool closed;     /* a close frame came, or an error */
    int error;       /* 0, or the close code to answer with */
    const char *why; /* the error in words */
};

void qn_websocket_reader_init(struct qn_websocket_reader *r, size_t message_max, qn_websocket_fn fn,
                              void *ctx);
void qn_websocket_reader_deinit(struct qn_websocket_reader *r);

/* Takes bytes in pieces of any size and returns how many were used: all, unless fn said stop or the
 * reader is closed. After an error `error` and `why` say what to close with. */
size_t qn_websocket_feed(struct qn_websocket_reader *r, const void *p, size_t n);

#endif
