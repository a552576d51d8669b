/* Leases on models, see inventory.h. A place is a model that has, had or shall have a child; leases
 * wait at it in the order of their tickets. After everything that changes (a lease comes or goes, a
 * child changes its state) settle() is due once: it asks the residency policy what may load or must
 * leave, and grants what is ready. */
#include "router/inventory_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "contract/job.h"
#include "router/residency.h"

#include <stdlib.h>
#include <string.h>

static void settle(void *ctx);

void qn_inventory_settle_soon(struct qn_inventory *inv)
{
    if (!inv->settle_timer)
        inv->settle_timer = qn_timer_start(inv->loop, 0, 0, settle, inv);
}

bool qn_place_has_process(enum qn_inst_state s)
{
    return s == QN_INST_LOADING || s == QN_INST_READY || s == QN_INST_DRAINING ||
           s == QN_INST_BACKOFF;
}

enum qn_inst_state qn_place_state(const struct place *p)
{
    return p->child ? qn_child_status(p->child).state : QN_INST_STOPPED;
}

struct place *qn_place_find(const struct qn_inventory *inv, const char *name)
{
    struct place *p = inv->places;
    while (p && !qn_str_eq(p->name, name))
        p = p->next;
    return p;
}

struct place *qn_place_get(struct qn_inventory *inv, const struct qn_model_row *row)
{
    struct place *p = qn_place_find(inv, row->name);
    if (p)
        return p;
    p = qn_xcalloc(1, sizeof *p);
    p->inv = inv;
    p->name = qn_xstrdup(row->name);
    p->type = qn_backend_type_find(row->type);
    p->context_asked = p->keep_ms = QN_UNSET;
    p->next = inv->places;
    inv->places = p;
    return p;
}

static void on_state(void *ctx, struct qn_child *c)
{
    struct place *p = ctx;
    enum qn_inst_state s = qn_child_status(c).state;
    qn_info("inventory", "model=%s state=%s", p->name, qn_inst_state_name(s));
    if (!qn_place_has_process(s)) {
        p->unloading = false;
        p->retry |= p->stale && s == QN_INST_FAILED; /* it was not what is wanted now */
        p->stale = false;
        p->keep_ms = QN_UNSET;
    }
    qn_inventory_settle_soon(p->inv);
}

static void on_jobs(void *ctx, struct qn_child *c)
{
    struct place *p = ctx;
    (void)c;
    qn_inventory_settle_soon(p->inv);
}

static const struct qn_child_events child_events = {.state = on_state, .jobs = on_jobs};

/* The facts for the policy about every place with a process but `without`. A place counts as busy
 * for a newcomer with this ticket while it is used, or while somebody waits for it who came
 * earlier. */
static size_t residents(struct qn_inventory *inv, const struct place *without, uint64_t ticket,
                        struct qn_resident *live, struct place **places)
{
    size_t n = 0;
    for (struct place *p = inv->places; p && n < QN_RESIDENTS_MAX; p = p->next) {
        enum qn_inst_state s = qn_place_state(p);
        if (p == without || !qn_place_has_process(s))
            continue;
        struct qn_child_status status = qn_child_status(p->child);
        live[n] = (struct qn_resident){
            .type = p->type->type,
            .busy = p->held.n > 0 || status.jobs > 0 ||
                    (p->waiting.n > 0 && p->waiting.first->ticket < ticket),
            .leaving = s == QN_INST_DRAINING,
            .last_use_ms = p->used_ms,
            .memory_bytes =
                status.memory_bytes > 0 ? status.memory_bytes : qn_place_estimate(p, p->context),
        };
        places[n++] = p;
    }
    return n;
}

/* What models may use together: the limit, and no more than they have now and the machine has left.
 * Places without a settled process have nothing yet that could be counted. */
static int64_t memory_budget(const struct qn_inventory *inv, const struct qn_resident *live,
                             struct place *const *places, size_t n)
{
    int64_t limit = inv->config.memory_bytes;
    int64_t room = inv->config.free_memory ? inv->config.free_memory() : -1;
    if (limit <= 0 || room < 0)
        return limit;
    for (size_t i = 0; i < n; i++) {
        enum qn_inst_state s = qn_place_state(places[i]);
        if (s == QN_INST_READY || s == QN_INST_DRAINING)
            room += live[i].memory_bytes;
    }
    return room < 1 ? 1 : room < limit ? room : limit;
}

