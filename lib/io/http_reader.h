/* Parses the requests of one connection incrementally: head, body, the next head. Pure: bytes in,
 * events out, no socket and no clock. The events do not depend on how the bytes are split, except
 * for the sizes of the DATA pieces. */
#ifndef QN_IO_HTTP_READER_H
#define QN_IO_HTTP_READER_H

#include "base/buf.h"
#include "io/http_chunks.h"
#include "io/http_head.h"

#include <stdbool.h>
#include <stddef.h>

enum qn_reader_event {
    QN_READER_MORE,   /* all bytes were consumed, more are needed */
    QN_READER_HEAD,   /* bytes contains a head, described by head, until the next call */
    QN_READER_DATA,   /* a piece of the body */
    QN_READER_END,    /* the request is complete; the next call begins another one */
    QN_READER_REFUSED /* refused, with status and why; nothing more is consumed */
};

struct qn_reader {
    struct qn_head head; /* as far as it has been parsed */
    struct qn_buf bytes; /* of the head */
    int status;          /* of a refusal */
    const char *why;     /* of a refusal: a string constant, or NULL */
    /* Private. */
    size_t max;
    enum { QN_READING_HEAD, QN_READING_BODY, QN_READING_NOTHING } state;
    struct qn_chunks body;
};

/* head_max: limit of a head's bytes. */
void qn_reader_init(struct qn_reader *r, size_t head_max);
void qn_reader_deinit(struct qn_reader *r);

/* Consumes *used of the n bytes at p. HEAD: nothing beyond the head is consumed, so the caller may
 * stop there. DATA: *data, lent from p, has *data_len > 0 bytes. END may come without input (n 0).
 */
enum qn_reader_event qn_reader_take(struct qn_reader *r, const char *p, size_t n, size_t *used,
                                    const char **data, size_t *data_len);

/* True when the next event is END and needs no more bytes. */
bool qn_reader_has_end(const struct qn_reader *r);

/* Frees the bytes of a head that the caller no longer needs, before the next head begins. */
void qn_reader_drop_head(struct qn_reader *r);

/* True when nothing but line ends of a next request has arrived. */
bool qn_reader_is_idle(const struct qn_reader *r);

#endif
