/* Leases on models, see inventory.h. A model slot is the entry of a model that has, had or will
 * have a child; leases wait there in the order of their tickets. After every change (a lease is
 * added or removed, a child changes its state) settle() runs once: it asks the residency policy
 * which models may be loaded or must be evicted (inventory_plan.c) and grants leases on ready
 * models (inventory_leases.c). */
#include "models/inventory_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "contract/job.h"

#include <stdlib.h>
#include <string.h>

static void settle(void *ctx);

void qn_inventory_settle_soon(struct qn_inventory *inv)
{
    if (!inv->settle_timer)
        inv->settle_timer = qn_timer_start(inv->loop, 0, 0, settle, inv);
}

bool qn_model_slot_has_process(enum qn_inst_state s)
{
    return s == QN_INST_LOADING || s == QN_INST_READY || s == QN_INST_DRAINING ||
           s == QN_INST_BACKOFF;
}

enum qn_inst_state qn_model_slot_state(const struct qn_model_slot *p)
{
    return p->process.child ? qn_child_status(p->process.child).state : QN_INST_STOPPED;
}

struct qn_model_slot *qn_model_slot_find(const struct qn_inventory *inv, const char *name)
{
    struct qn_model_slot *p = inv->model_slots;
    while (p && !qn_str_eq(p->id.name, name))
        p = p->next;
    return p;
}

struct qn_model_slot *qn_model_slot_get(struct qn_inventory *inv, const struct qn_model_row *row)
{
    struct qn_model_slot *p = qn_model_slot_find(inv, row->name);
    if (p)
        return p;
    p = qn_xcalloc(1, sizeof *p);
    p->inv = inv;
    p->id.name = qn_xstrdup(row->name);
    p->id.type = qn_backend_type_find(row->type);
    p->policy.keep_ms = QN_UNSET;
    p->next = inv->model_slots;
    inv->model_slots = p;
    return p;
}

static void on_state(void *ctx, struct qn_child *c)
{
    struct qn_model_slot *p = ctx;
    enum qn_inst_state s = qn_child_status(c).state;
    qn_info("inventory", "model=%s state=%s", p->id.name, qn_inst_state_name(s));
    qn_model_slot_count(p);
    if (!qn_model_slot_has_process(s)) {
        p->process.unloading = false;
        /* the failed process had outdated files */
        p->load.retry |= p->load.stale && s == QN_INST_FAILED;
        p->load.stale = false;
        p->policy.leave = false;
        p->policy.keep_ms = QN_UNSET;
    }
    qn_model_slot_note_orders(p);
    if (s == QN_INST_STOPPED)
        qn_model_slot_load_gone(p);
    if (s == QN_INST_READY) {
        qn_model_slot_load_ready(p);
        p->process.gpu_bytes = qn_child_status(c).gpu_bytes;
        p->process.measured_bytes = qn_child_status(c).memory_bytes;
        p->load.tried_alone = false;
    } else if (s == QN_INST_BACKOFF || s == QN_INST_FAILED) {
        if (!qn_model_slot_try_alone(p))
            qn_model_slot_remember_failure(p);
    }
    qn_inventory_settle_soon(p->inv);
}

static void on_jobs(void *ctx, struct qn_child *c)
{
    struct qn_model_slot *p = ctx;
    (void)c;
    qn_inventory_settle_soon(p->inv);
}

static const struct qn_child_events child_events = {.state = on_state, .jobs = on_jobs};

static void settle_without_process(struct qn_model_slot *p)
{
    struct qn_error e = {0};
    if (qn_model_slot_refused_lately(p, &e))
        qn_model_slot_load_failed(p, qn_model_slot_asked(p), &e);
    else
        qn_model_slot_plan(p, &child_events);
}

static void settle_failed(struct qn_model_slot *p)
{
    struct qn_error e;
    if (qn_model_slot_try_alone(p))
        return;
    qn_model_slot_remember_failure(p);
    qn_model_slot_load_error(p, &e);
    qn_model_slot_load_failed(p, p->load.trying, &e);
}

static void settle_ready(struct qn_model_slot *p)
{
    struct qn_error e = {0};
    bool restarts = qn_model_slot_restarts(p);
    struct qn_model_slot_load *asked = restarts ? qn_model_slot_asked(p) : NULL;
    /* Checked before the running process is stopped. */
    if (asked && (qn_model_slot_refused_lately(p, &e) || !qn_model_slot_may_restart(p, &e))) {
        qn_model_slot_load_failed(p, asked, &e);
    } else if (restarts && !p->queue.held.n) {
        if (asked)
            qn_model_slot_load_replaces(p);
        qn_child_stop(p->process.child, QN_CHILD_STOP_GRACE_MS);
    } else {
        qn_model_slot_grant(p);
    }
}

