/* The life cycle of one child as a table: state × event → a small function that changes the state
 * and names the effects to carry out. Pure: no process, no clock, no descriptor. child_life.c
 * carries the effects out and feeds the events; which event does what in which state is decided in
 * this table alone. */
#ifndef QN_MODELS_INSTANCE_H
#define QN_MODELS_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

enum qn_inst_state {
    QN_INST_STOPPED,  /* no process */
    QN_INST_LOADING,  /* a process that is not ready yet */
    QN_INST_READY,    /* takes jobs */
    QN_INST_DRAINING, /* a process that is about to end: finishing its jobs, or being killed */
    QN_INST_BACKOFF,  /* no process; the next one starts when the timer fires */
    QN_INST_FAILED,   /* no process, and none is started until the model is requested again */
    QN_INST_STATE_COUNT
};

enum qn_inst_event {
    QN_INST_WANT,          /* a request needs the model */
    QN_INST_UNWANT,        /* no request waits for it */
    QN_INST_UNPINNED,      /* the model's option pinned has become false */
    QN_INST_STOP,          /* the process must end: unload, eviction, shutdown */
    QN_INST_CHILD_READY,   /* the child sent `ready` */
    QN_INST_CHILD_FAILED,  /* the child sent `failed`, and a retry could succeed */
    QN_INST_CHILD_REFUSED, /* the child sent `failed`, and every retry would fail in the same way */
    QN_INST_UNHEALTHY, /* no pong, no step or no progress within the limit, or an invalid control
                          line */
    QN_INST_BROKEN,    /* the child violated the contract in one job; its other jobs may be valid */
    QN_INST_EXITED,    /* the process has ended, or could not be started */
    QN_INST_BACKOFF_OVER, /* the back-off timer fired */
    QN_INST_GRACE_OVER,   /* the grace period for running jobs is over */
    QN_INST_TERM_OVER,    /* the time after SIGTERM is over */
    QN_INST_HEALTHY,      /* READY for QN_INST_HEALTHY_MS */
    QN_INST_EVENT_COUNT
};

/* Effects, a set of bits. */
enum {
    QN_FX_SPAWN = 1 << 0,   /* start the process and send it its `load` line */
    QN_FX_STOP = 1 << 1,    /* send the `stop` line; start the grace timer */
    QN_FX_TERM = 1 << 2,    /* SIGTERM to the group; start the timer of QN_INST_TERM_MS */
    QN_FX_KILL = 1 << 3,    /* SIGKILL to the group */
    QN_FX_BACKOFF = 1 << 4, /* start the timer of backoff_ms, counted from the process's end */
    /* the process is about to end by itself: start the timer of QN_INST_TERM_MS */
    QN_FX_LEAVE = 1 << 5,
};

enum {
    QN_INST_BACKOFF_FIRST_MS = 500,
    QN_INST_BACKOFF_MAX_MS = 30 * 1000,
    QN_INST_HEALTHY_MS = 60 * 1000,
    QN_INST_FAILED_LOADS_MAX = 3,
    /* consecutive unrequested ends, without a minute of health in between */
    QN_INST_CRASH_LOOP = 3,
    QN_INST_TERM_MS = 2000
};

/* Why the process is about to end. */
enum qn_inst_end {
    QN_INST_END_CRASH,  /* unrequested */
    QN_INST_END_ASKED,  /* STOP */
    QN_INST_END_FAILED, /* load failed */
    QN_INST_END_REFUSED /* load failed, and a retry is useless */
};

struct qn_instance {
    enum qn_inst_state state;
    enum qn_inst_end end; /* DRAINING: why */
    bool wanted;          /* a request waits for the model */
    bool pinned;          /* restarted even when no request waits; set by the child's owner */
    bool was_ready;       /* DRAINING: it had been READY */
    int failed_loads;     /* in a row */
    int crashes;          /* consecutive: unrequested ends, failed loads included */
    int64_t backoff_ms;   /* 0: the next start is not delayed */
};

void qn_instance_init(struct qn_instance *in, bool pinned);

/* Looks up the table, changes *in and returns the effects. An event without a cell in a state
 * changes nothing and returns 0. */
unsigned qn_instance_step(struct qn_instance *in, enum qn_inst_event ev);

const char *qn_inst_state_name(enum qn_inst_state s); /* "stopped", "loading", ... */
const char *qn_inst_event_name(enum qn_inst_event ev);

#endif
