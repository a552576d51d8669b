/* The requests of one connection as their bytes come in: head, body, the next head. Pure: bytes in,
 * events out, no socket and no clock. However the bytes are cut, the events are the same, but for
 * the lengths of the stretches of data. */
#ifndef QN_IO_HTTP_READER_H
#define QN_IO_HTTP_READER_H

#include "base/buf.h"
#include "io/http_chunks.h"
#include "io/http_head.h"

#include <stdbool.h>
#include <stddef.h>

enum qn_reader_event {
    QN_READER_MORE,   /* all bytes have been taken, and more are needed */
    QN_READER_HEAD,   /* bytes holds a head, described by head, until the next call */
    QN_READER_DATA,   /* a stretch of the body */
    QN_READER_END,    /* the request is complete; the next call begins another */
    QN_READER_REFUSED /* status and why say so; nothing more is taken */
};

struct qn_reader {
    struct qn_head head; /* as far as it has come */
    struct qn_buf bytes; /* of the head */
    int status;          /* of a refusal */
    const char *why;     /* static, or NULL */
    /* Private. */
    size_t max;
    enum { QN_READING_HEAD, QN_READING_BODY, QN_READING_NOTHING } state;
    struct qn_chunks body;
};

/* head_max: bytes of a head. */
void qn_reader_init(struct qn_reader *r, size_t head_max);
void qn_reader_deinit(struct qn_reader *r);

/* Takes *used of the n bytes at p. HEAD: at most the head's, so the caller may stop there. DATA:
 * *data, lent from p, has *data_len > 0 bytes. END may come without bytes (n 0). */
enum qn_reader_event qn_reader_take(struct qn_reader *r, const char *p, size_t n, size_t *used,
                                    const char **data, size_t *data_len);

/* True when the next event is END, which needs no more bytes. */
bool qn_reader_has_end(const struct qn_reader *r);

/* Frees the bytes of a head that the caller has done with, before the next one comes. */
void qn_reader_drop_head(struct qn_reader *r);

/* True when no byte of a next request has come but line ends. */
bool qn_reader_is_idle(const struct qn_reader *r);

#endif