static void refuse_for_memory(struct place *p, int64_t needs, int64_t may)
{
    struct qn_error e = {0};
    qn_fail_param(&e, QN_ENOMEM, "model",
                  "model '%s' cannot be loaded: it needs about %lld MiB of memory, and models may "
                  "use %lld MiB now. Use a smaller model, a smaller quantisation or a smaller "
                  "context, end other programs, or raise the setting memory-limit",
                  p->name, (long long)(needs >> 20), (long long)(may >> 20));
    qn_place_refuse(p, &e);
}

static void plan(struct place *p)
{
    struct qn_inventory *inv = p->inv;
    struct qn_resident live[QN_RESIDENTS_MAX];
    struct place *places[QN_RESIDENTS_MAX];
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    struct qn_plan todo = {0};
    struct qn_error e = {0};
    if (qn_inventory_find(inv, p->name, &snap, &row, &e)) { /* it has left the catalog meanwhile */
        qn_place_refuse(p, &e);
        return;
    }
    int64_t context = qn_place_wanted_context(p, row);
    qn_snapshot_unref(snap);
    size_t n = residents(inv, p, p->waiting.first->ticket, live, places);
    struct qn_resident want = {
        .type = p->type->type,
        .memory_bytes = qn_place_estimate(p, context),
    };
    struct qn_budget budget = {
        .max_loaded = (int)inv->config.max_loaded,
        .memory_bytes = memory_budget(inv, live, places, n),
        .threads = inv->config.threads,
    };
    qn_residency_plan(live, n, &want, &budget, &todo);
    switch (todo.verdict) {
    case QN_PLAN_LOAD:
        if (qn_place_start(p, todo.threads, &child_events, &e))
            qn_place_refuse(p, &e);
        break;
    case QN_PLAN_EVICT:
        p->blocked = true;
        for (size_t i = 0; i < todo.n_evict; i++) {
            qn_info("inventory", "model=%s evicted_for=%s", places[todo.evict[i]]->name, p->name);
            qn_child_stop(places[todo.evict[i]]->child, QN_CHILD_STOP_GRACE_MS);
        }
        break;
    case QN_PLAN_WAIT:
        p->blocked = true;
        break;
    case QN_PLAN_REFUSE:
        if (budget.memory_bytes > 0 && want.memory_bytes > budget.memory_bytes) {
            refuse_for_memory(p, want.memory_bytes, budget.memory_bytes);
            break;
        }
        qn_fail_param(&e, QN_ENOMEM, "model", "model '%s' cannot be loaded: %s", p->name,
                      todo.reason ? todo.reason : "it does not fit");
        qn_place_refuse(p, &e);
        break;
    }
}

/* What one place needs now, by its child's state. */
static void settle_place(struct place *p)
{
    p->blocked = false;
    if (!p->waiting.n)
        return;
    switch (qn_place_state(p)) {
    case QN_INST_STOPPED:
        plan(p);
        break;
    case QN_INST_FAILED: {
        if (p->retry) { /* until it has been tried: others may have to leave first */
            plan(p);
            break;
        }
        struct qn_error e = *qn_child_status(p->child).error;
        if (e.code == QN_OK)
            qn_fail(&e, QN_ECHILD, "model '%s' could not be loaded", p->name);
        qn_place_refuse(p, &e);
        break;
    }
    case QN_INST_READY:
        if (p->stale && !p->held.n)
            qn_child_stop(p->child, QN_CHILD_STOP_GRACE_MS);
        else
            qn_place_grant(p);
        break;
    default: /* on its way: its state event comes back here */
        break;
    }
}

/* The machine's threads go to the children that have work. */
static void share_threads(struct qn_inventory *inv)
{
    struct qn_resident live[QN_RESIDENTS_MAX];
    struct place *places[QN_RESIDENTS_MAX];
    int threads[QN_RESIDENTS_MAX];
    size_t n = residents(inv, NULL, 0, live, places);
    if (!n)
        return;
    qn_residency_threads(live, n, inv->config.threads, threads);
    for (size_t i = 0; i < n; i++)
        if (qn_place_state(places[i]) == QN_INST_READY && places[i]->threads != threads[i]) {
            places[i]->threads = threads[i];
            qn_child_set_threads(places[i]->child, threads[i]);
        }
}

