/* Shared by the files that implement client.h: one inference request in progress. No other file
 * includes this. Loop thread, unless a function says otherwise.
 *
 * A run owns everything of one request: its lease on the model, one upstream per job, the response
 * in progress. It ends in exactly one of finish (all jobs ended), fail, or cancel, and is freed
 * there. */
#ifndef QN_INFER_RUN_PRIVATE_H
#define QN_INFER_RUN_PRIVATE_H

#include "access/auth.h"
#include "downloads/pull_first.h"
#include "infer/client.h"
#include "infer/kept.h"
#include "infer/model_choice.h"
#include "infer/reading.h"
#include "models/admission.h"
#include "models/inventory.h"
#include "models/upstream.h"
#include "telemetry/meter.h"
#include "telemetry/requests.h"

struct qn_infer_job {
    struct qn_infer_run *run;
    struct qn_upstream *up; /* NULL: not started, or ended */
    struct qn_lease *lease; /* for an additional job; NULL: the request's own lease, or released */
    int64_t done;           /* choices that are complete */
};

struct qn_infer_run {
    const struct qn_inference *with;
    const struct qn_infer_client *client;
    void *client_ctx;
    const struct qn_dialect *dialect;
    const char *as;             /* the model, whatever the request names; NULL: the named one */
    const char *name, *owner;   /* of the client, for the fair queue */
    const char *path;           /* for the list of requests */
    struct qn_capture *capture; /* NULL: its texts are not captured, or have been handed over */
    struct qn_request rq;
    struct qn_reply reply;
    struct qn_arena *arena;
    struct qn_reading reading; /* the body and its document */
    struct qn_model_choice choice;
    struct qn_buf out;
    char id[QN_REQUEST_ID_DIGITS + 1];
    char answer_id[QN_ANSWER_ID_DIGITS +
                   1]; /* gives access to the stored response, so it is never logged */
    struct qn_caller caller;
    struct qn_answer_task *to_keep; /* the complete response, if it is to be stored */
    struct qn_kept_look *look;      /* NULL: no stored responses are being loaded */
    struct qn_pull_first *first;    /* NULL: no download is waited for */
    struct qn_lease *lease;
    struct qn_infer_job *jobs;
    size_t open; /* jobs that have not ended */
    struct qn_admission admission;
    struct qn_timer *beat;
    struct qn_timer *deadline; /* NULL: no time limit */
    struct qn_timer *unread;   /* paused: the next check whether the client reads */
    int64_t unread_bytes;      /* at the last check */
    bool paused;
    bool spoken;     /* part of the response's content has been sent */
    bool retried;    /* the request has been repeated once after a failure of the child */
    bool kept;       /* the keep-alive time has been set */
    bool late;       /* the time limit has been exceeded */
    bool large;      /* work proportional to its size is done by a worker */
    bool aside;      /* a worker parses or writes: the run waits for it */
    bool ended;      /* to be freed when no worker uses it */
    size_t busy;     /* number of workers */
    unsigned round;  /* of jobs: the number of the attempt */
    qn_post_fn then; /* continuation after the worker */
    qn_err err;      /* result of the worker */
    struct qn_error error;
    size_t heard; /* bytes of events, as they would be in a response */
    int64_t began_ms, wrote_ms, limit_ms;
    struct qn_meter meter;
};

/* ---- infer.c ---- */

/* Takes a lease on the model, then starts the jobs. */
void qn_infer_wait_for_model(struct qn_infer_run *r);

/* ---- run.c ---- */

/* Calls work(r), on a worker if the request is large, then then(r) on the loop. */
void qn_infer_aside(struct qn_infer_run *r, qn_post_fn work, qn_post_fn then);
/* Called when a worker that was counted in r->busy has finished. False: the run has ended
 * meanwhile, and may have been freed. */
bool qn_infer_is_back(struct qn_infer_run *r);
void qn_infer_late_words(const struct qn_infer_run *r, struct qn_error *e);
/* Stops the run's work and releases its model; it must be freed in the same turn of the loop. */
void qn_infer_let_go(struct qn_infer_run *r);
/* Frees the run, at once or when no worker uses it any more. */
void qn_infer_free(struct qn_infer_run *r);

/* ---- run_jobs.c ---- */

/* Sequences that a job computes at once. */
int64_t qn_infer_answers(const struct qn_job *job);
void qn_infer_start_jobs(struct qn_infer_run *r); /* once the lease is granted */
void qn_infer_stop_jobs(struct qn_infer_run *r);
void qn_infer_pause_jobs(struct qn_infer_run *r, bool paused);

/* ---- note.c ---- */

/* Captures the request's body, if texts are captured now and it has a path. */
void qn_infer_note_body(struct qn_infer_run *r, const char *text, size_t n);
/* Captures what is in r->out, likewise. Called before it is sent. */
void qn_infer_note_reply(struct qn_infer_run *r);
/* Adds the run to the list of requests, with what is in r->out; before qn_meter_end. status: that
 * of the response, or of the error in a stream; 0: none. error: "" or its message. */
void qn_infer_note(struct qn_infer_run *r, enum qn_request_end end, int status, const char *error);
/* Adds a cancelled run to the list of requests, and calls qn_meter_end. Reads members that a worker
 * may be writing, so it MUST NOT be called while r->aside is true. */
void qn_infer_note_cancelled(struct qn_infer_run *r);

/* ---- run_reply.c ---- */

/* Sends what the dialect has written. */
void qn_infer_flush(struct qn_infer_run *r);
void qn_infer_beat(void *ctx); /* timer callback: sends a keep-alive if needed */
/* While the client does not read, checks whether other requests wait for the model. */
void qn_infer_watch_reader(struct qn_infer_run *r, bool watched);
/* The two ends of a request whose client waits for its response; the run is freed. */
void qn_infer_fail(struct qn_infer_run *r, const struct qn_error *e, bool loading);
void qn_infer_finish(struct qn_infer_run *r);

#endif
