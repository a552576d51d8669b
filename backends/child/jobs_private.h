/* What the files of the jobs share: jobs.c owns the threads and the queue, jobs_sink.c what a job
 * says. */
#ifndef QN_CHILD_JOBS_PRIVATE_H
#define QN_CHILD_JOBS_PRIVATE_H

#include "child/jobs.h"
#include "child/prepare.h"

#include <pthread.h>
#include <stdatomic.h>

struct qn_progress {
    struct qn_jobs *jobs;
    atomic_bool cancelled;
    _Atomic double fraction;
    atomic_bool posted;
    int64_t last_ms;
};

struct qn_sink {
    struct qn_buf out;                           /* frames the loop has not taken */
    bool ended;                                  /* END or ERROR is in out or was taken */
    bool posted;                                 /* the loop has been told */
    struct qn_input_batch *inputs, **inputs_end; /* oldest first */
    size_t input_bytes;                          /* of memory */
};

struct qn_run {
    struct qn_jobs *jobs;
    struct qn_run *next; /* in preparing, then incoming, then backlog or started */
    uint64_t ticket;     /* its place in the order they came */
    struct qn_arena *arena;
    struct qn_job job;
    void *owner;         /* NULL once released; guarded by the lock */
    int refs;            /* owner, compute thread, a post on its way; guarded by the lock */
    struct qn_sink sink; /* guarded by the lock */
    bool finished;       /* compute thread: END or ERROR was sent */
    struct qn_preparation preparation;
};

struct qn_jobs {
    struct qn_loop *loop;
    const struct qn_backend *backend;
    struct qn_jobs_events ev;
    void *ctx;
    pthread_t thread;
    struct qn_progress progress;
    /* What the load message said. */
    struct qn_arena *arena;
    struct qn_load load;
    struct qn_json *options;
    /* The outcome, written before it is posted. */
    struct qn_ready ready;
    struct qn_error failure;

    pthread_mutex_t lock;
    pthread_cond_t wake_cond;
    bool wake, quit;
    bool loaded;              /* self can be woken */
    struct qn_run *preparing; /* of backends that prepare; newest first */
    struct qn_run *incoming;  /* for the compute thread, newest first */
    size_t queued, count;
    uint64_t tickets;
    int threads_wish;   /* 0: none */
    int64_t busy_since; /* when the present step began, ms; 0: waiting */

    /* Compute thread alone. */
    void *self;
    struct qn_preparer *preparer; /* NULL: the backend prepares nothing */
    struct qn_run *backlog;       /* oldest ticket first */
    struct qn_run *started;
    struct qn_buf frame;
};

/* jobs_sink.c; with the lock held */
/* The compute thread has something to look at. */
void qn_jobs_wake(struct qn_jobs *j);
/* True when that was the last reference: qn_run_free it after unlocking. */
bool qn_run_unref(struct qn_run *r);
void qn_run_free(struct qn_run *r);

#endif
