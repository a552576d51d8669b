/* Carries out the effects that instance.c decides on and feeds it the events of one process:
 * control socket, log pipe, timers.
 *
 * Invariant: c->proc is valid exactly while c->has_process; every watch and the ping timer belong
 * to the process and are removed with it. */
#include "models/child_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READ_BYTES = 16 * 1024,
    LOG_READS_AT_END = 16,
    LOG_READS = 8,     /* buffers of log read per wake-up: 128 KiB */
    LOG_PAUSE_MS = 10, /* then reading pauses, so that a flood of log lines costs the loop little */
    TAIL_BYTES_MAX = QN_CHILD_LOG_TAIL * (QN_CHILD_LOG_LINE_MAX + 1),
    STALLS = 2, /* consecutive pongs that report a stall: after a pause, the first may arrive before
                   a step */
    EOF_PATIENCE_MS = 2000, /* how long a closed control socket is tolerated: usually the process is
                               just ending */
};

/* ---- control ---- */

static void send_load(struct qn_child *c)
{
    struct qn_control m;
    qn_control_init(&m, QN_CTL_LOAD);
    m.secret = c->secret;
    m.name = c->name;
    m.files.v = (const char **)c->files;
    m.files.n = c->n_files;
    m.threads = c->threads;
    m.context = c->context;
    m.options = c->options;
    m.log_level = qn_log_level_name(qn_log_get_level());
    qn_child_link_send(&c->link, &m);
}

static void unhealthy(struct qn_child *c, const char *why)
{
    if (c->error.code == QN_OK)
        qn_fail(&c->error, QN_ECHILD, "%s", why);
    qn_child_step(c, QN_INST_UNHEALTHY);
}

/* Errors that every retry would meet again; the others may not recur. */
static bool is_final(qn_err code)
{
    switch (code) {
    case QN_EINVAL:
    case QN_EFORMAT:
    case QN_EUNSUPPORTED:
    case QN_ENOTFOUND:
    case QN_ECONFLICT:
    case QN_ELIMIT:
    case QN_ECONTEXT:
    case QN_ENOMEM:
        return true;
    default:
        return false;
    }
}

static void on_ready(struct qn_child *c, const struct qn_control *m)
{
    if (c->in.state != QN_INST_LOADING)
        return;
    c->progress = 1;
    c->ready_context = m->context;
    c->ready_memory = m->memory_bytes;
    c->ready_gpu = m->gpu_bytes;
    c->ends_reasoning = m->ends_reasoning;
    c->ready_slots = m->slots;
    snprintf(c->ready_upstream, sizeof c->ready_upstream, "%s", m->upstream ? m->upstream : "");
    snprintf(c->ready_upstream_key, sizeof c->ready_upstream_key, "%s",
             m->upstream_key ? m->upstream_key : "");
    c->ready_threads = m->threads;
    c->load_ms = qn_now_ms() - c->began_ms;
    c->error = (struct qn_error){0};
    qn_child_step(c, QN_INST_CHILD_READY);
}

static bool stalled(const struct qn_child *c, const struct qn_control *m)
{
    int64_t now = qn_now_ms();
    if (m->jobs == 0 || m->step_age_ms <= c->limits.stall_ms)
        return false;
    /* A child whose jobs all wait for slow clients makes no steps, which is no fault. */
    for (const struct qn_child_job *j = c->jobs; j; j = j->next)
        if (!j->paused && now - j->moving_since_ms > c->limits.stall_ms)
            return true;
    return false;
}

static void on_message(void *ctx, const struct qn_control *m)
{
    struct qn_child *c = ctx;
    switch (m->kind) {
    case QN_CTL_LOADING:
        c->moved_ms = qn_now_ms();
        c->pings_unmoved = 0;
        c->progress = m->progress;
        qn_child_add_news(c, NEWS_PROGRESS);
        break;
    case QN_CTL_READY:
        on_ready(c, m);
        break;
    case QN_CTL_WARNING:
        snprintf(c->template_warning, sizeof c->template_warning, "%s", m->template_warning);
        break;
    case QN_CTL_FAILED:
        if (c->in.state == QN_INST_LOADING || c->in.state == QN_INST_READY)
            c->error = m->error;
        qn_child_step(c, is_final(m->error.code) ? QN_INST_CHILD_REFUSED : QN_INST_CHILD_FAILED);
        break;
    case QN_CTL_PONG:
        c->pong_ms = qn_now_ms();
        c->pings_unanswered = 0;
        c->stalls = stalled(c, m) ? c->stalls + 1 : 0;
        if (c->stalls >= STALLS) {
            char why[128];
            snprintf(why, sizeof why, "the model made no step for %lld seconds",
                     (long long)(m->step_age_ms / 1000));
            unhealthy(c, why);
        }
        break;
    default:
        unhealthy(c, "the model's process sent a message that only the server may send");
    }
}