/* Does what one model slot needs, by its child's state. */
static void settle_model_slot(struct qn_model_slot *p)
{
    switch (qn_model_slot_state(p)) {
    case QN_INST_STOPPED:
        settle_without_process(p);
        break;
    case QN_INST_FAILED:
        if (p->load.retry) /* until the retry: other models may have to be evicted first */
            settle_without_process(p);
        else
            settle_failed(p);
        break;
    case QN_INST_READY:
        settle_ready(p);
        break;
    default: /* in transition: the next state event calls settle again */
        break;
    }
}

static void tell_watchers(struct qn_inventory *inv)
{
    struct watcher **at = &inv->watchers;
    while (*at) {
        bool busy = false;
        for (struct qn_model_slot *p = inv->model_slots; p; p = p->next)
            busy = busy ||
                   (p->process.unloading && (!(*at)->name || qn_str_eq((*at)->name, p->id.name)));
        if (busy) {
            at = &(*at)->next;
            continue;
        }
        struct watcher *w = *at;
        *at = w->next;
        if (w->done)
            w->done(w->ctx);
        free(w->name);
        free(w);
        at = &inv->watchers; /* start over: the callback may have changed the list */
    }
}

static void model_slot_free(struct qn_model_slot *p)
{
    qn_lease_release(p->load.before.lease);
    qn_child_free(p->process.child);
    free(p->id.name);
    qn_model_slot_load_forget(p);
    free(p->process.options);
    free(p->policy.noted);
    free(p->process.shown);
    free(p);
}

/* Frees the slots of models that have been removed from the catalog, as soon as no lease waits for
 * them or holds them: the name may be given to another model. */
static void drop_model_slots(struct qn_inventory *inv)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(inv->catalog);
    for (struct qn_model_slot **at = &inv->model_slots; *at;) {
        struct qn_model_slot *p = *at;
        if (p->queue.waiting.n || p->queue.held.n ||
            qn_model_slot_has_process(qn_model_slot_state(p)) ||
            qn_snapshot_find(snap, p->id.name)) {
            at = &p->next;
        } else {
            *at = p->next;
            model_slot_free(p);
        }
    }
    qn_snapshot_unref(snap);
}

static void settle(void *ctx)
{
    struct qn_inventory *inv = ctx;
    qn_timer_stop(inv->settle_timer);
    inv->settle_timer = NULL;
    qn_inventory_tell_displaced(inv);
    drop_model_slots(inv);
    struct qn_model_slot **order;
    qn_inventory_note_options(inv);
    for (struct qn_model_slot *p = inv->model_slots; p; p = p->next) {
        p->queue.blocked = false;
        p->queue.awaited = 0;
        if (!p->queue.waiting.n)
            p->load.alone = p->load.tried_alone = p->queue.modest = false;
        if (!p->queue.waiting.n && p->load.trying && qn_model_slot_state(p) == QN_INST_FAILED)
            settle_failed(p);
        if (qn_model_slot_load_gives_back(p))
            qn_model_slot_give_back(p);
    }
    size_t n = qn_model_slots_by_ticket(inv, &order);
    for (size_t i = 0; i < n; i++)
        if (order[i]->queue.waiting.n)
            settle_model_slot(order[i]);
    free(order);
    qn_inventory_share_threads(inv);
    qn_inventory_watch_stays(inv);
    tell_watchers(inv);
}

struct qn_model_count qn_inventory_count(const struct qn_inventory *inv, const char *name)
{
    const struct qn_model_slot *p = qn_model_slot_find(inv, name);
    return p ? p->process.count : (struct qn_model_count){0};
}

static void unload_model_slot(struct qn_model_slot *p)
{
    bool there = qn_model_slot_has_process(qn_model_slot_state(p));
    struct qn_error e = {0};
    qn_model_slot_load_forget(p);
    if (qn_model_slot_crashed(p) && !there)
        qn_child_stop(p->process.child, 0); /* no process runs: clears its crash history */
    if (!there && !p->queue.waiting.n)
        return;
    p->process.unloading = there;
    qn_fail(&e, QN_ECANCELLED, "model '%s' was unloaded while the request waited for it",
            p->id.name);
    qn_model_slot_refuse(p, &e);
    if (there)
        qn_child_stop(p->process.child, QN_CHILD_STOP_GRACE_MS);
    p->process.unloading = qn_model_slot_has_process(qn_model_slot_state(p));
}

