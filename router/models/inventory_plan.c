/* Plans loads: collects the facts for residency.c, carries its plan out (load, evict, wait or
 * refuse) and words the reason for requests that wait. See inventory_private.h. */
#include "models/inventory_private.h"

#include "base/log.h"
#include "base/str.h"
#include "contract/job.h"
#include "telemetry/metrics.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct qn_resident facts_of(const struct qn_model_slot *p)
{
    return (struct qn_resident){
        .kind = p->id.kind,
        .group = p->id.group,
        .usage = p->id.usage,
        .pinned = p->policy.options.pinned,
        .elsewhere = p->id.elsewhere,
        .last_use_ms = p->queue.used_ms,
    };
}

size_t qn_model_slots_resident(struct qn_inventory *inv, const struct qn_model_slot *without,
                               struct qn_resident *live, struct qn_model_slot **model_slots)
{
    size_t n = 0;
    for (struct qn_model_slot *p = inv->model_slots; p && n < QN_RESIDENTS_MAX; p = p->next) {
        enum qn_inst_state s = qn_model_slot_state(p);
        if (p == without || !qn_model_slot_has_process(s))
            continue;
        struct qn_child_status status = qn_child_status(p->process.child);
        live[n] = facts_of(p);
        live[n].busy = p->queue.held.n > 0 || status.jobs > 0 ||
                       (without && qn_model_slot_serves_first(p, without));
        live[n].leaving = s == QN_INST_DRAINING;
        live[n].memory_bytes = status.memory_bytes > 0
                                   ? status.memory_bytes
                                   : qn_model_slot_estimate(p, p->process.context);
        live[n].gpu_bytes = status.gpu_bytes;
        model_slots[n++] = p;
    }
    return n;
}

/* The memory that models may use together: the limit, but no more than what they use now plus what
 * the machine has free. own: memory of the running process of the model to be loaded, which is
 * stopped for the new one. Model slots without a READY or DRAINING process use no memory that can
 * be counted yet. */
static int64_t memory_budget(const struct qn_inventory *inv, const struct qn_resident *live,
                             struct qn_model_slot *const *model_slots, size_t n, int64_t own)
{
    int64_t limit = inv->config.memory_bytes;
    int64_t room = inv->config.free_memory ? inv->config.free_memory() : -1;
    if (limit <= 0 || room < 0 || inv->config.limit_is_wish)
        return limit;
    room += own;
    for (size_t i = 0; i < n; i++) {
        enum qn_inst_state s = qn_model_slot_state(model_slots[i]);
        if (s == QN_INST_READY || s == QN_INST_DRAINING)
            room += live[i].memory_bytes;
    }
    return room < 1 ? 1 : room < limit ? room : limit;
}

/* ---- messages ---- */

/* The reason after "waits because" or "cannot be loaded:". `other`: the model in the way; NULL:
 * there is no single one. */
static void say_cause(const struct qn_model_slot *p, enum qn_plan_cause cause,
                      const struct qn_model_slot *other, char out[static QN_QUEUED_REASON_MAX])
{
    const char *who = other ? other->id.name : "another model";
    int64_t limit = p->inv->config.max_loaded.of[p->id.kind];
    switch (cause) {
    case QN_CAUSE_PLACES:
        snprintf(out, QN_QUEUED_REASON_MAX, "max-loaded-models allows %lld %s model%s at once",
                 (long long)limit, qn_kind_name(p->id.kind), limit == 1 ? "" : "s");
        break;
    case QN_CAUSE_MEMORY:
        snprintf(out, QN_QUEUED_REASON_MAX, "it does not fit into memory beside %s", who);
        break;
    case QN_CAUSE_GPU_MEMORY:
        snprintf(out, QN_QUEUED_REASON_MAX,
                 "it does not fit into the graphics processors' memory beside %s", who);
        break;
    case QN_CAUSE_GROUP:
        snprintf(out, QN_QUEUED_REASON_MAX, "its group does not let it be loaded beside %s", who);
        break;
    case QN_CAUSE_DEVICE:
        snprintf(out, QN_QUEUED_REASON_MAX, "%s uses the same device, which only one can", who);
        break;
    case QN_CAUSE_RETRY:
        snprintf(out, QN_QUEUED_REASON_MAX,
                 "loading failed, and is retried once when no other model is in memory");
        break;
    default:
        snprintf(out, QN_QUEUED_REASON_MAX, "%d model processes are the most that there can be",
                 QN_RESIDENTS_MAX);
    }
}

