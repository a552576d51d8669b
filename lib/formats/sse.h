/* Parses server-sent events from a byte stream, in pieces of any size. Source: the WHATWG HTML
 * standard, section 9.2.6 (only `event` and `data` are used; comments and unknown fields are
 * skipped). */
#ifndef QN_FORMATS_SSE_H
#define QN_FORMATS_SSE_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

enum { QN_SSE_EVENT_MAX = 16 * 1024 * 1024 }; /* bytes of one event's data, or of one line */

/* data: the event's lines joined by '\n', NUL-terminated; event: its name, or "message" if it has
 * none. Both are lent for the call. */
typedef void (*qn_sse_fn)(void *ctx, const char *event, const char *data, size_t n);

struct qn_sse {
    struct qn_buf line, data, event;
    qn_sse_fn fn;
    void *ctx;
    bool has_data; /* a data field was received, perhaps an empty one */
    bool after_cr; /* the last byte was '\r': a following '\n' belongs to it */
    bool begun;    /* the first line is complete: a byte order mark is not accepted any more */
};

void qn_sse_init(struct qn_sse *s, qn_sse_fn fn, void *ctx);
void qn_sse_deinit(struct qn_sse *s);
qn_err qn_sse_feed(struct qn_sse *s, const void *p,
                   size_t n); /* QN_ELIMIT: a line or an event is too long, and the stream cannot be
                                 parsed any further */

#endif
