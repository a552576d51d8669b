/* See pulls.h. After everything that changes, schedule() is due once: it says which jobs may begin
 * their next step. What a job's state is and what follows from an event is pull_state.c's; this
 * file carries the effects out.
 *
 * A file that several jobs need has one blob, known by the path it grows in. The run that fetches
 * it owns it meanwhile; other jobs wait, see its figures, and find it complete afterwards. */
#include "downloads/pulls.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "downloads/pull_owners.h"
#include "downloads/pull_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qn_pull_plan_free(struct qn_pull_plan *plan)
{
    if (plan)
        qn_arena_free(plan->arena);
}

static struct qn_pull_plan *plan_new(const struct qn_pull_order *order)
{
    struct qn_arena *a = qn_arena_new(QN_DOWNLOADS_BYTES_MAX);
    struct qn_pull_plan *plan = qn_arena_alloc(a, sizeof *plan);
    plan->arena = a;
    qn_pull_order_copy(order, a, &plan->order);
    return plan;
}

static void job_free(struct qn_pull_job *j)
{
    qn_pull_blobs_drop(j);
    qn_pull_plan_free(j->plan);
    free(j->id);
    free(j->owners);
    free(j);
}

static void unlink_job(struct qn_pull_job *j)
{
    struct qn_pulls *p = j->pulls;
    struct qn_pull_job **at = &p->jobs;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    if (!j->next)
        p->last = at;
}

struct qn_pull_job *qn_pull_find(const struct qn_pulls *p, const char *id)
{
    struct qn_pull_job *j = p->jobs;
    while (j && !qn_str_eq(j->id, id))
        j = j->next;
    return j;
}

/* What those who wait are told. */
static void tell_over(struct qn_pull_job *j)
{
    struct qn_error e = {0};
    const char *model = j->plan->order.model;
    switch (j->m.state) {
    case QN_PULL_COMPLETED:
        qn_pull_tell_end(j, NULL);
        break;
    case QN_PULL_FAILED:
        qn_pull_tell_end(j, &j->error);
        break;
    case QN_PULL_PAUSED:
        qn_fail(&e, QN_ECANCELLED, "the download of %s was paused: pull it again to go on", model);
        qn_pull_tell_end(j, &e);
        break;
    default:
        qn_fail(&e, QN_ECANCELLED, "the download of %s was cancelled", model);
        qn_pull_tell_end(j, &e);
        break;
    }
}

static void carry_out(struct qn_pull_job *j, unsigned fx)
{
    struct qn_pulls *p = j->pulls;
    if (fx & QN_PULL_FX_STOP && j->run)
        atomic_store(&j->run->stop, true);
    if (fx & QN_PULL_FX_RESOLVE)
        j->wants_resolve = true;
    if (fx & QN_PULL_FX_DISCARD)
        qn_pull_discard(j);
    if (fx & QN_PULL_FX_SAVE)
        qn_pull_mark(j);
    if (fx & QN_PULL_FX_TELL)
        tell_over(j);
    if (fx & QN_PULL_FX_FETCH)
        qn_pull_fetch(j);
    if (fx & QN_PULL_FX_FINISH)
        qn_pull_finish(j);
    if (fx & QN_PULL_FX_FREE) {
        qn_pull_unkeep(j);
        unlink_job(j);
        job_free(j);
    }
    qn_pull_tick_on(p);
    qn_pull_schedule_soon(p);
}

/* The job may be gone when it returns. */
void qn_pull_handle(struct qn_pull_job *j, enum qn_pull_event ev)
{
    enum qn_pull_state before = j->m.state;
    /* A resolution that has not begun has nobody to stop: what was to follow follows at once. */
    bool idle = j->wants_resolve;
    unsigned fx = qn_pull_step(&j->m, ev);
    if (j->m.state != before) {
        qn_info("pulls", "download=%s state=%s%s%s%s", j->id, qn_pull_state_name(j->m.state),
                j->m.state == QN_PULL_FAILED ? " message=\"" : "",
                j->m.state == QN_PULL_FAILED ? j->error.message : "",
                j->m.state == QN_PULL_FAILED ? "\"" : "");
        j->wants_resolve = false;
        j->retry_at_ms = 0;
        if (j->m.state == QN_PULL_FAILED)
            qn_pull_retry_later(j);
    }
    carry_out(j, fx);
    if (idle && (fx & QN_PULL_FX_STOP))
        qn_pull_handle(j, QN_PULL_STOPPED);
}

