/* Leases: waiting, holding and the order in which they are granted. */
#include "models/inventory_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static void list_add(struct list *l, struct qn_lease *x)
{
    x->prev = l->last;
    x->next = NULL;
    if (l->last)
        l->last->next = x;
    else
        l->first = x;
    l->last = x;
    l->n++;
}

static void list_remove(struct list *l, struct qn_lease *x)
{
    if (x->prev)
        x->prev->next = x->next;
    else
        l->first = x->next;
    if (x->next)
        x->next->prev = x->prev;
    else
        l->last = x->prev;
    l->n--;
}

struct qn_lease *qn_lease_of(struct qn_fair_item *x)
{
    return (struct qn_lease *)((char *)x - offsetof(struct qn_lease, item));
}

void qn_model_slot_note_orders(struct qn_model_slot *p)
{
    enum qn_inst_state s = qn_model_slot_state(p);
    bool loads = s == QN_INST_LOADING || s == QN_INST_BACKOFF;
    p->load.ordered = p->queue.orders_waiting > 0 || (loads && p->load.ordered);
}

static void wait_for_turn(struct qn_model_slot *p, struct qn_lease *x, const char *owner,
                          const char *client)
{
    qn_fair_add(&p->queue.waiting, &x->item, ++p->inv->tickets, owner, client);
    p->queue.loads_waiting += x->slots == 0;
    p->queue.orders_waiting += x->order;
    p->queue.others_waiting += x->another;
    p->queue.with_load += x->load != NULL;
    p->inv->n_waiting += !x->another && !x->back;
    qn_model_slot_note_orders(p);
}

static void stop_waiting(struct qn_model_slot *p, struct qn_lease *x, bool served)
{
    if (served)
        qn_fair_serve(&p->queue.waiting, &x->item);
    else
        qn_fair_leave(&p->queue.waiting, &x->item);
    p->queue.loads_waiting -= x->slots == 0;
    p->queue.orders_waiting -= x->order;
    p->queue.others_waiting -= x->another;
    p->queue.with_load -= x->load != NULL;
    p->inv->n_waiting -= !x->another && !x->back;
    qn_model_slot_load_unref(x->load);
    x->load = NULL;
    qn_model_slot_note_orders(p);
}

/* Removes a lease that has not been served; cancels the load if no other lease waits for it. */
static void leave_queue(struct qn_model_slot *p, struct qn_lease *x)
{
    stop_waiting(p, x, false);
    if (!p->queue.waiting.n && p->process.child && p->load.ordered)
        qn_child_unwant(p->process.child);
    else if (!p->queue.waiting.n && p->process.child)
        qn_child_abandon(p->process.child);
}

/* Moves waiting leases to *out. load: only those that wait for it, NULL: for none; all: every
 * lease. */
static void collect(struct qn_model_slot *p, bool all, const struct qn_model_slot_load *load,
                    struct list *out)
{
    struct qn_fair_item *newer;
    for (struct qn_fair_item *i = p->queue.waiting.oldest; i; i = newer) {
        struct qn_lease *x = qn_lease_of(i);
        newer = i->newer;
        if (!all && x->load != load)
            continue;
        stop_waiting(p, x, false);
        list_add(out, x);
        x->model_slot = NULL;
    }
}

/* Calls the callbacks. They may take and release other leases, so the list is not the queue
 * itself. */
static void tell(struct list *gone, const struct qn_error *why)
{
    struct qn_lease *x;
    while ((x = gone->first)) {
        list_remove(gone, x);
        if (x->fn)
            x->fn(x->ctx, why);
        free(x);
    }
}

void qn_model_slot_refuse(struct qn_model_slot *p, const struct qn_error *why)
{
    struct list gone = {0};
    collect(p, true, NULL, &gone);
    tell(&gone, why);
}

void qn_model_slot_refuse_load(struct qn_model_slot *p, const struct qn_model_slot_load *load,
                               const struct qn_error *why)
{
    struct list gone = {0};
    collect(p, false, load, &gone);
    tell(&gone, why);
}

uint64_t qn_model_slot_ticket(const struct qn_model_slot *p)
{
    return p->queue.waiting.oldest->ticket;
}

bool qn_model_slot_in_batch(const struct qn_model_slot *p, const struct qn_model_slot *waiter)
{
    int64_t since = qn_lease_of(waiter->queue.waiting.oldest)->came_ms;
    if (p->process.tenant_ms > since)
        since = p->process.tenant_ms;
    return !qn_model_slot_restarts(p) && qn_model_slot_state(p) == QN_INST_READY &&
           qn_now_ms() - since < p->inv->config.batch_ms;
}

