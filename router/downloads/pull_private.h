/* What the files that make up pulls.h share: jobs, the files they need, the steps at work. Nobody
 * else includes this. */
#ifndef QN_DOWNLOADS_PULL_PRIVATE_H
#define QN_DOWNLOADS_PULL_PRIVATE_H

#include "downloads/pull_state.h"
#include "downloads/pulls.h"

#include <pthread.h>

enum { QN_PULL_SLOTS = 256 }; /* of the table of blobs */

struct qn_pull_job;
struct qn_pull_run;

/* What owners take turns at. */
enum qn_pull_turn { QN_PULL_TURN_RESOLVE, QN_PULL_TURN_FETCH, QN_PULL_TURNS };

/* A file that jobs need, wherever they found it. */
struct qn_pull_blob {
    struct qn_pull_blob *next; /* in its slot */
    char *partial;
    size_t users;                    /* jobs that have it in their plan */
    const struct qn_pull_run *owner; /* who fetches it now; NULL: nobody */
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
    struct qn_pull_job *next; /* in the order they came */
    struct qn_pulls *pulls;
    char *id;
    char *owners; /* see pull_owners.h */
    struct qn_pull_machine m;
    struct qn_pull_plan *plan;   /* its order is the job's; files may be none */
    struct qn_pull_blob **blobs; /* one per file */
    int64_t priority, created_s, changed_s;
    int64_t turn[QN_PULL_TURNS]; /* of its last turn, see qn_pulls.turns; 0: it had none */
    int64_t fetches_since_ms;    /* FETCHING */
    struct qn_error error;       /* of FAILED */
    struct qn_pull_client *clients;
    bool wanted;             /* somebody asked who did not say until_gone */
    bool kept;               /* it is in the catalog */
    bool wants_resolve;      /* RESOLVING, and the worker has not begun */
    struct qn_pull_run *run; /* the step at work */
    struct qn_pull_rate rate;
    int retries;          /* by itself, since somebody asked or something came */
    int64_t retried_here; /* bytes that were there when it failed last */
    int64_t retry_at_ms;  /* FAILED, and will be tried again then; 0: it will not */
};

/* One step at work. It outlives nothing that it points to: a job with a run is neither freed nor
 * given another plan. */
struct qn_pull_run {
    struct qn_pull_job *job;
    atomic_bool stop;
    struct qn_error error;
    qn_err err;
    /* resolve: */
    struct qn_pull_plan *plan;
    /* fetch: */
    pthread_t thread;
    bool threaded; /* and it has not been joined */
    struct qn_pull_part *parts;
    size_t *files; /* of each part: its place in the plan */
    size_t n;
};

struct qn_pulls {
    struct qn_pulls_config config;
    struct qn_pull_job *jobs, **last;
    struct qn_pull_blob *blobs[QN_PULL_SLOTS];
    struct qn_timer *schedule_timer, *tick_timer, *retry_timer, *slice_timer;
    size_t resolving, fetching;
    int64_t turns;     /* that were taken */
    size_t discarding; /* workers that throw files away: until they are done nothing is begun */
    bool stopping;
    struct qn_pull_view_file *scratch; /* of the view that is being made */
    size_t scratch_n;
};

/* ---- pulls.c ---- */

/* Something has happened to the job, which may be gone when this returns. */
void qn_pull_handle(struct qn_pull_job *j, enum qn_pull_event ev);
/* The effects (QN_PULL_FX_) of a new job's beginning, or of an event. It may be gone likewise. */
void qn_pull_carry_out(struct qn_pull_job *j, unsigned fx);
void qn_pull_tick_on(struct qn_pulls *p); /* figures will change */
struct qn_pull_job *qn_pull_find(const struct qn_pulls *p, const char *id); /* NULL: none */
struct qn_pull_job *qn_pull_job_new(struct qn_pulls *p, const char *id, struct qn_pull_plan *plan);

/* ---- pull_schedule.c ---- */