/* Finds the slot of the model that computes for this name. */
static qn_err find_model_slot(struct qn_inventory *inv, const char *name,
                              struct qn_model_slot **out, struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(inv, name, &snap, &row, e);
    if (err)
        return err;
    *out = qn_model_slot_find(inv, qn_inventory_computes(snap, row)->name);
    if (!*out ||
        (!qn_model_slot_has_process(qn_model_slot_state(*out)) && !(*out)->queue.waiting.n))
        err = qn_fail_param(e, QN_ENOTFOUND, "model", "model '%s' is not loaded", row->name);
    qn_snapshot_unref(snap);
    return err;
}

qn_err qn_inventory_unload(struct qn_inventory *inv, const char *name, void (*done)(void *ctx),
                           void *ctx, struct qn_error *e)
{
    struct watcher *w = NULL;
    if (name) {
        struct qn_model_slot *p = NULL;
        qn_err err = find_model_slot(inv, name, &p, e);
        if (err && !(p && (qn_model_slot_crashed(p) || p->load.kept)))
            return err;
        unload_model_slot(p);
        w = qn_xcalloc(1, sizeof *w);
        w->name = qn_xstrdup(p->id.name);
    } else {
        for (struct qn_model_slot *p = inv->model_slots; p; p = p->next)
            unload_model_slot(p);
        w = qn_xcalloc(1, sizeof *w);
    }
    w->done = done;
    w->ctx = ctx;
    w->next = inv->watchers;
    inv->watchers = w;
    qn_inventory_settle_soon(inv);
    return QN_OK;
}

qn_err qn_inventory_leave(struct qn_inventory *inv, const char *name, struct qn_error *e)
{
    struct qn_model_slot *p;
    qn_err err = find_model_slot(inv, name, &p, e);
    if (err)
        return err;
    p->policy.leave = true;
    p->load.before.ran = false;
    qn_inventory_settle_soon(inv);
    return QN_OK;
}

void qn_inventory_changed(struct qn_inventory *inv, const char *name)
{
    struct qn_model_slot *p = qn_model_slot_find(inv, name);
    if (!p)
        return;
    qn_model_slot_note_again(p);
    qn_inventory_settle_soon(inv); /* leases that wait for it may have to be refused */
    if (!qn_model_slot_has_process(qn_model_slot_state(p)))
        return;
    struct qn_snapshot *snap = qn_catalog_snapshot(inv->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, name);
    if (!row) {
        unload_model_slot(p);
    } else if (qn_inventory_computes(snap, row) != row || qn_model_slot_has_other_files(p, row)) {
        p->load.stale = true; /* for requests that arrive before it has been stopped */
        p->policy.leave = true;
    }
    qn_snapshot_unref(snap);
}

void qn_inventory_forget(struct qn_inventory *inv, void *ctx)
{
    for (struct watcher *w = inv->watchers; w; w = w->next)
        if (w->ctx == ctx)
            w->done = NULL;
}

/* Takes over the configuration with copies of its texts; *groups is moved. */
static void take_config(struct qn_inventory *inv, const struct qn_inventory_config *config,
                        const struct qn_groups *groups)
{
    free(inv->backend_dir);
    free(inv->load_options);
    free(inv->data_dir);
    qn_groups_free(&inv->groups);
    inv->config = *config;
    inv->groups = *groups;
    inv->config.groups = NULL;
    inv->config.backend_dir = inv->backend_dir = qn_xstrdup(config->backend_dir);
    inv->load_options = qn_xstrdup(config->load_options ? config->load_options : "{}");
    inv->config.load_options = inv->load_options;
    inv->config.data_dir = inv->data_dir = qn_xstrdup(config->data_dir ? config->data_dir : "");
}

qn_err qn_inventory_new(struct qn_loop *l, struct qn_catalog *catalog,
                        struct qn_http_client *client, const struct qn_inventory_config *config,
                        struct qn_inventory **out, struct qn_error *e)
{
    struct qn_groups groups;
    qn_err err = qn_groups_parse(config->groups ? config->groups : "", &groups, e);
    if (err) {
        qn_groups_free(&groups);
        return err;
    }
    struct qn_inventory *inv = qn_xcalloc(1, sizeof *inv);
    inv->loop = l;
    inv->catalog = catalog;
    inv->client = client;
    take_config(inv, config, &groups);
    *out = inv;
    return QN_OK;
}