/* ---- who may begin ---- */

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

/* The job that would give way first. */
static struct qn_pull_job *least(struct qn_pulls *p)
{
    struct qn_pull_job *found = NULL;
    for (struct qn_pull_job *j = p->jobs; j; j = j->next)
        if (j->m.state == QN_PULL_FETCHING && (!found || j->priority <= found->priority))
            found = j;
    return found;
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

/* One job gives way, or it is looked at later whether one should. */
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
    /* What is asked for again could find files that are about to go, or lose new ones. */
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

/* ---- once more ---- */

static void on_retry(void *ctx);

/* The clock for the first of those that will be tried again. */
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
            qn_pull_handle(j, QN_PULL_RESUME); /* which frees no job */
    set_retry_clock(p);
}

void qn_pull_retry_later(struct qn_pull_job *j)
{
    struct qn_pulls *p = j->pulls;
    int64_t pause = p->config.retry_ms ? p->config.retry_ms : QN_PULL_RETRY_MS;
    int64_t here, total;
    struct qn_pull_view v = qn_pull_view_of(j);
    qn_pull_view_sums(&v, &here, &total);
    if (here > j->retried_here)
        j->retries = 0;
    j->retried_here = here;
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

/* ---- figures ---- */

static void tick(void *ctx)
{
    struct qn_pulls *p = ctx;
    bool busy = false;
    for (struct qn_pull_job *j = p->jobs; j; j = j->next) {
        if (!j->run && !j->clients)
            continue;
        busy = true;
        qn_pull_note_done(j);
        qn_pull_look(j);
        qn_pull_tell_progress(j);
    }
    if (!busy) {
        qn_timer_stop(p->tick_timer);
        p->tick_timer = NULL;
    }
}

void qn_pull_tick_on(struct qn_pulls *p)
{
    if (!p->tick_timer && !p->stopping)
        p->tick_timer = qn_timer_start(p->config.loop, QN_PULL_TICK_MS, QN_PULL_TICK_MS, tick, p);
}

/* ---- the beginning ---- */

struct qn_pull_job *qn_pull_job_new(struct qn_pulls *p, const char *id, struct qn_pull_plan *plan)
{
    struct qn_pull_job *j = qn_xcalloc(1, sizeof *j);
    j->pulls = p;
    j->id = qn_xstrdup(id);
    j->owners = qn_xstrdup("");
    j->plan = plan;
    j->created_s = j->changed_s = qn_wall_ms() / 1000;
    *p->last = j;
    p->last = &j->next;
    return j;
}

struct qn_pulls *qn_pulls_new(const struct qn_pulls_config *config)
{
    struct qn_pulls *p = qn_xcalloc(1, sizeof *p);
    p->config = *config;
    p->last = &p->jobs;
    qn_pull_take_up(p);
    return p;
}

void qn_pulls_drain(struct qn_pulls *p)
{
    struct qn_error e = {0};
    if (p->stopping)
        return;
    p->stopping = true;
    qn_timer_stop(p->schedule_timer);
    qn_timer_stop(p->tick_timer);
    qn_timer_stop(p->retry_timer);
    qn_timer_stop(p->slice_timer);
    p->schedule_timer = p->tick_timer = p->retry_timer = p->slice_timer = NULL;
    qn_fail(&e, QN_EBUSY, "the server is stopping: the download goes on when it is started again");
    for (struct qn_pull_job *j = p->jobs; j; j = j->next) {
        if (j->run)
            atomic_store(&j->run->stop, true);
        qn_pull_tell_end(j, &e);
    }
}

void qn_pulls_stop(struct qn_pulls *p)
{
    if (!p)
        return;
    qn_pulls_drain(p);
    for (struct qn_pull_job *j = p->jobs; j; j = j->next) {
        qn_pull_join(j);
        qn_pull_note_done(j);
    }
}

void qn_pulls_free(struct qn_pulls *p)
{
    if (!p)
        return;
    while (p->jobs) {
        struct qn_pull_job *j = p->jobs;
        if (j->run) /* a step that nobody has told the end of */
            qn_pull_run_free(j->run);
        unlink_job(j);
        job_free(j);
    }
    free(p->scratch);
    free(p);
}

/* ---- what clients ask ---- */

/* The oldest ones that are over make room for new ones. */
static void trim(struct qn_pulls *p)
{
    size_t n = 0;
    for (struct qn_pull_job *j = p->jobs; j; j = j->next)
        n += qn_pull_is_over(j->m.state);
    for (struct qn_pull_job *j = p->jobs, *next; j && n > QN_PULL_FINISHED_MAX; j = next) {
        next = j->next;
        if (j->m.state == QN_PULL_COMPLETED || j->m.state == QN_PULL_CANCELLED) {
            qn_pull_handle(j, QN_PULL_REMOVE);
            n--;
        }
    }
}

/* Its files can only come from other machines, and some are missing. */
static bool needs_others(const struct qn_pull_job *j)
{
    return !j->plan->order.local && !qn_pull_is_over(j->m.state) && j->m.state != QN_PULL_FINISHING;
}

static qn_err refuse_offline(const struct qn_pull_job *j, struct qn_error *e)
{
    return qn_fail_param(e, QN_ENOTFOUND, "checkpoint",
                         "%s has not come as a whole, and the server is offline: its download goes "
                         "on when the setting offline is false again",
                         j->plan->order.model);
}

static void set_owners(struct qn_pull_job *j, char *owners)
{
    free(j->owners);
    j->owners = owners;
}

/* The job belongs to the asker alone, or an admin asks. */
static bool may_change(const struct qn_pull_job *j, const struct qn_pull_wish *w)
{
    return w->admin || !w->owner ||
           (qn_pull_owners_have(j->owners, w->owner) && qn_pull_owners_count(j->owners) == 1);
}

/* The job has ended or is ending: a new request for the model does not depend on it. */
static bool is_given_up(enum qn_pull_state s)
{
    return s == QN_PULL_COMPLETED || s == QN_PULL_CANCELLED || s == QN_PULL_CANCELLING ||
           s == QN_PULL_REMOVING;
}

/* A job that was there is asked for once more. */
static qn_err join(struct qn_pull_job *j, const struct qn_pull_wish *wish, struct qn_error *e)
{
    const struct qn_pull_order *order = wish->order;
    bool over = qn_pull_is_over(j->m.state), given_up = is_given_up(j->m.state);
    bool same = qn_pull_order_same(&j->plan->order, order);
    bool may = given_up || may_change(j, wish);
    if (over && !may && !same)
        return qn_fail_param(e, QN_ECONFLICT, "model_name",
                             "another client has begun to download %s from elsewhere: choose "
                             "another name, or have an admin remove that download",
                             order->model);
    if (may && wish->priority != QN_UNSET_PRIORITY)
        j->priority = wish->priority;
    if (given_up)
        set_owners(j, qn_xstrdup(""));
    if (wish->owner)
        set_owners(j, qn_pull_owners_with(j->owners, wish->owner));
    if (over) { /* an owner may ask for it from elsewhere now, others for what it was */
        struct qn_pull_plan *plan = plan_new(may ? order : &j->plan->order);
        if (j->m.state == QN_PULL_FAILED && !same)
            qn_pull_discard(j);
        qn_pull_blobs_drop(j);
        qn_pull_plan_free(j->plan);
        j->plan = plan;
        j->wanted = j->kept = false;
    }
    if (over || wish->owner)
        qn_pull_keep(j);
    j->retries = 0;
    qn_pull_handle(j, QN_PULL_AGAIN);
    return QN_OK;
}

static qn_err begin(struct qn_pulls *p, const char *id, const struct qn_pull_wish *wish,
                    struct qn_pull_job **out, struct qn_error *e)
{
    const struct qn_pull_order *order = wish->order;
    struct qn_pull_job *j = qn_pull_find(p, id);
    qn_err err = QN_OK;
    if (j && !qn_pull_is_over(j->m.state) && !qn_pull_order_same(&j->plan->order, order))
        return qn_fail_param(e, QN_ECONFLICT, "model_name",
                             "%s is being downloaded from %s: wait until that is over, or cancel "
                             "it",
                             order->model, j->plan->order.checkpoints[0].ref);
    if (j && p->config.offline && needs_others(j))
        return refuse_offline(j, e);
    if (!j) {
        trim(p);
        const char *owner = wish->owner ? wish->owner : "";
        err = qn_pull_make_room(p, owner, wish->admin || !wish->owner, e);
        if (err)
            return err;
        j = qn_pull_job_new(p, id, plan_new(order));
        if (wish->priority != QN_UNSET_PRIORITY)
            j->priority = wish->priority;
        if (wish->owner)
            set_owners(j, qn_xstrdup(wish->owner));
        qn_info("pulls", "download=%s from=%s", id, order->checkpoints[0].ref);
        unsigned fx = qn_pull_begin(&j->m) & ~(unsigned)QN_PULL_FX_SAVE;
        qn_pull_keep(j);
        carry_out(j, fx);
    } else {
        err = join(j, wish, e);
    }
    *out = j;
    return err;
}

qn_err qn_pulls_ask(struct qn_pulls *p, const struct qn_pull_wish *wish,
                    const struct qn_pull_events *ev, void *ctx, struct qn_pull_client **out,
                    struct qn_error *e)
{
    struct qn_pull_job *j = NULL;
    struct qn_buf id;
    if (p->stopping)
        return qn_fail(e, QN_EBUSY, "the server is stopping");
    qn_buf_init(&id, 1024);
    qn_buf_fmt(&id, "model:%s", wish->order->model);
    qn_err err = begin(p, qn_buf_cstr(&id), wish, &j, e);
    qn_buf_deinit(&id);
    if (err)
        return err;
    struct qn_pull_client *c = qn_xcalloc(1, sizeof *c);
    c->job = j;
    c->ev = ev;
    c->ctx = ctx;
    c->owner = wish->owner ? qn_xstrdup(wish->owner) : NULL;
    c->until_gone = wish->until_gone;
    j->wanted = j->wanted || !wish->until_gone;
    c->next = j->clients;
    j->clients = c;
    qn_pull_tick_on(p);
    *out = c;
    return QN_OK;
}

void qn_pulls_each(const struct qn_pulls *p, void (*fn)(void *ctx, const struct qn_pull_view *v),
                   void *ctx)
{
    for (const struct qn_pull_job *j = p->jobs; j; j = j->next) {
        struct qn_pull_view v = qn_pull_view_of(j);
        fn(ctx, &v);
    }
}

bool qn_pulls_view(const struct qn_pulls *p, const char *id,
                   void (*fn)(void *ctx, const struct qn_pull_view *v), void *ctx)
{
    const struct qn_pull_job *j = qn_pull_find(p, id);
    if (!j)
        return false;
    struct qn_pull_view v = qn_pull_view_of(j);
    fn(ctx, &v);
    return true;
}

bool qn_pulls_share(const struct qn_pulls *p, const char *id, const char *owner,
                    enum qn_pull_share *out)
{
    const struct qn_pull_job *j = qn_pull_find(p, id);
    if (!j)
        return false;
    *out = !qn_pull_owners_have(j->owners, owner) ? QN_PULL_OF_OTHERS
           : qn_pull_owners_count(j->owners) > 1  ? QN_PULL_OF_SEVERAL
                                                  : QN_PULL_OWN;
    return true;
}

void qn_pulls_give_up(struct qn_pulls *p, const char *id, const char *owner)
{
    struct qn_pull_job *j = qn_pull_find(p, id);
    struct qn_error e = {0};
    if (!j || p->stopping)
        return;
    set_owners(j, qn_pull_owners_without(j->owners, owner));
    qn_pull_keep(j);
    qn_fail(&e, QN_ECANCELLED, "the download of %s was cancelled; it goes on for others",
            j->plan->order.model);
    qn_pull_tell_end_to(j, owner, &e);
}

static struct qn_pull_job *named(const struct qn_pulls *p, const char *id, struct qn_error *e)
{
    struct qn_pull_job *j = qn_pull_find(p, id);
    if (!j)
        qn_fail_param(e, QN_ENOTFOUND, "id",
                      "there is no download '%.200s': GET /v1/downloads lists them", id);
    return j;
}

qn_err qn_pulls_control(struct qn_pulls *p, const char *id, enum qn_pull_control what,
                        struct qn_error *e)
{
    static const enum qn_pull_event events[] = {QN_PULL_PAUSE, QN_PULL_RESUME, QN_PULL_CANCEL,
                                                QN_PULL_REMOVE};
    struct qn_pull_job *j = named(p, id, e);
    if (!j)
        return QN_ENOTFOUND;
    if (p->stopping)
        return qn_fail(e, QN_EBUSY, "the server is stopping");
    struct qn_pull_machine tried = j->m;
    if (qn_pull_step(&tried, events[what]) & QN_PULL_FX_REFUSE) {
        if (qn_pull_is_over(j->m.state)) /* what is over stays as it is */
            return QN_OK;
        return qn_fail_param(e, QN_ECONFLICT, "action",
                             "the download of %s is %s: that cannot be done with it now",
                             j->plan->order.model,
                             j->m.state == QN_PULL_FINISHING ? "complete and being put in its place"
                                                             : "being cancelled");
    }
    if (what == QN_PULL_DO_RESUME)
        j->wanted = true;
    qn_pull_handle(j, events[what]);
    return QN_OK;
}

qn_err qn_pulls_set_priority(struct qn_pulls *p, const char *id, int64_t priority,
                             struct qn_error *e)
{
    struct qn_pull_job *j = named(p, id, e);
    if (!j)
        return QN_ENOTFOUND;
    j->priority = priority;
    qn_pull_mark(j);
    qn_pull_schedule_soon(p);
    return QN_OK;
}

bool qn_pulls_forget_model(struct qn_pulls *p, const char *model)
{
    for (struct qn_pull_job *j = p ? p->jobs : NULL; j; j = j->next)
        if (qn_str_eq(j->plan->order.model, model)) {
            bool may = j->m.state != QN_PULL_FINISHING;
            if (may)
                qn_pull_handle(j, QN_PULL_REMOVE);
            return may;
        }
    return true;
}

bool qn_pulls_wants(const struct qn_pulls *p, const char *model)
{
    for (const struct qn_pull_job *j = p->jobs; j; j = j->next)
        if (qn_str_eq(j->plan->order.model, model))
            return j->m.state != QN_PULL_COMPLETED && j->m.state != QN_PULL_CANCELLED;
    return false;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t qn_pulls_partials(const struct qn_pulls *p, char ***out)
{
    size_t n = 0, room = 0;
    char **list = NULL;
    for (const struct qn_pull_job *j = p->jobs; j; j = j->next) {
        if (j->m.state == QN_PULL_CANCELLED || j->m.state == QN_PULL_COMPLETED)
            continue;
        for (size_t i = 0; i < j->plan->n; i++) {
            if (n == room) {
                room = room ? 2 * room : 64;
                list = qn_xrealloc(list, room * sizeof *list);
            }
            list[n++] = qn_xstrdup(j->plan->files[i].partial);
        }
    }
    if (n)
        qsort(list, n, sizeof *list, compare);
    *out = list;
    return n;
}

static void go_offline(struct qn_pulls *p)
{
    struct qn_error e = {0};
    for (struct qn_pull_job *j = p->jobs; j; j = j->next) {
        if (!needs_others(j))
            continue;
        if (j->m.state == QN_PULL_FETCHING)
            qn_pull_handle(j, QN_PULL_YIELD); /* which frees no job */
        refuse_offline(j, &e);
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
