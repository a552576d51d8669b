/* Parses a multipart/form-data body that is in memory as one piece. Source: RFC 7578 (forms), RFC
 * 2046 section 5.1.1 (boundaries), RFC 2183 (Content-Disposition), and the way browsers write names
 * (HTML standard, "multipart/form-data encoding algorithm": %22, %0D and %0A).
 *
 * A part's bytes are not copied; names are. Lines end with CRLF, as HTTP's media types require.
 * Bytes before the first boundary and after the last are skipped. Every other deviation is an
 * error, in particular a missing last boundary, which means a truncated body. */
#ifndef QN_FORMATS_MULTIPART_H
#define QN_FORMATS_MULTIPART_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>

enum {
    QN_MULTIPART_BOUNDARY_MAX = 70,     /* RFC 2046 */
    QN_MULTIPART_PARTS_MAX = 256,       /* of one body */
    QN_MULTIPART_HEADS_MAX = 16,        /* header lines of one part */
    QN_MULTIPART_HEAD_BYTES_MAX = 4096, /* bytes of one part's header lines */
    QN_MULTIPART_NAME_MAX = 256,        /* bytes of a field's name */
    QN_MULTIPART_FILENAME_MAX = 1024
};

struct qn_part {
    const char *name;     /* of the field */
    const char *filename; /* NULL: not a file */
    const char *type;     /* Content-Type as sent, or NULL */
    const char *data;     /* lent from the body; not terminated */
    size_t len;
};

struct qn_multipart {
    struct qn_part *v; /* in the body's order; several may have the same name */
    size_t n;
};

/* Reads the boundary from a Content-Type header; NULL means that the header is missing. QN_EFORMAT:
 * it is not multipart/form-data, or its boundary is missing or invalid. */
qn_err qn_multipart_boundary(const char *content_type, char out[QN_MULTIPART_BOUNDARY_MAX + 1],
                             struct qn_error *e);

/* Strings of *out are allocated in arena, the parts' data are lent from body. QN_EFORMAT;
 * QN_EUNSUPPORTED: a part has a transfer encoding; QN_ELIMIT. Messages contain the part's name. */
qn_err qn_multipart_parse(const char *body, size_t n, const char *boundary, struct qn_arena *arena,
                          struct qn_multipart *out, struct qn_error *e);

#endif