qn_err qn_inventory_reconfigure(struct qn_inventory *inv, const struct qn_inventory_config *config,
                                struct qn_error *e)
{
    struct qn_groups groups;
    qn_err err = qn_groups_parse(config->groups ? config->groups : "", &groups, e);
    if (err) {
        qn_groups_free(&groups);
        return err;
    }
    struct qn_inventory_config now = *config;
    now.registry = inv->config.registry;
    now.metrics = inv->config.metrics;
    now.packs = inv->config.packs;
    take_config(inv, &now, &groups);
    for (struct qn_model_slot *p = inv->model_slots; p; p = p->next) {
        p->id.group = NULL; /* it points into the old groups */
        qn_model_slot_note_again(p);
    }
    qn_inventory_options_changed(inv);
    return QN_OK;
}

void qn_inventory_free(struct qn_inventory *inv)
{
    if (!inv)
        return;
    while (inv->model_slots) {
        struct qn_model_slot *p = inv->model_slots;
        inv->model_slots = p->next;
        model_slot_free(p);
    }
    qn_inventory_tell_displaced(inv); /* leases released by the loop above: this only frees them */
    while (inv->watchers) {
        struct watcher *w = inv->watchers;
        inv->watchers = w->next;
        free(w->name);
        free(w);
    }
    qn_timer_stop(inv->settle_timer);
    qn_timer_stop(inv->idle_timer);
    qn_timer_stop(inv->pressure_timer);
    qn_groups_free(&inv->groups);
    free(inv->backend_dir);
    free(inv->load_options);
    free(inv->data_dir);
    free(inv);
}

size_t qn_inventory_loaded(const struct qn_inventory *inv, struct qn_loaded *out, size_t max)
{
    static const struct qn_error no_error;
    size_t n = 0;
    for (const struct qn_model_slot *p = inv->model_slots; p && n < max; p = p->next) {
        bool queued = p->queue.blocked && p->queue.waiting.n;
        if (!queued && !qn_model_slot_has_process(qn_model_slot_state(p)))
            continue;
        struct qn_child_status status =
            p->process.child ? qn_child_status(p->process.child)
                             : (struct qn_child_status){
                                   .url = "", .error = &no_error, .last_use_ms = p->queue.used_ms};
        out[n++] = (struct qn_loaded){
            .name = p->id.name,
            .type = p->id.type->type,
            .kind = p->id.kind,
            .state = queued ? "queued" : qn_inst_state_name(status.state),
            .reason = queued ? p->queue.reason : "",
            .device = p->id.elsewhere ? "remote"
                      : p->id.usage   ? p->id.usage->device
                                      : "cpu",
            .group = p->id.group ? p->id.group->name : NULL,
            .pinned = p->policy.options.pinned,
            .options = p->process.shown ? p->process.shown : "{}",
            .status = status,
            .engine = p->process.engine,
            .holders = p->queue.held.n,
            .waiting = p->queue.waiting.n,
            .stays_ms = qn_model_slot_stays_ms(p),
        };
    }
    return n;
}

bool qn_inventory_ready(const struct qn_inventory *inv, const struct qn_model_row *row,
                        struct qn_loaded *out)
{
    struct qn_loaded loaded[QN_RESIDENTS_MAX];
    size_t n = qn_inventory_loaded(inv, loaded, QN_RESIDENTS_MAX);
    struct qn_snapshot *snap = qn_catalog_snapshot(inv->catalog);
    const char *name = qn_inventory_computes(snap, row)->name;
    bool ready = false;
    for (size_t i = 0; i < n && !ready; i++) {
        ready = qn_str_eq(loaded[i].name, name) && loaded[i].status.state == QN_INST_READY;
        if (ready)
            *out = loaded[i];
    }
    qn_snapshot_unref(snap);
    return ready;
}

const char *qn_inventory_last_used(const struct qn_inventory *inv)
{
    const struct qn_model_slot *best = NULL;
    for (const struct qn_model_slot *p = inv->model_slots; p; p = p->next)
        if (qn_model_slot_state(p) == QN_INST_READY &&
            (!best || p->queue.used_ms > best->queue.used_ms))
            best = p;
    return best ? best->id.name : NULL;
}

const struct qn_inventory_config *qn_inventory_config(const struct qn_inventory *inv)
{
    return &inv->config;
}