static void note_reason(struct qn_model_slot *p, const struct qn_plan *todo,
                        struct qn_model_slot *const *model_slots, size_t n)
{
    const struct qn_model_slot *other = todo->blocker < n ? model_slots[todo->blocker] : NULL;
    char cause[QN_QUEUED_REASON_MAX];
    say_cause(p, todo->cause, other, cause);
    int used = snprintf(p->queue.reason, sizeof p->queue.reason, "%s", cause);
    if (todo->verdict == QN_PLAN_WAIT && other && used >= 0 &&
        (size_t)used < sizeof p->queue.reason)
        snprintf(p->queue.reason + used, sizeof p->queue.reason - (size_t)used, ", and %s is busy",
                 other->id.name);
}

static void say_memory(const struct qn_model_slot *p, int64_t needs, int64_t may,
                       struct qn_error *e)
{
    qn_fail_param(e, QN_ENOMEM, "model",
                  "model '%s' cannot be loaded: it needs about %lld MiB of memory, and models may "
                  "use %lld MiB now. Use a smaller model, a smaller quantisation or a smaller "
                  "context, end other programs, or raise the setting memory-limit",
                  p->id.name, (long long)(needs >> 20), (long long)(may >> 20));
}

/* The param of the error distinguishes Lemonade's two kinds of conflict. */
static void say_refusal(const struct qn_model_slot *p, const struct qn_plan *todo,
                        struct qn_model_slot *const *model_slots, size_t n, struct qn_error *e)
{
    const struct qn_model_slot *other = todo->blocker < n ? model_slots[todo->blocker] : NULL;
    char cause[QN_QUEUED_REASON_MAX];
    say_cause(p, todo->cause, other, cause);
    if (p->queue.modest)
        qn_fail_param(e, QN_EBUSY, "model",
                      "model '%s' is not loaded, since another model would be evicted: %s",
                      p->id.name, cause);
    else if (!todo->kept)
        qn_fail_param(e, QN_ENOMEM, "model", "model '%s' cannot be loaded: %s", p->id.name, cause);
    else if (todo->cause == QN_CAUSE_GROUP || todo->cause == QN_CAUSE_DEVICE)
        qn_fail_param(e, QN_ECONFLICT, "groups",
                      "model '%s' cannot be loaded: %s, which stays loaded (it is pinned, or its "
                      "group persists). Unload it or unpin it first",
                      p->id.name, cause);
    else
        qn_fail_param(e, QN_ECONFLICT, "pinned",
                      "model '%s' cannot be loaded: %s, and what is loaded is pinned. Unload a "
                      "model or unpin it first: `quince unpin MODEL`",
                      p->id.name, cause);
}

/* ---- loading ---- */

static void evict(struct qn_model_slot *p, const struct qn_plan *todo,
                  struct qn_model_slot *const *model_slots)
{
    for (size_t i = 0; i < todo->n_evict; i++) {
        qn_info("inventory", "model=%s evicted_for=%s", model_slots[todo->evict[i]]->id.name,
                p->id.name);
        qn_metric_add_of(p->inv->config.metrics, model_slots[todo->evict[i]]->id.name,
                         QN_M_EVICTIONS, 1);
        qn_child_stop(model_slots[todo->evict[i]]->process.child, QN_CHILD_STOP_GRACE_MS);
    }
}