static void tell_watchers(struct qn_inventory *inv)
{
    struct watcher **at = &inv->watchers;
    while (*at) {
        bool busy = false;
        for (struct place *p = inv->places; p; p = p->next)
            busy = busy || (p->unloading && (!(*at)->name || qn_str_eq((*at)->name, p->name)));
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
        at = &inv->watchers; /* the callback may have changed the list */
    }
}

/* How long a model stays after its last use; < 0: for ever. */
static int64_t stay_of(const struct place *p)
{
    if (p->keep_ms != QN_UNSET)
        return p->keep_ms;
    return p->inv->config.idle_ms > 0 ? p->inv->config.idle_ms : -1;
}

/* When its stay is over; INT64_MAX: never, or not while it is used as it is now. */
static int64_t leaves_at(const struct place *p)
{
    int64_t keep = stay_of(p);
    if (qn_place_state(p) != QN_INST_READY || p->held.n || p->waiting.n || keep < 0)
        return INT64_MAX;
    return keep < INT64_MAX - p->used_ms ? p->used_ms + keep : INT64_MAX;
}

static void check_stays(void *ctx);

/* One timer, for the first that has to go. */
static void watch_stays(struct qn_inventory *inv)
{
    int64_t first = INT64_MAX;
    for (const struct place *p = inv->places; p; p = p->next)
        if (leaves_at(p) < first)
            first = leaves_at(p);
    if (inv->idle_timer && inv->idle_at_ms == first)
        return;
    qn_timer_stop(inv->idle_timer);
    inv->idle_timer = NULL;
    inv->idle_at_ms = first;
    if (first == INT64_MAX)
        return;
    int64_t wait = first - qn_now_ms();
    inv->idle_timer = qn_timer_start(inv->loop, wait > 0 ? wait : 0, 0, check_stays, inv);
}

static void check_stays(void *ctx)
{
    struct qn_inventory *inv = ctx;
    int64_t now = qn_now_ms();
    qn_timer_stop(inv->idle_timer);
    inv->idle_timer = NULL;
    for (struct place *p = inv->places; p; p = p->next)
        if (leaves_at(p) <= now) {
            qn_info("inventory", "model=%s unloaded=idle", p->name);
            qn_child_stop(p->child, QN_CHILD_STOP_GRACE_MS);
        }
    watch_stays(inv);
}

static void settle(void *ctx)
{
    struct qn_inventory *inv = ctx;
    qn_timer_stop(inv->settle_timer);
    inv->settle_timer = NULL;
    struct place *order[QN_RESIDENTS_MAX];
    size_t n = qn_places_by_ticket(inv, order, QN_RESIDENTS_MAX);
    for (size_t i = 0; i < n; i++)
        settle_place(order[i]);
    share_threads(inv);
    watch_stays(inv);
    tell_watchers(inv);
}

struct qn_model_count qn_inventory_count(const struct qn_inventory *inv, const char *name)
{
    const struct place *p = qn_place_find(inv, name);
    return p ? p->count : (struct qn_model_count){0};
}

static void unload_place(struct place *p)
{
    if (!qn_place_has_process(qn_place_state(p)))
        return;
    p->unloading = true;
    struct qn_error e = {0};
    qn_fail(&e, QN_ECANCELLED, "model '%s' was unloaded while the request waited for it", p->name);
    qn_place_refuse(p, &e);
    p->context_asked = QN_UNSET;
    free(p->options_asked);
    p->options_asked = NULL;
    qn_child_stop(p->child, QN_CHILD_STOP_GRACE_MS);
    p->unloading = qn_place_has_process(qn_place_state(p));
}

/* The place that computes for a model. */
static qn_err find_place(struct qn_inventory *inv, const char *name, struct place **out,
                         struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(inv, name, &snap, &row, e);
    if (err)
        return err;
    *out = qn_place_find(inv, qn_inventory_computes(snap, row)->name);
    if (!*out || !qn_place_has_process(qn_place_state(*out)))
        err = qn_fail_param(e, QN_ENOTFOUND, "model", "model '%s' is not loaded", row->name);
    qn_snapshot_unref(snap);
    return err;
}

