/* See pulls.h. pull_state.c has the states and what follows from an event; this file carries the
 * effects out and owns the list of jobs.
 *
 * A file that several jobs need has one blob, identified by the path of its partial file. The run
 * that fetches it owns it meanwhile; other jobs wait, show its progress, and find it complete
 * afterwards. */
#include "downloads/pulls.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "downloads/pull_owners.h"
#include "downloads/pull_private.h"

#include <stdlib.h>
#include <string.h>

void qn_pull_plan_free(struct qn_pull_plan *plan)
{
    if (plan)
        qn_arena_free(plan->arena);
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

/* Reports the job's end to its clients. */
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

void qn_pull_carry_out(struct qn_pull_job *j, unsigned fx)
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

/* The job may have been freed when this returns. */
void qn_pull_handle(struct qn_pull_job *j, enum qn_pull_event ev)
{
    enum qn_pull_state before = j->m.state;
    /* A resolution that has not begun cannot be stopped: its end follows at once. */
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
    qn_pull_carry_out(j, fx);
    if (idle && (fx & QN_PULL_FX_STOP))
        qn_pull_handle(j, QN_PULL_STOPPED);
}

/* ---- progress ---- */

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

/* ---- start and end ---- */

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
        if (j->run) /* a step whose end was not delivered */
            qn_pull_run_free(j->run);
        unlink_job(j);
        job_free(j);
    }
    free(p->scratch);
    free(p);
}

/* ---- the list ---- */

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
