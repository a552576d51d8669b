/* The body of a POST /run as it arrives: frames, of which the first is the job and the others
 * belong to it. A member of its JSON line shows the kind of each later frame. Pure: bytes in, a job
 * and batches of inputs out. Loop thread only. */
#ifndef QN_CHILD_JOB_BODY_H
#define QN_CHILD_JOB_BODY_H

#include "base/arena.h"
#include "base/error.h"
#include "contract/frame.h"
#include "contract/inputs.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stddef.h>

struct qn_job_body {
    struct qn_frame_reader in;
    struct qn_arena *arena; /* memory of job; NULL: no job yet, or the caller has taken it (see
                               qn_job_body_is_ready) */
    struct qn_job job;      /* valid if has_job */
    bool has_job, ended;
    size_t bytes;    /* bytes of the body received so far */
    size_t n_inputs; /* inputs received so far */
    struct qn_input_batch *batches, **end;
};

/* b must keep its address until deinit. */
void qn_job_body_init(struct qn_job_body *b);
void qn_job_body_deinit(struct qn_job_body *b);

/* Adds the next n bytes of the body. QN_EINVAL, QN_EFORMAT, QN_ELIMIT: the router violated the
 * protocol, and the body must not be used further. */
qn_err qn_job_body_add(struct qn_job_body *b, const char *p, size_t n, struct qn_error *e);
/* Marks the end of the body. Errors as for qn_job_body_add. */
qn_err qn_job_body_end(struct qn_job_body *b, struct qn_error *e);

/* Whether the job can be started: everything has arrived, except perhaps inputs. The caller may
 * then take b->arena, which holds the job, and sets it to NULL. */
bool qn_job_body_is_ready(const struct qn_job_body *b);

/* Takes the oldest batch of inputs; the caller frees it. NULL: no batch is left. */
struct qn_input_batch *qn_job_body_take_inputs(struct qn_job_body *b);

#endif
