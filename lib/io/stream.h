/* A bounded queue of bytes between one producer and one consumer on the loop's thread, with
 * back-pressure in both directions. Pure: it does no I/O, it only calls the two callbacks. */
#ifndef QN_IO_STREAM_H
#define QN_IO_STREAM_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { QN_STREAM_HIGH = 256 * 1024, QN_STREAM_LOW = 64 * 1024 };

struct qn_stream;

/* Each callback MAY be NULL. readable: bytes or the end arrived in an empty queue. drained: the
 * queue fell to the low mark after having been at or over the high mark, unless it has been ended.
 * They are called from within qn_stream_write/_end and qn_stream_read respectively, and must not
 * call the stream's functions. */
typedef void (*qn_stream_fn)(void *ctx);

struct qn_stream *qn_stream_new(qn_stream_fn readable, void *rctx, qn_stream_fn drained,
                                void *dctx);
void qn_stream_free(struct qn_stream *s);
void qn_stream_write(struct qn_stream *s, const void *p,
                     size_t n); /* never refuses: the producer has to check qn_stream_full */
bool qn_stream_full(const struct qn_stream *s);   /* high mark reached, and low mark not since */
void qn_stream_end(struct qn_stream *s);          /* no more writes */
bool qn_stream_closed(const struct qn_stream *s); /* qn_stream_end was called */
bool qn_stream_ended(const struct qn_stream *s);  /* ended and empty */
size_t qn_stream_len(const struct qn_stream *s);
size_t qn_stream_read(struct qn_stream *s, void *p, size_t n);

#endif
