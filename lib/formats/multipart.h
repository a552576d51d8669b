/* The parts of a multipart/form-data body that lies in memory as one piece. Source: RFC 7578
 * (forms), RFC 2046 section 5.1.1 (boundaries), RFC 2183 (Content-Disposition), and how browsers
 * write names (HTML standard, "multipart/form-data encoding algorithm": %22, %0D and %0A).
 *
 * A part's bytes are not copied; names are. Lines end with CRLF, as HTTP's media types demand. What
 * stands before the first boundary and after the last is skipped. Everything else that breaks the
 * rules is an error, above all a body without its last boundary: it was cut off. */
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
    const char *filename; /* NULL: it is no file */
    const char *type;     /* Content-Type as it was written, or NULL */
    const char *data;     /* lent from the body; not terminated */
    size_t len;
};

struct qn_multipart {
    struct qn_part *v; /* in the body's order; several may have one name */
    size_t n;
};

/* The boundary that a Content-Type header names. QN_EFORMAT: it is not multipart/form-data, or has
 * no proper boundary. NULL stands for a header that is not there. */
qn_err qn_multipart_boundary(const char *content_type, char out[QN_MULTIPART_BOUNDARY_MAX + 1],
                             struct qn_error *e);

/* Strings of *out are in arena, parts' data in body. QN_EFORMAT, QN_EUNSUPPORTED (a transfer
 * encoding), QN_ELIMIT; the message names the part. */
qn_err qn_multipart_parse(const char *body, size_t n, const char *boundary, struct qn_arena *arena,
                          struct qn_multipart *out, struct qn_error *e);

#endif
