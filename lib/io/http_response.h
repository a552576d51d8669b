/* Parses an HTTP/1.1 reply incrementally (RFC 9112): the head, and the position of the body. Pure;
 * malformed input gives an error. Interim replies (1xx) and trailers are skipped. */
#ifndef QN_IO_HTTP_RESPONSE_H
#define QN_IO_HTTP_RESPONSE_H

#include "base/buf.h"
#include "base/error.h"
#include "io/http_framing.h"

enum {
    QN_RESPONSE_HEAD_MAX = 16 * 1024, /* bytes of all heads and trailers together */
    QN_RESPONSE_TYPE_MAX = 256
};

struct qn_response {
    int status;                      /* 0: the head is not complete */
    char type[QN_RESPONSE_TYPE_MAX]; /* Content-Type, "": none */
    bool done;                       /* the whole reply has arrived */
    /* Private. */
    int state;
    bool head_only;
    int next_status; /* of the head that is being parsed */
    size_t head_len; /* bytes of heads so far */
    struct qn_framing framing;
    int64_t left;       /* bytes left of the body or of the chunk */
    struct qn_buf line; /* an incomplete line */
};

/* head_only: the request was HEAD, so no body follows, whatever the head says. */
void qn_response_init(struct qn_response *r, bool head_only);
void qn_response_deinit(struct qn_response *r);

/* Consumes *used of the n > 0 bytes at p and returns at most one piece of the body, lent from p
 * (*body_len 0: none). The caller calls again with the remaining bytes; bytes after the end of the
 * reply are not consumed. status and type are known once a piece of the body has been returned. */
qn_err qn_response_take(struct qn_response *r, const char *p, size_t n, size_t *used,
                        const char **body, size_t *body_len, struct qn_error *e);

/* The connection was closed. QN_OK if the reply was complete or is ended by the close. */
qn_err qn_response_end(struct qn_response *r, struct qn_error *e);

#endif
