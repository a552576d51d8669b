/* Shared by the files of jobs: jobs.c has the threads and the queue, jobs_sink.c the output of
 * jobs. */
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
    struct qn_buf out;                           /* frames that the loop thread has not taken */
    bool ended;                                  /* END or ERROR was written to out */
    bool posted;                                 /* a post to the loop thread is pending */
    struct qn_input_batch *inputs, **inputs_end; /* oldest first */
    size_t input_bytes;                          /* memory of inputs */
};

struct qn_run {
    struct qn_jobs *jobs;
    struct qn_run *next; /* link in preparing, then incoming, then backlog or started */
    uint64_t ticket;     /* sequence number in the order of arrival */
    struct qn_arena *arena;
    struct qn_job job;
    void *owner; /* NULL once released; guarded by the lock */
    int refs;    /* held by the owner, the compute thread and a pending post; guarded by the lock */
    struct qn_sink sink;       /* guarded by the lock */
    bool finished;             /* END or ERROR was sent; compute thread only */
    atomic_bool end_reasoning; /* the backend has to be told */
    struct qn_preparation preparation;
};

struct qn_jobs {
    struct qn_loop *loop;
    const struct qn_backend *backend;
    struct qn_jobs_events ev;
    void *ctx;
    pthread_t thread;
    struct qn_progress progress;
    /* A copy of the load message. */
    struct qn_arena *arena;
    struct qn_load load;
    struct qn_json *options;
    /* The result of loading, written before report_loaded is posted. */
    struct qn_ready ready;
    struct qn_error failure;

    pthread_mutex_t lock;
    pthread_cond_t wake_cond;
    bool wake, quit;
    bool loaded;              /* self is valid for backend->wake */
    struct qn_run *preparing; /* only with backends that prepare jobs; newest first */
    struct qn_run *incoming;  /* to be taken by the compute thread, newest first */
    size_t queued, count;
    uint64_t tickets;
    int threads_wish;   /* new number of threads for the backend; 0: unchanged */
    int64_t busy_since; /* start of the current step, ms; 0: the compute thread waits */

    /* Used by the compute thread only. */
    void *self;
    struct qn_preparer *preparer; /* NULL: the backend does not prepare jobs */
    struct qn_run *backlog;       /* oldest ticket first */
    struct qn_run *started;
    struct qn_buf frame;
};

/* In jobs_sink.c; called with the lock held. */
/* Wakes the compute thread, as it has work. */
void qn_jobs_wake(struct qn_jobs *j);
/* True if this was the last reference; the caller then calls qn_run_free after unlocking. */
bool qn_run_unref(struct qn_run *r);
void qn_run_free(struct qn_run *r);

#endif
