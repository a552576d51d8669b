/* One child's life as a table: state × event → a small function that changes the state and names
 * the effects to carry out. Pure: no process, no clock, no descriptor. child_life.c carries the
 * effects out and feeds the events; what happens in which state is decided here alone. */
#ifndef QN_MODELS_INSTANCE_H
#define QN_MODELS_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

enum qn_inst_state {
    QN_INST_STOPPED,  /* no process */
    QN_INST_LOADING,  /* a process that is not ready yet */
    QN_INST_READY,    /* takes jobs */
    QN_INST_DRAINING, /* a process on its way out: finishing its jobs, or being killed */
    QN_INST_BACKOFF,  /* no process; the next one starts when the timer fires */
    QN_INST_FAILED,   /* no process, and none is started until somebody asks again */
    QN_INST_STATE_COUNT
};

enum qn_inst_event {
    QN_INST_WANT,          /* somebody needs the model */
    QN_INST_UNWANT,        /* nobody waits for it any more */
    QN_INST_UNPINNED,      /* its owner has set pinned to false */
    QN_INST_STOP,          /* it must go: unload, eviction, shutdown */
    QN_INST_CHILD_READY,   /* the child says `ready` */
    QN_INST_CHILD_FAILED,  /* the child says `failed`, and another try could end differently */
    QN_INST_CHILD_REFUSED, /* the child says `failed`, and every try would end the same way */
    QN_INST_UNHEALTHY,     /* no pong, no step, no progress, or a broken control line */
    QN_INST_BROKEN,        /* it broke the contract in one job; its others may be sound */
    QN_INST_EXITED,        /* the process is gone, or could not be started */
    QN_INST_BACKOFF_OVER,  /* the back-off timer fired */
    QN_INST_GRACE_OVER,    /* the time to finish jobs is up */
    QN_INST_TERM_OVER,     /* the time after SIGTERM is up */
    QN_INST_HEALTHY,       /* READY for QN_INST_HEALTHY_MS */
    QN_INST_EVENT_COUNT
};

/* Effects, a set of bits. */
enum {
    QN_FX_SPAWN = 1 << 0,   /* start the process and send it its `load` line */
    QN_FX_STOP = 1 << 1,    /* send the `stop` line; start the grace timer */
    QN_FX_TERM = 1 << 2,    /* SIGTERM to the group; start the timer of QN_INST_TERM_MS */
    QN_FX_KILL = 1 << 3,    /* SIGKILL to the group */
    QN_FX_BACKOFF = 1 << 4, /* start the timer of backoff_ms, counted from the process's end */
    QN_FX_LEAVE = 1 << 5,   /* it is about to end by itself: start the timer of QN_INST_TERM_MS */
};

enum {
    QN_INST_BACKOFF_FIRST_MS = 500,
    QN_INST_BACKOFF_MAX_MS = 30 * 1000,
    QN_INST_HEALTHY_MS = 60 * 1000,
    QN_INST_FAILED_LOADS_MAX = 3,
    QN_INST_CRASH_LOOP = 3, /* ends that nobody asked for, with no minute of health between */
    QN_INST_TERM_MS = 2000
};

/* Why the process is on its way out. */
enum qn_inst_end {
    QN_INST_END_CRASH,  /* nobody asked for it */
    QN_INST_END_ASKED,  /* STOP */
    QN_INST_END_FAILED, /* load failed */
    QN_INST_END_REFUSED /* load failed for good */
};

struct qn_instance {
    enum qn_inst_state state;
    enum qn_inst_end end; /* DRAINING: why */
    bool wanted;          /* somebody waits */
    bool pinned;          /* restarted even when nobody waits; set by the owner */
    bool was_ready;       /* DRAINING: it had been READY */
    int failed_loads;     /* in a row */
    int crashes;          /* in a row: ends that nobody asked for, failed loads included */
    int64_t backoff_ms;   /* 0: the next start need not wait */
};

void qn_instance_init(struct qn_instance *in, bool pinned);

/* Looks up the table, changes *in and returns the effects. An event that means nothing in a state
 * changes nothing and returns 0. */
unsigned qn_instance_step(struct qn_instance *in, enum qn_inst_event ev);

const char *qn_inst_state_name(enum qn_inst_state s); /* "stopped", "loading", ... */
const char *qn_inst_event_name(enum qn_inst_event ev);

#endif
