/* Parses a request's body for its dialect: JSON, or a form's fields and files. Any thread. */
#ifndef QN_INFER_READING_H
#define QN_INFER_READING_H

#include "dialects/dialect.h"
#include "formats/multipart.h"
#include "io/body.h"

enum { QN_READ_ON_LOOP_MAX = 256 * 1024 }; /* bytes of JSON that are parsed on the loop: 3 ms */

struct qn_reading {
    /* input: */
    const struct qn_dialect *dialect;
    struct qn_arena *arena;
    const char *content_type; /* or NULL */
    struct qn_body *body;     /* owned */
    const char *text;         /* lent by body */
    size_t n;
    /* result: */
    struct qn_json *doc; /* NULL: not JSON */
    struct qn_multipart files;
    const char *chain; /* set by qn_dialect.earlier */
    const char *ids[QN_EARLIER_MAX];
    size_t n_ids;
    qn_err err;
    struct qn_error error;
};

/* Parses the input. Frees the body when it is not needed any more. */
void qn_reading_do(struct qn_reading *r);

/* Frees everything except the arena; also without a call of qn_reading_do. */
void qn_reading_deinit(struct qn_reading *r);

#endif
