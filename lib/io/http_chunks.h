/* Decodes a request's body incrementally (RFC 9112, 6 and 7): with Content-Length or chunked. Pure
 * and strict: forms that intermediaries are known to interpret differently are rejected. */
#ifndef QN_IO_HTTP_CHUNKS_H
#define QN_IO_HTTP_CHUNKS_H

#include "io/http_framing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_CHUNK_DIGITS_MAX = 15, /* of a chunk's size, leading zeros included; fits 63 bits */
    QN_CHUNK_EXTENSIONS_MAX = 4 * 1024, /* bytes of all chunk extensions of a body together */
    QN_CHUNK_TRAILERS_MAX = 8 * 1024    /* bytes of the trailer fields after the last chunk */
};

enum qn_chunks_event {
    QN_CHUNKS_MORE, /* all bytes were consumed, more are needed */
    QN_CHUNKS_DATA, /* a piece of the body */
    QN_CHUNKS_END,  /* the body is complete; bytes after it were not consumed */
    QN_CHUNKS_BAD   /* malformed (see why): the connection cannot be used any further */
};

struct qn_chunks {
    const char *why; /* when BAD: a string constant */
    /* Private. */
    int state;
    uint64_t left; /* bytes left of the body or of the chunk */
    int digits;
    size_t extensions, trailers;
};

/* f: the parsed fields of a valid head; a request with neither Content-Length nor Transfer-Encoding
 * has no body. */
void qn_chunks_init(struct qn_chunks *c, const struct qn_framing *f);

/* True when the body is complete. */
bool qn_chunks_done(const struct qn_chunks *c);

/* Consumes *used of the n bytes at p. DATA: *data, lent from p, has *data_len > 0 bytes. */
enum qn_chunks_event qn_chunks_take(struct qn_chunks *c, const char *p, size_t n, size_t *used,
                                    const char **data, size_t *data_len);

#endif
