/* Answering: the one table from error codes to HTTP status, and the error bodies of the families
 * of endpoints. Inference endpoints leave the body to their dialect and take the status here. */
#ifndef QN_ROUTER_ANSWER_H
#define QN_ROUTER_ANSWER_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "io/http_server.h"

#include <stdbool.h>

enum qn_family {
    QN_FAMILY_ERROR,  /* {"error":{message,type,param,code}} */
    QN_FAMILY_STATUS, /* {"status":"error","message":...,"error":{...}}: what changes models */
};

/* What went wrong, as far as an answer tells it. */
struct qn_problem {
    const struct qn_error *error;
    bool loading;      /* it happened while the model was being loaded: never the request's fault */
    const char *model; /* the name the client asked for, or NULL */
};

int qn_problem_status(const struct qn_problem *p);

/* Writes {"message","type","param","code"[,"requested_model"]} as one value. */
void qn_problem_write(const struct qn_problem *p, struct qn_jw *w);

/* Appends the whole body. */
void qn_problem_body(const struct qn_problem *p, enum qn_family family, struct qn_buf *out);

/* Replies. A status of "come back later" carries Retry-After. */
void qn_answer_problem(struct qn_http *h, enum qn_family family, const struct qn_problem *p);
void qn_answer_error(struct qn_http *h, enum qn_family family, const struct qn_error *e);
void qn_answer_json(struct qn_http *h, int status, const struct qn_buf *body);

/* For what has no error code of ours: 403, 404, 405, 413, 415, 431. */
void qn_answer_plain(struct qn_http *h, enum qn_family family, int status, const char *type,
                     const char *message);
void qn_plain_body(enum qn_family family, const char *type, const char *message, const char *path,
                   struct qn_buf *out);

#endif
