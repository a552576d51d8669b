/* A request's body as the document that its dialect reads: JSON, or a form's fields and files.
 * Any thread. */
#ifndef QN_INFER_READING_H
#define QN_INFER_READING_H

#include "dialects/dialect.h"
#include "formats/multipart.h"
#include "io/body.h"

enum { QN_READ_ON_LOOP_MAX = 256 * 1024 }; /* bytes of JSON that are read at once: 3 ms */

struct qn_reading {
    /* before: */
    const struct qn_dialect *dialect;
    struct qn_arena *arena;
    const char *content_type; /* or NULL */
    struct qn_body *body;     /* its own */
    const char *text;         /* lent by body */
    size_t n;
    /* after: */
    struct qn_json *doc; /* NULL: it is not JSON */
    struct qn_multipart files;
    const char *chain; /* what qn_dialect.earlier says */
    const char *ids[QN_EARLIER_MAX];
    size_t n_ids;
    qn_err err;
    struct qn_error error;
};

/* Reads what is set before. A body that is not needed any more is given back. */
void qn_reading_do(struct qn_reading *r);

/* Gives everything back but the arena; also of a reading that never was done. */
void qn_reading_deinit(struct qn_reading *r);

#endif
