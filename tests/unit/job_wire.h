/* A job and what follows it as the child reads a whole body of POST /run. Included by tests. */
#ifndef QN_TESTS_UNIT_JOB_WIRE_H
#define QN_TESTS_UNIT_JOB_WIRE_H

#include "child/job_body.h"

#include <string.h>

/* The job of n bytes of body; everything is in *body, which the caller ends. */
static inline qn_err wire_read(const char *wire, size_t n, struct qn_job_body *body,
                               struct qn_error *e)
{
    qn_job_body_init(body);
    qn_err err = qn_job_body_add(body, wire, n, e);
    return err ? err : qn_job_body_end(body, e);
}

/* The same of a job alone, which then belongs to *arena. A newline at the end may be missing. */
static inline qn_err wire_job(const char *wire, size_t n, struct qn_job *job,
                              struct qn_arena **arena, struct qn_error *e)
{
    struct qn_job_body body;
    qn_job_body_init(&body);
    qn_err err = qn_job_body_add(&body, wire, n, e);
    if (!err && !memchr(wire, '\n', n))
        err = qn_job_body_add(&body, "\n", 1, e);
    if (!err)
        err = qn_job_body_end(&body, e);
    *job = body.job;
    *arena = body.arena;
    body.arena = NULL;
    qn_job_body_deinit(&body);
    return err;
}

#endif
