/* The interface to a child's owner: the owner's requests, the notifications, and the registration
 * of jobs. The process itself is controlled by child_life.c.
 *
 * The owner's callbacks and the jobs' `died` are called from the loop only (by a timer without
 * delay), never from within a call of the owner. */
#include "models/child_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- notifying the owner ---- */

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

void qn_child_add_news(struct qn_child *c, unsigned news)
{
    c->news |= news;
    if (!c->news_timer)
        c->news_timer = qn_timer_start(c->loop, 0, 0, on_news, c);
}

/* ---- the owner's calls ---- */

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
    c->limits =
        (struct qn_child_limits){QN_CHILD_PING_MS, QN_CHILD_PONG_LIMIT_MS, QN_CHILD_STALL_MS,
                                 QN_CHILD_PROGRESS_LIMIT_MS, QN_CHILD_LAST_WORDS_MS};
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
        qn_child_close_process(c);
        if (c->error.code == QN_OK)
            qn_fail(&c->error, QN_ECHILD, "the model was unloaded");
    }
    qn_child_bury_jobs(c);
    qn_child_timer_end(&c->backoff_timer);
    qn_child_timer_end(&c->news_timer);
    spec_free(c);
    qn_child_log_deinit(&c->log);
    free(c->crash_report);
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
    qn_child_step(c, QN_INST_BROKEN);
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
    if (limits->last_words_ms)
        c->limits.last_words_ms = limits->last_words_ms;
}

void qn_child_load(struct qn_child *c)
{
    c->last_use_ms = qn_now_ms();
    qn_child_timer_end(&c->abandon_timer);
    qn_child_step(c, QN_INST_WANT);
}

void qn_child_unwant(struct qn_child *c)
{
    qn_child_step(c, QN_INST_UNWANT);
}

static void on_abandoned(void *ctx)
{
    struct qn_child *c = ctx;
    qn_info("instance", "model=%s load=given_up no request waits for it", c->name);
    qn_child_stop(c, 0);
}

void qn_child_abandon(struct qn_child *c)
{
    qn_child_step(c, QN_INST_UNWANT);
    if (c->in.state == QN_INST_LOADING && !c->in.pinned && !c->abandon_timer)
        c->abandon_timer = qn_timer_start(c->loop, QN_CHILD_ABANDON_MS, 0, on_abandoned, c);
}

void qn_child_stop(struct qn_child *c, int64_t grace_ms)
{
    c->grace_ms = grace_ms > 0 ? grace_ms : 0;
    qn_child_step(c, QN_INST_STOP);
    if (c->in.state == QN_INST_STOPPED)
        qn_child_forget_crash_report(c);
}

void qn_child_set_pinned(struct qn_child *c, bool pinned)
{
    c->in.pinned = pinned;
    if (!pinned)
        qn_child_step(c, QN_INST_UNPINNED);
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

void qn_child_end_reasoning(struct qn_child *c, const char *job)
{
    struct qn_control m;
    if (c->in.state != QN_INST_READY)
        return;
    qn_control_init(&m, QN_CTL_END_REASONING);
    m.job = job;
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
        .ends_reasoning = c->ends_reasoning,
        .slots = c->ready_slots,
        .upstream = c->ready_upstream,
        .upstream_key = c->ready_upstream_key,
        .asked_directly = c->asked_directly,
        .template_warning = c->template_warning,
        .threads = c->ready_threads,
        .load_ms = c->in.state == QN_INST_LOADING ? qn_now_ms() - c->began_ms : c->load_ms,
        .jobs = c->n_jobs,
        .failed_loads = c->in.failed_loads,
        .last_use_ms = c->last_use_ms,
        .url = c->url,
        .error = &c->error,
        .crashes = c->in.crashes,
        .crash_loop = c->in.crashes >= QN_INST_CRASH_LOOP,
        .restart_ms = c->in.state == QN_INST_BACKOFF ? qn_child_backoff_left_ms(c) : 0,
        .crash_report = c->crash_report,
    };
}

void qn_child_ask_directly(struct qn_child *c)
{
    c->asked_directly = true;
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
    qn_child_add_news(c, NEWS_JOBS);
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
        return; /* the process has ended, and the job is detached already */
    if (j->prev)
        j->prev->next = j->next;
    else
        c->jobs = j->next;
    if (j->next)
        j->next->prev = j->prev;
    j->child = NULL;
    c->n_jobs--;
    c->last_use_ms = qn_now_ms();
    qn_child_add_news(c, NEWS_JOBS);
}

const char *qn_child_secret(const struct qn_child *c)
{
    return c->secret;
}

int64_t qn_child_last_words_ms(const struct qn_child *c)
{
    return c->limits.last_words_ms;
}

struct qn_http_client *qn_child_client(const struct qn_child *c)
{
    return c->client;
}

struct qn_loop *qn_child_loop(const struct qn_child *c)
{
    return c->loop;
}
