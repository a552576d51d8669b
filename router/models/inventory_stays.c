/* How long an unused model stays loaded, and which model is evicted when memory runs short without
 * a request for another one. See inventory_private.h. */
#include "models/inventory_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "contract/job.h"
#include "telemetry/metrics.h"

enum { PRESSURE_CHECK_MS = 1000 };

static bool gives_up(const struct qn_model_slot *p)
{
    return p->policy.options.auto_evict < 0 ? p->inv->config.auto_evict
                                            : p->policy.options.auto_evict > 0;
}

/* Keep-alive time after the last use; < 0: without end. A pinned model is unloaded only on
 * request. */
static int64_t stay_of(const struct qn_model_slot *p)
{
    if (p->policy.leave)
        return 0;
    if (p->policy.options.pinned)
        return -1;
    if (p->policy.keep_ms != QN_UNSET)
        return p->policy.keep_ms;
    if (gives_up(p))
        return p->policy.options.evict_idle_ms;
    return p->inv->config.idle_ms > 0 ? p->inv->config.idle_ms : -1;
}

static bool is_idle(const struct qn_model_slot *p)
{
    return qn_model_slot_state(p) == QN_INST_READY && !p->queue.held.n && !p->queue.waiting.n;
}

/* The time at which the model is to be unloaded; INT64_MAX: never, or not while it is in use. */
static int64_t leaves_at(const struct qn_model_slot *p)
{
    int64_t keep = stay_of(p);
    if (!is_idle(p) || keep < 0)
        return INT64_MAX;
    return keep < INT64_MAX - p->queue.used_ms ? p->queue.used_ms + keep : INT64_MAX;
}

int64_t qn_model_slot_stays_ms(const struct qn_model_slot *p)
{
    int64_t keep = stay_of(p);
    int64_t left = is_idle(p) ? p->queue.used_ms + keep - qn_now_ms() : keep;
    return keep < 0 ? -1 : left > 0 ? left : 0;
}

static void check_stays(void *ctx)
{
    struct qn_inventory *inv = ctx;
    int64_t now = qn_now_ms();
    qn_timer_stop(inv->idle_timer);
    inv->idle_timer = NULL;
    qn_inventory_note_options(inv);
    for (struct qn_model_slot *p = inv->model_slots; p; p = p->next)
        if (leaves_at(p) <= now) {
            qn_info("inventory", "model=%s unloaded=idle", p->id.name);
            qn_metric_add_of(inv->config.metrics, p->id.name, QN_M_IDLE_UNLOADS, 1);
            qn_child_stop(p->process.child, QN_CHILD_STOP_GRACE_MS);
        }
    qn_inventory_watch_stays(inv);
}

void qn_inventory_press(struct qn_inventory *inv, double used)
{
    struct qn_candidate c[QN_RESIDENTS_MAX];
    struct qn_model_slot *model_slots[QN_RESIDENTS_MAX];
    int64_t now = qn_now_ms();
    size_t n = 0;
    if (used < inv->config.pressure)
        return;
    qn_inventory_note_options(inv);
    for (struct qn_model_slot *p = inv->model_slots; p && n < QN_RESIDENTS_MAX; p = p->next) {
        if (!is_idle(p))
            continue;
        model_slots[n] = p;
        c[n++] = (struct qn_candidate){
            .may_go = gives_up(p) && !p->policy.options.pinned && !p->id.elsewhere,
            .idle_ms = now - p->queue.used_ms,
            .load_ms = qn_child_status(p->process.child).load_ms,
            .weight = p->policy.options.weight,
        };
    }
    size_t i = qn_residency_least_missed(c, n);
    if (i == n)
        return;
    qn_info("inventory", "model=%s unloaded=pressure memory_used=%.2f", model_slots[i]->id.name,
            used);
    qn_metric_add_of(inv->config.metrics, model_slots[i]->id.name, QN_M_EVICTIONS, 1);
    qn_child_stop(model_slots[i]->process.child, QN_CHILD_STOP_GRACE_MS);
}

static void check_pressure(void *ctx)
{
    struct qn_inventory *inv = ctx;
    int64_t left = inv->config.free_memory ? inv->config.free_memory() : -1;
    if (left >= 0 && inv->config.machine_bytes > 0)
        qn_inventory_press(inv, 1 - (double)left / (double)inv->config.machine_bytes);
}

/* Free memory is checked only while some loaded model may be evicted under pressure. */
static void watch_pressure(struct qn_inventory *inv)
{
    bool any = false;
    for (const struct qn_model_slot *p = inv->model_slots; p && !any; p = p->next)
        any = qn_model_slot_has_process(qn_model_slot_state(p)) && gives_up(p) &&
              !p->policy.options.pinned;
    if (any && !inv->pressure_timer) {
        inv->pressure_timer =
            qn_timer_start(inv->loop, PRESSURE_CHECK_MS, PRESSURE_CHECK_MS, check_pressure, inv);
    } else if (!any) {
        qn_timer_stop(inv->pressure_timer);
        inv->pressure_timer = NULL;
    }
}

void qn_inventory_watch_stays(struct qn_inventory *inv)
{
    int64_t first = INT64_MAX;
    for (const struct qn_model_slot *p = inv->model_slots; p; p = p->next)
        if (leaves_at(p) < first)
            first = leaves_at(p);
    watch_pressure(inv);
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
