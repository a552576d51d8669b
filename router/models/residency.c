/* Models that may not be loaded beside the wanted one are evicted first; then the least recently
 * used ones, of its kind while the limit of its kind is exceeded, of all kinds while memory is
 * short. A model is evicted only if the wanted model fits afterwards. */
#include "models/residency.h"

#include "base/str.h"

#include <string.h>

/* The neural processor (NPU) of AMD's laptop chips: programs of different kinds cannot share it,
 * and some cannot run twice either. */
static const struct qn_device_use device_uses[] = {
    {"flm", NULL, "npu", false},
    {"ryzenai-llm", NULL, "npu", true},
    {"whispercpp", "npu", "npu", true},
};

const struct qn_device_use *qn_device_use_of(const char *recipe, const char *backend)
{
    for (size_t i = 0; i < sizeof device_uses / sizeof *device_uses; i++)
        if (qn_str_eq(device_uses[i].recipe, recipe) &&
            (!device_uses[i].backend || qn_str_eq(device_uses[i].backend, backend)))
            return &device_uses[i];
    return NULL;
}

/* ---- which models may be loaded together, which may be evicted ---- */

static bool device_shared(const struct qn_resident *a, const struct qn_resident *b)
{
    if (!a->usage || !b->usage || !qn_str_eq(a->usage->device, b->usage->device))
        return true;
    return a->usage == b->usage && !a->usage->whole && a->kind != b->kind;
}

/* True when r may not be evicted for the wanted model: r is pinned, or its group is persistent. */
static bool kept(const struct qn_resident *r, const struct qn_resident *want)
{
    return r->pinned || (r->group && r->group->persistent && r->group != want->group);
}

/* The reason why the two cannot be in memory at once. */
static enum qn_plan_cause clash(const struct qn_resident *r, const struct qn_resident *want)
{
    if (!device_shared(r, want))
        return QN_CAUSE_DEVICE;
    if (!qn_groups_coexist(r->group, want->group))
        return QN_CAUSE_GROUP;
    if (want->alone && !kept(r, want) && !r->elsewhere)
        return QN_CAUSE_RETRY;
    return QN_CAUSE_NONE;
}

static bool may_go(const struct qn_resident *r, const struct qn_resident *want)
{
    return !r->busy && !r->leaving && !kept(r, want);
}

/* ---- resources ---- */

/* What the wanted model lacks; values > 0 are the amount that is missing. */
struct shortage {
    int64_t places; /* of the limit of its kind */
    int64_t bytes, gpu_bytes;
    int64_t processes;
};

static const int64_t plenty = INT64_MIN / 2;

static bool takes_place(const struct qn_resident *r, const struct qn_resident *want)
{
    return r->kind == want->kind && !r->group && !r->elsewhere;
}

static bool is_short(const struct shortage *s)
{
    return s->places > 0 || s->bytes > 0 || s->gpu_bytes > 0 || s->processes > 0;
}

static enum qn_plan_cause cause_of(const struct shortage *s)
{
    return s->places > 0      ? QN_CAUSE_PLACES
           : s->bytes > 0     ? QN_CAUSE_MEMORY
           : s->gpu_bytes > 0 ? QN_CAUSE_GPU_MEMORY
           : s->processes > 0 ? QN_CAUSE_PROCESSES
                              : QN_CAUSE_NONE;
}

static void give(struct shortage *s, const struct qn_resident *r, const struct qn_resident *want)
{
    s->processes--;
    if (takes_place(r, want))
        s->places--;
    if (!r->elsewhere) {
        s->bytes -= r->memory_bytes;
        s->gpu_bytes -= r->gpu_bytes;
    }
}

