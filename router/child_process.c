/* Carries out what instance.c decides, and tells it what happens: one process, its control socket,
 * its log pipe, its timers.
 *
 * Invariants: c->proc exists exactly while c->has_process; every watch and the ping timer belong to
 * it and go with it. The owner's callbacks and the jobs' `died` are only called from the loop (a
 * timer of no delay), never from within a call of the owner. */
#include "router/child_process.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"
#include "contract/control.h"
#include "router/child_link.h"
#include "router/spawn.h"

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
    URL_MAX = 64,
    READ_BYTES = 16 * 1024,
    LOG_READS_AT_END = 16,
    LOG_READS = 8,     /* buffers of log read per wake-up: 128 KiB */
    LOG_PAUSE_MS = 10, /* then the pipe rests, so a flood costs the loop little */
    TAIL_BYTES_MAX = QN_CHILD_LOG_TAIL * (QN_CHILD_LOG_LINE_MAX + 1),
    EOF_PATIENCE_MS =
        2000, /* a closed control socket usually means that the process is just ending */
};

/* What the owner has not been told yet. */
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
    char url[URL_MAX];
    struct qn_watch *exit_watch, *log_watch;
    struct qn_child_link link;
    struct qn_timer *log_timer; /* the pipe rests */
    struct qn_timer *ping_timer;
    struct qn_timer *eof_timer;   /* the control socket is closed, the process still there */
    struct qn_timer *leave_timer; /* grace, then the time after SIGTERM */
    struct qn_timer *backoff_timer;
    struct qn_timer *healthy_timer;
    struct qn_timer *abandon_timer; /* LOADING for nobody */
    struct qn_child_log log;

    int64_t seq, pong_ms;                 /* last ping sent; when the last pong came */
    int64_t began_ms, moved_ms, ended_ms; /* of the process: start, last sign of loading, end */
    int64_t grace_ms;
    double progress;
    int64_t ready_context, ready_memory, ready_gpu, ready_slots, ready_threads;
    char ready_upstream[QN_CONTROL_UPSTREAM_MAX + 1], ready_upstream_key[QN_SECRET_HEX + 1];
    int64_t load_ms, last_use_ms;
    struct qn_error error;
    bool killed;                  /* by us, with SIGTERM or SIGKILL */
    struct qn_evidence *evidence; /* NULL: none */

    struct qn_child_job *jobs;
    int n_jobs;

    unsigned news;
    struct qn_timer *news_timer;
    bool *freed; /* set by qn_child_free while a callback of the owner runs */
};

static void step(struct qn_child *c, enum qn_inst_event ev);

/* ---- telling the owner ---- */

static void on_news(void *ctx)
{
    struct qn_child *c = ctx;
    qn_timer_stop(c->news_timer);
    c->news_timer = NULL;
    unsigned news = c->news;
    bool freed = false;
    c->news = 0;
    c->freed = &freed;
    if (news & NEWS_STATE)
        c->ev.state(c->ctx, c);
    if (!freed && (news & NEWS_PROGRESS) && c->ev.progress)
        c->ev.progress(c->ctx, c);
    if (!freed && (news & NEWS_JOBS) && c->ev.jobs)
        c->ev.jobs(c->ctx, c);
    if (!freed)
        c->freed = NULL;
}

static void add_news(struct qn_child *c, unsigned news)
{
    c->news |= news;
    if (!c->news_timer)
        c->news_timer = qn_timer_start(c->loop, 0, 0, on_news, c);
}

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
    step(c, QN_INST_UNHEALTHY);
}

/* Errors that every further try would meet again; the rest may be different next time. */
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
    c->ready_slots = m->slots;
    snprintf(c->ready_upstream, sizeof c->ready_upstream, "%s", m->upstream ? m->upstream : "");
    snprintf(c->ready_upstream_key, sizeof c->ready_upstream_key, "%s",
             m->upstream_key ? m->upstream_key : "");
    c->ready_threads = m->threads;
    c->load_ms = qn_now_ms() - c->began_ms;
    c->error = (struct qn_error){0};
    step(c, QN_INST_CHILD_READY);
}

