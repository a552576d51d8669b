/* Loads: the options that requests ask a model to be started with, beyond the saved options and the
 * settings.
 *
 * A load belongs to the leases that wait for it. The newest load of the waiting leases is the one
 * that the model is started with next; it is dropped when the last of its leases is released. While
 * a process starts with a load, the model slot holds it as `trying`. When that process is ready,
 * the load becomes `kept`, and the model is started with it until it is unloaded on request or
 * loaded with other options. When the process fails, the leases of this load are refused (no others
 * are), and the model slot returns to its earlier state: a process that was stopped for this load
 * is started again with its earlier options. Stopping first costs the requests of that process the
 * time of one load if the new one fails, but never needs memory for two processes of one model. See
 * inventory_private.h. */
#include "models/inventory_private.h"

#include "base/str.h"
#include "models/load_options.h"

#include <stdlib.h>
#include <string.h>

static struct qn_model_slot_load *load_new(struct qn_inventory *inv, int64_t context,
                                           const char *options)
{
    struct qn_model_slot_load *x = qn_xcalloc(1, sizeof *x);
    x->refs = 1;
    x->serial = ++inv->loads;
    x->context = context;
    x->options = options ? qn_xstrdup(options) : NULL;
    return x;
}

struct qn_model_slot_load *qn_model_slot_load_ref(struct qn_model_slot_load *x)
{
    if (x)
        x->refs++;
    return x;
}

void qn_model_slot_load_unref(struct qn_model_slot_load *x)
{
    if (!x || --x->refs)
        return;
    free(x->options);
    free(x->saved);
    free(x);
}

static void set(struct qn_model_slot_load **at, struct qn_model_slot_load *x)
{
    struct qn_model_slot_load *old = *at;
    *at = x;
    qn_model_slot_load_unref(old);
}

/* The load's options hold for later starts. A load without options keeps nothing, so that unloading
 * a model that is neither loaded nor has kept options reports that. */
static void keep(struct qn_model_slot *p, struct qn_model_slot_load *x)
{
    bool asks = x->context != QN_UNSET || x->options || x->saved;
    set(&p->load.kept, asks ? qn_model_slot_load_ref(x) : NULL);
}

struct qn_model_slot_load *qn_model_slot_asked(const struct qn_model_slot *p)
{
    struct qn_model_slot_load *newest = NULL;
    for (struct qn_fair_item *i = p->queue.with_load ? p->queue.waiting.oldest : NULL; i;
         i = i->newer) {
        struct qn_model_slot_load *x = qn_lease_of(i)->load;
        if (x && (!newest || x->serial > newest->serial))
            newest = x;
    }
    return newest;
}

struct qn_model_slot_load *qn_model_slot_next_load(const struct qn_model_slot *p)
{
    struct qn_model_slot_load *asked = qn_model_slot_asked(p);
    if (asked && (!p->load.trying || asked->serial > p->load.trying->serial))
        return asked;
    return p->load.trying ? p->load.trying : p->load.kept;
}

bool qn_model_slot_restarts(const struct qn_model_slot *p)
{
    const struct qn_model_slot_load *asked = qn_model_slot_asked(p);
    return p->load.stale || (asked && asked->serial > p->load.started);
}

/* ---- asking for a load ---- */

/* True when a lease that wants at least this context is satisfied by the load in progress, or by
 * one that other leases wait for: their context never shrinks. */
static bool will_do(const struct qn_model_slot *p, const struct qn_model_slot_load *next,
                    int64_t context)
{
    bool coming = next && next != p->load.kept;
    return coming && next->context != QN_UNSET && next->context >= context;
}

static bool runs_already(const struct qn_model_slot *p, struct qn_model_slot_want *w, bool at_least)
{
    if (qn_model_slot_restarts(p))
        return false;
    int64_t has = qn_model_slot_state(p) == QN_INST_READY
                      ? qn_child_status(p->process.child).context
                      : QN_UNSET;
    if (at_least && has >= w->context)
        return true;
    return qn_model_slot_has_options(p, w) &&
           (p->process.context == w->context || has == w->context);
}

/* An invalid option that the request does not name itself is not the client's mistake but the state
 * of the model: a conflict. */
static qn_err whose_fault(const char *named, struct qn_error *e)
{
    bool option = *e->param && !qn_str_eq(e->param, "model");
    if (option && e->code != QN_ENOMEM && !qn_load_options_name(named, e->param))
        e->code = QN_ECONFLICT;
    return e->code;
}

