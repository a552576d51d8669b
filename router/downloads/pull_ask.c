/* Clients' requests to downloads: download a model; pause, resume, cancel or remove a job; give up
 * ownership; see pulls.h. */
#include "downloads/pulls.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "downloads/pull_owners.h"
#include "downloads/pull_private.h"

#include <stdlib.h>
#include <string.h>

static struct qn_pull_plan *plan_new(const struct qn_pull_order *order)
{
    struct qn_arena *a = qn_arena_new(QN_DOWNLOADS_BYTES_MAX);
    struct qn_pull_plan *plan = qn_arena_alloc(a, sizeof *plan);
    plan->arena = a;
    qn_pull_order_copy(order, a, &plan->order);
    return plan;
}

/* Drops the oldest finished jobs when there are too many. */
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

static void set_owners(struct qn_pull_job *j, char *owners)
{
    free(j->owners);
    j->owners = owners;
}

/* True when the client is the only owner of the job, or an admin. */
static bool may_change(const struct qn_pull_job *j, const struct qn_pull_wish *w)
{
    return w->admin || !w->owner ||
           (qn_pull_owners_have(j->owners, w->owner) && qn_pull_owners_count(j->owners) == 1);
}

/* True when the job has ended or is ending, so that a new request for the model does not depend on
 * it. */
static bool is_given_up(enum qn_pull_state s)
{
    return s == QN_PULL_COMPLETED || s == QN_PULL_CANCELLED || s == QN_PULL_CANCELLING ||
           s == QN_PULL_REMOVING;
}

/* Requests an existing job once more. */
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
    if (over) { /* the job's only owner may change the source; other clients repeat the earlier
                   order */
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
    if (j && p->config.offline && qn_pull_needs_others(j))
        return qn_pull_refuse_offline(j, e);
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
        qn_pull_carry_out(j, fx);
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
        if (qn_pull_is_over(j->m.state)) /* a finished job stays as it is */
            return QN_OK;
        return qn_fail_param(
            e, QN_ECONFLICT, "action", "the download of %s is %s: that cannot be done with it now",
            j->plan->order.model,
            j->m.state == QN_PULL_FINISHING ? "complete and being registered" : "being cancelled");
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