static bool stalled(const struct qn_child *c, const struct qn_control *m)
{
    int64_t now = qn_now_ms();
    if (m->jobs == 0 || m->step_age_ms <= c->limits.stall_ms)
        return false;
    /* A child whose jobs all wait for slow readers rightly stands still. */
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
        c->progress = m->progress;
        add_news(c, NEWS_PROGRESS);
        break;
    case QN_CTL_READY:
        on_ready(c, m);
        break;
    case QN_CTL_FAILED:
        if (c->in.state == QN_INST_LOADING || c->in.state == QN_INST_READY)
            c->error = m->error;
        step(c, is_final(m->error.code) ? QN_INST_CHILD_REFUSED : QN_INST_CHILD_FAILED);
        break;
    case QN_CTL_PONG:
        c->pong_ms = qn_now_ms();
        if (stalled(c, m)) {
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
    (void)events;
    struct qn_child *c = ctx;
    bool more;
    if (!read_log(c, &more)) {
        qn_watch_remove(c->log_watch); /* every writer has closed it */
        c->log_watch = NULL;
    } else if (more) {
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

static void on_ping(void *ctx)
{
    struct qn_child *c = ctx;
    int64_t now = qn_now_ms();
    if (now - c->pong_ms > c->limits.pong_ms) {
        char why[128];
        snprintf(why, sizeof why, "the model's process did not answer for %lld seconds",
                 (long long)((now - c->pong_ms) / 1000));
        unhealthy(c, why);
        return;
    }
    if (c->in.state == QN_INST_LOADING && now - c->moved_ms > c->limits.progress_ms) {
        char why[128];
        snprintf(why, sizeof why, "loading made no progress for %lld seconds",
                 (long long)((now - c->moved_ms) / 1000));
        unhealthy(c, why);
        return;
    }
    struct qn_control m;
    qn_control_init(&m, QN_CTL_PING);
    m.seq = ++c->seq;
    qn_child_link_send(&c->link, &m);
}

static void on_healthy(void *ctx)
{
    struct qn_child *c = ctx;
    qn_timer_stop(c->healthy_timer);
    c->healthy_timer = NULL;
    step(c, QN_INST_HEALTHY);
}

/* ---- the process's beginning and end ---- */

static void timer_end(struct qn_timer **t)
{
    qn_timer_stop(*t);
    *t = NULL;
}

static void close_process(struct qn_child *c)
{
    qn_watch_remove(c->exit_watch);
    qn_child_link_close(&c->link);
    qn_watch_remove(c->log_watch);
    c->exit_watch = c->log_watch = NULL;
    timer_end(&c->log_timer);
    timer_end(&c->ping_timer);
    timer_end(&c->eof_timer);
    timer_end(&c->leave_timer);
    timer_end(&c->healthy_timer);
    timer_end(&c->abandon_timer);
    close(c->proc.pidfd);
    close(c->proc.control);
    close(c->proc.log);
    c->has_process = false;
    c->url[0] = 0;
    c->secret[0] = 0;
    c->ended_ms = qn_now_ms();
    c->ready_context = c->ready_memory = c->ready_gpu = c->ready_slots = c->ready_threads = 0;
    c->ready_upstream[0] = c->ready_upstream_key[0] = '\0';
    c->progress = 0;
}

/* Every job learns that its process is gone; each lets go of the child. */
static void bury_jobs(struct qn_child *c)
{
    while (c->jobs) {
        struct qn_child_job *j = c->jobs;
        qn_child_job_end(j);
        j->died(j->ctx);
    }
}

static void forget_evidence(struct qn_child *c)
{
    free(c->evidence);
    c->evidence = NULL;
}

/* c->error says why. how is NULL for one that could not be started. */
static void keep_evidence(struct qn_child *c, const struct qn_process_end *how)
{
    struct qn_buf tail;
    if (!c->evidence)
        c->evidence = qn_xmalloc(sizeof *c->evidence);
    qn_buf_init(&tail, TAIL_BYTES_MAX);
    qn_child_log_print(&c->log, &tail);
    *c->evidence = (struct qn_evidence){
        .exit_code = how ? how->exit_code : -1,
        .signal = how ? how->signal : 0,
        .by_us = c->killed,
        .wall_ms = qn_wall_ms(),
        .error = c->error,
    };
    qn_evidence_take_log(c->evidence, qn_buf_cstr(&tail));
    qn_buf_deinit(&tail);
}

static void on_exit_seen(void *ctx, uint32_t events)
{
    (void)events;
    struct qn_child *c = ctx;
    struct qn_process_end how;
    bool more = true;
    /* Whoever else is in its group; the number is still taken. */
    qn_process_signal(&c->proc, SIGKILL);
    /* Its last words before its end: why it failed, and what it printed. */
    qn_child_link_drain(&c->link);
    for (int i = 0; more && i < LOG_READS_AT_END && read_log(c, &more); i++)
        ;
    qn_child_log_end(&c->log, qn_now_ms());
    if (!qn_process_reap(&c->proc, false, &how))
        return;
    bool asked = c->in.state == QN_INST_DRAINING && c->in.end == QN_INST_END_ASKED;
    if (asked) {
        forget_evidence(c);
    } else {
        if (c->error.code == QN_OK)
            qn_fail(&c->error, QN_ECHILD, "the model's process %s", how.text);
        qn_warn("instance", "model=%s pid=%d process %s: %s", c->name, (int)c->proc.pid, how.text,
                c->error.message);
        keep_evidence(c, &how);
    }
    close_process(c);
    bury_jobs(c); /* before a new start forgets the error */
    step(c, QN_INST_EXITED);
}

static void start_process(struct qn_child *c)
{
    static const struct qn_child_link_events link_events = {on_message, on_link_broken,
                                                            on_link_closed};
    c->error = (struct qn_error){0};
    qn_child_log_clear(&c->log);
    c->began_ms = c->moved_ms = c->pong_ms = qn_now_ms();
    c->progress = 0;
    c->seq = 0;
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
            qn_process_reap(&c->proc, true, &how); /* killed before it has begun: at once */
            close_process(c);
        }
    }
    if (err) {
        c->ended_ms = qn_now_ms();
        qn_error_log("instance", "model=%s %s", c->name, c->error.message);
        keep_evidence(c, NULL);
        if (is_final(err))
            step(c, QN_INST_CHILD_REFUSED);
        step(c, QN_INST_EXITED);
        return;
    }
    c->ping_timer = qn_timer_start(c->loop, c->limits.ping_ms, c->limits.ping_ms, on_ping, c);
    send_load(c);
}

/* ---- effects ---- */

static void on_backoff_over(void *ctx)
{
    struct qn_child *c = ctx;
    timer_end(&c->backoff_timer);
    step(c, QN_INST_BACKOFF_OVER);
}

static void on_term_over(void *ctx)
{
    struct qn_child *c = ctx;
    timer_end(&c->leave_timer);
    step(c, QN_INST_TERM_OVER);
}

static void on_grace_over(void *ctx)
{
    struct qn_child *c = ctx;
    timer_end(&c->leave_timer);
    step(c, QN_INST_GRACE_OVER);
}

static void do_stop(struct qn_child *c)
{
    struct qn_control m;
    qn_control_init(&m, QN_CTL_STOP);
    m.grace_ms = c->grace_ms;
    timer_end(&c->leave_timer);
    c->leave_timer = qn_timer_start(c->loop, c->grace_ms, 0, on_grace_over, c);
    qn_child_link_send(&c->link, &m);
}

static void do_leave(struct qn_child *c)
{
    timer_end(&c->leave_timer);
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

static int64_t backoff_left_ms(const struct qn_child *c)
{
    int64_t wait = c->ended_ms + c->in.backoff_ms - qn_now_ms();
    return wait > 0 ? wait : 0;
}

static void do_backoff(struct qn_child *c)
{
    timer_end(&c->backoff_timer);
    c->backoff_timer = qn_timer_start(c->loop, backoff_left_ms(c), 0, on_backoff_over, c);
}

static void step(struct qn_child *c, enum qn_inst_event ev)
{
    enum qn_inst_state old = c->in.state;
    unsigned fx = qn_instance_step(&c->in, ev);
    enum qn_inst_state now = c->in.state;
    if (now != old) {
        qn_info("instance", "model=%s state=%s event=%s pid=%d", c->name, qn_inst_state_name(now),
                qn_inst_event_name(ev), c->has_process ? (int)c->proc.pid : 0);
        add_news(c, NEWS_STATE);
        timer_end(&c->healthy_timer);
        timer_end(&c->abandon_timer);
        if (old == QN_INST_BACKOFF)
            timer_end(&c->backoff_timer);
        if (now == QN_INST_READY)
            c->healthy_timer = qn_timer_start(c->loop, QN_INST_HEALTHY_MS, 0, on_healthy, c);
    }
    if (fx & QN_FX_SPAWN)
        start_process(c);
    if (c->has_process) { /* a start that failed at once has no process to act on */
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

/* ---- the owner's side ---- */

static void spec_free(struct qn_child *c)
{
    for (size_t i = 0; i < c->n_files; i++)
        free(c->files[i]);
    free(c->files);
    free(c->options);
    free(c->program);
}

static void spec_copy(struct qn_child *c, const struct qn_child_spec *spec)
{
    c->program = qn_xstrdup(spec->program);
    c->options = qn_xstrdup(spec->options ? spec->options : "{}");
    c->files = qn_xcalloc(spec->n_files ? spec->n_files : 1, sizeof *c->files);
    c->n_files = spec->n_files;
    for (size_t i = 0; i < spec->n_files; i++)
        c->files[i] = qn_xstrdup(spec->files[i]);
    c->threads = spec->threads > 0 ? spec->threads : 1;
    c->context = spec->context;
    c->in.pinned = spec->pinned;
}

qn_err qn_child_new(struct qn_loop *l, struct qn_http_client *client,
                    const struct qn_child_spec *spec, const struct qn_child_events *ev, void *ctx,
                    struct qn_child **out, struct qn_error *e)
{
    if (spec->n_files == 0 || spec->n_files > QN_CONTROL_FILES_MAX)
        return qn_fail(e, QN_EINVAL, "model %s has %zu files; between 1 and %d are possible",
                       spec->name, spec->n_files, QN_CONTROL_FILES_MAX);
    struct qn_child *c = qn_xcalloc(1, sizeof *c);
    c->loop = l;
    c->client = client;
    c->type = qn_xstrdup(spec->type);
    c->name = qn_xstrdup(spec->name);
    c->ev = *ev;
    c->ctx = ctx;
    c->limits = (struct qn_child_limits){QN_CHILD_PING_MS, QN_CHILD_PONG_LIMIT_MS,
                                         QN_CHILD_STALL_MS, QN_CHILD_PROGRESS_LIMIT_MS};
    qn_instance_init(&c->in, spec->pinned);
    spec_copy(c, spec);
    qn_child_log_init(&c->log, c->type, c->name);
    c->last_use_ms = qn_now_ms();
    *out = c;
    return QN_OK;
}

void qn_child_free(struct qn_child *c)
{
    if (!c)
        return;
    if (c->has_process) {
        struct qn_process_end how;
        qn_process_signal(&c->proc, SIGKILL);
        qn_process_reap(&c->proc, true, &how);
        close_process(c);
        if (c->error.code == QN_OK)
            qn_fail(&c->error, QN_ECHILD, "the model was unloaded");
    }
    bury_jobs(c);
    timer_end(&c->backoff_timer);
    timer_end(&c->news_timer);
    spec_free(c);
    qn_child_log_deinit(&c->log);
    free(c->evidence);
    free(c->type);
    free(c->name);
    if (c->freed)
        *c->freed = true;
    free(c);
}

void qn_child_respec(struct qn_child *c, const struct qn_child_spec *spec)
{
    spec_free(c);
    spec_copy(c, spec);
}

void qn_child_distrust(struct qn_child *c, const struct qn_error *why)
{
    if (c->error.code == QN_OK)
        c->error = *why;
    c->grace_ms = QN_CHILD_STOP_GRACE_MS;
    step(c, QN_INST_BROKEN);
}

void qn_child_set_limits(struct qn_child *c, const struct qn_child_limits *limits)
{
    if (limits->ping_ms)
        c->limits.ping_ms = limits->ping_ms;
    if (limits->pong_ms)
        c->limits.pong_ms = limits->pong_ms;
    if (limits->stall_ms)
        c->limits.stall_ms = limits->stall_ms;
    if (limits->progress_ms)
        c->limits.progress_ms = limits->progress_ms;
}

void qn_child_load(struct qn_child *c)
{
    c->last_use_ms = qn_now_ms();
    timer_end(&c->abandon_timer);
    step(c, QN_INST_WANT);
}

void qn_child_unwant(struct qn_child *c)
{
    step(c, QN_INST_UNWANT);
}

static void on_abandoned(void *ctx)
{
    struct qn_child *c = ctx;
    qn_info("instance", "model=%s load=given_up nobody waits for it any more", c->name);
    qn_child_stop(c, 0);
}

void qn_child_abandon(struct qn_child *c)
{
    step(c, QN_INST_UNWANT);
    if (c->in.state == QN_INST_LOADING && !c->in.pinned && !c->abandon_timer)
        c->abandon_timer = qn_timer_start(c->loop, QN_CHILD_ABANDON_MS, 0, on_abandoned, c);
}

void qn_child_stop(struct qn_child *c, int64_t grace_ms)
{
    c->grace_ms = grace_ms > 0 ? grace_ms : 0;
    step(c, QN_INST_STOP);
    if (c->in.state == QN_INST_STOPPED)
        forget_evidence(c);
}

void qn_child_set_pinned(struct qn_child *c, bool pinned)
{
    c->in.pinned = pinned;
}

void qn_child_set_threads(struct qn_child *c, int threads)
{
    if (threads < 1 || threads == c->threads)
        return;
    c->threads = threads;
    if (c->in.state != QN_INST_LOADING && c->in.state != QN_INST_READY)
        return;
    struct qn_control m;
    qn_control_init(&m, QN_CTL_THREADS);
    m.threads = threads;
    c->ready_threads = threads;
    qn_child_link_send(&c->link, &m);
}

struct qn_child_status qn_child_status(const struct qn_child *c)
{
    return (struct qn_child_status){
        .state = c->in.state,
        .pid = c->has_process ? c->proc.pid : 0,
        .progress = c->progress,
        .context = c->ready_context,
        .memory_bytes = c->ready_memory,
        .gpu_bytes = c->ready_gpu,
        .slots = c->ready_slots,
        .upstream = c->ready_upstream,
        .upstream_key = c->ready_upstream_key,
        .threads = c->ready_threads,
        .load_ms = c->in.state == QN_INST_LOADING ? qn_now_ms() - c->began_ms : c->load_ms,
        .jobs = c->n_jobs,
        .failed_loads = c->in.failed_loads,
        .last_use_ms = c->last_use_ms,
        .url = c->url,
        .error = &c->error,
        .crashes = c->in.crashes,
        .crash_loop = c->in.crashes >= QN_INST_CRASH_LOOP,
        .restart_ms = c->in.state == QN_INST_BACKOFF ? backoff_left_ms(c) : 0,
        .evidence = c->evidence,
    };
}

bool qn_child_has_files(const struct qn_child *c, const char *const *files, size_t n)
{
    bool same = c->n_files == n;
    for (size_t i = 0; i < n && same; i++)
        same = qn_str_eq(c->files[i], files[i]);
    return same;
}

const char *qn_child_name(const struct qn_child *c)
{
    return c->name;
}

const char *qn_child_type(const struct qn_child *c)
{
    return c->type;
}

/* ---- jobs ---- */

qn_err qn_child_job_begin(struct qn_child *c, struct qn_child_job *j, struct qn_error *e)
{
    if (c->in.state != QN_INST_READY)
        return qn_fail(e, QN_EBUSY, "model %s is %s, not ready", c->name,
                       qn_inst_state_name(c->in.state));
    j->child = c;
    j->paused = false;
    j->moving_since_ms = c->last_use_ms = qn_now_ms();
    j->prev = NULL;
    j->next = c->jobs;
    if (c->jobs)
        c->jobs->prev = j;
    c->jobs = j;
    c->n_jobs++;
    add_news(c, NEWS_JOBS);
    return QN_OK;
}

void qn_child_job_pause(struct qn_child_job *j, bool paused)
{
    if (j->paused && !paused)
        j->moving_since_ms = qn_now_ms();
    j->paused = paused;
}

void qn_child_job_end(struct qn_child_job *j)
{
    struct qn_child *c = j->child;
    if (!c)
        return; /* the process is gone, and the child has let go of it */
    if (j->prev)
        j->prev->next = j->next;
    else
        c->jobs = j->next;
    if (j->next)
        j->next->prev = j->prev;
    j->child = NULL;
    c->n_jobs--;
    c->last_use_ms = qn_now_ms();
    add_news(c, NEWS_JOBS);
}

const char *qn_child_secret(const struct qn_child *c)
{
    return c->secret;
}

struct qn_http_client *qn_child_client(const struct qn_child *c)
{
    return c->client;
}

struct qn_loop *qn_child_loop(const struct qn_child *c)
{
    return c->loop;
}
