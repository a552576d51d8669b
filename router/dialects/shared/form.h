/* A request's form as the dialects read it: its text fields as a JSON object, so that one reader
 * serves requests of both kinds, and its files beside it. */
#ifndef QN_DIALECTS_SHARED_FORM_H
#define QN_DIALECTS_SHARED_FORM_H

#include "base/json.h"
#include "dialects/dialect.h"
#include "formats/multipart.h"

#include <stdbool.h>

enum { QN_FORM_TEXT_MAX = 1024 * 1024 }; /* bytes of all text fields together */

/* Reads a body. A part with a file name, or whose bytes are no text, is a file. The others become
 * members of *doc (to be freed), all of them texts; "name[]" and "name[0]" make an array "name". An
 * empty text field counts as absent. *files are in arena, their bytes in body. QN_EINVAL,
 * QN_EUNSUPPORTED. */
qn_err qn_form_read(const char *content_type, const char *body, size_t n, struct qn_arena *arena,
                    struct qn_json **doc, struct qn_multipart *files, struct qn_error *e);

/* The files of a field, also as "name[]" and "name[0]", in their order: at most max, the rest is
 * counted. */
size_t qn_form_files(const struct qn_request *rq, const char *name, const struct qn_part **out,
                     size_t max);

/* Optional members, which in a form are texts. *out stays as it is when the member is absent. */
qn_err qn_form_i64(const struct qn_request *rq, const struct qn_jref *v, int64_t min, int64_t max,
                   int64_t *out, struct qn_error *e);
qn_err qn_form_f64(const struct qn_request *rq, const struct qn_jref *v, double min, double max,
                   double *out, struct qn_error *e);
qn_err qn_form_bool(const struct qn_request *rq, const struct qn_jref *v, bool *out,
                    struct qn_error *e);

/* A text of at most so many characters; QN_EINVAL when there are more. */
qn_err qn_form_text(const struct qn_jref *v, size_t chars_max, const char **out,
                    struct qn_error *e);

/* Makes the request's one job of this task, and reads what all endpoints of sounds and pictures
 * have: model (which MUST be named: none stands in), keep_alive, ttl. */
qn_err qn_form_job(struct qn_request *rq, enum qn_task task, struct qn_job **job,
                   struct qn_error *e);

/* QN_EINVAL in the words that clients of these endpoints know: "Missing 'file' field in request".
 */
qn_err qn_form_missing(const char *name, struct qn_error *e);

#endif
