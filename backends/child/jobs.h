/* The compute thread of a child, and the handover between this thread and the loop's thread: jobs
 * in one direction, bytes of event frames in the other.
 *
 * One mutex guards the handover; the backend's functions are called without holding it. If the
 * backend prepares jobs (prepare.h), a job enters the queue after its preparation. A job waits in
 * the queue until the backend takes it, is then stepped together with the other jobs, and is
 * removed after its END or ERROR, or when its client has disconnected. Functions here are for the
 * loop's thread; functions of sinks and progress in serve.h are for the compute thread. */
#ifndef QN_CHILD_JOBS_H
#define QN_CHILD_JOBS_H

#include "base/arena.h"
#include "base/buf.h"
#include "child/serve.h"
#include "contract/control.h"
#include "contract/inputs.h"
#include "io/loop.h"

enum {
    QN_CHILD_QUEUE_MAX = 256,       /* jobs that have not been started */
    QN_RUN_INPUTS_HIGH = 512 * 1024 /* bytes of a job's inputs that wait for the backend */
};

struct qn_jobs;
struct qn_run; /* one job from its arrival to its end */

/* Called on the loop's thread. */
struct qn_jobs_events {
    void (*loading)(void *ctx, double fraction); /* MUST */
    void (*loaded)(void *ctx, const struct qn_ready *ready,
                   const struct qn_error *failure); /* MUST; one of ready and failure is NULL */
    /* MUST: the owner's run has output to take, or room for more inputs */
    void (*output)(void *ctx, void *owner);
};

/* Starts the compute thread, which first loads the model. load is copied. */
qn_err qn_jobs_new(struct qn_loop *loop, const struct qn_backend *backend,
                   const struct qn_control *load, const struct qn_jobs_events *ev, void *ctx,
                   struct qn_jobs **out, struct qn_error *e);
void qn_jobs_give_up_loading(struct qn_jobs *j);
/* Cancels all jobs, unloads the model and joins the thread. Every run must have been released.
 * Posts to the loop may still be pending: call qn_loop_free first, then qn_jobs_free. */
void qn_jobs_stop(struct qn_jobs *j);
void qn_jobs_free(struct qn_jobs *j);

/* Queues a job. Takes ownership of the arena that holds it, even on failure. QN_EBUSY: the queue is
 * full. */
qn_err qn_jobs_add(struct qn_jobs *j, const struct qn_job *job, struct qn_arena *arena, void *owner,
                   struct qn_run **out, struct qn_error *e);
/* Appends the run's pending output to out; true if this completes the reply. */
bool qn_run_take(struct qn_run *r, struct qn_buf *out);
/* Adds the next inputs of an EMBED or RERANK; the run takes ownership of batch. Inputs are full
 * while more than QN_RUN_INPUTS_HIGH bytes wait; qn_jobs_events.output is called when there is room
 * again. */
void qn_run_add_inputs(struct qn_run *r, struct qn_input_batch *batch);
bool qn_run_inputs_full(struct qn_run *r);
/* Tells the backend, when it has started the job, to end the job's reasoning. */
void qn_run_end_reasoning(struct qn_run *r);
/* Ends the owner's use of the run. A run that has not ended is cancelled before the next step. */
void qn_run_release(struct qn_run *r);

size_t qn_jobs_count(struct qn_jobs *j); /* queued and running */
int64_t qn_jobs_step_age_ms(
    /* milliseconds since the last step ended; 0: there is no work */
    struct qn_jobs *j);
/* Returns the backend's warning about the chat template; NULL: no warning. Call it after `loaded`
 * was called without a failure. */
const char *qn_jobs_template_warning(const struct qn_jobs *j);
void qn_jobs_set_threads(struct qn_jobs *j, int threads);

#endif