bool qn_model_slot_serves_first(const struct qn_model_slot *p, const struct qn_model_slot *waiter)
{
    return p->queue.waiting.n > 0 && (qn_model_slot_ticket(p) < qn_model_slot_ticket(waiter) ||
                                      qn_model_slot_in_batch(p, waiter));
}

/* Leases queued with this ticket or a later one are held back from a ready model, because an
 * earlier lease of another model waits for it to become idle; otherwise new work could keep the
 * model busy and starve that lease. */
static uint64_t first_barred(const struct qn_model_slot *at)
{
    return at->queue.awaited ? at->queue.awaited : UINT64_MAX;
}

/* Records the process's values when it is granted for the first time. */
static void note_tenant(struct qn_model_slot *p)
{
    struct qn_child_status s = qn_child_status(p->process.child);
    if (s.pid == p->process.tenant)
        return;
    p->process.tenant = s.pid;
    p->process.tenant_ms = qn_now_ms();
    p->process.slots = s.slots;
    qn_mean_add(&p->process.load_ms, (double)s.load_ms);
}

/* The next lease that may be granted; NULL: none. Load-only leases bypass slot accounting.
 * Additional sequences of requests that hold the model are granted in spite of leases that wait for
 * it to become idle, since they end before it is evicted. */
static struct qn_lease *next_of(const struct qn_model_slot *p)
{
    uint64_t barred = qn_model_slot_restarts(p) ? 0 : first_barred(p);
    bool room = p->queue.used_slots < qn_model_slot_capacity(p);
    struct qn_fair_item *x = room ? qn_fair_next(&p->queue.waiting, barred) : NULL;
    bool others = room && p->queue.others_waiting, loads = !room && p->queue.loads_waiting;
    if (x || (!others && !loads))
        return x ? qn_lease_of(x) : NULL;
    for (x = p->queue.waiting.oldest; x; x = x->newer)
        if (others ? qn_lease_of(x)->another : qn_lease_of(x)->slots == 0 && x->ticket < barred)
            return qn_lease_of(x);
    return NULL;
}

void qn_model_slot_grant(struct qn_model_slot *p)
{
    for (size_t left = p->queue.waiting.n; left && p->queue.waiting.n; left--) {
        if (qn_model_slot_state(p) != QN_INST_READY)
            break;
        note_tenant(p);
        struct qn_lease *x = next_of(p);
        if (!x)
            break;
        stop_waiting(p, x, true);
        list_add(&p->queue.held, x);
        p->queue.used_slots += x->slots;
        x->granted = true;
        x->granted_ms = p->queue.used_ms = qn_now_ms();
        qn_catalog_touch(p->inv->catalog, p->id.name, qn_wall_ms() / 1000);
        x->fn(x->ctx, NULL);
    }
}

static int by_ticket(const void *a, const void *b)
{
    uint64_t x = qn_model_slot_ticket(*(struct qn_model_slot *const *)a),
             y = qn_model_slot_ticket(*(struct qn_model_slot *const *)b);
    return x < y ? -1 : x > y;
}

/* All slots with waiting leases are listed: one that was left out would be handled only after some
 * other change. */
size_t qn_model_slots_by_ticket(struct qn_inventory *inv, struct qn_model_slot ***out)
{
    size_t n = 0;
    for (const struct qn_model_slot *p = inv->model_slots; p; p = p->next)
        n += p->queue.waiting.n > 0;
    *out = n ? qn_xcalloc(n, sizeof **out) : NULL;
    n = 0;
    for (struct qn_model_slot *p = inv->model_slots; p; p = p->next)
        if (p->queue.waiting.n)
            (*out)[n++] = p;
    if (n > 1)
        qsort(*out, n, sizeof **out, by_ticket);
    return n;
}

/* True when a request that arrives now must wait for other requests or for loading. */
static bool would_wait(const struct qn_model_slot *p)
{
    int64_t before = (int64_t)(p->queue.waiting.n - p->queue.loads_waiting);
    return qn_model_slot_state(p) != QN_INST_READY || qn_model_slot_restarts(p) ||
           first_barred(p) != UINT64_MAX ||
           p->queue.used_slots + before >= qn_model_slot_capacity(p);
}

void qn_lease_displace(struct qn_lease *x)
{
    struct qn_model_slot *p = x->model_slot;
    leave_queue(p, x);
    x->model_slot = NULL;
    if (x->told) {
        size_t waiting = p->queue.waiting.n - p->queue.loads_waiting - p->queue.others_waiting;
        x->told->full = true;
        x->told->spot = qn_model_slot_spot(p, waiting + 1, waiting);
    }
    list_add(&p->inv->displaced, x);
    qn_inventory_settle_soon(p->inv);
}