void qn_pull_schedule_soon(struct qn_pulls *p);
/* The job has failed: it may be tried again by itself. */
void qn_pull_retry_later(struct qn_pull_job *j);
/* Its files can only come from other machines, and some are missing. */
bool qn_pull_needs_others(const struct qn_pull_job *j);
qn_err qn_pull_refuse_offline(const struct qn_pull_job *j, struct qn_error *e); /* QN_ENOTFOUND */

/* ---- pull_shares.c ---- */

/* Room in the list for one more of this owner ("": the server's own): a full list loses a job that
 * is over, of the owner with the most; an owner with QN_PULL_OWNER_MAX one of its own. QN_EBUSY:
 * none is over. */
qn_err qn_pull_make_room(struct qn_pulls *p, const char *owner, bool admin, struct qn_error *e);
/* The next of those that `may`: of the highest priority, then owners take turns, then age counts.
 * NULL: none. */
struct qn_pull_job *qn_pull_next(const struct qn_pulls *p, enum qn_pull_turn kind,
                                 bool (*may)(const struct qn_pull_job *j));
/* One that fetches and should wait instead, because one that `may` is of higher priority, or of the
 * same and its owner has at least two threads less, or is of an owner without a thread and the one
 * that fetches has done so for a slice (qn_pulls_config.slice_ms). A file that could not be gone on
 * with keeps its thread. NULL: none; then *look_at_ms says when to look again, INT64_MAX: when
 * something changes. */
struct qn_pull_job *qn_pull_to_yield(const struct qn_pulls *p,
                                     bool (*may)(const struct qn_pull_job *j), int64_t now_ms,
                                     int64_t *look_at_ms);

/* ---- pull_blobs.c ---- */

void qn_pull_blobs_take(struct qn_pull_job *j); /* one for each file of its plan */
void qn_pull_blobs_drop(struct qn_pull_job *j);
struct qn_pull_blob *qn_pull_blob_find(const struct qn_pulls *p, const char *partial);
/* Another job that is not done with this file. */
bool qn_pull_wanted_elsewhere(const struct qn_pull_job *j, const struct qn_pull_blob *b);

/* ---- pull_watch.c ---- */

/* Lent until the next call. */
struct qn_pull_view qn_pull_view_of(const struct qn_pull_job *j);
void qn_pull_look(struct qn_pull_job *j); /* at its speed */
void qn_pull_tell_progress(struct qn_pull_job *j);
/* It is over for everybody who watches. */
void qn_pull_tell_end(struct qn_pull_job *j, const struct qn_error *e);
/* For one owner's clients. */
void qn_pull_tell_end_to(struct qn_pull_job *j, const char *owner, const struct qn_error *e);

/* ---- pull_keep.c ---- */

/* Writes the job with all its files, */
void qn_pull_keep(struct qn_pull_job *j);
/* its state, */
void qn_pull_mark(struct qn_pull_job *j);
/* the files that its step has finished since they were written last, */
void qn_pull_note_done(struct qn_pull_job *j);
/* nothing more. */
void qn_pull_unkeep(struct qn_pull_job *j);
/* Asks the catalog for the jobs of the last run. */
void qn_pull_take_up(struct qn_pulls *p);

/* ---- pull_run.c ---- */

/* Begin a step of the job; its end comes to qn_pull_handle. */
void qn_pull_resolve(struct qn_pull_job *j);
void qn_pull_fetch(struct qn_pull_job *j);
void qn_pull_finish(struct qn_pull_job *j);
/* Waits for the thread of its step, which has been told to stop. */
void qn_pull_join(struct qn_pull_job *j);
void qn_pull_run_free(struct qn_pull_run *r);
/* Throws away what is there of files that no other job needs. */
void qn_pull_discard(struct qn_pull_job *j);
/* Finds out how much is there of files that were begun before. */
void qn_pull_measure(struct qn_pulls *p, const struct qn_download_row *rows, size_t n);

#endif