static void on_eof_patience_over(void *ctx)
{
    struct qn_child *c = ctx;
    qn_timer_stop(c->eof_timer);
    c->eof_timer = NULL;
    unhealthy(c, "the model's process closed its control socket");
}

static void on_link_closed(void *ctx)
{
    struct qn_child *c = ctx;
    c->eof_timer = qn_timer_start(c->loop, EOF_PATIENCE_MS, 0, on_eof_patience_over, c);
}

static void on_link_broken(void *ctx, const char *why)
{
    unhealthy(ctx, why);
}

/* ---- log ---- */

static void on_log_rested(void *ctx);

/* Reads at most LOG_READS buffers; false at the pipe's end. */
static bool read_log(struct qn_child *c, bool *more)
{
    char buf[READ_BYTES];
    *more = true;
    for (int i = 0; i < LOG_READS; i++) {
        ssize_t n = read(c->proc.log, buf, sizeof buf);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            *more = false;
            return true;
        }
        if (n <= 0)
            return false;
        qn_child_log_feed(&c->log, buf, (size_t)n, qn_now_ms());
    }
    return true;
}

static void on_log(void *ctx, uint32_t events)
{
    struct qn_child *c = ctx;
    bool more;
    if (!read_log(c, &more)) {
        qn_watch_remove(c->log_watch); /* all writers have closed the pipe */
        c->log_watch = NULL;
    } else if (more && !(events & EPOLLHUP)) {
        /* After EPOLLHUP there is no pause: it is reported even for an empty event set, and little
         * is left to read. */
        qn_watch_set(c->log_watch, 0);
        c->log_timer = qn_timer_start(c->loop, LOG_PAUSE_MS, 0, on_log_rested, c);
    }
}

static void on_log_rested(void *ctx)
{
    struct qn_child *c = ctx;
    qn_timer_stop(c->log_timer);
    c->log_timer = NULL;
    if (c->log_watch)
        qn_watch_set(c->log_watch, EPOLLIN);
}

/* ---- health ---- */

/* Time is counted in pings: while this process or the whole machine is suspended none are sent, and
 * a child that was suspended as well must not be judged unhealthy. */
static void on_ping(void *ctx)
{
    struct qn_child *c = ctx;
    int64_t now = qn_now_ms();
    if (c->pings_unanswered * c->limits.ping_ms >= c->limits.pong_ms) {
        char why[128];
        snprintf(why, sizeof why, "the model's process did not respond for %lld seconds",
                 (long long)((now - c->pong_ms) / 1000));
        unhealthy(c, why);
        return;
    }
    if (c->in.state == QN_INST_LOADING &&
        c->pings_unmoved * c->limits.ping_ms >= c->limits.progress_ms) {
        char why[128];
        snprintf(why, sizeof why, "loading made no progress for %lld seconds",
                 (long long)((now - c->moved_ms) / 1000));
        unhealthy(c, why);
        return;
    }
    struct qn_control m;
    qn_control_init(&m, QN_CTL_PING);
    m.seq = ++c->seq;
    c->pings_unanswered++;
    c->pings_unmoved++;
    qn_child_link_send(&c->link, &m);
}

static void on_healthy(void *ctx)
{
    struct qn_child *c = ctx;
    qn_timer_stop(c->healthy_timer);
    c->healthy_timer = NULL;
    qn_child_step(c, QN_INST_HEALTHY);
}

/* ---- the process's beginning and end ---- */

void qn_child_timer_end(struct qn_timer **t)
{
    qn_timer_stop(*t);
    *t = NULL;
}

