/* One model's child process: ties instance.c's table to a real process (spawn.c), its control
 * socket, its log pipe and its timers. The inventory owns one per model it has ever loaded.
 * Loop thread only; no call blocks unless it says so. */
#ifndef QN_MODELS_CHILD_PROCESS_H
#define QN_MODELS_CHILD_PROCESS_H

#include "answers/crash_report.h"
#include "base/buf.h"
#include "base/error.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "models/child_log.h"
#include "models/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    QN_CHILD_PING_MS = 5000,
    QN_CHILD_PONG_LIMIT_MS = 15000,      /* no answer for so long: killed */
    QN_CHILD_STALL_MS = 60000,           /* a job without a step for so long: killed */
    QN_CHILD_PROGRESS_LIMIT_MS = 120000, /* loading without a `loading` line for so long: killed */
    QN_CHILD_LAST_WORDS_MS = 1000, /* between the end of a connection and the process's news */
    QN_CHILD_STOP_GRACE_MS = 10000,
    QN_CHILD_ABANDON_MS = 3000
};

struct qn_child;

/* Everything is copied. */
struct qn_child_spec {
    const char *type;         /* backend type, "llm"; part of the log tag */
    const char *program;      /* absolute path of the backend's binary */
    const char *name;         /* the model's name: --name, log tag */
    const char *const *files; /* absolute paths */
    size_t n_files;
    const char *options; /* JSON object of backend options; NULL: {} */
    int threads;
    int64_t context; /* tokens wanted per sequence; 0: the child chooses */
    bool pinned;     /* restarted after a crash even when nobody waits */
};

/* Called on the loop thread, never from within a qn_child_* call. A callback may call any
 * qn_child_* function, qn_child_free included. */
struct qn_child_events {
    void (*state)(void *ctx, struct qn_child *c); /* MUST: the state changed; see qn_child_status */
    void (*progress)(void *ctx, struct qn_child *c); /* MAY: more of the model is loaded */
    void (*jobs)(void *ctx, struct qn_child *c);     /* MAY: the number of running jobs changed */
};

struct qn_child_status {
    enum qn_inst_state state;
    pid_t pid;       /* 0: no process */
    double progress; /* LOADING: 0 to 1 */
    int64_t context, memory_bytes, gpu_bytes, slots,
        threads;          /* as the child said when it became ready; else 0 */
    int64_t load_ms;      /* how long the last load took; LOADING: so far */
    int jobs;             /* qn_upstream running on it */
    int failed_loads;     /* in a row */
    int64_t last_use_ms;  /* qn_now_ms when a job last began or ended, or the load was asked for */
    const char *url;      /* lent: "http://127.0.0.1:40123"; "" without a process */
    const char *upstream; /* lent: address of the server behind it that may be asked; "": none */
    bool asked_directly;  /* that server has had requests that were no jobs: prompts that the child
                             knows nothing of may be in its cache */
    const char *template_warning; /* lent: why a built-in form takes the place of the model's chat
                                     template; "": it does not */
    const char *upstream_key;     /* lent: what that wants as Authorization: Bearer; "": nothing */
    const struct qn_error *error; /* lent: why the last process ended badly; code QN_OK: it did not.
                                     In FAILED this is the error to show. */
    int crashes;        /* in a row: ends that nobody asked for, with no minute of health between */
    bool crash_loop;    /* QN_INST_CRASH_LOOP of them: it starts again more and more slowly */
    int64_t restart_ms; /* BACKOFF: until the next start */
    /* Lent: of the last process that ended though nobody had asked it to; NULL: there was none, or
     * it has been stopped on request since. */
    const struct qn_crash_report *crash_report;
};

/* client: for the jobs; must outlive the child. */
qn_err qn_child_new(struct qn_loop *l, struct qn_http_client *client,
                    const struct qn_child_spec *spec, const struct qn_child_events *ev, void *ctx,
                    struct qn_child **out, struct qn_error *e);

/* Kills the process if there is one and waits for its end (a moment: SIGKILL); running jobs get an
 * ERROR event by the loop, unless the loop has ended. No callback follows. Stop it first to be
 * kind. */
void qn_child_free(struct qn_child *c);

/* Replaces files, options, threads, context, pinned; used by the next start. */
void qn_child_respec(struct qn_child *c, const struct qn_child_spec *spec);

void qn_child_load(
    struct qn_child *c); /* somebody needs it: leads to READY or FAILED, told by `state` */
/* Nobody waits any more: a restart is given up, a load that runs goes on. */
void qn_child_unwant(struct qn_child *c);
/* The same, and nobody has asked for the load for its own sake: one that runs is given up, too,
 * unless somebody wants it within QN_CHILD_ABANDON_MS, as clients that try again do. */
void qn_child_abandon(struct qn_child *c);
/* Finish the running jobs within grace_ms, take no new ones, end. Loading is broken off at once. */
void qn_child_stop(struct qn_child *c, int64_t grace_ms);
/* It has sent what the contract does not allow, in one job: no job more is given to it; it ends
 * when its others have, within QN_CHILD_STOP_GRACE_MS, and starts again as after a crash. */
void qn_child_distrust(struct qn_child *c, const struct qn_error *why);
/* The five limits above, changed for tests; 0 keeps one as it is. ping_ms: for later starts. */
struct qn_child_limits {
    int64_t ping_ms, pong_ms, stall_ms, progress_ms, last_words_ms;
};
void qn_child_set_limits(struct qn_child *c, const struct qn_child_limits *limits);
void qn_child_set_pinned(struct qn_child *c, bool pinned);
void qn_child_set_threads(struct qn_child *c,
                          int threads); /* now, if it runs, and for later starts */

struct qn_child_status qn_child_status(const struct qn_child *c);
/* A request is handed to the server behind it as it is; until that server ends, see
 * qn_child_status.asked_directly. */
void qn_child_ask_directly(struct qn_child *c);
const char *qn_child_name(const struct qn_child *c);
/* True when these, in this order, are the files it was last started with. */
bool qn_child_has_files(const struct qn_child *c, const char *const *files, size_t n);
const char *qn_child_type(const struct qn_child *c);

/* For upstream.c: a job's registration with its child. */
struct qn_child_job {
    struct qn_child *child;
    struct qn_child_job *prev, *next;
    bool paused;             /* nobody reads its reply at the moment: it may stand still */
    int64_t moving_since_ms; /* since when it has not been paused */
    void (*died)(void *ctx); /* MUST: the process is gone; qn_child_status has the error */
    void *ctx;
};
qn_err qn_child_job_begin(struct qn_child *c, struct qn_child_job *j,
                          struct qn_error *e); /* QN_EBUSY: not READY */
void qn_child_job_pause(struct qn_child_job *j, bool paused);
void qn_child_job_end(struct qn_child_job *j);
const char *qn_child_secret(const struct qn_child *c); /* of the running process */
/* How long the other half of a bad end is waited for, when the connection has broken or the process
 * has ended. */
int64_t qn_child_last_words_ms(const struct qn_child *c);
struct qn_http_client *qn_child_client(const struct qn_child *c);
struct qn_loop *qn_child_loop(const struct qn_child *c);

#endif
