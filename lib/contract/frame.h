/* The unit of /run, both directions: one line of JSON, then exactly "bytes" raw bytes if that
 * member is present. The reader is incremental and holds at most QN_FRAME_LINE_MAX of line. */
#ifndef QN_CONTRACT_FRAME_H
#define QN_CONTRACT_FRAME_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    QN_FRAME_LINE_MAX = 64 * 1024 * 1024, /* a job with its messages */
    QN_FRAME_BYTES_MAX = 256 * 1024 * 1024
};

struct qn_frame_reader {
    struct qn_buf in; /* bytes not yet consumed */
    size_t line_max;
    size_t scanned; /* bytes of in known to hold no newline */
    size_t used;    /* bytes of the frame lent last, dropped at the next call */
    /* Of a frame whose raw bytes are still on their way: */
    struct qn_json *json; /* its line, parsed; NULL: none */
    size_t line;          /* bytes of the line, with its newline */
    bool has_bytes;
    size_t bytes;
};

struct qn_frame {
    struct qn_json *json; /* owned by the caller: free with qn_json_free */
    const char *bytes;    /* lent until the next call; NULL when the frame has none */
    size_t bytes_len;
};

void qn_frame_reader_init(struct qn_frame_reader *r, size_t line_max);
void qn_frame_reader_deinit(struct qn_frame_reader *r);
qn_err qn_frame_feed(struct qn_frame_reader *r, const void *p, size_t n); /* QN_ELIMIT */

/* QN_OK with a frame, QN_EBUSY when more bytes are needed, QN_EFORMAT or QN_ELIMIT when the peer
 * broke the contract (the reader is then useless). */
qn_err qn_frame_next(struct qn_frame_reader *r, struct qn_frame *out, struct qn_error *e);

/* True when bytes of an unfinished frame are held: EOF now would be a truncation. */
bool qn_frame_pending(const struct qn_frame_reader *r);

#endif
