/* What a request that waits for a model is told: its position in the queue and the estimated
 * waiting time, including the time of other models that come first. Estimates are means
 * of measured values; what was never measured counts as 0. See inventory_private.h. */
#include "models/inventory_private.h"

int64_t qn_model_slot_capacity(const struct qn_model_slot *p)
{
    int64_t own = p->policy.options.max_concurrent;
    int64_t limit = own != QN_UNSET ? own : p->inv->config.max_concurrent;
    return limit > 0 ? limit : p->process.slots;
}

static int64_t at_once(const struct qn_model_slot *p)
{
    int64_t n = qn_model_slot_capacity(p);
    return n > 0 ? n : 1;
}

/* True when the model's process is ready and will not be restarted. */
static bool is_loaded(const struct qn_model_slot *p)
{
    return qn_model_slot_state(p) == QN_INST_READY && !qn_model_slot_restarts(p);
}

static int64_t loading_ms(const struct qn_model_slot *p)
{
    return qn_model_slot_state(p) == QN_INST_LOADING ? qn_child_status(p->process.child).load_ms
                                                     : 0;
}

/* The estimated rest of the model's loading time. */
static double load_left(const struct qn_model_slot *p)
{
    double left = is_loaded(p) ? 0 : p->process.load_ms.value - (double)loading_ms(p);
    return left > 0 ? left : 0;
}

/* The estimated time until all requests that hold the model or wait for it have been served. */
static double work_left(const struct qn_model_slot *p)
{
    size_t waiting = p->queue.waiting.n - p->queue.loads_waiting;
    return load_left(p) + (p->queue.held.n ? p->process.answer_ms.value : 0) +
           (double)waiting * p->process.answer_ms.value / (double)at_once(p);
}

/* The work of models that wait to be loaded and have a request older than this ticket. */
static double queued_before(const struct qn_model_slot *p, uint64_t ticket)
{
    double ms = 0;
    for (const struct qn_model_slot *q = p->inv->model_slots; q; q = q->next)
        if (q != p && q->queue.blocked && q->queue.waiting.n && qn_model_slot_ticket(q) < ticket)
            ms += work_left(q);
    return ms;
}

/* The estimated time until the models that must be evicted for it have become idle, which they do
 * in parallel. */
static double room_wait(struct qn_model_slot *p)
{
    struct qn_model_slot *model_slots[QN_RESIDENTS_MAX];
    bool awaited[QN_RESIDENTS_MAX];
    size_t n = qn_model_slot_awaits(p, model_slots, awaited);
    double longest = 0;
    for (size_t i = 0; i < n; i++)
        if (awaited[i] && work_left(model_slots[i]) > longest)
            longest = work_left(model_slots[i]);
    return n ? longest + queued_before(p, qn_model_slot_ticket(p)) : 0;
}

/* The time that other models need before this one can be loaded, or is loaded again after they used
 * its memory. */
static double others_ms(struct qn_model_slot *p)
{
    enum qn_inst_state s = qn_model_slot_state(p);
    if (s == QN_INST_BACKOFF)
        return (double)qn_child_status(p->process.child).restart_ms;
    if (qn_model_slot_has_process(s))
        return p->queue.awaited ? work_left(p) - load_left(p) + queued_before(p, UINT64_MAX) +
                                      p->process.load_ms.value
                                : 0;
    return p->queue.waiting.n ? room_wait(p) : 0;
}

struct qn_queue_spot qn_model_slot_spot(struct qn_model_slot *p, size_t waiting, size_t ahead)
{
    return qn_queue_spot(&(struct qn_queue_facts){
        .waiting = waiting,
        .ahead = ahead,
        .capacity = at_once(p),
        .used = p->queue.used_slots,
        .answer_ms = p->process.answer_ms.value,
        .load_ms = p->process.load_ms.value,
        .loaded = is_loaded(p),
        .loading_ms = loading_ms(p),
        .others_ms = others_ms(p),
    });
}

bool qn_lease_waits(const struct qn_lease *lease, struct qn_lease_wait *out)
{
    struct qn_model_slot *p = lease->model_slot;
    if (lease->granted || !p)
        return false;
    bool loading = qn_model_slot_state(p) == QN_INST_LOADING;
    *out = (struct qn_lease_wait){
        .spot = qn_model_slot_spot(p, p->queue.waiting.n,
                                   qn_fair_ahead(&p->queue.waiting, &lease->item)),
        .loading = loading,
        .progress = loading ? qn_child_status(p->process.child).progress : 0,
        .reason = p->queue.blocked ? p->queue.reason : ""};
    return true;
}