void qn_inventory_tell_displaced(struct qn_inventory *inv)
{
    struct qn_error e;
    if (!inv->displaced.first)
        return;
    struct list gone = inv->displaced;
    inv->displaced = (struct list){0};
    qn_fail(
        &e, QN_EBUSY,
        "the queue is full, and the request was removed for a client with fewer requests in it: "
        "try again in a moment");
    tell(&gone, &e);
}

/* A request that need not wait is always admitted, and a full queue may displace another owner's
 * request for this one: *gives_way is that request, NULL if there is room. */
static qn_err check_queues(struct qn_model_slot *p, const char *owner, struct qn_admission *a,
                           struct qn_lease **gives_way, struct qn_error *e)
{
    *gives_way = NULL;
    const struct qn_inventory_config *c = &p->inv->config;
    if (!would_wait(p) || (a && a->again))
        return QN_OK;
    size_t waiting = p->queue.waiting.n - p->queue.loads_waiting - p->queue.others_waiting;
    int64_t slots = qn_model_slot_capacity(p) > 0 ? qn_model_slot_capacity(p) : 1;
    /* Requests that start as soon as the model is loaded. */
    int64_t begin = slots > p->queue.used_slots ? slots - p->queue.used_slots : 0;
    int64_t limit =
        p->policy.options.max_queue != QN_UNSET ? p->policy.options.max_queue : c->max_queue;
    if (limit < 0)
        limit = a ? a->max_queue : -1;
    bool all = (int64_t)p->inv->n_waiting >= c->queue_limit;
    bool own = a && limit >= 0 && (int64_t)waiting - begin >= limit;
    if (!all && !own)
        return QN_OK;
    bool of_profile = own && p->policy.options.max_queue == QN_UNSET && c->max_queue < 0;
    *gives_way = qn_inventory_displaceable(p->inv, own ? p : NULL, of_profile, owner);
    if (*gives_way)
        return QN_OK;
    if (a) {
        a->full = true;
        a->none_waits = own && limit == 0;
        a->spot = qn_model_slot_spot(p, waiting + 1, waiting);
    }
    if (!own)
        return qn_fail(e, QN_EBUSY,
                       "%lld requests are waiting for models already: try again in a moment",
                       (long long)c->queue_limit);
    if (limit == 0)
        return qn_fail(e, QN_EBUSY,
                       "model '%s' is busy with as many requests as it may work on at once: try "
                       "again in a moment",
                       p->id.name);
    return qn_fail(e, QN_EBUSY,
                   "%lld requests are waiting for model '%s' already: try again in a moment",
                   (long long)limit, p->id.name);
}

/* a: NULL for a load-only lease. */
static qn_err enter(struct qn_inventory *inv, const char *name,
                    const struct qn_load_options *options, const char *owner,
                    struct qn_admission *a, qn_lease_fn fn, void *ctx, struct qn_lease **out,
                    struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(inv, name, &snap, &row, e);
    if (err)
        return err;
    row = qn_inventory_computes(snap, row);
    err = qn_inventory_check_row(inv, row, e);
    if (err) {
        qn_snapshot_unref(snap);
        return err;
    }
    struct qn_model_slot *p = qn_model_slot_get(inv, row);
    struct qn_model_slot_load *load = NULL;
    struct qn_lease *gives_way;
    qn_model_slot_note_options(p, row);
    err = check_queues(p, owner, a, &gives_way, e);
    if (!err && options)
        err = qn_model_slot_ask(p, row, options, &load, e);
    if (err) {
        qn_snapshot_unref(snap);
        return err;
    }
    if (gives_way)
        qn_lease_displace(gives_way);
    p->id.size_bytes = row->size_bytes;
    int64_t known = qn_row_number(row->details, "kv_token_bytes");
    p->id.kv_token_bytes = known != QN_UNSET ? known : 0;
    enum qn_inst_state s = qn_model_slot_state(p);
    p->load.stale |= qn_model_slot_has_process(s) && qn_model_slot_has_other_files(p, row);
    qn_snapshot_unref(snap);

    p->queue.modest = options && options->modest && (!p->queue.waiting.n || p->queue.modest);
    struct qn_lease *x = qn_xcalloc(1, sizeof *x);
    x->model_slot = p;
    x->slots = a ? a->slots : 0;
    x->load = load;
    x->fn = fn;
    x->ctx = ctx;
    x->came_ms = p->queue.used_ms = qn_now_ms();
    x->told = a;
    x->again = a && a->again;
    x->order = !a;
    x->anew = options && options->anew;
    wait_for_turn(p, x, owner, a ? a->client : "");
    if (a)
        a->spot =
            qn_model_slot_spot(p, p->queue.waiting.n, qn_fair_ahead(&p->queue.waiting, &x->item));
    p->load.retry = s == QN_INST_FAILED;
    if (s == QN_INST_LOADING || s == QN_INST_BACKOFF)
        qn_child_load(p->process.child); /* the load may have been given up: it is needed again */
    qn_inventory_settle_soon(inv);
    *out = x;
    return QN_OK;
}