qn_err qn_inventory_unload(struct qn_inventory *inv, const char *name, void (*done)(void *ctx),
                           void *ctx, struct qn_error *e)
{
    struct watcher *w = NULL;
    if (name) {
        struct place *p;
        qn_err err = find_place(inv, name, &p, e);
        if (err)
            return err;
        unload_place(p);
        w = qn_xcalloc(1, sizeof *w);
        w->name = qn_xstrdup(p->name);
    } else {
        for (struct place *p = inv->places; p; p = p->next)
            unload_place(p);
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
    struct place *p;
    qn_err err = find_place(inv, name, &p, e);
    if (err)
        return err;
    p->keep_ms = 0;
    qn_inventory_settle_soon(inv);
    return QN_OK;
}

void qn_inventory_changed(struct qn_inventory *inv, const char *name)
{
    struct place *p = qn_place_find(inv, name);
    if (!p || !qn_place_has_process(qn_place_state(p)))
        return;
    struct qn_snapshot *snap = qn_catalog_snapshot(inv->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, name);
    if (!row) {
        unload_place(p);
    } else if (qn_inventory_computes(snap, row) != row || qn_place_has_other_files(p, row)) {
        p->stale = true; /* for who comes before it has left */
        p->keep_ms = 0;
    }
    qn_snapshot_unref(snap);
    qn_inventory_settle_soon(inv);
}

void qn_inventory_forget(struct qn_inventory *inv, void *ctx)
{
    for (struct watcher *w = inv->watchers; w; w = w->next)
        if (w->ctx == ctx)
            w->done = NULL;
}

void qn_inventory_new(struct qn_loop *l, struct qn_catalog *catalog, struct qn_http_client *client,
                      const struct qn_inventory_config *config, struct qn_inventory **out)
{
    struct qn_inventory *inv = qn_xcalloc(1, sizeof *inv);
    inv->loop = l;
    inv->catalog = catalog;
    inv->client = client;
    inv->config = *config;
    inv->backend_dir = qn_xstrdup(config->backend_dir);
    inv->config.backend_dir = inv->backend_dir;
    inv->load_options = qn_xstrdup(config->load_options ? config->load_options : "{}");
    inv->config.load_options = inv->load_options;
    inv->data_dir = qn_xstrdup(config->data_dir ? config->data_dir : "");
    inv->config.data_dir = inv->data_dir;
    *out = inv;
}

void qn_inventory_free(struct qn_inventory *inv)
{
    if (!inv)
        return;
    while (inv->places) {
        struct place *p = inv->places;
        inv->places = p->next;
        qn_child_free(p->child);
        free(p->name);
        free(p->options_asked);
        free(p->options);
        free(p);
    }
    while (inv->watchers) {
        struct watcher *w = inv->watchers;
        inv->watchers = w->next;
        free(w->name);
        free(w);
    }
    qn_timer_stop(inv->settle_timer);
    qn_timer_stop(inv->idle_timer);
    free(inv->backend_dir);
    free(inv->load_options);
    free(inv->data_dir);
    free(inv);
}

/* In use, it would stay as long from this moment on. */
static int64_t stays_ms(const struct place *p)
{
    int64_t keep = stay_of(p);
    bool used = p->held.n || p->waiting.n || qn_place_state(p) != QN_INST_READY;
    int64_t left = used ? keep : p->used_ms + keep - qn_now_ms();
    return keep < 0 ? -1 : left > 0 ? left : 0;
}

size_t qn_inventory_loaded(const struct qn_inventory *inv, struct qn_loaded *out, size_t max)
{
    size_t n = 0;
    for (const struct place *p = inv->places; p && n < max; p = p->next)
        if (qn_place_has_process(qn_place_state(p)))
            out[n++] = (struct qn_loaded){
                .name = p->name,
                .type = p->type->type,
                .status = qn_child_status(p->child),
                .holders = p->held.n,
                .waiting = p->waiting.n,
                .stays_ms = stays_ms(p),
                .engine = p->engine,
            };
    return n;
}

const char *qn_inventory_last_used(const struct qn_inventory *inv)
{
    const struct place *best = NULL;
    for (const struct place *p = inv->places; p; p = p->next)
        if (qn_place_state(p) == QN_INST_READY && (!best || p->used_ms > best->used_ms))
            best = p;
    return best ? best->name : NULL;
}

const struct qn_inventory_config *qn_inventory_config(const struct qn_inventory *inv)
{
    return &inv->config;
}
