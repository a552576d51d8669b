/* A request's form as dialects read it: its text fields as a JSON object, so that one parser serves
 * forms and JSON bodies, and its files separately. */
#ifndef QN_DIALECTS_SHARED_FORM_H
#define QN_DIALECTS_SHARED_FORM_H

#include "base/json.h"
#include "dialects/dialect.h"
#include "formats/multipart.h"

#include <stdbool.h>

enum { QN_FORM_TEXT_MAX = 1024 * 1024 }; /* bytes of all text fields together */

/* Parses a body. A part with a file name, or whose bytes are not text, is a file. The others become
 * members of *doc (freed by the caller), all of them strings; "name[]" and "name[0]" make an array
 * "name". An empty text field counts as absent. *files are in arena, with bytes in body. QN_EINVAL,
 * QN_EUNSUPPORTED. */
qn_err qn_form_read(const char *content_type, const char *body, size_t n, struct qn_arena *arena,
                    struct qn_json **doc, struct qn_multipart *files, struct qn_error *e);

/* Returns the files of a field, including "name[]" and "name[0]", in order: at most max are
 * written, all are counted. */
size_t qn_form_files(const struct qn_request *rq, const char *name, const struct qn_part **out,
                     size_t max);

/* Read optional members, which are strings in a form. *out is unchanged if the member is absent. */
qn_err qn_form_i64(const struct qn_request *rq, const struct qn_jref *v, int64_t min, int64_t max,
                   int64_t *out, struct qn_error *e);
qn_err qn_form_f64(const struct qn_request *rq, const struct qn_jref *v, double min, double max,
                   double *out, struct qn_error *e);
qn_err qn_form_bool(const struct qn_request *rq, const struct qn_jref *v, bool *out,
                    struct qn_error *e);

/* Reads a text of at most chars_max characters; QN_EINVAL if it has more. */
qn_err qn_form_text(const struct qn_jref *v, size_t chars_max, const char **out,
                    struct qn_error *e);

/* Creates the request's only job, with this task, and reads what all audio and image endpoints
 * have: model (which MUST be given: there is no default), keep_alive, ttl. */
qn_err qn_form_job(struct qn_request *rq, enum qn_task task, struct qn_job **job,
                   struct qn_error *e);

/* Returns QN_EINVAL with the message that clients of these endpoints expect: "Missing 'file' field
 * in request". */
qn_err qn_form_missing(const char *name, struct qn_error *e);

#endif