static void hold_back(struct qn_model_slot *p, const struct qn_plan *todo,
                      struct qn_model_slot *const *model_slots, size_t n)
{
    uint64_t ticket = qn_model_slot_ticket(p);
    p->queue.blocked = true;
    note_reason(p, todo, model_slots, n);
    for (size_t i = 0; i < n; i++)
        if (todo->awaited[i] && !qn_model_slot_in_batch(model_slots[i], p) &&
            (!model_slots[i]->queue.awaited || model_slots[i]->queue.awaited > ticket))
            model_slots[i]->queue.awaited = ticket;
}

/* The memory of a process that is still loading is counted nowhere, so that free memory is
 * underestimated: a model that does not fit now may fit when that process is ready. Returns the
 * index of such a process; n: there is none. */
static size_t hides_memory(const struct qn_model_slot *p, const struct qn_plan *todo, int64_t needs,
                           struct qn_model_slot *const *model_slots, size_t n)
{
    const struct qn_inventory_config *c = &p->inv->config;
    bool measured = c->free_memory && !c->limit_is_wish && needs <= c->memory_bytes;
    size_t i = todo->cause == QN_CAUSE_MEMORY && measured && !p->queue.modest ? 0 : n;
    while (i < n && qn_model_slot_state(model_slots[i]) != QN_INST_LOADING)
        i++;
    return i;
}

/* The memory that the model needed when it ran last, if it would be started with the same options
 * and files; else an estimate. */
static int64_t needed_memory(struct qn_model_slot *p, const struct qn_model_row *row)
{
    struct qn_model_slot_want w;
    bool known = qn_model_slot_want(p, row, qn_model_slot_next_load(p), &w, NULL) == QN_OK;
    bool same = known && p->process.measured_bytes > 0 && qn_model_slot_runs_with(p, &w) &&
                !qn_model_slot_has_other_files(p, row);
    int64_t bytes = same ? p->process.measured_bytes : qn_model_slot_estimate(p, w.context);
    qn_model_slot_want_deinit(&w);
    return bytes;
}

/* The memory of the model's running process; 0: none is running. */
static int64_t own_memory(const struct qn_model_slot *p)
{
    if (qn_model_slot_state(p) != QN_INST_READY)
        return 0;
    int64_t bytes = qn_child_status(p->process.child).memory_bytes;
    return bytes > 0 ? bytes : qn_model_slot_estimate(p, p->process.context);
}

/* The plan for a model slot, with the figures it was made from. */
struct thought {
    struct qn_model_slot *model_slots[QN_RESIDENTS_MAX];
    size_t n;
    int64_t needs, may; /* bytes of memory */
    struct qn_plan todo;
};

/* Plans a load of p that needs t->needs bytes. running: the model slot whose process it would
 * replace, p itself unless p is only a model of it; NULL: none. */
static void weigh(const struct qn_model_slot *p, const struct qn_model_slot *running,
                  struct thought *t)
{
    struct qn_inventory *inv = p->inv;
    struct qn_resident live[QN_RESIDENTS_MAX];
    t->n = qn_model_slots_resident(inv, running, live, t->model_slots);
    t->may = memory_budget(inv, live, t->model_slots, t->n, running ? own_memory(running) : 0);
    t->todo = (struct qn_plan){0};
    struct qn_resident want = facts_of(p);
    want.memory_bytes = t->needs;
    want.gpu_bytes = p->process.gpu_bytes;
    want.alone = p->load.alone;
    want.modest = p->queue.modest;
    struct qn_budget budget = {
        .max_loaded = inv->config.max_loaded,
        .memory_bytes = t->may,
        .gpu_bytes = inv->config.gpu_bytes,
        .threads = inv->config.threads,
    };
    qn_residency_plan(live, t->n, &want, &budget, &t->todo);
}

static qn_err think(struct qn_model_slot *p, struct thought *t, struct qn_error *e)
{
    struct qn_inventory *inv = p->inv;
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    qn_err err = qn_inventory_find(inv, p->id.name, &snap, &row, e);
    if (err)
        return err;
    qn_model_slot_note_options(p, row);
    t->needs = needed_memory(p, row);
    qn_snapshot_unref(snap);
    weigh(p, p, t);
    return QN_OK;
}

