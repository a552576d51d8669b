/* An HTTP/1.1 reply as its bytes come in (RFC 9112): the head, and where the body is. Pure; hostile
 * bytes end in an error. Interim replies (1xx) and trailers are skipped. */
#ifndef QN_IO_HTTP_RESPONSE_H
#define QN_IO_HTTP_RESPONSE_H

#include "base/buf.h"
#include "base/error.h"
#include "io/http_framing.h"

enum {
    QN_RESPONSE_HEAD_MAX = 16 * 1024, /* bytes of heads and trailers, all together */
    QN_RESPONSE_TYPE_MAX = 256
};

struct qn_response {
    int status;                      /* 0: the head is not complete */
    char type[QN_RESPONSE_TYPE_MAX]; /* Content-Type, "": none */
    bool done;                       /* the whole reply has come */
    /* Private. */
    int state;
    bool head_only;
    int next_status; /* of the head that is being read */
    size_t head_len; /* bytes of heads so far */
    struct qn_framing framing;
    int64_t left;       /* of the body or the chunk */
    struct qn_buf line; /* the beginning of a line whose end has not come */
};

/* head_only: the request was HEAD, so no body follows whatever the head says. */
void qn_response_init(struct qn_response *r, bool head_only);
void qn_response_deinit(struct qn_response *r);

/* Takes some of the n > 0 bytes at p, *used of them, and shows at most one stretch of the body,
 * lent from p (*body_len 0: none). To be called again with the rest; bytes after the reply's end
 * are not taken. Once a stretch was shown, status and type are known. */
qn_err qn_response_take(struct qn_response *r, const char *p, size_t n, size_t *used,
                        const char **body, size_t *body_len, struct qn_error *e);

/* The connection has ended: QN_OK where that, or what came before, is the reply's end. */
qn_err qn_response_end(struct qn_response *r, struct qn_error *e);

#endif
