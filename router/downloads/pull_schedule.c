/* Decides which jobs begin their next step, which are interrupted and which are retried; see
 * pull_private.h. schedule() runs once after every change. */
#include "downloads/pull_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"

/* ---- which jobs may begin ---- */

static bool has_work(const struct qn_pull_job *j, bool *all)
{
    bool some = false;
    *all = true;
    for (size_t i = 0; i < j->plan->n; i++) {
        *all = *all && j->plan->files[i].done;
        some = some || (!j->plan->files[i].done && !j->blobs[i]->owner);
    }
    return some;
}

static bool may_fetch(const struct qn_pull_job *j)
{
    bool all;
    return j->m.state == QN_PULL_WAITING && has_work(j, &all);
}

static bool may_resolve(const struct qn_pull_job *j)
{
    return j->wants_resolve && !j->run && (!j->pulls->config.offline || j->plan->order.local);
}

static bool some_yield(const struct qn_pulls *p)
{
    for (const struct qn_pull_job *j = p->jobs; j; j = j->next)
        if (j->m.state == QN_PULL_YIELDING)
            return true;
    return false;
}

static void begin_resolving(struct qn_pulls *p)
{
    struct qn_pull_job *j;
    while (p->resolving < QN_PULL_RESOLVES_MAX &&
           (j = qn_pull_next(p, QN_PULL_TURN_RESOLVE, may_resolve))) {
        j->turn[QN_PULL_TURN_RESOLVE] = ++p->turns;
        qn_pull_resolve(j);
    }
}

static void schedule(void *ctx);

/* Interrupts one job, or schedules the next check whether one should be. */
static void yield_one(struct qn_pulls *p)
{
    int64_t now = qn_now_ms(), look_at_ms;
    struct qn_pull_job *j = qn_pull_to_yield(p, may_fetch, now, &look_at_ms);
    if (j)
        qn_pull_handle(j, QN_PULL_YIELD);
    else if (look_at_ms < INT64_MAX)
        p->slice_timer = qn_timer_start(p->config.loop, look_at_ms - now, 0, schedule, p);
}

static void schedule(void *ctx)
{
    struct qn_pulls *p = ctx;
    bool all;
    qn_timer_stop(p->schedule_timer);
    qn_timer_stop(p->slice_timer);
    p->schedule_timer = p->slice_timer = NULL;
    if (p->stopping)
        return;
    for (struct qn_pull_job *j = p->jobs; j; j = j->next)
        if (j->m.state == QN_PULL_WAITING && !has_work(j, &all) && all)
            qn_pull_handle(j, QN_PULL_DONE);
    /* A repeated request could find files that are about to be deleted, or lose new ones. */
    if (p->discarding)
        return;
    begin_resolving(p);
    if (p->config.offline)
        return;
    struct qn_pull_job *j;
    while (p->fetching < (size_t)p->config.threads &&
           (j = qn_pull_next(p, QN_PULL_TURN_FETCH, may_fetch))) {
        j->turn[QN_PULL_TURN_FETCH] = ++p->turns;
        j->fetches_since_ms = qn_now_ms();
        qn_pull_handle(j, QN_PULL_TURN);
    }
    if (!some_yield(p))
        yield_one(p);
}

void qn_pull_schedule_soon(struct qn_pulls *p)
{
    if (!p->schedule_timer && !p->stopping)
        p->schedule_timer = qn_timer_start(p->config.loop, 0, 0, schedule, p);
}

/* ---- retries ---- */

static void on_retry(void *ctx);

/* Starts the timer for the earliest retry. */
static void set_retry_clock(struct qn_pulls *p)
{
    int64_t first = INT64_MAX, now = qn_now_ms();
    qn_timer_stop(p->retry_timer);
    p->retry_timer = NULL;
    for (const struct qn_pull_job *j = p->jobs; j; j = j->next)
        if (j->retry_at_ms && j->retry_at_ms < first)
            first = j->retry_at_ms;
    if (first < INT64_MAX && !p->stopping)
        p->retry_timer =
            qn_timer_start(p->config.loop, first > now ? first - now : 0, 0, on_retry, p);
}