qn_err qn_model_slot_ask(struct qn_model_slot *p, const struct qn_model_row *row,
                         const struct qn_load_options *o, struct qn_model_slot_load **out,
                         struct qn_error *e)
{
    struct qn_model_slot_load *next = qn_model_slot_next_load(p);
    bool there = qn_model_slot_has_process(qn_model_slot_state(p));
    bool named = o->options && strcmp(o->options, "{}") != 0;
    /* A load without options takes a running model as it is, and starts a stopped one with the
     * defaults. A request that only needs a minimum context leaves the other options as they
     * are. A load that will be saved runs with what will be saved and nothing else. */
    const struct qn_model_slot_load *base = !o->saved && (there || o->at_least) ? next : NULL;
    struct qn_model_slot_want w;
    struct qn_error why = {0};
    struct qn_model_slot_load *x =
        load_new(p->inv, o->context == QN_UNSET && base ? base->context : o->context,
                 named  ? o->options
                 : base ? base->options
                        : NULL);
    x->saved = o->saved ? qn_xstrdup(o->saved) : NULL;
    qn_err err = qn_model_slot_want(p, row, x, &w, &why);
    *out = NULL;
    if (!err && o->at_least && will_do(p, next, w.context)) {
        *out = qn_model_slot_load_ref(next);
    } else if (!err && there && runs_already(p, &w, o->at_least)) {
        if (p->load.trying)
            *out = qn_model_slot_load_ref(p->load.trying);
        else if (!o->at_least) {
            keep(p, x);
            qn_model_slot_note_shown(p, row);
        }
    } else if (!err) {
        err = qn_model_slot_want_files(&w, &why);
        if (!err)
            *out = qn_model_slot_load_ref(x);
    }
    if (err) {
        err = whose_fault(o->options, &why);
        if (e)
            *e = why;
    }
    qn_model_slot_want_deinit(&w);
    qn_model_slot_load_unref(x);
    return err;
}

/* ---- the end of a load ---- */

void qn_model_slot_load_begins(struct qn_model_slot *p)
{
    set(&p->load.trying, qn_model_slot_load_ref(qn_model_slot_asked(p)));
    p->load.started = p->inv->loads;
}

void qn_model_slot_load_ready(struct qn_model_slot *p)
{
    p->load.before.ran = false; /* the new load has succeeded, or the earlier process runs again */
    if (p->load.trying) {
        keep(p, p->load.trying);
        set(&p->load.trying, NULL);
    }
    for (struct qn_fair_item *i = p->queue.waiting.oldest; i && p->queue.with_load; i = i->newer) {
        struct qn_model_slot_load *x = qn_lease_of(i)->load;
        if (!x || x->serial > p->load.started)
            continue;
        set(&qn_lease_of(i)->load, NULL);
        p->queue.with_load--;
    }
}

void qn_model_slot_load_gone(struct qn_model_slot *p)
{
    set(&p->load.trying, NULL);
}

void qn_model_slot_load_forget(struct qn_model_slot *p)
{
    p->load.before.ran = false;
    p->load.refusals = (struct qn_load_refusals){0};
    set(&p->load.trying, NULL);
    set(&p->load.kept, NULL);
}

void qn_model_slot_load_saved(struct qn_model_slot *p)
{
    if (!p->load.kept || !p->load.kept->saved)
        return;
    free(p->load.kept->saved);
    p->load.kept->saved = NULL;
    qn_model_slot_note_again(p);
}

/* ---- the process that a load replaces ---- */

void qn_model_slot_load_replaces(struct qn_model_slot *p)
{
    p->load.before.ran = true;
    p->load.before.keep_ms = p->policy.keep_ms;
}

bool qn_model_slot_load_gives_back(const struct qn_model_slot *p)
{
    return p->load.before.ran && !p->load.before.lease && !p->load.trying &&
           !qn_model_slot_asked(p) && qn_model_slot_state(p) == QN_INST_STOPPED;
}

/* ---- a load that fails ---- */

void qn_model_slot_load_error(const struct qn_model_slot *p, struct qn_error *why)
{
    *why = *qn_child_status(p->process.child).error;
    if (why->code == QN_OK)
        qn_fail(why, QN_ECHILD, "model '%s' could not be loaded", p->id.name);
}

/* True when the same load may succeed later, when there is memory or another model has been
 * evicted. */
static bool may_pass(const struct qn_error *why)
{
    return why->code == QN_ENOMEM || why->code == QN_EBUSY || why->code == QN_ECONFLICT ||
           why->code == QN_ECANCELLED;
}

void qn_model_slot_load_failed(struct qn_model_slot *p, struct qn_model_slot_load *load,
                               const struct qn_error *why)
{
    struct qn_model_slot_load *failed = qn_model_slot_load_ref(load);
    bool named = *why->param && !qn_str_eq(why->param, "model");
    set(&p->load.trying, NULL);
    if (!failed && p->load.kept && !may_pass(why))
        set(&p->load.kept, NULL);
    qn_model_slot_refuse_load(p, failed, why);
    /* A fault of one load's options does not mark the model as failed. */
    if ((failed || named) && qn_model_slot_state(p) == QN_INST_FAILED) {
        qn_model_slot_count(p);
        qn_child_stop(p->process.child, 0);
    }
    qn_model_slot_load_unref(failed);
    if (p->queue.waiting.n) {
        p->load.retry = true;
        qn_inventory_settle_soon(p->inv);
    }
}
