/* Shared by the files that implement pulls.h: jobs, the files they need, and their running steps.
 * No other file includes this. */
#ifndef QN_DOWNLOADS_PULL_PRIVATE_H
#define QN_DOWNLOADS_PULL_PRIVATE_H

#include "downloads/pull_state.h"
#include "downloads/pulls.h"

#include <pthread.h>

enum { QN_PULL_SLOTS = 256 }; /* of the table of blobs */

struct qn_pull_job;
struct qn_pull_run;

/* The resources for which owners take turns. */
enum qn_pull_turn { QN_PULL_TURN_RESOLVE, QN_PULL_TURN_FETCH, QN_PULL_TURNS };

/* A file that jobs need, from whichever hub. */
struct qn_pull_blob {
    struct qn_pull_blob *next; /* in its slot of the table */
    char *partial;
    size_t users;                    /* jobs with this file in their plan */
    const struct qn_pull_run *owner; /* the run that fetches it now; NULL: none */
    struct qn_pull_meter meter;
};

struct qn_pull_client {
    struct qn_pull_job *job;
    struct qn_pull_client *next;
    const struct qn_pull_events *ev;
    void *ctx;
    char *owner; /* NULL: the server itself */
    bool until_gone;
    bool told_kept;
};

struct qn_pull_job {
    struct qn_pull_job *next; /* in order of creation */
    struct qn_pulls *pulls;
    char *id;
    char *owners; /* see pull_owners.h */
    struct qn_pull_machine m;
    struct qn_pull_plan *plan;   /* holds the job's order; may have no files yet */
    struct qn_pull_blob **blobs; /* one per file */
    int64_t priority, created_s, changed_s;
    int64_t turn[QN_PULL_TURNS]; /* number of its last turn, see qn_pulls.turns; 0: none yet */
    int64_t fetches_since_ms;    /* FETCHING: since when */
    struct qn_error error;       /* FAILED: why */
    struct qn_pull_client *clients;
    bool wanted;             /* a client without until_gone asked for it */
    bool kept;               /* it has been written to the catalog */
    bool wants_resolve;      /* RESOLVING, and the worker has not begun */
    struct qn_pull_run *run; /* the running step */
    struct qn_pull_rate rate;
    int retries;          /* automatic ones, since the last request or the last received byte */
    int64_t retried_here; /* bytes on disk at the last failure */
    int64_t retry_at_ms;  /* FAILED: time of the automatic retry; 0: none */
};

/* A running step. The job outlives it: a job with a run is neither freed nor given another plan. */
struct qn_pull_run {
    struct qn_pull_job *job;
    atomic_bool stop;
    struct qn_error error;
    qn_err err;
    /* resolve: */
    struct qn_pull_plan *plan;
    /* fetch: */
    pthread_t thread;
    bool threaded; /* the thread has not been joined yet */
    struct qn_pull_part *parts;
    size_t *files; /* of each part: its index in the plan */
    size_t n;
};

struct qn_pulls {
    struct qn_pulls_config config;
    struct qn_pull_job *jobs, **last;
    struct qn_pull_blob *blobs[QN_PULL_SLOTS];
    struct qn_timer *schedule_timer, *tick_timer, *retry_timer, *slice_timer;
    size_t resolving, fetching;
    int64_t turns;     /* number of turns taken */
    size_t discarding; /* workers that delete files: no step begins until they are done */
    bool stopping;
    struct qn_pull_view_file *scratch; /* for the view that is being built */
    size_t scratch_n;
};

/* ---- pulls.c ---- */

/* Passes an event to the job, which may have been freed when this returns. */
void qn_pull_handle(struct qn_pull_job *j, enum qn_pull_event ev);
/* Carries out the effects (QN_PULL_FX_) of a job's start or of an event. May free the job, too. */
void qn_pull_carry_out(struct qn_pull_job *j, unsigned fx);
void qn_pull_tick_on(struct qn_pulls *p); /* starts the timer of progress events */
struct qn_pull_job *qn_pull_find(const struct qn_pulls *p, const char *id); /* NULL: none */
struct qn_pull_job *qn_pull_job_new(struct qn_pulls *p, const char *id, struct qn_pull_plan *plan);