size_t qn_model_slot_awaits(struct qn_model_slot *p, struct qn_model_slot **model_slots,
                            bool *awaited)
{
    struct thought t;
    if (think(p, &t, NULL) || (t.todo.verdict != QN_PLAN_WAIT && t.todo.verdict != QN_PLAN_EVICT))
        return 0;
    memcpy(model_slots, t.model_slots, t.n * sizeof *model_slots);
    memcpy(awaited, t.todo.awaited, t.n * sizeof *awaited);
    return t.n;
}

/* False: the load is refused, for the reason in *why. */
static bool may_load(const struct qn_model_slot *p, const struct thought *t, struct qn_error *why)
{
    if (t->todo.verdict != QN_PLAN_REFUSE ||
        hides_memory(p, &t->todo, t->needs, t->model_slots, t->n) < t->n)
        return true;
    if (t->todo.cause == QN_CAUSE_MEMORY && t->needs > t->may)
        say_memory(p, t->needs, t->may, why);
    else
        say_refusal(p, &t->todo, t->model_slots, t->n, why);
    return false;
}

bool qn_model_slot_may_restart(struct qn_model_slot *p, struct qn_error *why)
{
    struct thought t;
    return think(p, &t, why) == QN_OK && may_load(p, &t, why);
}

void qn_model_slot_plan(struct qn_model_slot *p, const struct qn_child_events *events)
{
    struct thought t;
    struct qn_error e = {0};
    if (think(p, &t, &e)) { /* it has been removed from the catalog meanwhile */
        qn_model_slot_refuse(p, &e);
        return;
    }
    if (!may_load(p, &t, &e)) {
        qn_model_slot_load_failed(p, qn_model_slot_asked(p), &e);
        return;
    }
    switch (t.todo.verdict) {
    case QN_PLAN_LOAD:
        p->load.alone = false;
        if (qn_model_slot_start(p, t.todo.threads, events, &e))
            qn_model_slot_load_failed(p, qn_model_slot_asked(p), &e);
        break;
    case QN_PLAN_EVICT:
        evict(p, &t.todo, t.model_slots);
        hold_back(p, &t.todo, t.model_slots, t.n);
        break;
    case QN_PLAN_WAIT:
        hold_back(p, &t.todo, t.model_slots, t.n);
        break;
    case QN_PLAN_REFUSE: /* in spite of that it waits: a process that is loading may be counted
                            wrongly */
        t.todo.blocker = hides_memory(p, &t.todo, t.needs, t.model_slots, t.n);
        hold_back(p, &t.todo, t.model_slots, t.n);
        break;
    }
}

/* ---- forecasts ---- */

/* The model slot is one of its own, so that the model's real one, its leases and its process stay
 * as they are. */
qn_err qn_inventory_forecast(struct qn_inventory *inv, const struct qn_model_row *row,
                             const char *saved, struct qn_forecast *out, struct qn_error *e)
{
    char *options = qn_xstrdup(saved), *name = qn_xstrdup(row->name);
    int64_t token = qn_row_number(row->details, "kv_token_bytes");
    struct qn_model_slot_load load = {.context = QN_UNSET, .saved = options};
    struct qn_model_slot *real = qn_model_slot_find(inv, row->name),
                         p = {
                             .inv = inv,
                             .id = {.name = name,
                                    .type = qn_backend_type_find(row->type),
                                    .size_bytes = row->size_bytes,
                                    .kv_token_bytes = token != QN_UNSET ? token : 0},
                             .load = {.kept = &load},
                         };
    struct qn_model_slot_want w = {0};
    struct thought t = {0};
    *out = (struct qn_forecast){0};
    qn_err err = qn_inventory_check_row(inv, row, e);
    if (!err) {
        qn_model_slot_note_options(&p, row);
        err = qn_model_slot_want(&p, row, &load, &w, e);
    }
    if (!err) {
        bool same = real && real->process.measured_bytes > 0 && qn_model_slot_runs_with(real, &w);
        t.needs = same ? real->process.measured_bytes : qn_model_slot_estimate(&p, w.context);
        weigh(&p, real, &t);
        out->needed_bytes = t.needs;
        out->may_bytes = t.may;
        out->context = w.context;
        out->loads = may_load(&p, &t, &out->why);
        for (size_t i = 0; out->loads && i < t.todo.n_evict; i++)
            out->evicts[out->n_evicts++] = t.model_slots[t.todo.evict[i]]->id.name;
    }
    qn_model_slot_want_deinit(&w);
    free(p.policy.noted);
    free(options);
    free(name);
    return err;
}

