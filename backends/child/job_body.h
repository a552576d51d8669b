/* The body of a POST /run as it arrives: frames, of which the first is the job and the others are
 * what follows it, told apart by a member of their line. Pure: bytes in, a job and batches of
 * inputs out. Loop thread only. */
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
    struct qn_arena *arena; /* that job lives in; NULL: not yet, or another's (see below) */
    struct qn_job job;      /* once has_job */
    bool has_job, ended;
    size_t bytes;    /* of the body, that have arrived */
    size_t n_inputs; /* that have arrived */
    struct qn_input_batch *batches, **end;
};

/* b must stay where it is. */
void qn_job_body_init(struct qn_job_body *b);
void qn_job_body_deinit(struct qn_job_body *b);

/* The next n bytes of the body. QN_EINVAL, QN_EFORMAT, QN_ELIMIT: the router broke the contract,
 * and the body is of no use any more. */
qn_err qn_job_body_add(struct qn_job_body *b, const char *p, size_t n, struct qn_error *e);
/* The body is over. The same errors. */
qn_err qn_job_body_end(struct qn_job_body *b, struct qn_error *e);

/* True when the job can be started: nothing is to come any more but inputs. Its arena is the
 * caller's who sets arena to NULL. */
bool qn_job_body_is_ready(const struct qn_job_body *b);

/* The oldest batch of inputs that has not been taken, which the caller frees; NULL: none. */
struct qn_input_batch *qn_job_body_take_inputs(struct qn_job_body *b);

#endif
