/* One model's child process: connects the state table of instance.c to a real process (spawn.c),
 * its control socket, its log pipe and its timers. The inventory owns one for each model it has
 * ever loaded. Loop thread only; no call blocks unless its comment says so. */
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
    QN_CHILD_PONG_LIMIT_MS = 15000, /* no pong for this long: killed */
    QN_CHILD_STALL_MS = 60000,      /* a running job without a step for this long: killed */
    /* loading without a `loading` line for this long: killed */
    QN_CHILD_PROGRESS_LIMIT_MS = 120000,
    QN_CHILD_LAST_WORDS_MS = 1000, /* how long the router waits for the second sign of a child's
                                      end, see qn_child_last_words_ms */
    QN_CHILD_STOP_GRACE_MS = 10000,
    QN_CHILD_ABANDON_MS = 3000
};

struct qn_child;

/* All strings are copied. */
struct qn_child_spec {
    const char *type;         /* backend type, "llm"; part of the log tag */
    const char *program;      /* absolute path of the backend's binary */
    const char *name;         /* the model's name: --name, log tag */
    const char *const *files; /* absolute paths */
    size_t n_files;
    const char *options; /* JSON object of backend options; NULL: {} */
    int threads;
    int64_t context; /* tokens wanted per sequence; 0: the child chooses */
    bool pinned;     /* restarted after a crash even when no request waits */
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
    int64_t load_ms;      /* duration of the last load; LOADING: so far */
    int jobs;             /* number of qn_upstream that run on the child */
    int failed_loads;     /* in a row */
    int64_t last_use_ms;  /* qn_now_ms when a job last began or ended, or the load was asked for */
    const char *url;      /* lent: base URL, "http://127.0.0.1:40123"; "" without a process */
    const char *upstream; /* lent: address of the server behind the child to which requests may be
                             forwarded; "": none */
    bool asked_directly;  /* requests other than jobs have been forwarded to that server: its cache
                             may contain prompts that the child knows nothing of */
    bool ends_reasoning;  /* it obeys qn_child_end_reasoning */
    const char *template_warning; /* lent: why a built-in template replaces the model's chat
                                     template; "": it does not */
    /* lent: the key that `upstream` wants as Authorization: Bearer; "": none */
    const char *upstream_key;
    const struct qn_error *error; /* lent: why the last process ended unexpectedly; code QN_OK: it
                                     did not. In FAILED this is the error to show. */
    int crashes;        /* consecutive unrequested ends without a minute of health in between */
    bool crash_loop;    /* QN_INST_CRASH_LOOP of them: restarts are delayed longer and longer */
    int64_t restart_ms; /* BACKOFF: milliseconds until the next start */
    /* Lent: of the last process that ended unrequested; NULL: there was none, or the child has been
     * stopped on request since. */
    const struct qn_crash_report *crash_report;
};

/* client: for the jobs; must outlive the child. */
qn_err qn_child_new(struct qn_loop *l, struct qn_http_client *client,
                    const struct qn_child_spec *spec, const struct qn_child_events *ev, void *ctx,
                    struct qn_child **out, struct qn_error *e);

/* Kills the process, if there is one, with SIGKILL and waits for its end, which takes a moment;
 * running jobs get an ERROR event from the loop, unless the loop has ended. No callback follows.
 * For a graceful end call qn_child_stop first. */
void qn_child_free(struct qn_child *c);

/* Replaces files, options, threads, context and pinned; the next start uses them. */
void qn_child_respec(struct qn_child *c, const struct qn_child_spec *spec);

void qn_child_load(struct qn_child *c); /* a request needs the model: leads to READY or FAILED,
                                           reported by the callback `state` */
/* No request waits for the model: a pending restart is cancelled, a running load goes on. */
void qn_child_unwant(struct qn_child *c);
/* Like qn_child_unwant, for a load that no client has asked for explicitly: a running load is
 * cancelled too, unless the model is requested again within QN_CHILD_ABANDON_MS, as by clients that
 * retry. */
void qn_child_abandon(struct qn_child *c);
/* Lets running jobs finish within grace_ms, accepts no new ones, then ends the process. Loading is
 * cancelled at once. */
void qn_child_stop(struct qn_child *c, int64_t grace_ms);
/* The child has violated the contract in one job: no further job is given to it. It is stopped when
 * its other jobs have ended, at the latest after QN_CHILD_STOP_GRACE_MS, and restarted as after a
 * crash. */
void qn_child_distrust(struct qn_child *c, const struct qn_error *why);
/* The first five limits above, changed for tests; 0 leaves a limit unchanged. ping_ms applies from
 * the next start. */
struct qn_child_limits {
    int64_t ping_ms, pong_ms, stall_ms, progress_ms, last_words_ms;
};
void qn_child_set_limits(struct qn_child *c, const struct qn_child_limits *limits);
void qn_child_set_pinned(struct qn_child *c, bool pinned);
/* Sets the number of threads of the running child, at once, and of later starts. */
void qn_child_set_threads(struct qn_child *c, int threads);

/* The model is to end the reasoning of a job that runs on the child, and to answer. job: its id. */
void qn_child_end_reasoning(struct qn_child *c, const char *job);

struct qn_child_status qn_child_status(const struct qn_child *c);
/* Notes that a request is forwarded unchanged to the server behind the child; this holds until that
 * server ends, see qn_child_status.asked_directly. */
void qn_child_ask_directly(struct qn_child *c);
const char *qn_child_name(const struct qn_child *c);
/* True when the child was last started with these files in this order. */
bool qn_child_has_files(const struct qn_child *c, const char *const *files, size_t n);
const char *qn_child_type(const struct qn_child *c);

/* For upstream.c: a job's registration with its child. */
struct qn_child_job {
    struct qn_child *child;
    struct qn_child_job *prev, *next;
    bool paused; /* the client does not read the response at the moment, so that the job may make no
                    step */
    int64_t moving_since_ms; /* when it was last resumed */
    void (*died)(void *ctx); /* MUST: the process has ended; qn_child_status has the error */
    void *ctx;
};
/* QN_EBUSY: not READY */
qn_err qn_child_job_begin(struct qn_child *c, struct qn_child_job *j, struct qn_error *e);
void qn_child_job_pause(struct qn_child_job *j, bool paused);
void qn_child_job_end(struct qn_child_job *j);
const char *qn_child_secret(const struct qn_child *c); /* of the running process */
/* A child's end has two signs: its connections break and its process exits. This is how long the
 * router waits for the second one after the first. */
int64_t qn_child_last_words_ms(const struct qn_child *c);
struct qn_http_client *qn_child_client(const struct qn_child *c);
struct qn_loop *qn_child_loop(const struct qn_child *c);

#endif
