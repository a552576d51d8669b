/* The server side of the WebSocket protocol (RFC 6455, version 13, no extensions): the reply to a
 * handshake's key, messages assembled from a client's frames, and headers of frames to a client.
 * Pure: no I/O. Client data are untrusted: a protocol violation gives the close code that the RFC
 * specifies. */
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
    QN_WEBSOCKET_NO_CODE = 1005, /* never sent: stands for a close frame without a code */
    QN_WEBSOCKET_NOT_UTF8 = 1007,
    QN_WEBSOCKET_POLICY = 1008,
    QN_WEBSOCKET_TOO_BIG = 1009,
    QN_WEBSOCKET_INTERNAL = 1011,
    QN_WEBSOCKET_TRY_LATER = 1013
};

enum {
    QN_WEBSOCKET_CONTROL_MAX = 125, /* payload bytes of a control frame */
    QN_WEBSOCKET_HEADER_MAX = 10,   /* of a frame to a client, which is not masked */
    QN_WEBSOCKET_KEY_LEN = 24,
    QN_WEBSOCKET_ACCEPT_LEN = 28
};

/* True when the value of Sec-WebSocket-Key is valid by section 4.1: base64 of 16 bytes. */
bool qn_websocket_key_ok(const char *key);

/* The value of Sec-WebSocket-Accept for a key (section 4.2.2). */
void qn_websocket_accept(const char *key, char out[static QN_WEBSOCKET_ACCEPT_LEN + 1]);

/* Writes the header of a frame with n bytes of payload; returns its length. first, last: whether it
 * is the first or last frame of its message. */
size_t qn_websocket_header(enum qn_websocket_kind kind, bool first, bool last, size_t n,
                           uint8_t out[static QN_WEBSOCKET_HEADER_MAX]);

/* Called for each complete message or control frame. Text and the reason of a close frame are valid
 * UTF-8; data is followed by a NUL. CLOSE: code is the client's, or QN_WEBSOCKET_NO_CODE, and data
 * the reason; no call follows. Returns false to stop reading after this frame. */
typedef bool (*qn_websocket_fn)(void *ctx, enum qn_websocket_kind kind, int code, const char *data,
                                size_t n);

struct qn_websocket_reader {
    qn_websocket_fn fn;
    void *ctx;
    struct qn_buf message; /* assembled so far; its limit is the limit of a message */
    bool begun;            /* a message has begun but not ended */
    enum qn_websocket_kind kind;
    uint8_t head[14]; /* bytes received of the frame's header */
    size_t head_len;
    bool in_payload, fin;
    int opcode;
    uint64_t left, at; /* payload bytes still to come; payload bytes received */
    char control[QN_WEBSOCKET_CONTROL_MAX + 1];
    bool closed;     /* a close frame was received, or an error occurred */
    int error;       /* 0, or the close code to send */
    const char *why; /* the error as text */
};

void qn_websocket_reader_init(struct qn_websocket_reader *r, size_t message_max, qn_websocket_fn fn,
                              void *ctx);
void qn_websocket_reader_deinit(struct qn_websocket_reader *r);

/* Consumes bytes in pieces of any size and returns how many: all, unless fn returned false or the
 * reader is closed. After an error, `error` and `why` are the code and reason for the close frame.
 */
size_t qn_websocket_feed(struct qn_websocket_reader *r, const void *p, size_t n);

#endif