qn_err qn_inventory_acquire(struct qn_inventory *inv, const char *name,
                            const struct qn_load_options *options, const char *owner,
                            qn_lease_fn fn, void *ctx, struct qn_lease **out, struct qn_error *e)
{
    return enter(inv, name, options, owner, NULL, fn, ctx, out, e);
}

qn_err qn_inventory_admit(struct qn_inventory *inv, const char *name,
                          const struct qn_load_options *options, struct qn_admission *a,
                          qn_lease_fn fn, void *ctx, struct qn_lease **out, struct qn_error *e)
{
    return enter(inv, name, options, a->owner, a, fn, ctx, out, e);
}

/* A failure of this restart is not reported to a request: the next request meets the error
 * itself. */
static void on_given_back(void *ctx, const struct qn_error *err)
{
    struct qn_model_slot *p = ctx;
    struct qn_lease *x = p->load.before.lease;
    p->load.before = (struct qn_model_slot_before){0};
    if (err)
        qn_warn("inventory", "model=%s given_back=0 message=\"%s\"", p->id.name, err->message);
    else
        qn_lease_release(x);
}

void qn_model_slot_give_back(struct qn_model_slot *p)
{
    struct qn_lease *x = qn_xcalloc(1, sizeof *x);
    qn_info("inventory", "model=%s given_back=1", p->id.name);
    p->queue.modest = p->queue.modest || !p->queue.waiting.n;
    x->model_slot = p;
    x->back = x->again = x->order = true;
    x->fn = on_given_back;
    x->ctx = p;
    x->came_ms = p->queue.used_ms = qn_now_ms();
    p->load.before.lease = x;
    wait_for_turn(p, x, "", "");
}

void qn_lease_another(struct qn_lease *lease, const struct qn_admission *a, int64_t slots,
                      qn_lease_fn fn, void *ctx, struct qn_lease **out)
{
    struct qn_lease *x = qn_xcalloc(1, sizeof *x);
    x->model_slot = lease->model_slot;
    x->another = true;
    x->slots = slots;
    x->fn = fn;
    x->ctx = ctx;
    x->came_ms = qn_now_ms();
    wait_for_turn(x->model_slot, x, a->owner, a->client);
    qn_inventory_settle_soon(x->model_slot->inv);
    *out = x;
}

void qn_lease_rest(struct qn_lease *lease)
{
    struct qn_model_slot *p = lease->model_slot;
    qn_mean_add(&p->process.answer_ms, (double)(qn_now_ms() - lease->granted_ms));
    p->queue.used_slots -= lease->slots;
    lease->slots = 0;
    qn_inventory_settle_soon(p->inv);
}

bool qn_lease_is_wanted(const struct qn_lease *lease)
{
    const struct qn_model_slot *p = lease->model_slot;
    return p->queue.awaited ||
           p->queue.waiting.n > p->queue.loads_waiting + p->queue.others_waiting;
}

struct qn_child *qn_lease_child(const struct qn_lease *lease)
{
    return lease->model_slot->process.child;
}

void qn_lease_count(struct qn_lease *lease, double tokens_s)
{
    lease->model_slot->process.count.requests++;
    lease->model_slot->process.count.last_tokens_s = tokens_s;
}

void qn_lease_keep(struct qn_lease *lease, int64_t keep_alive_ms)
{
    lease->model_slot->policy.keep_ms = keep_alive_ms;
    lease->model_slot->policy.leave = false;
    qn_inventory_settle_soon(lease->model_slot->inv);
}

void qn_lease_release(struct qn_lease *x)
{
    if (!x)
        return;
    struct qn_model_slot *p = x->model_slot;
    if (!p) { /* qn_model_slot_refuse is calling callbacks; it will reach this lease and free it */
        x->fn = NULL;
        return;
    }
    if (x->granted) {
        list_remove(&p->queue.held, x);
        p->queue.used_slots -= x->slots;
        p->queue.used_ms = qn_now_ms();
        qn_catalog_touch(p->inv->catalog, p->id.name, qn_wall_ms() / 1000);
    } else {
        leave_queue(p, x);
    }
    qn_inventory_settle_soon(p->inv);
    free(x);
}
