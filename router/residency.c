/* Least recently used, per type first (places), then over all types (memory). Nothing is evicted
 * unless that makes the wanted model fit. */
#include "router/residency.h"

#include <string.h>

static bool may_go(const struct qn_resident *r)
{
    return !r->busy && !r->pinned && !r->leaving;
}

/* What still stands in the way of the wanted model. */
struct shortage {
    int64_t places; /* of its type */
    int64_t bytes;
};

static bool short_of(const struct shortage *s)
{
    return s->places > 0 || s->bytes > 0;
}

static void give(struct shortage *s, const struct qn_resident *r, const struct qn_resident *want)
{
    if (strcmp(r->type, want->type) == 0)
        s->places--;
    s->bytes -= r->memory_bytes;
}

static struct shortage count(const struct qn_resident *live, size_t n,
                             const struct qn_resident *want, const struct qn_budget *b)
{
    struct shortage s = {.places = b->max_loaded < 0 ? INT64_MIN / 2 : 1 - (int64_t)b->max_loaded,
                         .bytes = b->memory_bytes <= 0 ? INT64_MIN / 2
                                                       : want->memory_bytes - b->memory_bytes};
    for (size_t i = 0; i < n; i++) {
        if (strcmp(live[i].type, want->type) == 0)
            s.places++;
        s.bytes += live[i].memory_bytes;
    }
    return s;
}

/* The least recently used of those that may go and are not chosen yet; same_type: only its type.
 * n when there is none. */
static size_t oldest(const struct qn_resident *live, size_t n, const struct qn_resident *want,
                     bool same_type, const bool *chosen)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++) {
        if (chosen[i] || !may_go(&live[i]))
            continue;
        if (same_type && strcmp(live[i].type, want->type) != 0)
            continue;
        if (best == n || live[i].last_use_ms < live[best].last_use_ms)
            best = i;
    }
    return best;
}

/* Would it fit if everybody but the pinned ones left? */
static bool could_ever_fit(struct shortage s, const struct qn_resident *live, size_t n,
                           const struct qn_resident *want)
{
    for (size_t i = 0; i < n; i++)
        if (!live[i].pinned || live[i].leaving)
            give(&s, &live[i], want);
    return !short_of(&s);
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

void qn_residency_plan(const struct qn_resident *live, size_t n, const struct qn_resident *want,
                       const struct qn_budget *budget, struct qn_plan *out)
{
    *out = (struct qn_plan){.threads = share(budget->threads, busy_count(live, n) + 1)};
    struct shortage s = count(live, n, want, budget);
    if (!short_of(&s) && n < QN_RESIDENTS_MAX) {
        out->verdict = QN_PLAN_LOAD;
        return;
    }
    if (!could_ever_fit(s, live, n, want)) {
        out->verdict = QN_PLAN_REFUSE;
        out->reason = s.bytes > 0 ? "it does not fit in the memory that models may use"
                                  : "the models that must stay loaded take all places";
        return;
    }
    if (n >= QN_RESIDENTS_MAX) {
        out->verdict = QN_PLAN_WAIT;
        out->reason = "too many model processes at once";
        return;
    }
    bool chosen[QN_RESIDENTS_MAX] = {false};
    for (size_t i = 0; i < n; i++)
        if (live[i].leaving)
            give(&s, &live[i], want);
    while (short_of(&s)) {
        size_t i = oldest(live, n, want, s.places > 0, chosen);
        if (i == n) {
            out->verdict = QN_PLAN_WAIT;
            out->reason = "the loaded models are busy";
            out->n_evict = 0;
            return;
        }
        chosen[i] = true;
        out->evict[out->n_evict++] = i;
        give(&s, &live[i], want);
    }
    out->verdict = out->n_evict > 0 ? QN_PLAN_EVICT : QN_PLAN_WAIT;
    if (out->verdict == QN_PLAN_WAIT)
        out->reason = "another model is being unloaded";
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