static void on_retry(void *ctx)
{
    struct qn_pulls *p = ctx;
    int64_t now = qn_now_ms();
    for (struct qn_pull_job *j = p->jobs; j; j = j->next)
        if (j->retry_at_ms && j->retry_at_ms <= now)
            qn_pull_handle(j, QN_PULL_RESUME); /* frees no job */
    set_retry_clock(p);
}

void qn_pull_retry_later(struct qn_pull_job *j)
{
    struct qn_pulls *p = j->pulls;
    int64_t pause = p->config.retry_ms ? p->config.retry_ms : QN_PULL_RETRY_MS;
    struct qn_pull_view v = qn_pull_view_of(j);
    if (v.here_bytes > j->retried_here)
        j->retries = 0;
    j->retried_here = v.here_bytes;
    if (!qn_str_eq(j->error.param, QN_PULL_NETWORK) || !j->wanted || j->retries == QN_PULL_RETRIES)
        return;
    for (int i = 0; i < j->retries && pause < QN_PULL_RETRY_MAX_MS; i++)
        pause *= 2;
    j->retries++;
    j->retry_at_ms = qn_now_ms() + (pause < QN_PULL_RETRY_MAX_MS ? pause : QN_PULL_RETRY_MAX_MS);
    qn_info("pulls", "download=%s retry_in_s=%lld", j->id,
            (long long)((j->retry_at_ms - qn_now_ms() + 999) / 1000));
    set_retry_clock(p);
}

/* ---- changed settings ---- */

/* Whether the job still has to fetch files, and its order allows requests to hubs. */
bool qn_pull_needs_others(const struct qn_pull_job *j)
{
    return !j->plan->order.local && !qn_pull_is_over(j->m.state) && j->m.state != QN_PULL_FINISHING;
}

qn_err qn_pull_refuse_offline(const struct qn_pull_job *j, struct qn_error *e)
{
    return qn_fail_param(
        e, QN_ENOTFOUND, "checkpoint",
        "%s is not downloaded completely, and the server is offline: the download goes "
        "on when the setting offline is false again",
        j->plan->order.model);
}

/* The job that is interrupted first. */
static struct qn_pull_job *least(struct qn_pulls *p)
{
    struct qn_pull_job *found = NULL;
    for (struct qn_pull_job *j = p->jobs; j; j = j->next)
        if (j->m.state == QN_PULL_FETCHING && (!found || j->priority <= found->priority))
            found = j;
    return found;
}

static void go_offline(struct qn_pulls *p)
{
    struct qn_error e = {0};
    for (struct qn_pull_job *j = p->jobs; j; j = j->next) {
        if (!qn_pull_needs_others(j))
            continue;
        if (j->m.state == QN_PULL_FETCHING)
            qn_pull_handle(j, QN_PULL_YIELD); /* frees no job */
        qn_pull_refuse_offline(j, &e);
        qn_pull_tell_end(j, &e);
    }
}

static size_t count_fetching(const struct qn_pulls *p)
{
    size_t n = 0;
    for (const struct qn_pull_job *j = p->jobs; j; j = j->next)
        n += j->m.state == QN_PULL_FETCHING;
    return n;
}

void qn_pulls_set(struct qn_pulls *p, int threads, bool offline)
{
    if (p->stopping || (p->config.threads == threads && p->config.offline == offline))
        return;
    p->config.threads = threads;
    p->config.offline = offline;
    if (offline)
        go_offline(p);
    for (size_t n = count_fetching(p); n > (size_t)threads; n--)
        qn_pull_handle(least(p), QN_PULL_YIELD);
    qn_pull_schedule_soon(p);
}
