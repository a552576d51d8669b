/* What the files that make up infer.h share: one inference request on its way. Nobody else includes
 * this. Loop thread, unless a function says otherwise.
 *
 * A run owns everything of one request: its lease on the model, one upstream per job, the reply in
 * the making. It ends in exactly one of finish (all jobs ended), fail, or the client going away,
 * and is freed there. */
#ifndef QN_INFER_RUN_PRIVATE_H
#define QN_INFER_RUN_PRIVATE_H

#include "access/auth.h"
#include "downloads/pull_first.h"
#include "infer/infer.h"
#include "infer/kept.h"
#include "infer/model_choice.h"
#include "infer/reading.h"
#include "models/admission.h"
#include "models/inventory.h"
#include "models/upstream.h"
#include "telemetry/meter.h"

struct qn_infer_run;

struct qn_infer_job {
    struct qn_infer_run *run;
    struct qn_upstream *up; /* NULL: not started, or ended */
    struct qn_lease *lease; /* its turn; NULL: the request's own, or none any more */
    int64_t done;           /* choices that are complete */
};

struct qn_infer_run {
    const struct qn_inference *with;
    struct qn_http *http;
    const struct qn_dialect *dialect;
    const char *as; /* the model, whatever the request names; NULL: as it names */
    struct qn_request rq;
    struct qn_reply reply;
    struct qn_arena *arena;
    struct qn_reading reading; /* the body, and what it says */
    struct qn_model_choice choice;
    struct qn_buf out;
    char id[QN_REQUEST_ID_DIGITS + 1];
    char answer_id[QN_ANSWER_ID_DIGITS + 1]; /* opens the kept answer, so it is never logged */
    struct qn_caller caller;
    struct qn_kept_look *look;   /* NULL: the request goes on from nothing */
    struct qn_pull_first *first; /* NULL: the model needs not be downloaded */
    struct qn_lease *lease;
    struct qn_infer_job *jobs;
    size_t open;              /* jobs that have not ended */
    struct qn_stream *stream; /* NULL: the head has not been sent */
    struct qn_admission admission;
    struct qn_timer *beat;
    struct qn_timer *deadline; /* NULL: the answer may take any time */
    struct qn_timer *resume;   /* the stream has room again; runs outside the stream's callback */
    struct qn_timer *unread;   /* paused: the next look at what the client reads */
    int64_t unread_bytes;      /* at the last one */
    bool paused;
    bool spoken;     /* part of the answer itself has been sent */
    bool retried;    /* a broken child has been forgiven once */
    bool kept;       /* how long the model stays has been told */
    bool late;       /* the time that it may take is over */
    bool large;      /* work in proportion to its size is a worker's */
    bool aside;      /* a worker reads or writes: the run waits for it */
    bool ended;      /* it is freed when no worker is busy with it */
    size_t busy;     /* workers */
    unsigned round;  /* of jobs: each attempt is one */
    qn_post_fn then; /* what comes after aside */
    qn_err err;      /* of what was done there */
    struct qn_error error;
    size_t heard; /* bytes of events, as a reply would have them */
    int64_t began_ms, wrote_ms, limit_ms;
    struct qn_meter meter;
};

/* ---- infer.c ---- */

/* Takes a lease on the model, then starts the jobs. */
void qn_infer_wait_for_model(struct qn_infer_run *r);

/* ---- run.c ---- */

/* work(r), by a worker where the request is large, then then(r). */
void qn_infer_aside(struct qn_infer_run *r, qn_post_fn work, qn_post_fn then);
/* A worker that was counted in r->busy is back. False: the run has ended meanwhile, and may be
 * gone. */
bool qn_infer_is_back(struct qn_infer_run *r);
void qn_infer_late_words(const struct qn_infer_run *r, struct qn_error *e);
/* Gives everything back but the http request, which is answered or gone. */
void qn_infer_free(struct qn_infer_run *r);

/* ---- run_jobs.c ---- */

/* Answers that a job wants at once. */
int64_t qn_infer_answers(const struct qn_job *job);
void qn_infer_start_jobs(struct qn_infer_run *r); /* it has its lease */
void qn_infer_stop_jobs(struct qn_infer_run *r);
void qn_infer_pause_jobs(struct qn_infer_run *r, bool paused);

/* ---- run_reply.c ---- */

/* Sends what the dialect has written; the head goes first. */
void qn_infer_flush(struct qn_infer_run *r);
void qn_infer_beat(void *ctx); /* a timer's: a sign of life is due */
/* While the client does not read, it is looked at whether others wait for the model. */
void qn_infer_watch_reader(struct qn_infer_run *r, bool watched);
/* The two ends of a request that still has its client; the run is freed. */
void qn_infer_fail(struct qn_infer_run *r, const struct qn_error *e, bool loading);
void qn_infer_finish(struct qn_infer_run *r);

#endif
