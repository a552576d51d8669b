/* Frames: the unit of both directions of /run. A frame is one line of JSON, then exactly "bytes"
 * raw bytes if the line has that member. The reader is incremental; its line limit is
 * QN_FRAME_LINE_MAX. */
#ifndef QN_CONTRACT_FRAME_H
#define QN_CONTRACT_FRAME_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    QN_FRAME_LINE_MAX = 64 * 1024 * 1024, /* a line: a job with its messages */
    QN_FRAME_BYTES_MAX = 256 * 1024 * 1024
};

struct qn_frame_reader {
    struct qn_buf in; /* bytes not yet consumed */
    size_t line_max;
    size_t scanned; /* bytes of in that are known to have no newline */
    size_t used;    /* bytes of the frame returned last, dropped at the next call */
    /* A frame whose line is parsed and whose raw bytes have not all arrived: */
    struct qn_json *json; /* the parsed line; NULL: no such frame */
    size_t line;          /* length of the line with its newline */
    bool has_bytes;
    size_t bytes;
};

struct qn_frame {
    struct qn_json *json; /* owned by the caller: free with qn_json_free */
    const char *bytes;    /* borrowed until the next call; NULL if the frame has none */
    size_t bytes_len;
};

void qn_frame_reader_init(struct qn_frame_reader *r, size_t line_max);
void qn_frame_reader_deinit(struct qn_frame_reader *r);
qn_err qn_frame_feed(struct qn_frame_reader *r, const void *p, size_t n); /* QN_ELIMIT */

/* QN_OK with a frame, QN_EBUSY if more bytes are needed, QN_EFORMAT or QN_ELIMIT if the peer
 * violated the protocol (the reader must then not be used further). */
qn_err qn_frame_next(struct qn_frame_reader *r, struct qn_frame *out, struct qn_error *e);

/* Whether bytes of an incomplete frame are buffered; end of file would then be a truncation. */
bool qn_frame_pending(const struct qn_frame_reader *r);

#endif
