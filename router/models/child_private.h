/* Shared by child_process.c (the interface to the child's owner) and child_life.c (the process
 * itself). */
#ifndef QN_MODELS_CHILD_PRIVATE_H
#define QN_MODELS_CHILD_PRIVATE_H

#include "contract/control.h"
#include "models/child_link.h"
#include "models/child_process.h"
#include "models/spawn.h"

enum { QN_CHILD_URL_MAX = 64 };

/* Changes that the owner has not been notified of yet. */
enum { NEWS_STATE = 1, NEWS_PROGRESS = 2, NEWS_JOBS = 4 };

struct qn_child {
    struct qn_loop *loop;
    struct qn_http_client *client;
    char *type, *program, *name, *options;
    char **files;
    size_t n_files;
    int threads;
    int64_t context;
    struct qn_child_events ev;
    void *ctx;
    struct qn_child_limits limits;

    struct qn_instance in;
    bool has_process;
    struct qn_process proc;
    char secret[QN_SECRET_HEX + 1];
    char url[QN_CHILD_URL_MAX];
    struct qn_watch *exit_watch, *log_watch;
    struct qn_child_link link;
    struct qn_timer *log_timer; /* while reading the log pipe is paused */
    struct qn_timer *ping_timer;
    /* runs when the control socket is closed but the process still exists */
    struct qn_timer *eof_timer;
    struct qn_timer *leave_timer; /* the grace period, then the time after SIGTERM */
    struct qn_timer *backoff_timer;
    struct qn_timer *healthy_timer;
    struct qn_timer *abandon_timer; /* gives up a load that no request waits for */
    struct qn_child_log log;

    int64_t seq, pong_ms;     /* sequence number of the last ping; when the last pong arrived */
    int64_t pings_unanswered; /* since that pong */
    int64_t pings_unmoved;    /* pings since the last `loading` line */
    int stalls;               /* consecutive pongs that report a job without a step */
    int64_t began_ms, moved_ms, ended_ms; /* of the process: start, last `loading` line, end */
    int64_t grace_ms;
    double progress;
    int64_t ready_context, ready_memory, ready_gpu, ready_slots, ready_threads;
    bool ends_reasoning;
    char ready_upstream[QN_CONTROL_UPSTREAM_MAX + 1], ready_upstream_key[QN_SECRET_HEX + 1];
    bool asked_directly;
    char template_warning[QN_ERROR_MESSAGE_MAX + 1]; /* reported by the process; "": none */
    int64_t load_ms, last_use_ms;
    struct qn_error error;
    bool killed;                          /* the router sent SIGTERM or SIGKILL */
    struct qn_crash_report *crash_report; /* NULL: none */

    struct qn_child_job *jobs;
    int n_jobs;

    unsigned news;
    struct qn_timer *news_timer;
    bool *freed; /* set to true by qn_child_free while one of the owner's callbacks runs */
};

/* child_process.c: notifies the owner in the loop's next turn, never from within a call by the
 * owner. */
void qn_child_add_news(struct qn_child *c, unsigned news);

/* child_life.c: looks up the event in the state table and carries the effects out. */
void qn_child_step(struct qn_child *c, enum qn_inst_event ev);
/* The process has ended: closes its descriptors and stops its timers. */
void qn_child_close_process(struct qn_child *c);
void qn_child_bury_jobs(struct qn_child *c); /* reports the process's end to each of its jobs */
void qn_child_forget_crash_report(struct qn_child *c);
int64_t qn_child_backoff_left_ms(const struct qn_child *c);
void qn_child_timer_end(struct qn_timer **t); /* stops the timer and sets it to NULL */

#endif