void qn_child_close_process(struct qn_child *c)
{
    qn_watch_remove(c->exit_watch);
    qn_child_link_close(&c->link);
    qn_watch_remove(c->log_watch);
    c->exit_watch = c->log_watch = NULL;
    qn_child_timer_end(&c->log_timer);
    qn_child_timer_end(&c->ping_timer);
    qn_child_timer_end(&c->eof_timer);
    qn_child_timer_end(&c->leave_timer);
    qn_child_timer_end(&c->healthy_timer);
    qn_child_timer_end(&c->abandon_timer);
    close(c->proc.pidfd);
    close(c->proc.control);
    close(c->proc.log);
    c->has_process = false;
    c->url[0] = 0;
    c->secret[0] = 0;
    c->ended_ms = qn_now_ms();
    c->ready_context = c->ready_memory = c->ready_gpu = c->ready_slots = c->ready_threads = 0;
    c->ready_upstream[0] = c->ready_upstream_key[0] = c->template_warning[0] = '\0';
    c->asked_directly = false;
    c->progress = 0;
}

/* Reports the process's end to every job and detaches the jobs from the child. */
void qn_child_bury_jobs(struct qn_child *c)
{
    while (c->jobs) {
        struct qn_child_job *j = c->jobs;
        qn_child_job_end(j);
        j->died(j->ctx);
    }
}

void qn_child_forget_crash_report(struct qn_child *c)
{
    free(c->crash_report);
    c->crash_report = NULL;
}

/* c->error holds the reason. `how` is NULL for a process that could not be started. */
static void keep_crash_report(struct qn_child *c, const struct qn_process_end *how)
{
    struct qn_buf tail;
    if (!c->crash_report)
        c->crash_report = qn_xmalloc(sizeof *c->crash_report);
    qn_buf_init(&tail, TAIL_BYTES_MAX);
    qn_child_log_print(&c->log, &tail);
    *c->crash_report = (struct qn_crash_report){
        .exit_code = how ? how->exit_code : -1,
        .signal = how ? how->signal : 0,
        .by_us = c->killed,
        .wall_ms = qn_wall_ms(),
        .error = c->error,
    };
    qn_crash_report_take_log(c->crash_report, qn_buf_cstr(&tail));
    qn_buf_deinit(&tail);
}

static void on_exit_seen(void *ctx, uint32_t events)
{
    (void)events;
    struct qn_child *c = ctx;
    struct qn_process_end how;
    bool more = true;
    /* Kills the rest of its process group; the group's number is not reused before the process is
     * reaped. */
    qn_process_signal(&c->proc, SIGKILL);
    /* Reads the remaining messages and output before the end: why it failed, and what it
     * printed. */
    qn_child_link_drain(&c->link);
    for (int i = 0; more && i < LOG_READS_AT_END && read_log(c, &more); i++)
        ;
    qn_child_log_end(&c->log, qn_now_ms());
    if (!qn_process_reap(&c->proc, false, &how))
        return;
    bool asked = c->in.state == QN_INST_DRAINING && c->in.end == QN_INST_END_ASKED;
    if (asked) {
        qn_child_forget_crash_report(c);
    } else {
        if (c->error.code == QN_OK)
            qn_fail(&c->error, QN_ECHILD, "the model's process %s", how.text);
        qn_warn("instance", "model=%s pid=%d process %s: %s", c->name, (int)c->proc.pid, how.text,
                c->error.message);
        keep_crash_report(c, &how);
    }
    qn_child_close_process(c);
    qn_child_bury_jobs(c); /* before a new start clears the error */
    qn_child_step(c, QN_INST_EXITED);
}

static void start_process(struct qn_child *c)
{
    static const struct qn_child_link_events link_events = {on_message, on_link_broken,
                                                            on_link_closed};
    c->error = (struct qn_error){0};
    qn_child_log_clear(&c->log);
    c->began_ms = c->moved_ms = c->pong_ms = qn_now_ms();
    c->progress = 0;
    c->seq = c->pings_unanswered = c->pings_unmoved = 0;
    c->stalls = 0;
    c->killed = false;
    qn_err err = qn_spawn(c->program, c->name, &c->proc, &c->error);
    if (!err) {
        c->has_process = true;
        qn_random_hex(c->secret, QN_SECRET_HEX);
        snprintf(c->url, sizeof c->url, "http://127.0.0.1:%d", c->proc.port);
        err = qn_watch_add(c->loop, c->proc.pidfd, EPOLLIN, on_exit_seen, c, &c->exit_watch,
                           &c->error);
        if (!err)
            err =
                qn_child_link_open(&c->link, c->loop, c->proc.control, &link_events, c, &c->error);
        if (!err)
            err = qn_watch_add(c->loop, c->proc.log, EPOLLIN, on_log, c, &c->log_watch, &c->error);
        if (err) {
            struct qn_process_end how;
            qn_process_signal(&c->proc, SIGKILL);
            /* returns at once: the process is killed before it has begun */
            qn_process_reap(&c->proc, true, &how);
            qn_child_close_process(c);
        }
    }
    if (err) {
        c->ended_ms = qn_now_ms();
        qn_error_log("instance", "model=%s %s", c->name, c->error.message);
        keep_crash_report(c, NULL);
        if (is_final(err))
            qn_child_step(c, QN_INST_CHILD_REFUSED);
        qn_child_step(c, QN_INST_EXITED);
        return;
    }
    c->ping_timer = qn_timer_start(c->loop, c->limits.ping_ms, c->limits.ping_ms, on_ping, c);
    send_load(c);
}

