/* The life of a download job as a table of state × event, without threads, files or clients in it.
 * pulls.c carries out the effects. Pure. */
#ifndef QN_DOWNLOADS_PULL_STATE_H
#define QN_DOWNLOADS_PULL_STATE_H

#include <stdbool.h>

enum qn_pull_state {
    QN_PULL_RESOLVING, /* the hub is asked which files are needed */
    QN_PULL_WAITING,   /* for a free thread, or for files that other jobs fetch */
    QN_PULL_FETCHING,
    QN_PULL_FINISHING,  /* unpacked, put in its place, made known: cannot be called off any more */
    QN_PULL_PAUSING,    /* the step at work has been told to stop; then PAUSED, */
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
    QN_PULL_DONE,    /* the step at work succeeded; WAITING: there is nothing left to fetch */
    QN_PULL_PART,    /* fetched all but what other jobs are fetching */
    QN_PULL_BAD,     /* the step failed */
    QN_PULL_STOPPED, /* the step stopped as it was told */
    QN_PULL_TURN,    /* a thread is free, and there is something to fetch */
    QN_PULL_YIELD,   /* a job that matters more needs the thread */
    QN_PULL_PAUSE,
    QN_PULL_RESUME,
    QN_PULL_AGAIN, /* somebody asked for the same model again */
    QN_PULL_CANCEL,
    QN_PULL_REMOVE,
    QN_PULL_EVENT_COUNT
};

enum {
    QN_PULL_FX_RESOLVE = 1, /* begin these steps */
    QN_PULL_FX_FETCH = 2,
    QN_PULL_FX_FINISH = 4,
    QN_PULL_FX_STOP = 8,     /* tell the step at work to stop */
    QN_PULL_FX_DISCARD = 16, /* throw away what is there of files that nobody else needs */
    QN_PULL_FX_SAVE = 32,    /* write the state to the catalog */
    QN_PULL_FX_TELL = 64,    /* it is over for those who wait: tell them how */
    QN_PULL_FX_FREE = 128,   /* remove it from the catalog and forget it */
    QN_PULL_FX_REFUSE = 256  /* the event was a request that cannot be met now */
};

struct qn_pull_machine {
    enum qn_pull_state state;
    bool planned; /* it is known which files are needed */
};

/* A new job, or one from the catalog that was at work: returns the effects of its beginning. */
unsigned qn_pull_begin(struct qn_pull_machine *m);
unsigned qn_pull_step(struct qn_pull_machine *m, enum qn_pull_event ev);

const char *qn_pull_state_name(enum qn_pull_state s); /* "fetching", for logs and "phase" */
const char *qn_pull_event_name(enum qn_pull_event ev);

/* What clients and the catalog know: "downloading", "paused", "completed", "cancelled", "error". A
 * pause or cancellation that is on its way counts as done: a server that is killed meanwhile shall
 * not go on. */
const char *qn_pull_status(enum qn_pull_state s);
/* The inverse: PAUSED, COMPLETED, CANCELLED, FAILED; WAITING for all other words. */
enum qn_pull_state qn_pull_status_parse(const char *status);

bool qn_pull_is_over(enum qn_pull_state s);    /* COMPLETED, CANCELLED, FAILED */
bool qn_pull_is_at_work(enum qn_pull_state s); /* a step runs */

#endif
