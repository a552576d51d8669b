/* The body of a request as its bytes come in (RFC 9112, 6 and 7): counted bytes or chunks. Pure and
 * strict: what intermediaries have read in different ways is refused. */
#ifndef QN_IO_HTTP_CHUNKS_H
#define QN_IO_HTTP_CHUNKS_H

#include "io/http_framing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_CHUNK_DIGITS_MAX = 15,           /* of a size, leading zeros included; fits 63 bits */
    QN_CHUNK_EXTENSIONS_MAX = 4 * 1024, /* bytes of a body's chunk extensions, all together */
    QN_CHUNK_TRAILERS_MAX = 8 * 1024    /* bytes of the fields behind the last chunk */
};

enum qn_chunks_event {
    QN_CHUNKS_MORE, /* all bytes have been taken, and more are needed */
    QN_CHUNKS_DATA, /* a stretch of the body */
    QN_CHUNKS_END,  /* the body is complete: bytes behind it have not been taken */
    QN_CHUNKS_BAD   /* malformed (why): the connection is of no use any more */
};

struct qn_chunks {
    const char *why; /* static, when BAD */
    /* Private. */
    int state;
    uint64_t left; /* of the counted body or the chunk */
    int digits;
    size_t extensions, trailers;
};

/* From the fields of a head that is well formed; a request without either field has no body. */
void qn_chunks_init(struct qn_chunks *c, const struct qn_framing *f);

/* True when the body is complete. */
bool qn_chunks_done(const struct qn_chunks *c);

/* Takes *used of the n bytes at p. DATA: *data, lent from p, has *data_len > 0 bytes. */
enum qn_chunks_event qn_chunks_take(struct qn_chunks *c, const char *p, size_t n, size_t *used,
                                    const char **data, size_t *data_len);

#endif
