/* The compute thread of a child, and what passes between it and the loop's thread: jobs one way,
 * bytes of event frames the other.
 *
 * One mutex guards the handover; the backend's functions run without it. Where the backend prepares
 * jobs (prepare.h), they come to the queue prepared. A job waits in the queue until the backend
 * takes it, is then stepped together with the others, and is forgotten after its END or ERROR, or
 * when its client has gone. Functions here are for the loop's thread; the sink's and the progress's
 * functions of serve.h are for the compute thread. */
#ifndef QN_CHILD_JOBS_H
#define QN_CHILD_JOBS_H

#include "base/arena.h"
#include "base/buf.h"
#include "child/serve.h"
#include "contract/control.h"
#include "contract/inputs.h"
#include "io/loop.h"

enum {
    QN_CHILD_QUEUE_MAX = 256,       /* jobs not started yet */
    QN_RUN_INPUTS_HIGH = 512 * 1024 /* bytes of inputs of one job that no step has taken */
};

struct qn_jobs;
struct qn_run; /* one job on its way */

/* Called on the loop's thread. */
struct qn_jobs_events {
    void (*loading)(void *ctx, double fraction); /* MUST */
    void (*loaded)(void *ctx, const struct qn_ready *ready,
                   const struct qn_error *failure); /* MUST; one is NULL */
    void (*output)(void *ctx, void *owner); /* MUST: qn_run_take has something for this owner, or
                                               there is room for its inputs */
};

/* Starts the thread, which loads the model first. load is copied. */
qn_err qn_jobs_new(struct qn_loop *loop, const struct qn_backend *backend,
                   const struct qn_control *load, const struct qn_jobs_events *ev, void *ctx,
                   struct qn_jobs **out, struct qn_error *e);
void qn_jobs_give_up_loading(struct qn_jobs *j);
/* Cancels everything, unloads the model, joins the thread. Every run must have been released. Posts
 * to the loop may still be on their way: free the loop, then the jobs. */
void qn_jobs_stop(struct qn_jobs *j);
void qn_jobs_free(struct qn_jobs *j);

/* Queues a job; takes the arena that holds it, also when it fails. QN_EBUSY: the queue is full. */
qn_err qn_jobs_add(struct qn_jobs *j, const struct qn_job *job, struct qn_arena *arena, void *owner,
                   struct qn_run **out, struct qn_error *e);
/* Moves the waiting bytes to out's end; returns true when the reply is complete with them. */
bool qn_run_take(struct qn_run *r, struct qn_buf *out);
/* Of an EMBED or RERANK: the next inputs, which become the run's. More than QN_RUN_INPUTS_HIGH
 * bytes of them are waiting: it is full, and jobs_events.output tells when it no longer is. */
void qn_run_add_inputs(struct qn_run *r, struct qn_input_batch *batch);
bool qn_run_inputs_full(struct qn_run *r);
/* The owner needs the run no longer; one that has not ended is cancelled before the next step. */
void qn_run_release(struct qn_run *r);

size_t qn_jobs_count(struct qn_jobs *j); /* queued and running */
int64_t qn_jobs_step_age_ms(
    struct qn_jobs *j); /* since the last step ended; 0 when there is nothing to do */
/* What the backend says of the chat template; NULL: nothing. After `loaded` without a failure. */
const char *qn_jobs_template_warning(const struct qn_jobs *j);
void qn_jobs_set_threads(struct qn_jobs *j, int threads);

#endif
