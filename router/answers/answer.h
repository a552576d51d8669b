/* Error responses: the one table from error codes to HTTP status, and the error bodies of the
 * families of endpoints (family.h). Inference endpoints have bodies of their own dialect and take
 * the status from here. */
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

/* An error with the details that a response may show. */
struct qn_problem {
    const struct qn_error *error;
    bool loading; /* it occurred while the model was being loaded, so that the request is not at
                     fault */
    const char *model; /* the name that the client sent, or NULL */
    const char *type;  /* MAY be NULL. Replaces the error code's type */
    const char *code;  /* MAY be NULL. Replaces the error code's code */
    int status;        /* MAY be 0. Replaces the error code's status */
    const char *id;    /* of the request: QN_REQUEST_ID_DIGITS letters and digits, or NULL */
    const struct qn_crash_report
        *crash_report; /* MAY be NULL. Of the process whose end is the cause */
};

int qn_problem_status(const struct qn_problem *p);

/* Sets the status and code that the profile has for the problem's error code. Does nothing if the
 * problem has a status already or occurred while a model was loaded, or if `family` is not one of
 * the profile's. */
void qn_problem_adapt(struct qn_problem *p, const struct qn_profile *profile,
                      enum qn_family family);

/* The message for a response that has room for one string only: includes the last lines of a
 * crashed process. */
void qn_problem_words(const struct qn_problem *p, char out[static QN_CRASH_REPORT_WORDS_MAX]);

/* Reduces a problem to what a client without admin rights may see: names of files without folders,
 * and no output of a process. *p points into *h afterwards. */
struct qn_problem_hidden {
    struct qn_error error;
    struct qn_crash_report crash_report;
};
void qn_problem_hide(struct qn_problem *p, struct qn_problem_hidden *h);

/* Appends the complete body. */
void qn_problem_body(const struct qn_problem *p, enum qn_family family, struct qn_buf *out);

/* The profile named by the request's header X-API-Profile, else its listener's. */
const struct qn_profile *qn_request_profile(const struct qn_http *h);
enum qn_family qn_request_family(const struct qn_http *h);

/* Sends the error in the family of the request's path. A temporary error carries Retry-After. */
void qn_answer_problem(struct qn_http *h, const struct qn_problem *p);
void qn_answer_error(struct qn_http *h, const struct qn_error *e);
void qn_answer_json(struct qn_http *h, int status, const struct qn_buf *body);

/* For errors without an error code: 403, 404, 405, 413, 415, 431. type: a short identifier, which
 * is also the error's code. */
void qn_answer_plain(struct qn_http *h, int status, const char *type, const char *message);
/* The body for qn_answer_plain. path MAY be NULL: not shown. */
void qn_plain_body(enum qn_family family, int status, const char *type, const char *message,
                   const char *path, struct qn_buf *out);

#endif