struct qn_model_memory qn_inventory_memory(struct qn_inventory *inv)
{
    struct qn_resident live[QN_RESIDENTS_MAX];
    struct qn_model_slot *model_slots[QN_RESIDENTS_MAX];
    struct qn_model_memory out = {.limit_bytes = inv->config.memory_bytes, .free_bytes = -1};
    size_t n = qn_model_slots_resident(inv, NULL, live, model_slots);
    if (inv->config.free_memory)
        out.free_bytes = inv->config.free_memory();
    for (size_t i = 0; i < n; i++)
        if (!live[i].elsewhere)
            out.used_bytes += live[i].memory_bytes;
    return out;
}

/* ---- failures for lack of memory ---- */

/* True when the process reported a lack of memory, or the system killed it, as it does when memory
 * is short. Other ends do not depend on memory. */
static bool lacked_memory(const struct qn_child_status *s)
{
    return s->error->code == QN_ENOMEM ||
           (s->crash_report && s->crash_report->signal == SIGKILL && !s->crash_report->by_us);
}

/* The number of other models that could have been evicted for a load. */
static size_t others_in_memory(struct qn_model_slot *p)
{
    struct qn_resident live[QN_RESIDENTS_MAX];
    struct qn_model_slot *model_slots[QN_RESIDENTS_MAX];
    size_t n = qn_model_slots_resident(p->inv, p, live, model_slots), others = 0;
    for (size_t i = 0; i < n; i++)
        others += !live[i].pinned && !live[i].elsewhere && !live[i].leaving;
    return others;
}

bool qn_model_slot_may_fit_alone(struct qn_model_slot *p)
{
    struct qn_child_status s = qn_child_status(p->process.child);
    return !p->load.tried_alone && !p->id.elsewhere && lacked_memory(&s) && others_in_memory(p) > 0;
}

bool qn_model_slot_try_alone(struct qn_model_slot *p)
{
    struct qn_child_status s = qn_child_status(p->process.child);
    /* A load that its process refused for lack of memory is FAILED without having been repeated. */
    bool loading_failed = s.failed_loads > 0 || s.state == QN_INST_FAILED;
    if (p->queue.modest || !p->queue.waiting.n || !loading_failed ||
        !qn_model_slot_may_fit_alone(p))
        return false;
    qn_warn("inventory", "model=%s load_failed=1 retry_alone=1 others=%zu message=\"%s\"",
            p->id.name, others_in_memory(p), s.error->message);
    p->load.alone = p->load.tried_alone = true;
    qn_child_stop(p->process.child, 0); /* its own restarts must not run before the evictions */
    return true;
}

/* ---- threads ---- */

void qn_inventory_share_threads(struct qn_inventory *inv)
{
    struct qn_resident live[QN_RESIDENTS_MAX];
    struct qn_model_slot *model_slots[QN_RESIDENTS_MAX];
    int threads[QN_RESIDENTS_MAX];
    size_t n = qn_model_slots_resident(inv, NULL, live, model_slots);
    if (!n)
        return;
    qn_residency_threads(live, n, inv->config.threads, threads);
    for (size_t i = 0; i < n; i++)
        if (qn_model_slot_state(model_slots[i]) == QN_INST_READY &&
            model_slots[i]->process.threads != threads[i]) {
            model_slots[i]->process.threads = threads[i];
            qn_child_set_threads(model_slots[i]->process.child, threads[i]);
        }
}
