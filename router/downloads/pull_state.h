/* The life cycle of a download job as a table of state × event, without threads, files or clients.
 * pulls.c carries out the effects. Pure. */
#ifndef QN_DOWNLOADS_PULL_STATE_H
#define QN_DOWNLOADS_PULL_STATE_H

#include <stdbool.h>

enum qn_pull_state {
    QN_PULL_RESOLVING, /* the hub is queried for the files that are needed */
    QN_PULL_WAITING,   /* for a free thread, or for files that other jobs fetch */
    QN_PULL_FETCHING,
    QN_PULL_FINISHING,  /* unpacking, moving files to their place, registration: cannot be cancelled
                         */
    QN_PULL_PAUSING,    /* the running step has been told to stop; next state: PAUSED, */
    QN_PULL_YIELDING,   /* WAITING, */
    QN_PULL_CANCELLING, /* CANCELLED, */
    QN_PULL_REMOVING,   /* GONE */
    QN_PULL_PAUSED,
    QN_PULL_COMPLETED,
    QN_PULL_CANCELLED,
    QN_PULL_FAILED,
    QN_PULL_GONE, /* to be freed */
    QN_PULL_STATE_COUNT
};

enum qn_pull_event {
    QN_PULL_DONE,    /* the running step succeeded; WAITING: nothing is left to fetch */
    QN_PULL_PART,    /* all files were fetched except those that other jobs are fetching */
    QN_PULL_BAD,     /* the step failed */
    QN_PULL_STOPPED, /* the step stopped as told */
    QN_PULL_TURN,    /* a thread is free, and there is something to fetch */
    QN_PULL_YIELD,   /* a job with precedence needs the thread */
    QN_PULL_PAUSE,
    QN_PULL_RESUME,
    QN_PULL_AGAIN, /* the same model was requested again */
    QN_PULL_CANCEL,
    QN_PULL_REMOVE,
    QN_PULL_EVENT_COUNT
};

enum {
    QN_PULL_FX_RESOLVE = 1, /* begin this step */
    QN_PULL_FX_FETCH = 2,
    QN_PULL_FX_FINISH = 4,
    QN_PULL_FX_STOP = 8,     /* tell the running step to stop */
    QN_PULL_FX_DISCARD = 16, /* delete what has been downloaded of files that no other job needs */
    QN_PULL_FX_SAVE = 32,    /* write the state to the catalog */
    QN_PULL_FX_TELL = 64,    /* report the end to the watching clients */
    QN_PULL_FX_FREE = 128,   /* remove it from the catalog and free it */
    QN_PULL_FX_REFUSE = 256  /* the event was a request that is impossible in this state */
};

struct qn_pull_machine {
    enum qn_pull_state state;
    bool planned; /* the needed files are known */
};

/* Starts a new job, or one from the catalog that was unfinished: returns the effects. */
unsigned qn_pull_begin(struct qn_pull_machine *m);
unsigned qn_pull_step(struct qn_pull_machine *m, enum qn_pull_event ev);

const char *qn_pull_state_name(enum qn_pull_state s); /* "fetching", for logs and "phase" */
const char *qn_pull_event_name(enum qn_pull_event ev);

/* The status for clients and the catalog: "downloading", "paused", "completed", "cancelled",
 * "error". A pause or cancellation in progress counts as done, so that a server that is killed
 * meanwhile does not continue the download. */
const char *qn_pull_status(enum qn_pull_state s);
/* The inverse: PAUSED, COMPLETED, CANCELLED, FAILED; WAITING for any other word. */
enum qn_pull_state qn_pull_status_parse(const char *status);

bool qn_pull_is_over(enum qn_pull_state s);    /* COMPLETED, CANCELLED, FAILED */
bool qn_pull_is_at_work(enum qn_pull_state s); /* a step is running */

#endif
