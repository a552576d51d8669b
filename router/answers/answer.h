/* Answering: the one table from error codes to HTTP status, and the error bodies of the families
 * of endpoints (family.h). Inference endpoints leave the body to their dialect and take the status
 * here. */
#ifndef QN_ANSWERS_ANSWER_H
#define QN_ANSWERS_ANSWER_H

#include "answers/crash_report.h"
#include "answers/family.h"
#include "answers/profile.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "io/http_server.h"

#include <stdbool.h>

enum { QN_REQUEST_ID_DIGITS = 24 };

/* What went wrong, as far as an answer tells it. */
struct qn_problem {
    const struct qn_error *error;
    bool loading;      /* it happened while the model was being loaded: never the request's fault */
    const char *model; /* the name the client asked for, or NULL */
    const char *type;  /* MAY. Instead of the error code's own type */
    const char *code;  /* MAY. Instead of the error code's own code */
    int status;        /* MAY. Instead of the error code's own status */
    const char *id;    /* of the request: QN_REQUEST_ID_DIGITS letters and digits, or NULL */
    const struct qn_crash_report *crash_report; /* MAY. Of the process whose end is the reason */
};

int qn_problem_status(const struct qn_problem *p);

/* Gives a problem the status and code that the profile has for it, unless it has a status already
 * or its family is another API's. */
void qn_problem_adapt(struct qn_problem *p, const struct qn_profile *profile,
                      enum qn_family family);

/* The message for an answer that has room for a text alone: a dead process's last words included.
 */
void qn_problem_words(const struct qn_problem *p, char out[static QN_CRASH_REPORT_WORDS_MAX]);

/* The same problem as it is told to a client who is no admin: of files their names without folders,
 * and of a process nothing that it has printed. *p points into *h afterwards. */
struct qn_problem_hidden {
    struct qn_error error;
    struct qn_crash_report crash_report;
};
void qn_problem_hide(struct qn_problem *p, struct qn_problem_hidden *h);

/* Appends the whole body. */
void qn_problem_body(const struct qn_problem *p, enum qn_family family, struct qn_buf *out);

/* The profile that a request's header X-API-Profile names, else its listener's. */
const struct qn_profile *qn_request_profile(const struct qn_http *h);
enum qn_family qn_request_family(const struct qn_http *h);

/* Replies in the family of the request's path. A status of "come back later" carries Retry-After.
 */
void qn_answer_problem(struct qn_http *h, const struct qn_problem *p);
void qn_answer_error(struct qn_http *h, const struct qn_error *e);
void qn_answer_json(struct qn_http *h, int status, const struct qn_buf *body);

/* For what has no error code of ours: 403, 404, 405, 413, 415, 431. type is a slug, which is the
 * code, too. */
void qn_answer_plain(struct qn_http *h, int status, const char *type, const char *message);
/* Its body. path MAY be NULL: it is not shown. */
void qn_plain_body(enum qn_family family, int status, const char *type, const char *message,
                   const char *path, struct qn_buf *out);

#endif