/* ---- pull_schedule.c ---- */

void qn_pull_schedule_soon(struct qn_pulls *p);
/* The job has failed: schedules an automatic retry, where that makes sense. */
void qn_pull_retry_later(struct qn_pull_job *j);
/* Whether the job still has to fetch files, and its order allows requests to hubs. */
bool qn_pull_needs_others(const struct qn_pull_job *j);
qn_err qn_pull_refuse_offline(const struct qn_pull_job *j, struct qn_error *e); /* QN_ENOTFOUND */

/* ---- pull_shares.c ---- */

/* Makes room in the list for one more job of this owner ("": the server itself): from a full list a
 * job that is over is dropped, of the owner with the most jobs; an owner with QN_PULL_OWNER_MAX
 * jobs loses one of its own. QN_EBUSY: no job is over. */
qn_err qn_pull_make_room(struct qn_pulls *p, const char *owner, bool admin, struct qn_error *e);
/* The next job among those for which `may` is true: highest priority first, then owners take turns,
 * then the oldest. NULL: none. */
struct qn_pull_job *qn_pull_next(const struct qn_pulls *p, enum qn_pull_turn kind,
                                 bool (*may)(const struct qn_pull_job *j));
/* A fetching job that should be interrupted in favour of one for which `may` is true, because that
 * one has a higher priority; or the same priority and its owner has at least two threads fewer; or
 * its owner has no thread and this job has fetched for a slice (qn_pulls_config.slice_ms). A job
 * whose file could not be continued keeps its thread. NULL: none; then *look_at_ms is the time of
 * the next check, INT64_MAX: none until something changes. */
struct qn_pull_job *qn_pull_to_yield(const struct qn_pulls *p,
                                     bool (*may)(const struct qn_pull_job *j), int64_t now_ms,
                                     int64_t *look_at_ms);

/* ---- pull_blobs.c ---- */

void qn_pull_blobs_take(struct qn_pull_job *j); /* takes a reference for each file of its plan */
void qn_pull_blobs_drop(struct qn_pull_job *j);
struct qn_pull_blob *qn_pull_blob_find(const struct qn_pulls *p, const char *partial);
/* True when another job still needs this file. */
bool qn_pull_wanted_elsewhere(const struct qn_pull_job *j, const struct qn_pull_blob *b);

/* ---- pull_watch.c ---- */

/* The view is lent until the next call. */
struct qn_pull_view qn_pull_view_of(const struct qn_pull_job *j);
void qn_pull_look(struct qn_pull_job *j); /* updates its rate */
void qn_pull_tell_progress(struct qn_pull_job *j);
/* Reports the end to all watching clients. */
void qn_pull_tell_end(struct qn_pull_job *j, const struct qn_error *e);
/* Reports the end to one owner's clients. */
void qn_pull_tell_end_to(struct qn_pull_job *j, const char *owner, const struct qn_error *e);

/* ---- pull_keep.c ---- */

/* Writes the job with all its files to the catalog. */
void qn_pull_keep(struct qn_pull_job *j);
/* Writes the job's state. */
void qn_pull_mark(struct qn_pull_job *j);
/* Writes the files that its step has finished since the last call. */
void qn_pull_note_done(struct qn_pull_job *j);
/* Removes the job from the catalog. */
void qn_pull_unkeep(struct qn_pull_job *j);
/* Reads the last run's jobs from the catalog. */
void qn_pull_take_up(struct qn_pulls *p);

/* ---- pull_run.c ---- */

/* Begin a step of the job; its end is passed to qn_pull_handle. */
void qn_pull_resolve(struct qn_pull_job *j);
void qn_pull_fetch(struct qn_pull_job *j);
void qn_pull_finish(struct qn_pull_job *j);
/* Waits for the thread of its step, which has been told to stop. */
void qn_pull_join(struct qn_pull_job *j);
void qn_pull_run_free(struct qn_pull_run *r);
/* Deletes what has been downloaded of files that no other job needs. */
void qn_pull_discard(struct qn_pull_job *j);
/* Determines how much is on disk of files that were begun in an earlier run. */
void qn_pull_measure(struct qn_pulls *p, const struct qn_download_row *rows, size_t n);

#endif