static struct shortage count(const struct qn_resident *live, size_t n,
                             const struct qn_resident *want, const struct qn_budget *b)
{
    int64_t limit = b->max_loaded.of[want->kind];
    struct shortage s = {plenty, plenty, plenty, (int64_t)n + 1 - QN_RESIDENTS_MAX};
    if (want->elsewhere)
        return s;
    if (limit >= 0 && !want->group)
        s.places = 1 - limit;
    if (b->memory_bytes > 0)
        s.bytes = want->memory_bytes - b->memory_bytes;
    if (b->gpu_bytes > 0)
        s.gpu_bytes = want->gpu_bytes - b->gpu_bytes;
    for (size_t i = 0; i < n; i++) {
        s.places += takes_place(&live[i], want);
        s.bytes += live[i].elsewhere ? 0 : live[i].memory_bytes;
        s.gpu_bytes += live[i].elsewhere ? 0 : live[i].gpu_bytes;
    }
    return s;
}

/* True when evicting this model would reduce the first shortage. */
static bool helps(const struct shortage *s, const struct qn_resident *r,
                  const struct qn_resident *want)
{
    if (s->places > 0)
        return takes_place(r, want);
    if (s->bytes > 0)
        return !r->elsewhere;
    if (s->gpu_bytes > 0)
        return !r->elsewhere && r->gpu_bytes > 0;
    return true;
}

/* ---- the plan ---- */

struct planning {
    const struct qn_resident *live, *want;
    size_t n;
    const struct qn_budget *budget;
    struct qn_plan *out;
    bool gone[QN_RESIDENTS_MAX]; /* chosen for eviction, or already stopping */
};

static void end(struct planning *p, enum qn_plan_verdict verdict, enum qn_plan_cause cause)
{
    p->out->verdict = verdict;
    p->out->cause = cause;
    if (verdict == QN_PLAN_WAIT || verdict == QN_PLAN_REFUSE)
        p->out->n_evict = 0;
}

static void refuse(struct planning *p, enum qn_plan_cause cause, bool kept_only, size_t blocker)
{
    end(p, QN_PLAN_REFUSE, cause);
    p->out->kept = kept_only;
    p->out->blocker = blocker;
}

/* Refuses a model that could not be loaded even if all models that may be evicted were. */
static bool hopeless(struct planning *p, struct shortage s)
{
    size_t keeper = p->n;
    for (size_t i = 0; i < p->n; i++) {
        const struct qn_resident *r = &p->live[i];
        if (r->leaving || !kept(r, p->want)) {
            give(&s, r, p->want);
            continue;
        }
        enum qn_plan_cause why = clash(r, p->want);
        if (why) {
            refuse(p, why, true, i);
            return true;
        }
        keeper = keeper == p->n ? i : keeper;
    }
    if (!is_short(&s))
        return false;
    enum qn_plan_cause cause = cause_of(&s);
    for (size_t i = 0; i < p->n; i++) /* would it fit without the models that stay? */
        if (!p->live[i].leaving && kept(&p->live[i], p->want))
            give(&s, &p->live[i], p->want);
    refuse(p, cause, !is_short(&s), is_short(&s) ? p->n : keeper);
    return true;
}

static void choose(struct planning *p, struct shortage *s, size_t i)
{
    p->gone[i] = true;
    p->out->evict[p->out->n_evict++] = i;
    give(s, &p->live[i], p->want);
}

/* Evicts all models that cannot be loaded beside the wanted one. False: one of them is busy, and
 * the plan is to wait. */
static bool clear_clashes(struct planning *p, struct shortage *s)
{
    enum qn_plan_cause busy = QN_CAUSE_NONE;
    for (size_t i = 0; i < p->n; i++) {
        enum qn_plan_cause why = clash(&p->live[i], p->want);
        if (!why)
            continue;
        p->out->awaited[i] = true;
        p->out->cause = why;
        if (p->gone[i])
            continue;
        if (may_go(&p->live[i], p->want)) {
            choose(p, s, i);
        } else if (!busy) {
            busy = why;
            p->out->blocker = i;
        }
    }
    if (busy)
        end(p, QN_PLAN_WAIT, busy);
    return !busy;
}

