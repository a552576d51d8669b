/* Which models stay in memory: pure policy, decided from a list of facts. The inventory collects
 * the facts and carries the plan out. */
#ifndef QN_ROUTER_RESIDENCY_H
#define QN_ROUTER_RESIDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_RESIDENTS_MAX = 64 }; /* processes at once, of all types */

/* One child that has a process (LOADING, READY, DRAINING) or is about to (BACKOFF). */
struct qn_resident {
    const char *type;     /* backend type */
    bool busy;            /* a job runs on it, or somebody waits for it: never evicted */
    bool pinned;          /* never evicted */
    bool leaving;         /* DRAINING: its place becomes free by itself */
    int64_t last_use_ms;  /* the smallest goes first */
    int64_t memory_bytes; /* needed or reported; 0: unknown */
};

struct qn_budget {
    int max_loaded;       /* children of one type at once; < 0: no limit */
    int64_t memory_bytes; /* for all children together; <= 0: no limit */
    int threads;          /* of the machine, shared between the children; >= 1 */
};

enum qn_plan_verdict {
    QN_PLAN_LOAD,  /* start it now, after nothing or while nothing needs to leave */
    QN_PLAN_EVICT, /* stop evict[0..n_evict), ask again when they are gone */
    QN_PLAN_WAIT,  /* everything in the way is busy or already leaving: ask again when that changes
                    */
    QN_PLAN_REFUSE /* will not fit while the pinned models stay, or not at all */
};

struct qn_plan {
    enum qn_plan_verdict verdict;
    size_t n_evict;
    size_t evict[QN_RESIDENTS_MAX]; /* indices into live, in the order to stop them */
    int threads;                    /* LOAD: for the new child */
    const char *reason;             /* WAIT, REFUSE: a phrase for people; a constant */
};

/* live: everything that has a process, without the wanted one. want: the model to load (its type,
 * memory_bytes). An unknown memory size (0) counts nothing. */
void qn_residency_plan(const struct qn_resident *live, size_t n, const struct qn_resident *want,
                       const struct qn_budget *budget, struct qn_plan *out);

/* How the machine's threads are shared now: threads[i] for live[i]. The busy ones share them evenly
 * (first ones get the remainder, each at least 1); an idle one is given what it would have if it
 * became busy next. */
void qn_residency_threads(const struct qn_resident *live, size_t n, int machine_threads,
                          int *threads);

#endif