/* ---- effects ---- */

static void on_backoff_over(void *ctx)
{
    struct qn_child *c = ctx;
    qn_child_timer_end(&c->backoff_timer);
    qn_child_step(c, QN_INST_BACKOFF_OVER);
}

static void on_term_over(void *ctx)
{
    struct qn_child *c = ctx;
    qn_child_timer_end(&c->leave_timer);
    qn_child_step(c, QN_INST_TERM_OVER);
}

static void on_grace_over(void *ctx)
{
    struct qn_child *c = ctx;
    qn_child_timer_end(&c->leave_timer);
    qn_child_step(c, QN_INST_GRACE_OVER);
}

static void do_stop(struct qn_child *c)
{
    struct qn_control m;
    qn_control_init(&m, QN_CTL_STOP);
    m.grace_ms = c->grace_ms;
    qn_child_timer_end(&c->leave_timer);
    c->leave_timer = qn_timer_start(c->loop, c->grace_ms, 0, on_grace_over, c);
    qn_child_link_send(&c->link, &m);
}

static void do_leave(struct qn_child *c)
{
    qn_child_timer_end(&c->leave_timer);
    c->leave_timer = qn_timer_start(c->loop, QN_INST_TERM_MS, 0, on_term_over, c);
}

static void do_kill(struct qn_child *c)
{
    c->killed = true;
    qn_process_signal(&c->proc, SIGKILL);
}

static void do_term(struct qn_child *c)
{
    c->killed = true;
    qn_process_signal(&c->proc, SIGTERM);
    do_leave(c);
}

int64_t qn_child_backoff_left_ms(const struct qn_child *c)
{
    int64_t wait = c->ended_ms + c->in.backoff_ms - qn_now_ms();
    return wait > 0 ? wait : 0;
}

static void do_backoff(struct qn_child *c)
{
    qn_child_timer_end(&c->backoff_timer);
    c->backoff_timer = qn_timer_start(c->loop, qn_child_backoff_left_ms(c), 0, on_backoff_over, c);
}

void qn_child_step(struct qn_child *c, enum qn_inst_event ev)
{
    enum qn_inst_state old = c->in.state;
    unsigned fx = qn_instance_step(&c->in, ev);
    enum qn_inst_state now = c->in.state;
    if (now != old) {
        qn_info("instance", "model=%s state=%s event=%s pid=%d", c->name, qn_inst_state_name(now),
                qn_inst_event_name(ev), c->has_process ? (int)c->proc.pid : 0);
        qn_child_add_news(c, NEWS_STATE);
        qn_child_timer_end(&c->healthy_timer);
        qn_child_timer_end(&c->abandon_timer);
        if (old == QN_INST_BACKOFF)
            qn_child_timer_end(&c->backoff_timer);
        if (now == QN_INST_READY)
            c->healthy_timer = qn_timer_start(c->loop, QN_INST_HEALTHY_MS, 0, on_healthy, c);
    }
    if (fx & QN_FX_SPAWN)
        start_process(c);
    if (c->has_process) { /* a start that failed immediately has no process to act on */
        if (fx & QN_FX_STOP)
            do_stop(c);
        if (fx & QN_FX_TERM)
            do_term(c);
        if (fx & QN_FX_LEAVE)
            do_leave(c);
        if (fx & QN_FX_KILL)
            do_kill(c);
    }
    if (fx & QN_FX_BACKOFF)
        do_backoff(c);
}