/* The least recently used of the models that may be evicted and whose eviction helps; n: none. */
static size_t oldest(const struct planning *p, const struct shortage *s)
{
    size_t best = p->n;
    for (size_t i = 0; i < p->n; i++) {
        if (p->gone[i] || !may_go(&p->live[i], p->want) || !helps(s, &p->live[i], p->want))
            continue;
        if (best == p->n || p->live[i].last_use_ms < p->live[best].last_use_ms)
            best = i;
    }
    return best;
}

/* No model whose eviction helps may be evicted now: those that can be later get no new work. */
static void wait_for_busy(struct planning *p, const struct shortage *s)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct qn_resident *r = &p->live[i];
        if (kept(r, p->want) || !helps(s, r, p->want))
            continue;
        p->out->awaited[i] = true;
        if (p->out->blocker == p->n && r->busy && !r->leaving)
            p->out->blocker = i;
    }
    end(p, QN_PLAN_WAIT, cause_of(s));
}

static int share(int threads, size_t among)
{
    int each = (int)((size_t)(threads > 0 ? threads : 1) / among);
    return each > 0 ? each : 1;
}

static size_t busy_count(const struct qn_resident *live, size_t n)
{
    size_t busy = 0;
    for (size_t i = 0; i < n; i++)
        busy += live[i].busy;
    return busy;
}

static bool any_clash(const struct planning *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (clash(&p->live[i], p->want))
            return true;
    return false;
}

static void make_plan(struct planning *p)
{
    struct shortage s = count(p->live, p->n, p->want, p->budget);
    if (!is_short(&s) && !any_clash(p)) {
        p->out->verdict = QN_PLAN_LOAD;
        return;
    }
    if (hopeless(p, s))
        return;
    for (size_t i = 0; i < p->n; i++)
        if (p->live[i].leaving) {
            p->gone[i] = true;
            give(&s, &p->live[i], p->want);
        }
    if (!clear_clashes(p, &s))
        return;
    while (is_short(&s)) {
        size_t i = oldest(p, &s);
        p->out->cause = cause_of(&s);
        if (i == p->n) {
            wait_for_busy(p, &s);
            return;
        }
        choose(p, &s, i);
    }
    p->out->verdict = p->out->n_evict > 0 ? QN_PLAN_EVICT : QN_PLAN_WAIT;
}

void qn_residency_plan(const struct qn_resident *live, size_t n, const struct qn_resident *want,
                       const struct qn_budget *budget, struct qn_plan *out)
{
    struct planning p = {.live = live, .want = want, .n = n, .budget = budget, .out = out};
    *out =
        (struct qn_plan){.threads = share(budget->threads, busy_count(live, n) + 1), .blocker = n};
    make_plan(&p);
    if (want->modest && out->verdict != QN_PLAN_LOAD)
        end(&p, QN_PLAN_REFUSE, out->cause);
}

void qn_residency_threads(const struct qn_resident *live, size_t n, int machine_threads,
                          int *threads)
{
    size_t busy = busy_count(live, n);
    int total = machine_threads > 0 ? machine_threads : 1;
    int left = busy > 0 ? total % (int)busy : 0;
    for (size_t i = 0; i < n; i++) {
        if (!live[i].busy) {
            threads[i] = share(total, busy + 1);
            continue;
        }
        threads[i] = share(total, busy);
        if ((size_t)total > busy && left > 0) {
            threads[i]++;
            left--;
        }
    }
}

size_t qn_residency_least_missed(const struct qn_candidate *c, size_t n)
{
    size_t best = n;
    double most = -1;
    for (size_t i = 0; i < n; i++) {
        if (!c[i].may_go)
            continue;
        double weight = c[i].weight > 0 ? c[i].weight : 1;
        double load = c[i].load_ms > 0 ? (double)c[i].load_ms : 1;
        double score = (double)c[i].idle_ms / (load * weight);
        if (score > most) {
            most = score;
            best = i;
        }
    }
    return best;
}
